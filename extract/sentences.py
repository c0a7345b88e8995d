"""Where sentences begin and end, as spans, so that what is quoted stays verbatim.

Rules for English and its neighbours (abbreviations, initials, decimals, quotes) and for Chinese and
Japanese (full-width stops, closing quotes, quoted speech inside a sentence), one pass for both: a text
may hold them side by side. A line break ends a sentence only where the line is an item of a list or
stands alone; elsewhere it is a wrapped line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from extract.scripts import CJK, count_cjk
from extract.wordlists import word_list

# Longer sentences are cut at a clause: an atomic fact has to fit the encoder beside its context.
MAX_LATIN = 600
MAX_CJK = 200

_ASIDE_CHARACTERS = 120
_CLOSERS = "\"'”’»)\\]）】》」』〉｝}*_"
_NOTES = r"(?:\[\d{1,3}\])*"  # footnote marks stand behind the full stop
_STOP = re.compile(
    rf"[.!?…]+[{_CLOSERS}]*{_NOTES}(?=\s|$)|[。！？｡]+[{_CLOSERS}]*{_NOTES}|．(?!\d)"
    rf"|[!?]+[{_CLOSERS}]*(?=[{CJK}])|(?<=[{CJK}])\.(?=[{CJK}])|[।؟۔]+"
)
_LAST_WORD = re.compile(r"(?:^|[\s(\[\"'“‘/\-–—])([^\W_][\w.]*)$")
_NEXT_WORD = re.compile(rf"[\s{_CLOSERS}\"'“‘(\[]*([^\W_]+)")
_ENUMERATOR = re.compile(r"[(（]?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[A-Za-z]|[ivxIVX]{1,4})$")
_BULLET = re.compile(
    r"[ \t\u3000]*(?:[-*+•·▪◦‣●○■□–—]\s|\(?\d{1,3}[.)、](?!\d)|\(?[a-zA-Z][.)]\s|[①-⑳]"
    r"|[（(][一二三四五六七八九十\d]{1,3}[)）]|[一二三四五六七八九十]{1,3}、|[>#|])"
)
_FIELD = re.compile(r"[^\W\d_][\w-]{0,30}(?: [\w-]{1,20}){0,3}\s?[:：](?:\s|$)")
_SAID = re.compile(r"[^，。！？,.!?\n]{0,8}?(?:说|問|问|道|答|喊|叫|称|表示|と)")
_BREAK = re.compile(r"[ \t]*\n\s*")
_CLAUSE = re.compile(rf"[;；]\s*|\n\s*|[，、]|,\s+|\s+[–—-]\s+|(?<=[{CJK}])\s+")
_OPENERS, _ENDERS = "「『（《", "」』）》"


class Span(NamedTuple):
    """A stretch of a text: ``text[start:end]``."""

    start: int
    end: int


def sentence_spans(text: str) -> list[Span]:
    """Return the sentences of a text in order, without the blanks around them."""
    return [part for line in _lines(text) for span in _sentences(text, line) for part in _clauses(text, span)]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text in order."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _trim(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _lines(text: str) -> Iterator[Span]:
    """Yield the runs of lines that belong together."""
    if "\n" not in text:
        span = _trim(text, 0, len(text))
        if span.end > span.start:
            yield span
        return
    widest = max(len(line) for line in text.split("\n"))
    start = 0
    for found in _BREAK.finditer(text):
        if _is_line_end(text, start, found, widest):
            span = _trim(text, start, found.start())
            if span.end > span.start:
                yield span
            start = found.end()
    span = _trim(text, start, len(text))
    if span.end > span.start:
        yield span


def _is_line_end(text: str, start: int, found: re.Match[str], widest: int) -> bool:
    if text.count("\n", found.start(), found.end()) > 1 or _BULLET.match(text, found.end()):
        return True
    line_start = max(start, text.rfind("\n", 0, found.start()) + 1)
    if _FIELD.match(text, line_start) and _FIELD.match(text, found.end()):
        return True
    after = text[found.end() : found.end() + 1]
    # A line far shorter than its neighbours that is followed by a capital is not wrapped text.
    return (found.start() - line_start) * 10 < widest * 6 and not after.islower()


def _sentences(text: str, line: Span) -> Iterator[Span]:
    start = line.start
    for found in _STOP.finditer(text, line.start, line.end):
        if found.end() <= start or not _ends_sentence(text, start, found, line.end):
            continue
        span = _trim(text, start, found.end())
        if span.end > span.start:
            yield span
        start = found.end()
    span = _trim(text, start, line.end)
    if span.end > span.start:
        yield span


def _ends_sentence(text: str, start: int, found: re.Match[str], limit: int) -> bool:
    mark = found.group()
    if found.end() >= limit:
        return True
    if mark[0] in "。！？｡．":
        return not _inside_quote(text, start, found, limit)
    following = _NEXT_WORD.match(text, found.end(), limit)
    if following is None:
        return True
    if text.count("(", start, found.end()) > text.count(")", start, found.end()):
        # Inside brackets that close soon: "(died 1558, comm. 4 May)".
        return ")" not in text[found.end() : min(limit, found.end() + _ASIDE_CHARACTERS)]
    word = following.group(1)
    if word[0].islower():
        return mark[-1] in "!?"
    return mark[0] != "." or mark.startswith("..") or not _abbreviates(text[start : found.start()], word)


def _inside_quote(text: str, start: int, found: re.Match[str], limit: int) -> bool:
    """Say whether a full-width stop belongs to speech quoted inside a longer sentence."""
    head = text[start : found.end()]
    depth = sum(head.count(mark) for mark in _OPENERS) - sum(head.count(mark) for mark in _ENDERS)
    if depth > 0 and any(mark in text[found.end() : min(limit, found.end() + MAX_CJK)] for mark in _ENDERS):
        return True
    return found.group()[-1] in "”’」』" and _SAID.match(text, found.end(), limit) is not None


def _abbreviates(before: str, following: str) -> bool:
    """Say whether the full stop after ``before`` ends a short form, not a sentence."""
    if _ENUMERATOR.fullmatch(before.strip()):
        return True
    found = _LAST_WORD.search(before)
    if found is None:
        return False
    word = found.group(1)
    lower = word.lower()
    if lower in word_list("short_forms_inside"):
        return lower not in ("no", "nos", "p", "pp") or following[0].isdigit()
    if word.isdigit():
        return len(word) < 3 and following.lower() in word_list("after_ordinals")
    if (
        lower in word_list("short_forms_either")
        or (len(word) == 1 and word.isupper())
        or re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]", word)
    ):
        return following.lower() not in word_list("sentence_starters")
    return False


def _clauses(text: str, span: Span) -> Iterator[Span]:
    """Cut an overlong sentence at clause ends, in parts of about equal length."""
    start, end = span
    limit = MAX_CJK if count_cjk(text[start:end]) * 3 > end - start else MAX_LATIN
    while end - start > limit:
        target = start + (end - start) // -(-(end - start) // limit)
        ends = [
            found.end() for found in _CLAUSE.finditer(text, start + limit // 4, min(end - 1, start + limit))
        ]
        cut = min(ends, key=lambda at: abs(at - target), default=0)
        if not cut:
            cut = text.rfind(" ", start + limit // 2, start + limit) + 1 or start + limit
        yield _trim(text, start, cut)
        start = _trim(text, cut, end).start
    if end > start:
        yield Span(start, end)
