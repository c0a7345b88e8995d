"""Uploaded bytes, kept under the hash of their content in a folder or an object store.

Equal bytes are kept once. A blob's name is made from its SHA-256, never from anything a sender says.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, cast

import fsspec
from pydantic import Field

from ingest.anchors import Frozen
from ingest.errors import FileTooLarge

_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 2**20


class StoredBlob(Frozen):
    """Bytes that have been stored."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: int = Field(ge=0)


class BlobStore:
    """A place for blobs by URL: ``file:///folder``, ``memory://name``, ``s3://bucket/prefix`` with s3fs."""

    def __init__(self, url: str) -> None:
        self._fs, root = fsspec.core.url_to_fs(url)
        self._root = str(root).rstrip("/")
        self._is_local = "file" in (
            self._fs.protocol if isinstance(self._fs.protocol, tuple) else (self._fs.protocol,)
        )

    def put(self, stream: IO[bytes], max_bytes: int) -> StoredBlob:
        """Store what a stream holds and return its hash; nothing is kept when that fails.

        Args:
            stream: read once, to its end.
            max_bytes: the most it may hold.

        Raises:
            FileTooLarge: it holds more.
        """
        digest = hashlib.sha256()
        size = 0
        temporary = f"{self._root}/incoming/{uuid.uuid4().hex}"
        self._fs.makedirs(f"{self._root}/incoming", exist_ok=True)
        try:
            with self._fs.open(temporary, "wb") as target:
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    if size > max_bytes:
                        raise FileTooLarge(
                            f"The file has more than {max_bytes} bytes, the most that is taken."
                        )
                    digest.update(chunk)
                    target.write(chunk)
                if self._is_local:
                    target.flush()
                    os.fsync(target.fileno())
            return self._settle(temporary, StoredBlob(sha256=digest.hexdigest(), size_bytes=size))
        finally:
            with suppress(FileNotFoundError):
                self._fs.rm_file(temporary)

    def _settle(self, temporary: str, blob: StoredBlob) -> StoredBlob:
        final = self._path(blob.sha256)
        self._fs.makedirs(final.rpartition("/")[0], exist_ok=True)
        if not self._fs.exists(final):
            self._fs.mv(temporary, final)
        return blob

    def open(self, sha256: str) -> BinaryIO:
        """Open a blob for reading; the caller closes it.

        Raises:
            FileNotFoundError: there is none of that hash.
        """
        return cast(BinaryIO, self._fs.open(self._path(sha256), "rb"))

    @contextmanager
    def local(self, sha256: str) -> Iterator[Path]:
        """Lend a path on this machine that holds the bytes: the blob itself, or a copy for the time being.

        Raises:
            FileNotFoundError: there is none of that hash.
        """
        path = self._path(sha256)
        if self._is_local:
            if not self._fs.exists(path):
                raise FileNotFoundError(path)
            yield Path(path)
            return
        with tempfile.TemporaryDirectory(prefix="strata-blob-") as folder:
            copy = Path(folder) / sha256
            self._fs.get_file(path, str(copy))
            yield copy

    def delete(self, sha256: str) -> bool:
        """Remove a blob; False when there was none."""
        try:
            self._fs.rm_file(self._path(sha256))
        except FileNotFoundError:
            return False
        return True

    def exists(self, sha256: str) -> bool:
        """Return whether there is a blob of that hash."""
        return bool(self._fs.exists(self._path(sha256)))

    def hashes(self) -> Iterator[str]:
        """Yield the hash of every blob, in no order."""
        if not self._fs.exists(self._root):
            return
        for path in self._fs.find(self._root):
            name = str(path).rpartition("/")[2]
            if _SHA256.fullmatch(name):
                yield name

    def _path(self, sha256: str) -> str:
        if not _SHA256.fullmatch(sha256):
            raise ValueError("a blob is named by the 64 hex digits of its SHA-256")
        return f"{self._root}/{sha256[:2]}/{sha256}"
