from __future__ import annotations

import base64
import binascii
import contextlib
import time
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, FileTooLarge, IngestError, MaliciousFile
from ingest.limits import ParseLimits
from ingest.parsers.mail import parse
from ingest.parsers.mail_headers import addresses, decode_words, parse_date


def read(folder: Path, source: str | bytes, **limits: int) -> tuple[list[Piece], ParseContext]:
    path = folder / "source"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    context = ParseContext(path, "a.eml", "message/rfc822", ParseLimits(**limits), folder)
    return list(parse(context)), context


def told(pieces: list[Piece]) -> list[tuple[str, str, str]]:
    return [(piece.kind.value, piece.anchor.label(), piece.text) for piece in pieces]


def body(pieces: list[Piece]) -> list[tuple[str, str]]:
    return [(piece.kind.value, piece.text) for piece in pieces if piece.anchor.label() != "mail headers"]


def multipart(kind: str, *parts: str, head: str = "Subject: x\n") -> str:
    inner = "".join(f"--b1\n{part}\n" for part in parts)
    return f'{head}Content-Type: multipart/{kind}; boundary="b1"\n\npreamble\n{inner}--b1--\nepilogue\n'


PLAIN = "Content-Type: text/plain; charset=utf-8\n\n"
HTML = "Content-Type: text/html; charset=utf-8\n\n"


def test_a_simple_mail(tmp_path: Path) -> None:
    source = (
        "From: =?utf-8?B?QWRhIE3DuHNz?= <ada@example.org>\nTo: Bo <bo@example.org>, team@example.org\n"
        'Cc: "Li, Wei" <li@example.org>\nSubject: =?utf-8?Q?Rope_f=C3=B6r?=\n =?utf-8?Q?_all?=\n'
        "Date: Tue, 05 Mar 2024 10:00:00 +0100\nMessage-ID: <1@x>\n"
        "In-Reply-To: <0@x>\nReferences: <a@x> <0@x>\n"
        "Received: by x; Tue, 05 Mar 2024 11:00:00 +0000\n\nFirst line\nsecond.\n\nNext.\n"
    )
    pieces, context = read(tmp_path, source)
    assert told(pieces) == [
        ("field", "mail headers", "Subject: Rope för all"),
        ("field", "mail headers", "From: Ada Møss <ada@example.org>"),
        ("field", "mail headers", "To: Bo <bo@example.org>, team@example.org"),
        ("field", "mail headers", 'Cc: "Li, Wei" <li@example.org>'),
        ("field", "mail headers", "Date: Tue, 05 Mar 2024 10:00:00 +0100"),
        ("paragraph", "mail part 1, line 1", "First line\nsecond."),
        ("paragraph", "mail part 1, line 4", "Next."),
    ]
    meta = context.metadata
    assert meta.title == "Rope för all"
    assert meta.authors == ("Ada Møss <ada@example.org>",)
    assert meta.participants == (
        "Ada Møss <ada@example.org>", "Bo <bo@example.org>", "team@example.org", "Li, Wei <li@example.org>",
    )  # fmt: skip
    assert meta.occurred_at == datetime.fromisoformat("2024-03-05T10:00:00+01:00")
    assert meta.extra == {"message_id": "<1@x>", "in_reply_to": "<0@x>", "references": ["<a@x>", "<0@x>"]}


def test_html_repeats_plain_text_once(tmp_path: Path) -> None:
    same = multipart(
        "alternative", PLAIN + "Bring the rope today.\n", HTML + "<p>Bring the <b>rope</b> today."
    )
    assert body(read(tmp_path, same)[0]) == [("paragraph", "Bring the rope today.")]
    richer = multipart(
        "alternative", PLAIN + "Rope\n", HTML + "<h1>Rope</h1><p>Bring two, and a map of the hill."
    )
    assert body(read(tmp_path, richer)[0]) == [
        ("heading", "Rope"),
        ("paragraph", "Bring two, and a map of the hill."),
    ]
    other = multipart(
        "alternative", PLAIN + "Your program shows no HTML.\n", HTML + "<p>Bring a map of the hill."
    )
    assert len(body(read(tmp_path, other)[0])) == 2


