"""What a file becomes: a ``Document`` and its ``Element``s.

The elements of a document are kept beside it (one JSON line each), not inside it, so that a table of
a million rows is read, split and indexed without ever standing in memory as a whole.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, JsonValue, model_validator

from ingest.anchors import Anchor, Frozen


class Owner(Frozen):
    """Whose memory something is. The tenant is the wall; user and group are the rooms behind it."""

    tenant: str = Field(default="default", min_length=1, max_length=128)
    user_id: str | None = Field(default=None, min_length=1, max_length=256)
    group_id: str | None = Field(default=None, min_length=1, max_length=256)
    session_id: str | None = Field(default=None, min_length=1, max_length=256)

    @model_validator(mode="after")
    def _someone(self) -> Owner:
        if self.user_id is None and self.group_id is None:
            raise ValueError("an owner needs a user_id or a group_id")
        return self


class Source(Frozen):
    """The bytes that came in. ``name`` is the sender's name for them: shown, never used as a path."""

    name: str
    media_type: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: int = Field(ge=0)


class ElementKind(StrEnum):
    """What an element is to a reader."""

    TITLE = "title"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    CUE = "cue"
    MESSAGE = "message"
    QUOTE = "quote"  # the quoted part of a reply
    CODE = "code"
    CAPTION = "caption"
    HEADER = "header"
    FOOTER = "footer"
    FOOTNOTE = "footnote"
    NOTE = "note"  # speaker notes, cell notes
    COMMENT = "comment"
    ANNOTATION = "annotation"
    FORM_FIELD = "form_field"
    TEXT_BOX = "text_box"
    FIGURE = "figure"  # text of charts, diagrams, alternative text
    IMAGE_TEXT = "image_text"  # read from pixels
    FIELD = "field"  # a named value of the source itself: mail header, calendar property


class Cell(Frozen):
    """One value of a table row.

    Attributes:
        name: the column's header, or its letter or number where there is none.
        value: as shown to a reader.
        stored: as stored, when that differs from what is shown (a date's ISO form, a full number).
        ref: the cell in A1 notation, when the source is a workbook.
    """

    name: str
    value: str
    stored: str | None = None
    ref: str | None = None


class Element(Frozen):
    """The smallest piece of a document that has a place.

    Attributes:
        position: 0-based order in the document.
        text: what is read, without markup. For a table row: the shown values joined by " | ".
        level: depth of a heading (1 is the top) or of a list item; 0 elsewhere.
        cells: the values of a table row, empty elsewhere.
        metadata: what else is known ("table": name of the table, "hidden": true, "author": of a comment …).
    """

    position: int = Field(ge=0)
    kind: ElementKind
    text: str
    anchor: Anchor
    level: int = Field(default=0, ge=0)
    cells: tuple[Cell, ...] = ()
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class DocumentMeta(Frozen):
    """What the source says of itself.

    ``occurred_at`` is the date its content speaks from (a mail's Date, a meeting's start, a document's
    creation): the point relative times are resolved against. None when the source tells none.
    """

    title: str | None = None
    authors: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    created_at: datetime | None = None
    modified_at: datetime | None = None
    occurred_at: datetime | None = None
    language: str | None = None
    encoding: str | None = None
    page_count: int | None = None
    extra: dict[str, JsonValue] = Field(default_factory=dict)


class ParseWarning(Frozen):
    """Something the reader should know although the file was read."""

    code: str
    detail: str


class ChildFile(Frozen):
    """A file inside a file: an attachment or a nested mail, to be read as a document of its own.

    ``part`` is its place in the parent ("2.1"); ``stored_as`` the server-made name in the parse folder.
    """

    name: str
    media_type: str
    part: str
    stored_as: str
    size_bytes: int = Field(ge=0)


class View(Frozen):
    """A page or picture that shows more than was read in it; ``stored_as`` names it in the parse folder."""

    page: int = Field(ge=1)
    stored_as: str


class Document(Frozen):
    """A file that has been read. Its elements lie beside it."""

    id: str
    owner: Owner
    source: Source
    received_at: datetime
    metadata: DocumentMeta = DocumentMeta()
    element_count: int = Field(default=0, ge=0)
    children: tuple[ChildFile, ...] = ()
    parent_id: str | None = None
    warnings: tuple[ParseWarning, ...] = ()
