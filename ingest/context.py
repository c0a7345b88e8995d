"""The contract between ``ingest.parse`` and a parser of one format.

A parser is a function ``ParseContext -> Iterator[Piece]``. It yields what it reads in reading order and
reports the rest (metadata, warnings, attachments) to the context. It knows no ids, no positions, no
settings and no owner, and it opens no other path than ``context.path``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from ingest.anchors import Anchor
from ingest.errors import FileTooLarge
from ingest.limits import ParseLimits
from ingest.model import Cell, ChildFile, DocumentMeta, ElementKind, ParseWarning, View


class Piece(NamedTuple):
    """An element before it has a position."""

    kind: ElementKind
    text: str
    anchor: Anchor
    level: int = 0
    cells: tuple[Cell, ...] = ()
    metadata: dict[str, JsonValue] = {}  # noqa: RUF012  shared default is never written


@dataclass
class ParseContext:
    """What a parser is given, and where it reports.

    Attributes:
        path: the bytes, under a server-made name.
        name: the sender's file name, for titles only.
        media_type: what detection found.
        limits: bounds the parser must respect.
        child_dir: folder for attachments; made by the caller.
        view_dir: folder for pictures somebody else may look at; made by the caller, None where nobody does.
    """

    path: Path
    name: str
    media_type: str
    limits: ParseLimits
    child_dir: Path
    metadata: DocumentMeta = field(default_factory=DocumentMeta)
    warnings: list[ParseWarning] = field(default_factory=list)
    children: list[ChildFile] = field(default_factory=list)
    view_dir: Path | None = None
    views: list[View] = field(default_factory=list)

    def describe(self, **fields: Any) -> None:  # noqa: ANN401  the fields of DocumentMeta
        """Merge what the source says of itself; ``extra`` is merged key by key. None values are skipped."""
        known = {key: value for key, value in fields.items() if value is not None}
        extra = {**self.metadata.extra, **known.pop("extra", {})}
        self.metadata = DocumentMeta.model_validate(
            {**self.metadata.model_dump(exclude={"extra"}), **known, "extra": extra}
        )

    def warn(self, code: str, detail: str) -> None:
        """Tell the user something about a file that was read all the same."""
        self.warnings.append(ParseWarning(code=code, detail=detail))

    def show(self, page: int, save: Callable[[Path], None]) -> None:
        """Keep a picture without usable text for a vision model, as long as there is room for one more.

        Args:
            page: 1-based page or frame.
            save: writes a JPEG of bounded size.
        """
        if self.view_dir is None or len(self.views) >= self.limits.max_views:
            return
        stored_as = f"{len(self.views):05d}.jpg"
        save(self.view_dir / stored_as)
        self.views.append(View(page=page, stored_as=stored_as))

    def attach(self, name: str, media_type: str, data: bytes, part: str) -> None:
        """Hand over a file found inside this one.

        Raises:
            FileTooLarge: more attachments than ``limits.max_attachments``, or more bytes of them than
                ``limits.max_unpacked_bytes``.
        """
        if len(self.children) >= self.limits.max_attachments:
            raise FileTooLarge(
                f"The file holds more than {self.limits.max_attachments} attachments (PARSE_MAX_ATTACHMENTS)."
            )
        held = sum(child.size_bytes for child in self.children)
        if held + len(data) > self.limits.max_unpacked_bytes:
            raise FileTooLarge(
                f"The attachments are larger than {self.limits.max_unpacked_bytes} bytes together"
                " (PARSE_MAX_UNPACKED_BYTES)."
            )
        stored_as = f"{len(self.children):05d}.bin"
        (self.child_dir / stored_as).write_bytes(data)
        self.children.append(
            ChildFile(name=name, media_type=media_type, part=part, stored_as=stored_as, size_bytes=len(data))
        )


Parser = Callable[[ParseContext], Iterator[Piece]]
