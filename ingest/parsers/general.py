"""Further types through the library ``unstructured``: ``pip install 'strata-memory[general]'``.

Types with a reader of their own here do not come this way: the library's base install takes half a gigabyte
and some seconds to load, and its readers tell less of where things stand.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from ingest.anchors import SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, IngestError, MaliciousFile, UnsupportedFile
from ingest.model import ElementKind

_KINDS = {
    "Title": ElementKind.HEADING,
    "ListItem": ElementKind.LIST_ITEM,
    "Header": ElementKind.HEADER,
    "Footer": ElementKind.FOOTER,
    "FigureCaption": ElementKind.CAPTION,
    "Image": ElementKind.FIGURE,
    "CodeSnippet": ElementKind.CODE,
    "Table": ElementKind.PARAGRAPH,
}
_ENTITY = b"<!entity"
_HEAD = 65_536


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield what ``unstructured`` reads.

    Raises:
        UnsupportedFile: the library, or a part of it that this type needs, is not installed.
        CorruptFile: the library gave the file up.
        MaliciousFile: it is XML that defines entities.
    """
    partition = _partition(context.name)
    with context.path.open("rb") as stream:
        if _ENTITY in stream.read(_HEAD).lower():
            raise MaliciousFile("The file defines XML entities, which only hostile files do.")
    headings: list[str] = []
    for number, element in enumerate(_elements(context, partition), start=1):
        kind = _KINDS.get(type(element).__name__, ElementKind.PARAGRAPH)
        text = " ".join(str(element).split())
        if not text:
            continue
        level = (getattr(element.metadata, "category_depth", None) or 0) + 1
        if kind is ElementKind.HEADING:
            del headings[level - 1 :]
        anchor = SectionAnchor(heading_path=tuple(headings), paragraph=number)
        yield Piece(kind, text, anchor, level if kind in (ElementKind.HEADING, ElementKind.LIST_ITEM) else 0)
        if kind is ElementKind.HEADING:
            headings.append(text)


def _elements(context: ParseContext, partition: Callable[..., list[Any]]) -> list[Any]:
    try:
        return partition(filename=str(context.path), content_type=context.media_type)
    except IngestError:
        raise
    except ImportError as error:
        raise UnsupportedFile(f"Files like {context.name!r} need more than is installed: {error}.") from error
    except Exception as error:
        raise CorruptFile(f"The file cannot be read: {type(error).__name__} ({error!s:.200}).") from error


def _partition(name: str) -> Callable[..., list[Any]]:
    if importlib.util.find_spec("unstructured") is None:
        raise UnsupportedFile(
            f"Files like {name!r} are read through the library unstructured, which is not installed.",
            next_step="Run pip install 'strata-memory[general]', or convert the file to another type.",
        )
    from unstructured.partition.auto import partition

    _split_sentences_offline()
    found: Callable[..., list[Any]] = partition
    return found


@cache
def _split_sentences_offline() -> None:
    """Give the library a sentence splitter where its language model is missing, which it would download."""
    if importlib.util.find_spec("en_core_web_sm") is not None:
        return
    import spacy
    from unstructured.nlp import tokenize

    plain = spacy.blank("en")
    plain.add_pipe("sentencizer")
    # The only way in: it has no setting for the model.
    vars(tokenize)["_get_nlp"] = lambda: plain
