"""Pictures that a web page carries in itself (``data:`` addresses, RFC 2397): what is written in them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from ingest.anchors import SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.parsers.html_tokens import attributes, tokens
from ingest.parsers.inner_pictures import InnerPictures

_SCHEME = "data:image/"


def page_pictures(context: ParseContext, text: str) -> Iterator[Piece]:
    """Yield what is written in the pictures of a page, with the line each stands in. Nothing is fetched."""
    if _SCHEME not in text:
        return
    pictures = InnerPictures(context)
    for token in tokens(text):
        if token.kind == "start" and token.data == "img":
            data = carried_bytes(attributes(token.raw).get("src", "").strip())
            first, last = token.lines
            yield from pictures.read(data, SectionAnchor(line_start=first, line_end=last))
    pictures.report()


def carried_bytes(address: str) -> bytes:
    """Return the picture in a data: address, empty where it is none or damaged."""
    head, comma, body = address.partition(",")
    if not comma or not head.lower().startswith(_SCHEME):
        return b""
    data = unquote_to_bytes(body)
    if not head.lower().endswith(";base64"):
        return data
    try:
        return base64.b64decode(b"".join(data.split()) + b"==")
    except binascii.Error:
        return b""
