"""The summary of a segment, worded for what it is: prose, table, slide, mail or talk."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from extract.envelope import describe_envelope
from extract.model import SegmentKind
from extract.phrases import phrase, say_list
from extract.scripts import shorten
from extract.statements.draft import Draft, Scene
from extract.statements.rows import is_header, is_named, render_cells
from extract.summary import MAX_TOKENS, Candidate, choose, join_sentences
from ingest.model import Element, ElementKind

_COLUMNS, _ENOUGH = 8, 3
_NO_PROSE = frozenset({ElementKind.TABLE_ROW, ElementKind.FIELD})
_ENDS = tuple('.!?…。！？”"')
_NUMBERED = re.compile(r"^(?:\d{1,3}|[a-zA-Z])[.)]\s+")


def summarize(scene: Scene, drafts: Sequence[Draft], topics: tuple[str, ...]) -> str:
    """Return a summary of at most about 80 words or 160 Chinese characters."""
    segment = scene.segment
    rows = [element for element in segment.elements if element.kind is ElementKind.TABLE_ROW]
    prose = [draft for draft in drafts if draft.elements[0].kind not in _NO_PROSE]
    body = [draft for draft in prose if draft.standalone] or prose
    if rows and len(rows) * 2 >= len(segment.elements):
        return _table(scene, rows)
    match segment.kind:
        case SegmentKind.TRANSCRIPT | SegmentKind.CONVERSATION:
            return _talk(scene, body, topics)
        case SegmentKind.MAIL:
            return _mail(scene, body)
    return join_sentences(_sentences(scene, body)) or segment.title


def _sentences(scene: Scene, drafts: Sequence[Draft], max_tokens: int = MAX_TOKENS) -> list[str]:
    whole = sum(draft.said.endswith(_ENDS) for draft in drafts)
    candidates = [
        Candidate(_NUMBERED.sub("", draft.said), draft.confidence * (0.5 if _is_scrap(draft, whole) else 1.0))
        for draft in drafts
    ]
    return choose(candidates, scene.language, max_tokens)


def _is_scrap(draft: Draft, whole: int) -> bool:
    """Captions and labels do not speak for a text that has sentences."""
    return whole >= _ENOUGH and not draft.said.endswith(_ENDS)


def _table(scene: Scene, rows: Sequence[Element]) -> str:
    """Return the columns and an example of the shape most rows have."""
    body = [row for row in rows if not is_header(row)] or list(rows)
    shapes = Counter(tuple(cell.name for cell in row.cells) for row in body)
    names = max(shapes, key=lambda shape: (shapes[shape], len(shape)))
    example = next(row for row in body if tuple(cell.name for cell in row.cells) == names)
    words = shorten(render_cells(example.cells, scene.language) or example.text, 160)
    if not is_named(example.cells):
        return scene.segment.title + phrase(scene.language, "colon") + words
    columns = phrase(scene.language, "comma").join(shorten(name, 40) for name in names[:_COLUMNS])
    head = phrase(scene.language, "rows_columns", scene.segment.title, len(body), columns)
    return phrase(scene.language, "semicolon").join((head, phrase(scene.language, "for_example", words)))


def _talk(scene: Scene, drafts: Sequence[Draft], topics: tuple[str, ...]) -> str:
    people = say_list(scene.segment.participants, scene.language)
    about = say_list(topics, scene.language, 3)
    said = [_spoken(scene, draft) for draft in drafts]
    weighed = [Candidate(text, draft.confidence) for text, draft in zip(said, drafts, strict=True)]
    sentences = choose(weighed, scene.language, MAX_TOKENS - 25)
    if not people or not about:
        return join_sentences(sentences) or scene.segment.title
    name = "talk_alone" if len(scene.segment.participants) == 1 else "talk"
    stop = "。" if scene.language == "zh" else "."
    return join_sentences([phrase(scene.language, name, people, about) + stop, *sentences])


def _spoken(scene: Scene, draft: Draft) -> str:
    asker = draft.participants[0] if draft.participants else draft.speaker
    return f"{asker}{phrase(scene.language, 'colon')}{draft.said}" if asker else draft.said


def _mail(scene: Scene, drafts: Sequence[Draft]) -> str:
    head = describe_envelope(scene)
    sentences = _sentences(scene, drafts, MAX_TOKENS - 30)
    return head + phrase(scene.language, "colon") + join_sentences(sentences) if sentences else head
