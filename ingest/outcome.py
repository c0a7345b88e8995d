"""What reading a file gives back besides its elements."""

from __future__ import annotations

from pydantic import Field

from ingest.anchors import Frozen
from ingest.model import ChildFile, DocumentMeta, ParseWarning, View


class ParseOutcome(Frozen):
    """The result of ``parse_file``; the elements themselves lie in ``elements.jsonl`` in the output folder.

    Attributes:
        media_type: what the content is, whatever the name says.
        metadata: what the source says of itself.
        element_count: how many elements were written.
        children: files found inside, stored in ``children/`` in the output folder.
        warnings: what the reader should know although the file was read.
        views: pictures without usable text, stored in ``views/`` in the output folder.
    """

    media_type: str
    metadata: DocumentMeta = DocumentMeta()
    element_count: int = Field(default=0, ge=0)
    children: tuple[ChildFile, ...] = ()
    warnings: tuple[ParseWarning, ...] = ()
    views: tuple[View, ...] = ()
