"""Anchors: where something stands in its source, in terms a person can follow.

One frozen variant per kind of place, told apart by ``kind``. Counting starts at 1 everywhere;
seconds are seconds from the start of the recording.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """A value that never changes and refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PageAnchor(Frozen):
    """A place on a page (PDF) or a frame (image, 1 for ordinary pictures).

    ``bbox`` is (x0, y0, x1, y1) from the top left corner, in points for PDF and pixels for images.
    """

    kind: Literal["page"] = "page"
    page: int = Field(ge=1)
    bbox: tuple[float, float, float, float] | None = None

    def label(self) -> str:
        """Return the place as a person says it."""
        return f"p. {self.page}"


class SheetAnchor(Frozen):
    """A range of cells in a workbook, ``cells`` in A1 notation ("B7" or "B7:D7")."""

    kind: Literal["sheet"] = "sheet"
    sheet: str
    cells: str

    def label(self) -> str:
        """Return the place as a person says it."""
        return f"{self.sheet}!{self.cells}"


class RowAnchor(Frozen):
    """A record of a delimited table; ``row`` counts records from 1 and includes the header record."""

    kind: Literal["row"] = "row"
    row: int = Field(ge=1)

    def label(self) -> str:
        """Return the place as a person says it."""
        return f"row {self.row}"


class SlideAnchor(Frozen):
    """A slide of a presentation and the part of it."""

    kind: Literal["slide"] = "slide"
    slide: int = Field(ge=1)
    part: Literal["title", "body", "table", "notes", "comment", "figure"] = "body"

    def label(self) -> str:
        """Return the place as a person says it."""
        return f"slide {self.slide}" + ("" if self.part in ("title", "body") else f", {self.part}")


class SectionAnchor(Frozen):
    """A place in running text: the headings above it, and lines or the paragraph number.

    ``line_start``/``line_end`` are lines of the decoded source (plain text, Markdown, HTML);
    ``paragraph`` counts block elements where lines mean nothing (DOCX, DOC).
    ``part`` names a place outside the body ("header", "footer", "footnote 3", "comment 2", "text box").
    """

    kind: Literal["section"] = "section"
    heading_path: tuple[str, ...] = ()
    line_start: int | None = Field(default=None, ge=1)
    line_end: int | None = Field(default=None, ge=1)
    paragraph: int | None = Field(default=None, ge=1)
    part: str | None = None

    def label(self) -> str:
        """Return the place as a person says it."""
        pieces = [" > ".join(self.heading_path)] if self.heading_path else []
        if self.part:
            pieces.append(self.part)
        if self.line_start is not None:
            last = self.line_end or self.line_start
            pieces.append(
                f"line {self.line_start}" if last == self.line_start else f"lines {self.line_start}-{last}"
            )
        elif self.paragraph is not None:
            pieces.append(f"paragraph {self.paragraph}")
        return ", ".join(pieces) or "document"


class CueAnchor(Frozen):
    """A stretch of a recording and who spoke."""

    kind: Literal["cue"] = "cue"
    start_s: float = Field(ge=0)
    end_s: float = Field(ge=0)
    speaker: str | None = None

    def label(self) -> str:
        """Return the place as a person says it."""
        whole = int(self.start_s)
        clock = f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
        return f"{clock} {self.speaker}" if self.speaker else clock


class MailAnchor(Frozen):
    """A part of a mail: MIME part path ("1.2"), "headers", and the line of its decoded text."""

    kind: Literal["mail"] = "mail"
    part: str
    line_start: int | None = Field(default=None, ge=1)
    line_end: int | None = Field(default=None, ge=1)

    def label(self) -> str:
        """Return the place as a person says it."""
        where = "mail headers" if self.part == "headers" else f"mail part {self.part}"
        return where if self.line_start is None else f"{where}, line {self.line_start}"


class MessageAnchor(Frozen):
    """A message of a conversation."""

    kind: Literal["message"] = "message"
    message_id: str
    sender: str | None = None

    def label(self) -> str:
        """Return the place as a person says it."""
        return f"message {self.message_id}" + (f" {self.sender}" if self.sender else "")


Anchor = Annotated[
    PageAnchor
    | SheetAnchor
    | RowAnchor
    | SlideAnchor
    | SectionAnchor
    | CueAnchor
    | MailAnchor
    | MessageAnchor,
    Field(discriminator="kind"),
]
