"""Small Office files for the tests, written by independent libraries or part by part."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from ingest.context import ParseContext, Parser, Piece
from ingest.limits import ParseLimits
from ingest.parsers.ole_writer import compound_file


def read(parser: Parser, path: Path, limits: ParseLimits | None = None) -> tuple[list[Piece], ParseContext]:
    """Run a parser in this process and return what it yields and reports."""
    children = path.parent / f"{path.name}.children"
    children.mkdir(exist_ok=True)
    context = ParseContext(path, path.name, "", limits or ParseLimits(), children)
    return list(parser(context)), context


def zip_parts(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    """Write an archive of the given parts."""
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def replace_part(path: Path, name: str, data: str | bytes) -> Path:
    """Write a copy of an archive in which one part is replaced or added."""
    target = path.with_name(f"changed-{path.name}")
    with ZipFile(path) as archive, ZipFile(target, "w", ZIP_DEFLATED) as copy:
        for info in archive.infolist():
            if info.filename != name:
                copy.writestr(info, archive.read(info))
        copy.writestr(name, data)
    return target


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relations(*links: tuple[str, str, str]) -> str:
    """Return a relations part from (id, kind, target)."""
    inside = "".join(
        f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{target}"/>' for key, kind, target in links
    )
    return f'<Relationships xmlns="{RELATIONS}">{inside}</Relationships>'


def word_file(path: Path, body: str, parts: Mapping[str, str | bytes] | None = None, **links: str) -> Path:
    """Write a Word file from the XML of its body.

    Args:
        path: where.
        body: WordprocessingML with the prefixes w, r, m, mc, wp, wps, a, v.
        parts: further parts by name.
        links: target by relation kind; the relation id is the kind.
    """
    root = (
        f'<w:document xmlns:w="{WORD}" xmlns:r="{OFFICE}" '
        'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
        'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'xmlns:v="urn:schemas-microsoft-com:vml">'
        f"<w:body>{body}</w:body></w:document>"
    )
    return zip_parts(
        path,
        {
            "_rels/.rels": relations(("rId1", "officeDocument", "word/document.xml")),
            "word/document.xml": root,
            "word/_rels/document.xml.rels": relations(
                *((kind, kind, target) for kind, target in links.items())
            ),
            **(parts or {}),
        },
    )


def ole_file(path: Path, streams: Mapping[str, bytes]) -> Path:
    """Write an OLE compound file of one storage; short streams are padded to 4,096 bytes."""
    path.write_bytes(compound_file(streams))
    return path