def test_a_repeating_part_adds_what_the_other_lacks(tmp_path: Path) -> None:
    words = "one two three four five six seven eight nine ten " * 9
    source = multipart(
        "alternative",
        PLAIN + f"{words}\n",
        HTML + f"<p>{words}<p>seven times <i>seventy</i><p>one two<p>http://example.org/x",
    )
    pieces, _ = read(tmp_path, source)
    assert body(pieces) == [("paragraph", words.rstrip()), ("paragraph", "seven times seventy")]
    assert pieces[-1].metadata == {"alternative": True}


def test_html_under_a_false_name(tmp_path: Path) -> None:
    source = multipart("alternative", PLAIN + "Bring rope\n", PLAIN + "<div>Bring <b>rope</b></div>\n")
    assert body(read(tmp_path, source)[0]) == [("paragraph", "Bring rope")]


def test_quotes_and_signature(tmp_path: Path) -> None:
    source = (
        "Subject: Re: rope\n\nYes.\nOn Mon, 4 Mar 2024, Bo Li\n<bo@example.org> wrote:\n"
        "> Is it\n> long?\n>> deep\n\nTen metres.\n\n-- \nAda\n"
    )
    pieces, _ = read(tmp_path, source)
    assert body(pieces) == [
        ("paragraph", "Yes."),
        ("quote", "On Mon, 4 Mar 2024, Bo Li\n<bo@example.org> wrote:"),
        ("quote", "Is it\nlong?"),
        ("quote", "deep"),
        ("paragraph", "Ten metres."),
        ("footer", "--\nAda"),
    ]
    assert pieces[-3].metadata == {"depth": 2}


OUTLOOK = "From: Bo\nSent: Monday\nTo: Ada\nSubject: rope\n\nIs it long?\n"


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        (f"Subject: RE: rope\n\nYes.\n\n{OUTLOOK}", ["paragraph", "quote", "quote"]),
        (f"Subject: FW: rope\n\nSee.\n\n{OUTLOOK}", ["paragraph", "paragraph", "paragraph"]),
        ("Subject: x\n\nYes.\n\n-----Original Message-----\nold\n\nolder\n", ["paragraph", "quote", "quote"]),
        ("Subject: x\n\nYes.\n\n-------- Forwarded Message --------\nnew\n", ["paragraph", "paragraph"]),
        (f"Subject: x\n{HTML}<p>Yes<blockquote>old</blockquote>", ["paragraph", "quote"]),
        (
            f"Subject: x\n{HTML}<p>Ja<p>Von: Bo<br>Gesendet: heute<br>An: Ada<p>alt",
            ["paragraph", "quote", "quote"],
        ),
    ],
)
def test_what_is_answered_and_what_is_forwarded(tmp_path: Path, source: str, kinds: list[str]) -> None:
    assert [kind for kind, _ in body(read(tmp_path, source)[0])] == kinds


def test_attachments_keep_their_bytes_and_names(tmp_path: Path) -> None:
    inner = b"Subject: inner\nFrom: c@example.org\n\nDeep words \xe9\n"
    source = multipart(
        "mixed",
        PLAIN + "Hello\n",
        "Content-Type: text/plain\nContent-Disposition: attachment;\n filename*0*=utf-8''%E6%BC%A2;\n"
        " filename*1*=%E5%AD%97.txt\nContent-Transfer-Encoding: base64\n\n"
        + base64.b64encode(b"data").decode(),
        'Content-Type: application/octet-stream; name="=?utf-8?Q?../caf=C3=A9.pdf?="\n\nPDF',
        "Content-Type: message/rfc822\n\n{inner}",
        "Content-Type: image/png\nContent-ID: <1>\nContent-Description: The hill\n\nPNG",
    ).encode()
    pieces, context = read(tmp_path, source.replace(b"{inner}\n", inner))
    assert [text for _, text in body(pieces)] == [
        "Hello", "Attachment: 漢字.txt", "Attachment: café.pdf", "Attachment: inner.eml",
        "Attachment: The hill.png",
    ]  # fmt: skip
    assert [(child.name, child.media_type, child.part) for child in context.children] == [
        ("漢字.txt", "text/plain", "2"),
        ("café.pdf", "application/pdf", "3"),
        ("inner.eml", "message/rfc822", "4"),
        ("The hill.png", "image/png", "5"),
    ]
    stored = [(tmp_path / child.stored_as).read_bytes() for child in context.children]
    assert stored == [b"data", b"PDF", inner.removesuffix(b"\n"), b"PNG"]


