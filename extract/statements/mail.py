"""Statements of a mail: its envelope, what its sender writes, what is quoted, calendar entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from extract.envelope import describe_envelope, sender_of
from extract.names import display_name
from extract.phrases import phrase, say_day
from extract.scripts import estimate_tokens, one_line, shorten
from extract.statements.draft import Draft, Scene
from extract.statements.headings import Headings
from extract.statements.prose import prose_drafts
from extract.stretch import Stretch
from extract.times import find_times
from ingest.anchors import MailAnchor
from ingest.model import Element, ElementKind

_HEADERS = "headers"
_FIELDS_TOKENS = 80
_SUBJECT_WIDTH = 60
_WROTE = re.compile(
    r"^(?P<who>.{1,200}?)\s*(?:<[^>]*>)?\s*(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|escreveu|skrev"
    r"|schreef|写道|寫道)\s*[:：]\s*$",
    re.IGNORECASE | re.DOTALL,
)
_FROM = re.compile(
    r"^\s*\*?(?:from|von|de|da|发件人|寄件者)\s*\*?\s*[:：]\s*\*?(?P<who>.+)$", re.IGNORECASE | re.M
)
_HEADER = re.compile(rf"{_WROTE.pattern}|^\s*\*?[^\W\d_]+(?: [^\W\d_]+)?\s*\*?\s*[:：]", re.IGNORECASE)
_BEFORE_NAME = re.compile(
    r".*[,，\d]\s*(?:[AP]M\b\s*)?(?:UTC|GMT|CET|CEST)?[,，]?\s*(?=\S)", re.IGNORECASE | re.S
)


def mail_drafts(scene: Scene, elements: Sequence[Element]) -> Iterator[Draft]:
    """Yield the statements of a mail in order."""
    for is_field, group in groupby(elements, key=lambda element: element.kind is ElementKind.FIELD):
        run = list(group)
        if not is_field:
            yield from prose_drafts(scene, run, Voices(scene))
            continue
        for part, fields in groupby(run, key=_part):
            named = list(fields)
            yield from _envelope(scene, named) if part == _HEADERS else _entries(scene, named)


def _part(element: Element) -> str:
    return element.anchor.part if isinstance(element.anchor, MailAnchor) else ""


def _envelope(scene: Scene, fields: Sequence[Element]) -> Iterator[Draft]:
    subject = next((one for one in fields if one.metadata.get("field") == "subject"), fields[0])
    yield Draft(
        said=describe_envelope(scene),
        quote=subject.text,
        elements=tuple(fields),
        topic=scene.title,
        speaker=sender_of(scene.document),
        at=scene.time_of(fields[0]),
        standalone=False,
        supported=True,
        tells_time=False,
    )


def _entries(scene: Scene, fields: Sequence[Element]) -> Iterator[Draft]:
    """Named values that stand together, such as those of a meeting, make one statement."""
    portion: list[Element] = []
    for field in (*fields, None):
        full = portion and field and sum(estimate_tokens(one.text) for one in portion) > _FIELDS_TOKENS
        if portion and (field is None or full):
            yield Draft(
                said=phrase(scene.language, "semicolon").join(one_line(one.text) for one in portion),
                quote=Stretch.join(portion).text,
                elements=tuple(portion),
                label=scene.title,
                topic=scene.title,
                at=scene.time_of(portion[0]),
                standalone=portion[0].metadata.get("field") != "attachment",
                supported=True,
            )
            portion = []
        if field is not None:
            portion.append(field)


class Voices(Headings):
    """Knows who speaks in a mail: its sender, or whoever is quoted."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._sender = sender_of(scene.document)
        self._quoted: tuple[str | None, datetime | None] = (None, None)

    def passes(self, element: Element) -> bool:
        """Take in the line that names a quoted writer; it is no statement."""
        if element.kind is not ElementKind.QUOTE:
            return False
        found = _WROTE.match(element.text.strip()) or _FROM.search(element.text)
        if found is None:
            return False
        name = display_name(_BEFORE_NAME.sub("", one_line(found["who"])).strip(" *"))
        times = [one.span.start for one in find_times(one_line(element.text), None) if one.span]
        self._quoted = (shorten(name, _SUBJECT_WIDTH) or None, times[0] if times else None)
        return all(_HEADER.match(line) for line in element.text.strip().split("\n"))

    @property
    def topic(self) -> str | None:
        """The subject, or the heading in the mail."""
        return super().topic or self.scene.title

    def speaker(self, element: Element) -> str | None:
        """Who wrote an element."""
        return self._quoted[0] if element.kind is ElementKind.QUOTE else self._sender

    def time(self, element: Element) -> datetime | None:
        """When it was written; nothing is known of a quoted mail that does not tell."""
        return self._quoted[1] if element.kind is ElementKind.QUOTE else self.scene.time_of(element)

    def label(self, element: Element) -> str:
        """Return "Alice (12 March 2024, “Q2 deadline”)"."""
        language = self.scene.language
        at, who = self.time(element), self.speaker(element)
        about = phrase(language, "titled", shorten(self.scene.title, _SUBJECT_WIDTH))
        details = [say_day(at, language)] if at else []
        if element.kind is ElementKind.QUOTE:
            details.append(phrase(language, "quoted"))
        within = phrase(language, "comma").join([*details, about])
        return phrase(language, "speaker_at", who, within) if who else within
