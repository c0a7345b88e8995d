"""Mails: headers as fields, the body with quotes marked, everything else handed over as files."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from ingest.anchors import MailAnchor
from ingest.context import ParseContext, Piece
from ingest.encoding import decode_text, wide_encoding
from ingest.errors import CorruptFile
from ingest.formats import EML, by_media_type, by_name
from ingest.model import ElementKind
from ingest.parsers.mail_body import carried_elsewhere, read_html, read_text, unsaid, words_of
from ingest.parsers.mail_calendar import read_calendar
from ingest.parsers.mail_headers import Headers, addresses, clean_name, parse_date, read_headers
from ingest.parsers.mail_parts import Leaf, cut_uuencoded, leaves
from ingest.parsers.mail_quotes import Replies
from ingest.parsers.mail_signed import signed_content
from ingest.parsers.mail_tnef import HiddenFile, read_tnef

_SHOWN = ("Subject", "From", "Sender", "To", "Cc", "Bcc", "Reply-To", "Date", "Organization", "Newsgroups",
          "Keywords", "Comments")  # fmt: skip
_MAX_PEOPLE = 500
_MAX_TITLE = 500
_MAX_REFERENCES = 200
_MAILS = frozenset({EML, "message/global", "message/news", "text/rfc822"})
_CALENDARS = frozenset({"text/calendar", "application/ics", "text/x-vcalendar"})
# Parts that only prove or seal others.
_SEALS = ("pkcs7-signature", "pgp-signature", "pgp-keys", "pgp-encrypted", "applefile")
_SEALED = ("application/pkcs7-mime", "application/x-pkcs7-mime")


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield the headers, then the text of the mail in order; other parts become attachments.

    Raises:
        CorruptFile: the file has no mail header and is no text.
        FileTooLarge: more attachments than ``limits.max_attachments``.
        MaliciousFile: more parts, or more nested, than any mail has.
    """
    data = context.path.read_bytes()
    if wide_encoding(data):  # a mail saved by an editor: its parts are ASCII all the same
        data = decode_text(data)[0].encode("utf-8")
    data = data.removeprefix(b"\xef\xbb\xbf")
    headers = read_headers(data)
    if not headers.message.keys() and b"\0" in data:
        raise CorruptFile("The file holds no mail headers and is no text.")
    yield from _header_fields(headers)
    _describe(context, headers)
    yield from _Reading(context, headers.get("Subject")).read(headers, data[headers.body_at :])


def _header_fields(headers: Headers) -> Iterator[Piece]:
    anchor = MailAnchor(part="headers")
    for name in _SHOWN:
        value = ", ".join(filter(None, headers.all(name)))
        if value and not (name == "Sender" and value == headers.get("From")):
            yield Piece(ElementKind.FIELD, f"{name}: {value}", anchor, metadata={"field": name.lower()})


def _describe(context: ParseContext, headers: Headers) -> None:
    authors = addresses(headers.all("From"))
    others = addresses(value for name in ("To", "Cc", "Bcc") for value in headers.all(name))
    stamps = (*headers.all("Date"), *(one.rpartition(";")[2] for one in headers.all("Received")))
    extra: dict[str, object] = {
        "message_id": headers.get("Message-ID"),
        "in_reply_to": headers.get("In-Reply-To"),
        "references": headers.get("References").split()[:_MAX_REFERENCES],
    }
    context.describe(
        title=headers.get("Subject")[:_MAX_TITLE] or None,
        authors=authors,
        participants=tuple(dict.fromkeys((*authors, *others)))[:_MAX_PEOPLE],
        occurred_at=next(filter(None, map(parse_date, stamps)), None),
        extra={name: value for name, value in extra.items() if value},
    )


