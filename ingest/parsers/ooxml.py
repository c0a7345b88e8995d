"""Reading the parts of an Office Open XML package (ECMA-376 part 2) without trusting it.

Strict packages (ISO 29500) use other namespace names for the same things; they are renamed on the way in,
so that every caller sees the transitional names only.
"""

from __future__ import annotations

import posixpath
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile, ZipInfo

import olefile
from lxml import etree

from ingest.errors import CorruptFile, EncryptedFile, FileTooLarge, IngestError, MaliciousFile
from ingest.limits import ParseLimits

Node: TypeAlias = Any  # lxml's element class is not public

NAMESPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "s": "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "xdr": "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
}
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/\2"
_HEAD = 8192
_DAMAGE = (BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)


class Relation(NamedTuple):
    """A link from one part to another part, or to an address outside (``external``)."""

    kind: str  # last word of the type's address: "image", "header", "comments"
    target: str
    external: bool


def tag(name: str) -> str:
    """Return lxml's name for a prefixed one: "w:p" becomes "{http…main}p"."""
    prefix, local = name.split(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def local(node: Node) -> str:
    """Return the name of a node without its namespace; "" for comments and entities."""
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def attribute(node: Node | None, name: str, default: str = "") -> str:
    """Return an attribute by its name without namespace."""
    if node is None:
        return default
    for key, value in node.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return default


def safe_parser(*, recover: bool = False) -> etree.XMLParser:
    """Return a parser that reaches no network, expands no entity and refuses absurd depth."""
    return etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, recover=recover,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip


def parse_xml(data: bytes, *, recover: bool = False) -> Node:
    """Return the root of a part.

    Args:
        data: the part.
        recover: keep what stands before the damage. The root may then be None.

    Raises:
        MaliciousFile: the part defines entities or nests without reason.
        CorruptFile: it is not XML.
    """
    data = _STRICT.sub(_TRANSITIONAL, data) if b"purl.oclc.org" in data[:_HEAD] else data
    try:
        root = etree.fromstring(data, safe_parser(recover=recover))
    except etree.XMLSyntaxError as error:
        if "depth" in str(error).lower():
            raise MaliciousFile("The document is nested deeper than any real one.") from error
        raise CorruptFile(f"A part of the document is not readable: {error}") from error
    if root is not None and (dtd := root.getroottree().docinfo.internalDTD) is not None:
        refuse_entities(dtd)
    return root


def refuse_entities(dtd: Node) -> None:
    """Raise MaliciousFile when a part brings entities of its own: Office never writes any."""
    if next(dtd.iterentities(), None) is not None:
        raise MaliciousFile("The document defines XML entities, which only hostile files do.")


class Package:
    """An opened package: parts by name, relations by part. Use as a context manager."""

    def __init__(self, path: Path, limits: ParseLimits) -> None:
        self._limits = limits
        try:
            self._zip = ZipFile(path)
        except _DAMAGE as error:
            raise not_a_package(path) from error
        self._infos = {_key(info.filename): info for info in self._zip.infolist()}
        if sum(info.file_size for info in self._infos.values()) > limits.max_unpacked_bytes:
            raise FileTooLarge("Unpacked, the file is larger than PARSE_MAX_UNPACKED_BYTES.")
        self._relations: dict[str, dict[str, Relation]] = {}

    def __enter__(self) -> Package:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def names(self) -> Iterator[str]:
        """Yield the names of all parts as stored, without a leading slash."""
        return (info.filename.replace("\\", "/").lstrip("/") for info in self._infos.values())

    def has(self, part: str) -> bool:
        """Return whether the part exists; letter case does not matter."""
        return _key(part) in self._infos

    def size(self, part: str) -> int:
        """Return the unpacked size of a part in bytes, 0 where there is none."""
        info = self._infos.get(_key(part))
        return info.file_size if info else 0

    def _info(self, part: str) -> ZipInfo:
        info = self._infos.get(_key(part))
        if info is None:
            raise CorruptFile(f"The part {part} is missing.")
        if info.flag_bits & 0x1:
            raise EncryptedFile
        return info

    def read(self, part: str) -> bytes:
        """Return the bytes of a part.

        Raises:
            CorruptFile: it is missing or damaged.
            EncryptedFile: the archive is protected by a password.
        """
        info = self._info(part)
        try:
            return self._zip.read(info)
        except _DAMAGE as error:
            raise CorruptFile(f"The part {part} is damaged.") from error

    def open(self, part: str) -> IO[bytes]:
        """Return a part as a stream; raises like ``read``."""
        info = self._info(part)
        try:
            return self._zip.open(info)
        except _DAMAGE as error:
            raise CorruptFile(f"The part {part} is damaged.") from error

    def tree(self, part: str) -> Node:
        """Return the root node of an XML part; raises like ``read`` and ``parse_xml``."""
        return parse_xml(self.read(part))

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


def not_a_package(path: Path) -> IngestError:
    """Return the error that says why a file is no zip archive."""
    if olefile.isOleFile(path):
        with olefile.OleFileIO(path) as ole:
            if ole.exists("EncryptedPackage"):
                return EncryptedFile()
    return CorruptFile("The file is not a complete Office document.")


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _relation(node: Node, folder: str) -> tuple[str, Relation]:
    kind = attribute(node, "Type").rpartition("/")[2]
    target, external = attribute(node, "Target"), attribute(node, "TargetMode") == "External"
    if not external:
        path = posixpath.join("/", folder, unquote(target.replace("\\", "/")))
        target = posixpath.normpath(path).lstrip("/")
    return attribute(node, "Id"), Relation(kind, target, external)
