"""Parts for stages under test: the real ledger, blobs and store, small stand-ins for parser and extractor."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from qdrant_client import QdrantClient

from extract.model import AtomicFact, Episode, Extraction, Origin, Segment, SegmentKind
from ingest.anchors import SectionAnchor
from ingest.artifacts import write_jsonl
from ingest.blobs import BlobStore
from ingest.ids import episode_id, fact_id
from ingest.limits import ParseLimits
from ingest.model import ChildFile, Document, Element, ElementKind
from ingest.outcome import ParseOutcome
from retrieval.embedders.fake import HashEmbedder
from retrieval.qdrant_store import QdrantStore
from retrieval.search import Searcher
from tests.workers.conftest import ANNA
from workers.ledger.ledger import Ledger
from workers.model import Accepted, Upload
from workers.services import Services
from workers.settings import Settings


def parse_lines(path: Path, name: str, limits: ParseLimits, out_dir: Path) -> ParseOutcome:
    """Read a text whose lines are paragraphs; "file NAME: TEXT" is a file inside, "stop" a crash."""
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

    def __init__(self, before: Callable[[Segment], None] = lambda _: None) -> None:
        self.before = before
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


def make_services(ledger: Ledger, folder: Path, **changes: object) -> Services:
    """Build parts that need no server; ``changes`` replace fields."""
    embedder = HashEmbedder()
    settings = Settings(strata_home=folder, worker_lease_s=60)
    store = QdrantStore(QdrantClient(":memory:"), embedder.fingerprint, embedder.dimension)
    made = Services(
        settings=settings,
        ledger=ledger,
        blobs=BlobStore(settings.blobs_url),
        artifacts=settings.artifacts,
        store=store,
        embedder=embedder,
        extractor=LineExtractor(),
        searcher=Searcher(store, embedder, settings.mrag),
        parse=parse_lines,
        split=split_lines,
        enqueue=lambda: 0,
        depths=dict,
    )
    return replace(made, **changes)


def hand_in(services: Services, text: str, name: str = "a.txt", **changes: object) -> Accepted:
    """Store a text and have it accepted."""
    began = datetime.now(UTC)
    blob = services.blobs.put(io.BytesIO(text.encode()), 10**6)
    values = {
        "owner": ANNA, "name": name, "sha256": blob.sha256, "size_bytes": blob.size_bytes, "stored_at": began,
    }  # fmt: skip
    return services.ledger.documents.accept(Upload.model_validate(values | changes))
