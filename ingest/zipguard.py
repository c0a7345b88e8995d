"""The one place where a zip archive is judged before any reader of office files opens it.

Refused are archives that unpack to too much, claim more data than they hold, hold too many members, are
locked, or whose XML declares a document type (the way to entity bombs and to reading foreign files). Nothing
is ever unpacked to disk, so names of members that climb out of a folder do no harm.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from ingest.errors import CorruptFile, EncryptedFile, FileTooLarge, MaliciousFile
from ingest.limits import ParseLimits

# Repetitive sheets pack 100:1 in good faith; below this size a high ratio costs nothing.
_RATIO_FREE_BYTES = 32 * 2**20
_USUAL_PROLOG_BYTES, _PROLOG_BYTES = 4 * 2**10, 64 * 2**10
_XML_NAMES = (".xml", ".rels", ".vml")
_ROOT_OR_DOCTYPE = re.compile(r"<(?:(!doctype)|[a-z_])", re.IGNORECASE)
# One that is never closed goes to the end, and is not looked for again from each of its signs.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)", re.DOTALL)
_ENCODING = re.compile(r"<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']*)", re.IGNORECASE)
# Encodings in which markup is written in ASCII.
_PLAIN_ENCODING = re.compile(
    r"(?:utf-?(?:8|16(?:-?[lb]e)?)|(?:us-)?ascii|iso-8859-\d+|windows-\d+|cp125\d|koi8-[ru]|gb\w+|big5"
    r"|shift_jis|euc-\w+)$",
    re.IGNORECASE,
)
_EBCDIC = "Lo\xa7\x94"
_ENTITY = re.compile(r"<!entity", re.IGNORECASE)


@contextmanager
def checked_zip(path: Path, limits: ParseLimits) -> Iterator[ZipFile]:
    """Open an archive whose directory is within the limits.

    Raises:
        CorruptFile: it is cut off or its directory is damaged.
        EncryptedFile: a member is locked by a password.
        FileTooLarge: it holds or unpacks to more than the limits allow.
        MaliciousFile: its members claim more packed data than the file has, or overlap.
    """
    try:
        package = ZipFile(path)
    except (BadZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise CorruptFile(f"The file is a damaged or incomplete archive: {error}.") from error
    with package:
        _check_directory(package.infolist(), path.stat().st_size, limits)
        yield package


def read_member(package: ZipFile, member: str | ZipInfo, most: int | None = None) -> bytes:
    """Return the unpacked bytes of a member, the first ``most`` of them when given.

    Raises:
        CorruptFile: the member is missing, damaged or packed in an unknown way.
    """
    name = member if isinstance(member, str) else member.filename
    try:
        with package.open(member) as stream:
            return stream.read() if most is None else stream.read(most)
    except (KeyError, BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, RuntimeError) as error:
        raise CorruptFile(f"The part {name} of the file is damaged: {error}.") from error


def check_markup(package: ZipFile, *, doctype_allowed: bool = False) -> None:
    """Look at the beginning of every XML part, up to its root element.

    Args:
        package: an archive from ``checked_zip``.
        doctype_allowed: only entity declarations are refused; web pages in books carry a doctype.

    Raises:
        MaliciousFile: a part declares a document type or entities.
    """
    for member in package.infolist():
        if not member.filename.lower().endswith(_XML_NAMES):
            continue
        try:
            met = any(
                check_prolog(
                    read_member(package, member, most), member.filename, doctype_allowed=doctype_allowed
                )
                for most in (_USUAL_PROLOG_BYTES, _PROLOG_BYTES)
            )
        except CorruptFile:
            continue  # the reader of the type decides whether it can do without this part
        if not met and member.file_size >= _PROLOG_BYTES:
            raise MaliciousFile(f"The part {member.filename} hides its content behind an endless preamble.")


def check_prolog(head: bytes, name: str, *, doctype_allowed: bool = False) -> bool:
    """Refuse XML whose beginning declares a document type, or an encoding that would hide one.

    Args:
        head: the first bytes of the part.
        name: what it is called, for the message.
        doctype_allowed: only entity declarations are refused.

    Returns:
        Whether the root element was met; False asks for a longer head.

    Raises:
        MaliciousFile: as above.
    """
    # Without its zero bytes UTF-16 and UTF-32 read as the ASCII that markup is made of.
    text = head.replace(b"\0", b"").decode("latin-1")
    declared = _ENCODING.search(text[:200])
    if text.startswith(_EBCDIC) or (declared and not _PLAIN_ENCODING.match(declared.group(1))):
        raise MaliciousFile(f"The part {name} is in an encoding that no office program writes.")
    text = _COMMENT.sub("", text)
    found = _ROOT_OR_DOCTYPE.search(text)
    if found and found.group(1) and (not doctype_allowed or _ENTITY.search(text)):
        raise MaliciousFile(f"The part {name} declares a document type, the vehicle of entity attacks.")
    return found is not None


def _check_directory(members: list[ZipInfo], size: int, limits: ParseLimits) -> None:
    if len(members) > limits.max_members:
        raise FileTooLarge(
            f"The archive has {len(members)} members; PARSE_MAX_MEMBERS allows {limits.max_members}."
        )
    if any(member.flag_bits & 0x1 for member in members):
        raise EncryptedFile
    unpacked = sum(member.file_size for member in members)
    if unpacked > limits.max_unpacked_bytes:
        raise FileTooLarge(
            f"The file unpacks to {unpacked} bytes;"
            f" PARSE_MAX_UNPACKED_BYTES allows {limits.max_unpacked_bytes}."
        )
    if unpacked > _RATIO_FREE_BYTES and unpacked > size * limits.max_unpack_ratio:
        raise FileTooLarge(
            f"The file unpacks to {unpacked // max(size, 1)} times its size;"
            f" PARSE_MAX_UNPACK_RATIO allows {limits.max_unpack_ratio:g}."
        )
    packed = sum(member.compress_size for member in members)
    if packed > size or len({member.header_offset for member in members}) < len(members):
        raise MaliciousFile("Members of the archive share the same data, as in a zip bomb.")
