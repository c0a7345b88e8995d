"""Small stand-ins for parser, splitter and extractor: a line is an element, a segment and a fact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from extract.model import AtomicFact, Episode, Extraction, Origin, Segment, SegmentKind
from ingest.anchors import SectionAnchor
from ingest.artifacts import write_jsonl
from ingest.ids import episode_id, fact_id
from ingest.limits import ParseLimits
from ingest.model import ChildFile, Document, Element, ElementKind
from ingest.outcome import ParseOutcome


def parse_lines(path: Path, name: str, limits: ParseLimits, out_dir: Path) -> ParseOutcome:
    """Read a text whose lines are paragraphs; "file NAME: TEXT" is a file inside."""
    elements, children = [], []
    (out_dir / "children").mkdir(parents=True)
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if line.startswith("file "):
            inner, _, text = line.removeprefix("file ").partition(": ")
            stored_as = f"{len(children):05d}.bin"
            (out_dir / "children" / stored_as).write_text(text.replace("\\n", "\n"))
            children.append(
                ChildFile(
                    name=inner, media_type="text/plain", part=str(number), stored_as=stored_as,
                    size_bytes=len(text),
                )
            )  # fmt: skip
        elif line:
            anchor = SectionAnchor(line_start=number)
            elements.append(
                Element(position=len(elements), kind=ElementKind.PARAGRAPH, text=line, anchor=anchor)
            )
    write_jsonl(out_dir / "elements.jsonl", elements)
    return ParseOutcome(media_type="text/plain", element_count=len(elements), children=tuple(children))


def split_lines(document: Document, elements: Iterable[Element]) -> Iterator[Segment]:
    for position, element in enumerate(elements):
        yield Segment(position=position, kind=SegmentKind.PROSE, title=element.text, elements=(element,))


class LineExtractor:
    """One fact for each line. ``before`` is called first and may raise."""

    fingerprint = "lines-1"

    def __init__(self, before: Callable[[Segment], None] = lambda _: None, at_once: int = 1) -> None:
        self.before = before
        self.at_once = at_once
        self.seen: list[int] = []

    def extract(self, document: Document, segment: Segment) -> Extraction:
        self.before(segment)
        self.seen.append(segment.position)
        text = segment.elements[0].text
        anchors = (segment.elements[0].anchor,)
        episode = Episode(
            id=episode_id(document.id, segment.position), document_id=document.id, owner=document.owner,
            position=segment.position, kind=segment.kind, title=text[:20], summary=text, text=text,
            recorded_at=document.received_at, first=segment.elements[0].position,
            last=segment.elements[-1].position, anchors=anchors,
        )  # fmt: skip
        fact = AtomicFact(
            id=fact_id(episode.id, 0), episode_id=episode.id, document_id=document.id, owner=document.owner,
            position=0, text=text, topic_name="line", quote=text, anchors=anchors, origin=Origin.EXTRACTIVE,
        )  # fmt: skip
        return Extraction(episode=episode, facts=(fact,))
