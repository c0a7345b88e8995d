from __future__ import annotations

import base64
import struct
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.context import ParseContext
from ingest.limits import ParseLimits
from ingest.parsers.mail import parse
from ingest.parsers.mail_tnef import SIGNATURE, read_tnef
from ingest.parsers.rich_text import decompress, rtf_to_text

# The example of [MS-OXRTFCP], section 3.1.
COMPRESSED = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
)


def attribute(name: int, value: bytes, level: int = 1) -> bytes:
    return struct.pack("<BII", level, name, len(value)) + value + struct.pack("<H", sum(value) & 0xFFFF)


def padded(value: bytes) -> bytes:
    return struct.pack("<I", len(value)) + value + b"\0" * (-len(value) % 4)


def text_property(name: int, value: str) -> bytes:
    return struct.pack("<HHI", 0x1F, name, 1) + padded(value.encode("utf-16-le") + b"\0\0")


def binary_property(name: int, value: bytes, kind: int = 0x102) -> bytes:
    return struct.pack("<HHI", kind, name, 1) + padded(value)


def properties(*values: bytes) -> bytes:
    return struct.pack("<I", len(values)) + b"".join(values)


NAMED = struct.pack("<HH16sII", 3, 0x8001, b"g" * 16, 1, 6) + b"a\0b\0\0\0\0\0" + struct.pack("<I", 7)


def stream(*attributes: bytes) -> bytes:
    return SIGNATURE + b"\1\0" + b"".join(attributes)


def test_body_fields_and_files() -> None:
    inner = stream(attribute(0x9003, properties(text_property(0x0037, "Inner"))))
    found = read_tnef(
        stream(
            attribute(0x9007, struct.pack("<II", 1251, 0)),
            attribute(
                0x9003,
                properties(
                    NAMED,
                    text_property(0x0C1A, "Ada"),
                    text_property(0x0037, "Rope 漢"),
                    binary_property(0x1013, "<p>Канат</p>".encode("cp1251")),
                ),
            ),
            attribute(0x9002, b"\0" * 14, 2),
            attribute(0x8010, b"SHORT~1.TXT\0", 2),
            attribute(0x800F, b"data", 2),
            attribute(0x9005, properties(text_property(0x3707, "C:\\x\\long name.txt")), 2),
            attribute(0x9002, b"\0" * 14, 2),
            attribute(0x9005, properties(binary_property(0x3701, b"i" * 16 + inner, 0x0D)), 2),
        )
    )
    assert found.fields == [("Subject", "Rope 漢"), ("From", "Ada")]
    assert found.html == "<p>Канат</p>"
    assert [(file.name, file.data, file.is_message) for file in found.files] == [
        ("long name.txt", b"data", False),
        ("", inner, True),
    ]
    assert found.is_whole


def test_compressed_rich_text_is_the_last_resort() -> None:
    rich = attribute(0x9003, properties(binary_property(0x1009, COMPRESSED)))
    assert read_tnef(stream(rich)).text == "hello world"
    assert read_tnef(stream(attribute(0x800C, b"plain\0"), rich)).text == "plain"


def test_rich_text() -> None:
    assert decompress(COMPRESSED) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    stored = struct.pack("<II4sI", 17, 5, b"MELA", 0) + b"{\\rtf and more"
    assert decompress(stored) == b"{\\rtf"
    assert decompress(b"junk") == b""
    wrapped = rb"{\rtf1\ansi\fromhtml1 {\*\htmltag64 <p>}\htmlrtf \par no\htmlrtf0 Caf\'e9 \u8364?}"
    assert rtf_to_text(wrapped) == "Café €"


def test_a_stream_that_breaks_off_is_read_so_far() -> None:
    whole = stream(attribute(0x800C, b"plain\0"), attribute(0x9002, b""), attribute(0x800F, b"data" * 9))
    found = read_tnef(whole[:-20])
    assert (found.text, found.files, found.is_whole) == ("plain", [], False)


def test_other_data_is_refused() -> None:
    with pytest.raises(ValueError, match="signature"):
        read_tnef(b"PK\3\4")


def test_a_count_beyond_the_data_costs_nothing() -> None:
    start = time.process_time()
    huge = struct.pack("<I", 0xFFFFFFFF)
    read_tnef(stream(attribute(0x9003, huge + struct.pack("<HH", 0x1003, 1) + huge)))
    read_tnef(stream(attribute(0x9003, huge + struct.pack("<HH", 0x001E, 1) + huge + b"\0" * 400_000)))
    decompress(struct.pack("<II4sI", 9, 0xFFFFFFFF, b"LZFu", 0) + b"\xff\x0c\xdf" * 50_000)
    assert time.process_time() - start < 5


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.binary(max_size=100))
def test_anything_ends(data: bytes, rich: bytes) -> None:
    read_tnef(stream(data))
    read_tnef(stream(attribute(0x9003, data)))
    decompress(b"\0" * 4 + b"\xff\0\0\0LZFu\0\0\0\0" + rich)
    rtf_to_text(rich)


def test_a_mail_gives_what_winmail_hides(tmp_path: Path) -> None:
    hidden = stream(
        attribute(0x800C, b"Hidden words\0"),
        attribute(0x9002, b""),
        attribute(0x8010, b"a.txt\0"),
        attribute(0x800F, b"data"),
        attribute(0x9002, b""),
        attribute(0x9005, properties(text_property(0x3707, "Old mail"), binary_property(0x3701, stream()))),
    )
    path = tmp_path / "source"
    path.write_bytes(
        b"Subject: x\nContent-Type: application/ms-tnef; name=winmail.dat\n"
        b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(hidden)
    )
    context = ParseContext(path, "a.eml", "message/rfc822", ParseLimits(), tmp_path)
    assert [piece.text for piece in parse(context)] == [
        "Subject: x",
        "Hidden words",
        "Attachment: winmail.dat",
        "Attachment: a.txt",
        "Attachment: Old mail.eml",
    ]
    assert [(child.name, child.media_type, child.part) for child in context.children] == [
        ("a.txt", "text/plain", "1.1"),
        ("Old mail.eml", "message/rfc822", "1.2"),
    ]
    nested = ParseContext(tmp_path / "00001.bin", "b.eml", "message/rfc822", ParseLimits(), tmp_path)
    assert [piece.text for piece in parse(nested)] == ["Attachment: winmail.dat"]
