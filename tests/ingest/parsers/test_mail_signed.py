from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.context import ParseContext, Piece
from ingest.errors import MaliciousFile
from ingest.limits import ParseLimits
from ingest.parsers.mail import parse
from ingest.parsers.mail_signed import signed_content

DATA = bytes.fromhex("06092a864886f70d010701")
SIGNED = bytes.fromhex("06092a864886f70d010702")
ENVELOPED = bytes.fromhex("06092a864886f70d010703")
INNER = b"Content-Type: text/plain\r\n\r\nSigned words\r\n"


def der(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    size = len(content)
    length = bytes([size]) if size < 0x80 else b"\x82" + size.to_bytes(2, "big")
    return bytes([tag]) + length + content


def ber(tag: int, *contents: bytes) -> bytes:
    return bytes([tag, 0x80]) + b"".join(contents) + b"\0\0"


def signed(inner: bytes) -> bytes:
    return der(
        0x30,
        SIGNED,
        der(0xA0, der(0x30, b"\2\1\1", der(0x31), der(0x30, DATA, der(0xA0, der(4, inner))), der(0x31))),
    )


STREAMED = ber(
    0x30,
    SIGNED,
    ber(
        0xA0,
        ber(0x30, b"\2\1\1", der(0x31), ber(0x30, DATA, ber(0xA0, ber(0x24, der(4, b"on"), der(4, b"e"))))),
    ),
)


def read(folder: Path, source: bytes) -> tuple[list[Piece], ParseContext]:
    path = folder / "source"
    path.write_bytes(source)
    context = ParseContext(path, "a.eml", "message/rfc822", ParseLimits(), folder)
    return list(parse(context)), context


def mail(content: bytes) -> bytes:
    head = b"Content-Type: application/pkcs7-mime; name=smime.p7m\nContent-Transfer-Encoding: base64\n\n"
    return head + base64.encodebytes(content)


def test_content_in_both_length_forms() -> None:
    assert signed_content(signed(INNER)) == INNER
    assert signed_content(STREAMED) == b"one"


@pytest.mark.parametrize(
    "data", [b"", b"0", der(0x30), der(0x30, ENVELOPED, der(0xA0)), b"\x30\x84\xff\xff\xff\xff"]
)
def test_other_data_has_no_content(data: bytes) -> None:
    assert signed_content(data) is None


def test_the_mail_inside_is_read_in_place(tmp_path: Path) -> None:
    pieces, context = read(tmp_path, b"Subject: x\n" + mail(signed(INNER)))
    assert [(piece.text, piece.anchor.label()) for piece in pieces] == [
        ("Subject: x", "mail headers"),
        ("Signed words", "mail part 1.1, line 1"),
    ]
    assert context.warnings == []


def test_what_is_encrypted_is_told(tmp_path: Path) -> None:
    pieces, context = read(tmp_path, b"Subject: x\n" + mail(der(0x30, ENVELOPED, der(0xA0))))
    assert [piece.text for piece in pieces] == ["Subject: x", "Attachment: smime.p7m"]
    assert [warning.code for warning in context.warnings] == ["encrypted_part"]


def test_endless_wrapping_is_refused(tmp_path: Path) -> None:
    content = INNER
    for _ in range(60):
        content = b"Content-Type: application/pkcs7-mime\n\n" + signed(content)
    with pytest.raises(MaliciousFile):
        read(tmp_path, content)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.integers(0, 80).map(lambda cut: signed(INNER)[:cut])))
def test_anything_ends(data: bytes) -> None:
    signed_content(data)
    signed_content(b"\x30\x80" + SIGNED + data)
