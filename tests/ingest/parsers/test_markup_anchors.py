"""Each anchor is checked by another reader than the one that made it: it opens the source and looks there."""

from __future__ import annotations

import html
import os
import re
import unicodedata
from codecs import BOM_UTF16_LE
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.policy import default
from functools import lru_cache
from pathlib import Path

import pytest
import webvtt
from selectolax.lexbor import LexborHTMLParser

from ingest.anchors import CueAnchor, MailAnchor, SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.encoding import decode_text
from ingest.errors import IngestError
from ingest.limits import ParseLimits
from ingest.model import ElementKind
from ingest.parsers import html as html_parser
from ingest.parsers import mail, subtitles

CORPUS = os.environ.get("CORPUS_DIR")
UNSEEN = re.compile(r"[\s\u00ad\u200b-\u200f\ufeff|>()]+")


def bare(text: str) -> str:
    """Text without what reading changes: white space, quote marks, cell bars, parentheses of ruby."""
    return UNSEEN.sub("", unicodedata.normalize("NFC", text))


@lru_cache(maxsize=4)
def split_lines(text: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", text)


def lines_of(text: str, first: int | None, last: int | None) -> str:
    assert first is not None
    assert last is not None
    return "\n".join(split_lines(text)[first - 1 : last])


def assert_on_lines(quote: str, text: str, first: int | None, last: int | None, *, is_markup: bool) -> None:
    """The lines hold the quote; in markup its text or, for alternative texts and values, its attributes."""
    source = lines_of(text, first, last)
    if not is_markup:
        assert bare(quote) in bare(source)
        return
    seen = bare(LexborHTMLParser(source).root.text() or "")
    attributes = bare(html.unescape(source))
    missing = [word for word in quote.split() if bare(word) not in seen and bare(word) not in attributes]
    assert not missing, (missing, source)


def check_html(piece: Piece, text: str) -> None:
    assert isinstance(piece.anchor, SectionAnchor)
    for part in piece.text.split("\n"):
        assert_on_lines(
            part.replace("[x]", "").replace("[ ]", ""), text,
            piece.anchor.line_start, piece.anchor.line_end, is_markup=True,
        )  # fmt: skip


@lru_cache(maxsize=1)
def captions_of(path: Path) -> list[webvtt.Caption]:
    return list(webvtt.read(str(path)))


def check_vtt(piece: Piece, path: Path) -> None:
    assert isinstance(piece.anchor, CueAnchor)
    near = [
        caption
        for caption in captions_of(path)
        if abs(caption.start_in_seconds - int(piece.anchor.start_s)) <= 0
        and abs(caption.end_in_seconds - int(piece.anchor.end_s)) <= 0
    ]
    words = bare(piece.text)
    assert any(words in bare(html.unescape(re.sub("<[^>]*>", "", caption.raw_text))) for caption in near)
    if piece.anchor.speaker:
        assert any(piece.anchor.speaker in html.unescape(caption.raw_text) for caption in near)


def ascii_of(text: str) -> str:
    """What is left of a header where readers may differ over raw bytes beyond ASCII."""
    return bare(text.encode("ascii", "ignore").decode()).replace("<", "")


def part_at(message: EmailMessage, place: str) -> EmailMessage:
    if not message.is_multipart():
        assert place == "1"
        return message
    for number in place.split("."):
        if message.get_content_subtype() == "ms-tnef":
            break  # the rest of the place is inside the packed file
        message = list(message.iter_parts())[int(number) - 1]
    return message


def check_mail(piece: Piece, message: EmailMessage) -> None:
    assert isinstance(piece.anchor, MailAnchor)
    label, _, value = piece.text.partition(": ")
    if piece.anchor.part == "headers":
        raw = " ".join(held for name, held in message.raw_items() if name.lower() == label.lower())
        assert ascii_of(value) in ascii_of(str(make_header(decode_header(raw.replace("\n", "")))))
        return
    part = part_at(message, piece.anchor.part)
    if label == "Attachment":
        is_packed = part.get_content_subtype() == "ms-tnef"
        assert is_packed or value == (part.get_filename() or value)
        return
    if piece.anchor.line_start is None or part.get_content_subtype() == "ms-tnef":
        return  # a place without lines, or text that is packed: the part is all that can be looked up
    if part.get_content_type() == "message/delivery-status":
        text = "\n".join(str(one).rstrip("\n") + "\n" for one in part.iter_parts())
    else:
        content = part.get_content()
        text = content if isinstance(content, str) else decode_text(content)[0]
    assert_on_lines(
        piece.text, text, piece.anchor.line_start, piece.anchor.line_end,
        is_markup=part.get_content_subtype() in ("html", "enriched", "richtext"),
    )  # fmt: skip


def context_for(path: Path, media_type: str, folder: Path) -> ParseContext:
    return ParseContext(path, path.name, media_type, ParseLimits(), folder)


def check_file(path: Path, folder: Path) -> int:
    """Check every piece of a file; return how many there were."""
    if path.suffix in (".html", ".htm"):
        context = context_for(path, "text/html", folder)
        pieces = list(html_parser.parse(context))
        text = decode_text(path.read_bytes(), context.metadata.encoding)[0]
        for piece in pieces:
            check_html(piece, text)
    elif path.suffix == ".vtt":
        pieces = list(subtitles.parse(context_for(path, "text/vtt", folder)))
        for piece in pieces:
            check_vtt(piece, path)
    else:
        pieces = list(mail.parse(context_for(path, "message/rfc822", folder)))
        source = path.read_bytes()
        if source.startswith(BOM_UTF16_LE):
            source = source.decode("utf-16").encode()
        message = message_from_bytes(source.lstrip(), policy=default)
        assert isinstance(message, EmailMessage)
        for piece in pieces:
            check_mail(piece, message)
    return len(pieces)


PAGE = """<!doctype html><meta charset=utf-8><title>Guide</title>
<body><h1
 class=a>Moss &amp;
 lichen</h1>
<!-- a comment
over lines --><p>One
two<br>three <b>four
five</b>
<script>
let x;
</script><p>six<img
 alt="a hill">
<pre>

seven

<i
>eight</i> é
</pre>
<table><tr><th>A</th>
<th>B</th></tr><tr>
<td rowspan=2>c<td>d<tr><td>e</table>
<input value="nine">
"""
TRANSCRIPT = """WEBVTT

1
00:00:01.000 --> 00:00:02.500
<v Ada>Hello
there</v>

00:03.000 --> 00:04.000
Bo: Hi &amp; bye

00:05.000 --> 00:06.000
Bo: Yes
"""
MAIL = (
    b"Subject: =?utf-8?Q?R=C3=B6pe?=\nFrom: Ada <a@b.org>\nContent-Type: multipart/mixed; boundary=o\n\n--o\n"
    b"Content-Type: multipart/alternative; boundary=i\n\n--i\nContent-Type: text/plain; charset=latin-1\n"
    b"Content-Transfer-Encoding: quoted-printable\n\nFirst=\n line=E9\n\n> quoted\n> twice\n\n-- \nAda\n--i\n"
    b"Content-Type: text/html\n\n<p>Other\n<p>words on the hill<p>and more of them\n--i--\n--o\n"
    b"Content-Type: text/plain; name=a.txt\nContent-Disposition: attachment\n\ndata\n--o--\n"
)


@pytest.mark.parametrize(
    ("name", "source", "least"),
    [("a.html", PAGE.encode(), 10), ("a.vtt", TRANSCRIPT.encode(), 3), ("a.eml", MAIL, 8)],
)
def test_anchors_of_made_files(tmp_path: Path, name: str, source: bytes, least: int) -> None:
    path = tmp_path / name
    path.write_bytes(source)
    assert check_file(path, tmp_path) >= least


def corpus_files() -> list[Path]:
    if not CORPUS:
        return []
    folder = Path(CORPUS) / "files"
    return sorted(path for kind in ("html", "htm", "vtt", "eml") for path in folder.glob(f"{kind}/*"))


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS, reason="set CORPUS_DIR to the folder of real files")
def test_anchors_of_real_files(tmp_path: Path) -> None:
    failed: list[str] = []
    checked = 0
    for path in corpus_files():
        try:
            checked += check_file(path, tmp_path)
        except (IngestError, AssertionError, LookupError, ValueError) as error:
            failed.append(f"{path.name}: {type(error).__name__} {str(error)[:300]}")
    assert not failed, "\n".join(failed)
    assert checked > 0


def test_a_wrong_anchor_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(PAGE, encoding="utf-8")
    piece = next(
        one
        for one in html_parser.parse(context_for(path, "text/html", tmp_path))
        if one.kind is ElementKind.HEADING
    )
    assert isinstance(piece.anchor, SectionAnchor)
    moved = piece.anchor.model_copy(update={"line_start": 6, "line_end": 7})
    with pytest.raises(AssertionError):
        check_html(piece._replace(anchor=moved), PAGE)
