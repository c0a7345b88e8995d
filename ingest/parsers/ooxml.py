"""Reading Office Open XML (ECMA-376, ISO 29500) markup without trusting it.

Strict packages (ISO 29500) use other namespace names for the same things; they are renamed on the way in,
so that every caller sees the transitional names only.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from lxml import etree

from ingest.errors import CorruptFile, FileTooLarge, IngestError, MaliciousFile

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
        recover: keep what stands before the damage.

    Raises:
        MaliciousFile: the part defines entities or nests without reason.
        FileTooLarge: it holds a text of more than ten million characters.
        CorruptFile: it is not XML.
    """
    data = _STRICT.sub(_TRANSITIONAL, data) if b"purl.oclc.org" in data[:_HEAD] else data
    try:
        root = etree.fromstring(data, safe_parser(recover=recover))
    except etree.XMLSyntaxError as error:
        raise error_of(error) from error
    if root is None:
        raise CorruptFile("A part of the document is not readable.")
    if (dtd := root.getroottree().docinfo.internalDTD) is not None:
        refuse_entities(dtd)
    return root


def error_of(error: etree.XMLSyntaxError) -> IngestError:
    """Return what a complaint of the XML reader means to the user."""
    words = str(error).lower()
    if "depth" in words or "entit" in words:
        return MaliciousFile("The document is nested or defined in a way that only hostile files are.")
    if "huge" in words:
        return FileTooLarge("A single text of the document is longer than ten million characters.")
    return CorruptFile(f"A part of the document is not readable: {error}")


def refuse_entities(dtd: Node) -> None:
    """Raise MaliciousFile when a part brings entities of its own: Office never writes any."""
    if next(dtd.iterentities(), None) is not None:
        raise MaliciousFile("The document defines XML entities, which only hostile files do.")
