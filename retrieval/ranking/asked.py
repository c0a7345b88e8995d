"""What a question tells about its answer besides its words and its sense."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from extract.language import detect_language
from retrieval.protocols import SparseVector
from retrieval.ranking.periods import Period, closeness, named_periods
from retrieval.sparse import encode_query
from retrieval.traits import Traits

_WORD = re.compile(r"\w+")
_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_TIME = re.compile(
    r"^\W*(?:so |and |but )?when\b|\bwhat (?:day|date|month|year|time)\b"
    r"|\bwhich (?:day|month|year|week)\b|\bhow long\b"
    r"|什么时候|何时|几月|几号|哪年|哪一年|哪天|多久|什么时间",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\bhow (?:many|much|long|often|old|far|big|tall)\b|多少|几[个次位种本年天]|多大|多长", re.IGNORECASE
)


class Asked(NamedTuple):
    """A question, understood without a model.

    Attributes:
        text: as asked.
        words: its words, case folded.
        language: the one it is written in, as far as a short text tells.
        cjk: it is written in Chinese characters, kana or hangul.
        time: it asks for a time.
        number: it asks for a number.
        periods: the times it names.
        terms: what it looks for by word.
    """

    text: str
    words: frozenset[str]
    language: str
    cjk: bool
    time: bool
    number: bool
    periods: tuple[Period, ...] = ()
    terms: SparseVector = SparseVector((), ())

    def packed(self) -> list[Any]:
        """Return it as JSON can hold it."""
        periods, terms = [list(one) for one in self.periods], list(self.terms)
        return [*self[:_WORDS], sorted(self.words), *self[_WORDS + 1 : _PERIODS], periods, terms]

    @classmethod
    def unpacked(cls, packed: Sequence[Any]) -> Asked:
        """Return what ``packed`` gave."""
        one = cls(*packed)
        indices, values = one.terms
        return one._replace(
            words=frozenset(one.words),
            periods=tuple(Period(*period) for period in one.periods),
            terms=SparseVector(tuple(indices), tuple(values)),
        )

    def names(self, people: tuple[str, ...]) -> bool:
        """Return whether the question names one of these people, by full name or first name."""
        folded = self.text.casefold()
        return any(_named(person, folded, self.words) for person in people)

    def near(self, traits: Traits) -> float:
        """Return how near an item lies to the times the question names, 0 to 1; its telling counts too."""
        if not self.periods:
            return 0.0
        return max(
            closeness(self.periods, traits.start, traits.end),
            closeness(self.periods, traits.told_start, traits.told_end),
        )


_WORDS, _PERIODS = Asked._fields.index("words"), Asked._fields.index("periods")


def ask(text: str, now: datetime | None = None) -> Asked:
    """Return what a question tells.

    Args:
        text: the question.
        now: what relative times in it are resolved against; the present when None.
    """
    language = detect_language(text)
    return Asked(
        text=text,
        words=frozenset(_WORD.findall(text.casefold())),
        language=language,
        cjk=_HAN.search(text) is not None or _KANA_OR_HANGUL.search(text) is not None,
        time=_TIME.search(text) is not None,
        number=_NUMBER.search(text) is not None,
        periods=named_periods(text, now or datetime.now(UTC)),
        terms=encode_query(text, language),
    )


def _named(person: str, folded: str, words: frozenset[str]) -> bool:
    if _HAN.search(person) or _KANA_OR_HANGUL.search(person):
        return person in folded
    parts = _WORD.findall(person)
    return bool(parts) and (parts[0] in words or set(parts) <= words)