class _Reading:
    """The reading of one mail's body, part by part."""

    def __init__(self, context: ParseContext, subject: str) -> None:
        self._context = context
        self._replies = Replies(subject)
        self._said: list[str] = []

    def read(self, headers: Headers, body: bytes, path: str = "") -> Iterator[Piece]:
        found = list(leaves(headers, body, path))
        carried = carried_elsewhere(found)
        for leaf in found:
            if leaf.path in carried:
                yield from unsaid(self._read_body(leaf), carried[leaf.path])
            else:
                yield from self._read(leaf)

    def _read(self, leaf: Leaf) -> Iterator[Piece]:
        name = leaf.headers.file_name
        if leaf.media_type.endswith(_SEALS):
            if leaf.media_type == "application/pgp-encrypted":
                self._warn_of_encryption(leaf)
            yield from self._listed(name, leaf.path)
        elif leaf.media_type in _SEALED:
            yield from self._unseal(leaf, name)
        elif leaf.media_type in _CALENDARS or name.lower().endswith(".ics"):
            yield from self._listed(name, leaf.path)
            yield from read_calendar(leaf.text, leaf.path)
        elif leaf.media_type == "application/ms-tnef" or name.lower() == "winmail.dat":
            yield from self._read_tnef(leaf, name)
        elif self._is_read_here(leaf, name):
            yield from self._read_body(leaf)
        else:
            yield from self._attach(leaf, name)

    def _unseal(self, leaf: Leaf, name: str) -> Iterator[Piece]:
        """Read the mail inside a signature that wraps it; what is encrypted is only named."""
        content = signed_content(leaf.data)
        if content is None:
            self._warn_of_encryption(leaf)
            yield from self._listed(name, leaf.path)
            return
        inner = read_headers(content, is_part=True)
        yield from self.read(inner, content[inner.body_at :], f"{leaf.path}.1")

    def _warn_of_encryption(self, leaf: Leaf) -> None:
        self._context.warn("encrypted_part", f"Part {leaf.path} of the mail is encrypted and was not read.")

    def _is_read_here(self, leaf: Leaf, name: str) -> bool:
        """Whether a part is text of this mail, not a file that came with it."""
        if leaf.is_attached or leaf.media_type in _MAILS:
            return False
        if leaf.media_type.startswith(("text/", "message/")):
            return not name or leaf.alternative is not None or (leaf.is_body and not self._said)
        return False

    def _read_body(self, leaf: Leaf) -> Iterator[Piece]:
        text = leaf.text
        self._replies.begin_part()
        if leaf.is_markup:
            self._said.append(text)
            yield from read_html(text, leaf.path, self._replies)
            return
        text, files = cut_uuencoded(text)
        self._said.append(text)
        yield from read_text(text, leaf.path, self._replies)
        for name, data in files:
            yield from self._hand_over(clean_name(name), "", data, leaf.path)

    def _attach(self, leaf: Leaf, name: str) -> Iterator[Piece]:
        if leaf.media_type in _MAILS:
            inner = read_headers(leaf.data)
            name = (
                name
                or f"{clean_name(inner.get('Subject').replace('/', ' ')) or _unnamed('mail', leaf.path)}.eml"
            )
            yield from self._hand_over(name, EML, leaf.data, leaf.path)
            return
        description = clean_name(leaf.headers.get("Content-Description").replace("/", " "))
        row = by_media_type(leaf.media_type)
        extension = f".{row.extensions[0]}" if row else ""
        name = name or f"{description or _unnamed('part', leaf.path)}{extension}"
        yield from self._hand_over(name, leaf.media_type, leaf.data, leaf.path)

    def _read_tnef(self, leaf: Leaf, name: str) -> Iterator[Piece]:
        try:
            found = read_tnef(leaf.data)
        except ValueError:
            yield from self._attach(leaf, name)
            return
        if not found.is_whole:
            self._context.warn("cut_off", f"Part {leaf.path} (winmail.dat) breaks off.")
        for label, value in found.fields:
            anchor = MailAnchor(part=leaf.path)
            yield Piece(ElementKind.FIELD, f"{label}: {value}", anchor, metadata={"field": label.lower()})
        read = read_html if found.html else read_text
        pieces = read(found.html or found.text, leaf.path, self._replies)
        yield from unsaid(pieces, words_of(self._said))
        yield from self._listed(name, leaf.path)
        for number, file in enumerate(found.files, start=1):
            yield from self._hand_over_hidden(file, f"{leaf.path}.{number}")

    def _hand_over_hidden(self, file: HiddenFile, part: str) -> Iterator[Piece]:
        if not file.is_message:
            yield from self._hand_over(file.name or _unnamed("part", part), "", file.data, part)
            return
        head = b"Content-Type: application/ms-tnef; name=winmail.dat\nContent-Transfer-Encoding: base64\n\n"
        name = f"{file.name or _unnamed('mail', part)}.eml"
        yield from self._hand_over(name, EML, head + base64.encodebytes(file.data), part)

    def _hand_over(self, name: str, media_type: str, data: bytes, part: str) -> Iterator[Piece]:
        """Attach a file and yield its name, which is text of the mail."""
        if media_type in ("", "application/octet-stream"):
            row = by_name(name)
            media_type = row.media_type if row else "application/octet-stream"
        if data:
            self._context.attach(name, media_type, data, part)
        yield from self._listed(name if data or not name.startswith("part-") else "", part)

    @staticmethod
    def _listed(name: str, part: str) -> Iterator[Piece]:
        if name:
            yield Piece(
                ElementKind.FIELD,
                f"Attachment: {name}",
                MailAnchor(part=part),
                metadata={"field": "attachment"},
            )


def _unnamed(kind: str, part: str) -> str:
    return f"{kind}-{part.replace('.', '-')}"
