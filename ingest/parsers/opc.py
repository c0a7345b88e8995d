"""Packages of parts (ECMA-376 part 2): the archive of an Office document, or the same in one XML file."""

from __future__ import annotations

import base64
import binascii
import io
import posixpath
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import unquote
from zipfile import BadZipFile

import olefile
from lxml import etree

from ingest.errors import CorruptFile, EncryptedFile, IngestError, MaliciousFile
from ingest.limits import ParseLimits
from ingest.parsers.ooxml import Node, attribute, local, parse_xml
from ingest.zipguard import checked_zip, read_member

_FLAT = b"http://schemas.microsoft.com/office/2006/xmlPackage"
_HEAD = 4096
_DAMAGE = (KeyError, BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, RuntimeError)


class Relation(NamedTuple):
    """A link from one part to another part, or to an address outside (``external``)."""

    kind: str  # last word of the type's address: "image", "header", "comments"
    target: str
    external: bool


class Package:
    """An opened package: parts by name, relations by part. Use as a context manager.

    Args:
        path: an archive, or an XML file in the "flat" form.
        limits: bounds on members and unpacked size.

    Raises:
        CorruptFile: the file is no package, or cut off.
        EncryptedFile: it is protected by a password.
        FileTooLarge: it unpacks to more than the limits allow.
        MaliciousFile: the archive is built to harm.
    """

    def __init__(self, path: Path, limits: ParseLimits) -> None:
        self._stack = ExitStack()
        self._relations: dict[str, dict[str, Relation]] = {}
        self._flat: dict[str, bytes] = {}
        self._names: dict[str, str] = {}
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head.startswith(olefile.MAGIC):
            raise _error_of_ole(path)
        if _FLAT in head:
            self._flat = _read_flat(path.read_bytes())
            self._names = {_key(name): name for name in self._flat}
            return
        self._zip = self._stack.enter_context(checked_zip(path, limits))
        self._names = {_key(name): name for name in self._zip.namelist()}

    def __enter__(self) -> Package:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def names(self) -> Iterator[str]:
        """Yield the names of all parts in lower case, without a leading slash."""
        return iter(self._names)

    def has(self, part: str) -> bool:
        """Return whether the part exists; letter case does not matter."""
        return _key(part) in self._names

    def read(self, part: str) -> bytes:
        """Return the bytes of a part.

        Raises:
            CorruptFile: it is missing or damaged.
        """
        name = self._names.get(_key(part))
        if name is None:
            raise CorruptFile(f"The part {part} is missing.")
        return self._flat[name] if self._flat else read_member(self._zip, name)

    def open(self, part: str) -> IO[bytes]:
        """Return a part as a stream; raises like ``read``."""
        name = self._names.get(_key(part))
        if name is None or self._flat:
            return io.BytesIO(self.read(part))
        try:
            return self._zip.open(name)
        except _DAMAGE as error:
            raise CorruptFile(f"The part {part} is damaged.") from error

    def tree(self, part: str) -> Node:
        """Return the root node of an XML part; raises like ``read`` and ``parse_xml``."""
        return parse_xml(self.read(part))

    def salvage(self, part: str) -> tuple[Node, bool]:
        """Return the root node of an XML part, and whether damage cut off what follows it.

        Raises:
            CorruptFile: nothing of it can be read.
            MaliciousFile: it is built to harm.
        """
        data = self.read(part)
        try:
            return parse_xml(data), False
        except CorruptFile:
            return parse_xml(data, recover=True), True

    def optional(self, part: str) -> Node | None:
        """Return the root node of a part that may be missing or damaged, None then.

        Raises:
            MaliciousFile: the part is built to harm.
        """
        if not self.has(part):
            return None
        try:
            return self.tree(part)
        except MaliciousFile:
            raise
        except IngestError:
            return None

    def relations(self, part: str) -> dict[str, Relation]:
        """Return the relations of a part by id; "" is the package itself."""
        if part not in self._relations:
            folder, name = posixpath.split(part)
            root = self.optional(posixpath.join(folder, "_rels", f"{name}.rels"))
            found = {} if root is None else dict(_relation(node, folder) for node in root)
            self._relations[part] = found
        return self._relations[part]

    def related(self, part: str, kind: str) -> list[str]:
        """Return the existing parts a part points at by one kind of relation, in stored order."""
        links = self.relations(part).values()
        return [
            link.target for link in links if link.kind == kind and not link.external and self.has(link.target)
        ]

    def main_part(self, fallback: str) -> str:
        """Return the part the package is about.

        Raises:
            CorruptFile: there is none.
        """
        for candidate in (*self.related("", "officeDocument"), fallback):
            if self.has(candidate):
                return candidate
        raise CorruptFile("The archive does not hold an Office document.")


def _error_of_ole(path: Path) -> IngestError:
    """Return why a compound file stands where a package should: Office wraps encrypted ones like this."""
    try:
        with olefile.OleFileIO(path) as ole:
            if ole.exists("EncryptedPackage"):
                return EncryptedFile()
    except OSError:
        return CorruptFile("The file is not a complete Office document.")
    return CorruptFile("The file is an older Office document under a newer name.")


def is_flat_package(head: bytes) -> bool:
    """Return whether the first bytes are those of a package in a single XML file."""
    return _FLAT in head


def _read_flat(data: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for part in parse_xml(data):
        name = attribute(part, "name").lstrip("/")
        for content in part:
            if local(content) == "xmlData" and len(content):
                found[name] = etree.tostring(content[0])
            elif local(content) == "binaryData":
                try:
                    found[name] = base64.b64decode(content.text or "")
                except binascii.Error:
                    continue
    return found


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _relation(node: Node, folder: str) -> tuple[str, Relation]:
    kind = attribute(node, "Type").rpartition("/")[2]
    target, external = attribute(node, "Target"), attribute(node, "TargetMode") == "External"
    if not external:
        path = posixpath.join("/", folder, unquote(target.replace("\\", "/")))
        target = posixpath.normpath(path).lstrip("/")
    return attribute(node, "Id"), Relation(kind, target, external)
