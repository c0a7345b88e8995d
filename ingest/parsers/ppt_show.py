"""The presentation in a PowerPoint 97 to 2003 file: which slides, in which order, with which notes."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from ingest.errors import CorruptFile, EncryptedFile
from ingest.parsers.ppt_records import (
    DIRECTORY,
    DOCUMENT,
    ENCRYPTION,
    MASTER,
    NOTES,
    SLIDE,
    SLIDE_ATOM,
    SLIDE_LIST,
    SLIDE_PLACE,
    USER_EDIT,
    PptRecord,
    child,
    children,
    content,
    number,
    record_at,
)
from ingest.parsers.ppt_text import TextBlock, text_blocks

_ENCRYPTED_USER = b"\xdf\xc4\xd1\xf3"
_USER_ATOM = b"\xf6\x0f"
_MAX_EDITS = 10_000
_SLIDES, _MASTERS, _NOTES_LIST = 0, 1, 2


class ShowSlide(NamedTuple):
    """A slide: its record, the texts its placeholders borrow from the outline, and its notes page."""

    record: PptRecord
    outline: tuple[TextBlock, ...]
    notes: PptRecord | None


@dataclass
class Show:
    """A presentation.

    Attributes:
        stream: the records.
        document: the container of what all slides share.
        slides: in show order.
        masters: the masters they are drawn upon.
        is_repaired: the directory was damaged and slides were searched for.
    """

    stream: bytes
    document: PptRecord | None = None
    slides: list[ShowSlide] = field(default_factory=list)
    masters: list[PptRecord] = field(default_factory=list)
    is_repaired: bool = False


def open_show(stream: bytes, user: bytes) -> Show:
    """Return the presentation in a stream.

    Args:
        stream: "PowerPoint Document".
        user: "Current User", which points at the last saved state.

    Raises:
        CorruptFile: no slide can be found.
        EncryptedFile: the presentation is protected by a password.
    """
    if user[12:16] == _ENCRYPTED_USER:
        raise EncryptedFile
    if user and user[2:4] != _USER_ATOM:
        raise CorruptFile("The parts of the presentation have been mixed up.")
    places, document_place = _directory(stream, user)
    document = record_at(stream, places.get(document_place, -1))
    if document is None or document.kind != DOCUMENT:
        return _search(stream)
    if child(stream, document, ENCRYPTION) is not None:
        raise EncryptedFile
    show = Show(stream, document)
    notes = _notes(stream, document, places)
    for place, texts in _listed(stream, document, _SLIDES):
        record = record_at(stream, places.get(place, -1))
        if record is None or record.kind != SLIDE:
            continue
        atom = child(stream, record, SLIDE_ATOM)
        show.slides.append(ShowSlide(record, texts, notes.get(number(stream, atom, 16))))
    for place, _ in _listed(stream, document, _MASTERS):
        record = record_at(stream, places.get(place, -1))
        if record is not None and record.kind in (MASTER, SLIDE):
            show.masters.append(record)
    return show if show.slides else _search(stream)


def _directory(stream: bytes, user: bytes) -> tuple[dict[int, int], int]:
    """Return the offsets of records by persist id, the latest edit first, and the document's id."""
    places: dict[int, int] = {}
    document = 0
    at = struct.unpack_from("<I", user, 16)[0] if len(user) >= 20 else 0
    seen: set[int] = set()
    while at and at not in seen and len(seen) < _MAX_EDITS:
        seen.add(at)
        edit = record_at(stream, at)
        if edit is None or edit.kind != USER_EDIT:
            break
        if number(stream, edit, 28):
            raise EncryptedFile
        document = document or number(stream, edit, 16)
        table = record_at(stream, number(stream, edit, 12))
        if table is not None and table.kind == DIRECTORY:
            _take_directory(content(stream, table), places)
        at = number(stream, edit, 8)
    return places, document


def _take_directory(data: bytes, places: dict[int, int]) -> None:
    at = 0
    while at + 4 <= len(data):
        (head,) = struct.unpack_from("<I", data, at)
        first, count = head & 0xFFFFF, head >> 20
        at += 4
        for offset in range(min(count, (len(data) - at) // 4)):
            places.setdefault(first + offset, struct.unpack_from("<I", data, at + 4 * offset)[0])
        at += 4 * count


def _listed(stream: bytes, document: PptRecord, which: int) -> list[tuple[int, tuple[TextBlock, ...]]]:
    """Return (persist id, outline texts) of the slides or notes a document lists."""
    found: list[tuple[int, tuple[TextBlock, ...]]] = []
    for listing in children(stream, document):
        if listing.kind != SLIDE_LIST or listing.instance != which:
            continue
        records: list[PptRecord] = []
        place = -1
        for record in children(stream, listing):
            if record.kind == SLIDE_PLACE:
                if place >= 0:
                    found.append((place, tuple(text_blocks(stream, records))))
                place, records = number(stream, record), []
            else:
                records.append(record)
        if place >= 0:
            found.append((place, tuple(text_blocks(stream, records))))
    return found


def _notes(stream: bytes, document: PptRecord, places: dict[int, int]) -> dict[int, PptRecord]:
    """Return the notes pages by the id their slide calls them by."""
    found: dict[int, PptRecord] = {}
    for listing in children(stream, document):
        if listing.kind == SLIDE_LIST and listing.instance == _NOTES_LIST:
            for place in children(stream, listing):
                record = record_at(stream, places.get(number(stream, place), -1))
                if place.kind == SLIDE_PLACE and record is not None and record.kind == NOTES:
                    found[number(stream, place, 12)] = record
    return found


def _search(stream: bytes) -> Show:
    """Return the slides that stand in the stream, whatever its directory says."""
    show = Show(stream, is_repaired=True)
    slides: list[PptRecord] = []
    notes: list[PptRecord | None] = []
    for record in children(stream, PptRecord(0, 0, 0, len(stream), True)):
        if record.kind == NOTES:
            notes.append(record)
        elif record.kind == SLIDE:
            slides.append(record)
        elif record.kind == DOCUMENT:
            show.document = record
    outlines = [texts for _, texts in _listed(stream, show.document, _SLIDES)] if show.document else []
    if len(notes) != len(slides):
        notes = [None] * len(slides)
    for at, record in enumerate(slides):
        show.slides.append(ShowSlide(record, outlines[at] if at < len(outlines) else (), notes[at]))
    if not slides:
        raise CorruptFile("The presentation holds no slide that can be read.")
    return show