def test_calendar_parts_are_read(tmp_path: Path) -> None:
    event = (
        "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:X\nDTSTART:16010101T000000\nEND:VTIMEZONE\nBEGIN:VEVENT\n"
        'SUMMARY;LANGUAGE=en:Rope\\, and\n  hill\nDTSTART;TZID="Europe/Oslo":20240305T100000\n'
        "DTEND:20240305T110000Z\n"
        'ORGANIZER;CN="Moss: Ada":mailto:ada@example.org\nATTENDEE:MAILTO:bo@example.org\nbroken\n'
        "DESCRIPTION:One\\ntwo\nBEGIN:VALARM\nDESCRIPTION:no\nEND:VALARM\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    pieces, context = read(
        tmp_path, multipart("mixed", PLAIN + "Hi\n", "Content-Type: text/calendar\n\n" + event)
    )
    assert told(pieces)[2:] == [
        ("field", "mail part 2, line 7", "Summary: Rope, and hill"),
        ("field", "mail part 2, line 9", "Start: 2024-03-05 10:00 Europe/Oslo"),
        ("field", "mail part 2, line 10", "End: 2024-03-05 11:00 UTC"),
        ("field", "mail part 2, line 11", "Organizer: Moss: Ada <ada@example.org>"),
        ("field", "mail part 2, line 12", "Attendee: bo@example.org"),
        ("paragraph", "mail part 2, line 14", "One\ntwo"),
    ]
    assert context.children == []


def test_uuencoded_files_leave_the_text(tmp_path: Path) -> None:
    data = bytes(range(256)) * 2
    lines = b"".join(binascii.b2a_uu(data[at : at + 45]) for at in range(0, len(data), 45)).decode()
    pieces, context = read(tmp_path, f"Subject: x\n\nBefore\n\nbegin 644 a.bin\n{lines}`\nend\nAfter\n")
    assert [text for _, text in body(pieces)] == ["Before", "After", "Attachment: a.bin"]
    assert (tmp_path / context.children[0].stored_as).read_bytes() == data
    assert pieces[2].anchor.label() == f"mail part 1, line {6 + lines.count(chr(10))}"


def test_sloppy_mails_are_read(tmp_path: Path) -> None:
    wrong_boundary = (
        'Content-Type: multipart/mixed; boundary="no"\n\n--yes\nContent-Type: text/plain\n\nWords\n--yes--\n'
    )
    assert body(read(tmp_path, wrong_boundary)[0]) == [("paragraph", "Words")]
    cut_off = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nWords"
    assert body(read(tmp_path, cut_off)[0]) == [("paragraph", "Words")]
    no_separator = "Subject: x\nThis is the text at once\n"
    assert body(read(tmp_path, no_separator)[0]) == [("paragraph", "This is the text at once")]
    spaced = "   \n\nFrom x@y Mon\nSubject: x\n\nWords"
    assert body(read(tmp_path, spaced)[0])[-1] == ("paragraph", "Words")
    wide = "Subject: x\n\nWörds\n".encode("utf-16")
    assert body(read(tmp_path, wide)[0]) == [("paragraph", "Wörds")]
    latin = "Subject: Grüße\nContent-Type: text/plain; charset=nonsense\n\nschöne Grüße aus Köln\n".encode(
        "latin-1"
    )
    assert told(read(tmp_path, latin)[0])[0][2] == "Subject: Grüße"
    assert body(read(tmp_path, latin)[0]) == [("paragraph", "schöne Grüße aus Köln")]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("=?gbk?B?warNqA==?=", "联通"),  # its bytes are valid UTF-8 too
        ("=?iso-8859-1?Q?caf=C3=A9?=", "café"),  # UTF-8 under a false label
        ("=?nonsense?Q?caf=E9?=", "café"),
        ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
        ("=?utf-8?B?5ryi5a0=?= =?utf-8?B?lw==?=", "漢字"),  # a character cut between two words
        ("=?utf-8?Q?a_b?= c =?utf-8?Q?d?= =?utf-8?Q?e?=", "a b c de"),
        ("=?utf-8*en?Q?x?=y", "xy"),
        ("=?utf-8?Q?open", "=?utf-8?Q?open"),
    ],
)
def test_encoded_words(value: str, shown: str) -> None:
    assert decode_words(value) == shown


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        ("Wed, 20 Sep 1995 00:19:00 (EDT) -0400", "1995-09-20T00:19:00-04:00"),
        ("5 Mar 2024 10:00", "2024-03-05T10:00:00+00:00"),
        ("2024-03-05T10:00:00+01:00", "2024-03-05T10:00:00+01:00"),
        ("Tue, 5 Mar 24 10:00:00 GMT", "2024-03-05T10:00:00+00:00"),
        ("soon", None),
        ("", None),
    ],
)
def test_dates(value: str, iso: str | None) -> None:
    found = parse_date(value)
    assert (found.isoformat() if found else None) == iso


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a@b (Ada M.)", ("Ada M. <a@b>",)),
        ('"Moss, \\"A\\"" <a@b>, <c@d>', ('Moss, "A" <a@b>', "c@d")),
        ("team: a@b, C <c@d>;", ("a@b", "C <c@d>")),
        ("undisclosed-recipients:;", ()),
        ("=?utf-8?Q?Moss=2C_Ada?= <a@b>", ("Moss, Ada <a@b>",)),
        ('"open <a@b>', ("open <a@b>",)),
    ],
)
def test_addresses(value: str, shown: tuple[str, ...]) -> None:
    assert addresses([value]) == shown


