"""What the stages and the API need from the parts that are chosen at start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol

from extract.model import Segment
from ingest.limits import ParseLimits
from ingest.model import Document, Element
from ingest.outcome import ParseOutcome
from retrieval.model import SearchAnswer, SearchQuery


class StoredBytes(Protocol):
    """What storing gives back."""

    @property
    def sha256(self) -> str:
        """Hex digest of the content."""

    @property
    def size_bytes(self) -> int:
        """Length of the content."""


class Blobs(Protocol):
    """Keeps bytes under their SHA-256."""

    def put(self, stream: BinaryIO, max_bytes: int) -> StoredBytes:
        """Store a stream.

        Raises:
            FileTooLarge: it is longer than ``max_bytes``.
        """

    def open(self, sha256: str) -> AbstractContextManager[BinaryIO]:
        """Open stored bytes for reading, for the length of a block."""

    def local(self, sha256: str) -> AbstractContextManager[Path]:
        """Have stored bytes as a local file for the length of a block."""

    def delete(self, sha256: str) -> bool:
        """Remove stored bytes; False when there were none."""

    def exists(self, sha256: str) -> bool:
        """Tell whether the bytes are stored."""

    def hashes(self) -> Iterator[str]:
        """Yield the hash of everything stored."""


class Search(Protocol):
    """Answers questions."""

    def search(self, query: SearchQuery) -> SearchAnswer:
        """Return what a query finds."""


class ParseFile(Protocol):
    """Reads a file; see ``ingest.parse.parse_file``."""

    def __call__(self, path: Path, name: str, limits: ParseLimits, out_dir: Path) -> ParseOutcome:
        """Read the file and write its elements and children below ``out_dir``."""


class SplitSegments(Protocol):
    """Splits elements; see ``extract.segments.split_segments``."""

    def __call__(self, document: Document, elements: Iterable[Element]) -> Iterator[Segment]:
        """Yield the segments of a document in order."""
