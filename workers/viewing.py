"""Pictures that hold hardly a word, shown to a vision model; what it says becomes elements in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path

from extract.chat.errand import Errand, running
from extract.errors import ExtractError
from extract.vision import Look, Viewer
from ingest.anchors import PageAnchor
from ingest.artifacts import read_jsonl, write_jsonl
from ingest.cutting import in_parts
from ingest.errors import NoTextFound
from ingest.limits import ParseLimits
from ingest.model import Element, ElementKind, ParseWarning, View
from ingest.outcome import ParseOutcome
from ingest.reading import ELEMENT_CHARS, ELEMENTS, VIEWS
from workers.lanes import Lanes
from workers.watch import Watch

# Names of the answers a document was described with, one a line.
SEEN = "seen.txt"
# Pictures of a file that are looked at, unless PARSE_MAX_VIEWS says otherwise.
_VIEWS = 20


def limits_for(viewer: Viewer | None, limits: ParseLimits) -> ParseLimits:
    """Return the limits of a parse: pictures are kept to be looked at where somebody looks."""
    most = (limits.max_views or _VIEWS) if viewer else 0
    return limits.model_copy(update={"max_views": most})


def describe_views(
    viewer: Viewer | None, at_once: int, errand: Errand, outcome: ParseOutcome, folder: Path, watch: Watch
) -> ParseOutcome:
    """Have the views of a parse described and put what they show among its elements, page by page.

    A picture that no description can be had of is left out with a warning.

    Args:
        viewer: looks at them; None leaves everything as it is.
        at_once: how many at the same time.
        errand: on whose behalf.
        outcome: of the parse.
        folder: where it wrote.
        watch: of the stage.

    Raises:
        TransientError, ModelRefuses: see ``Viewer``; what was described is kept.
        NoTextFound: nothing was read in the file and nothing could be said of it.
        StageStopped: the stage must not go on.
        Interrupted: it should go on later.
    """
    if viewer is None or not outcome.views:
        return outcome
    looks: dict[View, Look] = {}
    failed: list[ExtractError] = []

    def keep(ended: Iterable[tuple[View, Future[Look]]]) -> None:
        for view, future in ended:
            try:
                looks[view] = future.result()
            except ExtractError as error:
                failed.append(error)

    def look(view: View) -> Look:
        return viewer.describe((folder / VIEWS / view.stored_as).read_bytes(), errand.tenant)

    with Lanes(look, at_once, watch.check) as lanes, running(errand):
        for view in outcome.views:
            lanes.put(view)
            keep(lanes.finished())
        while ended := lanes.rest():
            keep(ended)
    (folder / SEEN).write_text("".join(f"{one.kept}\n" for one in looks.values()), "utf-8")
    if not looks and not outcome.element_count and not outcome.children:
        raise NoTextFound
    count = _put_in_place(folder, {view: looks[view] for view in outcome.views if view in looks}, viewer.name)
    return outcome.model_copy(
        update={
            "element_count": count,
            "warnings": (*outcome.warnings, *_warnings(len(looks), failed, viewer.name)),
        }
    )


def _put_in_place(folder: Path, looks: Mapping[View, Look], model: str) -> int:
    path = folder / ELEMENTS
    known = read_jsonl(path, Element) if path.exists() else iter(())
    merged = folder / f"{ELEMENTS}.seen"
    count = write_jsonl(merged, _numbered(_merged(known, looks, model)))
    merged.replace(path)
    return count


def _merged(elements: Iterator[Element], looks: Mapping[View, Look], model: str) -> Iterator[Element]:
    """Yield elements, and behind the last one of a page what its pictures show."""
    waiting = sorted(looks.items(), key=lambda one: (one[0].page, one[0].stored_as))
    for element in elements:
        while waiting and isinstance(element.anchor, PageAnchor) and element.anchor.page > waiting[0][0].page:
            yield from _described(*waiting.pop(0), model)
        yield element
    for view, look in waiting:
        yield from _described(view, look, model)


def _described(view: View, look: Look, model: str) -> Iterator[Element]:
    for text in (look.seen.description, look.seen.text):
        for part in in_parts(text, ELEMENT_CHARS):
            yield Element(
                position=0,
                kind=ElementKind.IMAGE_TEXT,
                text=part,
                anchor=PageAnchor(page=view.page),
                metadata={"described_by": model},
            )


def _numbered(elements: Iterator[Element]) -> Iterator[Element]:
    for position, element in enumerate(elements):
        yield element if element.position == position else element.model_copy(update={"position": position})


def _warnings(described: int, failed: list[ExtractError], model: str) -> Iterator[ParseWarning]:
    if described:
        detail = (
            f"{described} pictures with hardly a word were described by {model}; the words are the model's."
        )
        yield ParseWarning(code="described_by_model", detail=detail)
    if failed:
        detail = f"{len(failed)} pictures could not be described: {failed[0].detail}"
        yield ParseWarning(code="picture_not_described", detail=detail)


def answers_seen(folder: Path) -> list[str]:
    """Return the names of the answers a document was described with."""
    path = folder / SEEN
    return path.read_text("utf-8").split() if path.exists() else []