def test_binary_data_is_no_mail(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read(tmp_path, bytes(range(256)))


def test_endless_nesting_is_refused(tmp_path: Path) -> None:
    nested = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(300))
    with pytest.raises(MaliciousFile, match="nested"):
        read(tmp_path, nested + "\nend")
    with pytest.raises(MaliciousFile, match="divided"):
        read(tmp_path, multipart("mixed", *[PLAIN + "x"] * 2_001))
    with pytest.raises(FileTooLarge, match="attachments"):
        read(tmp_path, multipart("mixed", *["Content-Type: image/png\n\nx"] * 30), max_attachments=20)


def test_a_mail_in_a_mail_in_a_mail_is_one_child(tmp_path: Path) -> None:
    start = time.process_time()
    _, context = read(tmp_path, "Content-Type: message/rfc822\n\nSubject: in\n" * 20_000)
    assert len(context.children) == 1
    assert time.process_time() - start < 5


PARTS = st.sampled_from(
    ["Subject: ", "=?utf-8?B?", "=?x?Q?=ZZ?=", "?=", "Content-Type: multipart/mixed; boundary=b\n",
     "Content-Type: multipart/alternative; boundary=\"b\n", "Content-Type: text/html; charset=utf-16\n",
     "Content-Transfer-Encoding: base64\n", "Content-Transfer-Encoding: quoted-printable\n", "--b\n",
     "--b--\n", "\n", "\n\n", "\r", "\t", "<p>", "> ", "begin 644 a\nM", "\nend\n", "From: ", "a@b, <c",
     "\"", "(", ";", "filename*0*=x''%ZZ", "Content-Disposition: attachment; ", "Date: Mon, 99", "é", "\x00",
     "Content-Type: text/calendar\n\nBEGIN:VEVENT\nDTSTART:2024", "Content-Type: application/ms-tnef\n\n",
     "Content-Type: message/rfc822\n\n"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.lists(PARTS, max_size=40).map("".join).map(str.encode), st.binary(max_size=300)))
def test_anything_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, source: bytes) -> None:
    try:
        pieces, _ = read(tmp_path_factory.mktemp("eml"), source)
    except IngestError:
        return
    assert all(piece.text.strip() for piece in pieces)


@pytest.mark.parametrize(
    "unit",
    ["To: a@b\n", "To: =?a?b?c?=", "=?a?q?", " =?a?q?b?=", "<a@b>,", "\"", "(", "\\", "Content-Type: ",
     "; a=b", ";", '"; ', "Subject: x\n\n--b\n", "On x 1\n", "> ", "From: x\nSent: y\nTo: z\n\n",
     "begin 644 a\nM\x7f\n", "\nend", "-- \n", "x", "--   ",
     "Content-Type: multipart/mixed; boundary=b\n\n--b\n", " \t", "\r", "filename*1=a;"],
)  # fmt: skip
@pytest.mark.parametrize(
    "head",
    [
        multipart("alternative", HTML + "x", PLAIN)[:-20],
        "To: ",
        "Content-Type: multipart/mixed; boundary=",
        "Subject: x\n\n",
        "",
    ],
)
def test_time_grows_with_length_only(tmp_path: Path, head: str, unit: str) -> None:
    start = time.process_time()
    with contextlib.suppress(IngestError):
        read(tmp_path, head + unit * 8_000)
    assert time.process_time() - start < 5
