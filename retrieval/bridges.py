"""Names that results bring up and the question lacks: what to ask about next, found without a model.

A question of two hops ("Who directed the film shot in Leland in 1986?") finds the first half; the second
stands elsewhere, under a name that the first half mentions. So the next question is that name and what the
first half leaves open of the question.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from extract.keyphrases import keyphrases
from extract.scripts import is_mostly_cjk
from extract.terms import stop_words
from retrieval.tokenizer import tokenize

# Small words inside a name: "Bank of England", "Ludwig van Beethoven", "Dungeons & Dragons".
_INSIDE = frozenset(
    {
        "of", "the", "and", "de", "la", "le", "du", "des", "van", "von",
        "der", "den", "di", "da", "do", "dos", "del", "y", "e", "und", "&",
    }
)  # fmt: skip
_PIECE = re.compile(r"[^\W_](?:[\w'’\-.&]*[\w&])?|&|[^\w\s]")
# Not behind an initial or a short form: "J. S. Bach", "Mr. Smith".
_SENTENCE = re.compile(r"(?<=[^\W\d_]{4}[.!?])\s+|(?<=[!?:;\n])\s*|\n+")
_WORD = re.compile(r"[^\W_][\w'’\-]*")
_QUOTED_CJK = re.compile(r"[《「『“]([^《》「」『』“”]{2,30})[》」』”]")
_PHRASES = 3  # per text of a script without capitals
_SHORTEST = 2


class Reading(NamedTuple):
    """A result as a judge reads it: the title of its episode and what it says."""

    title: str
    text: str


def names_in(text: str, language: str = "en") -> Iterator[str]:
    """Yield the names in a text, in order, with repeats: runs of capitalised words, or quoted titles."""
    if is_mostly_cjk(text):
        yield from _QUOTED_CJK.findall(text)
        yield from keyphrases([text], "zh", _PHRASES)
        return
    for sentence in _SENTENCE.split(text):
        run: list[str] = []
        for at, word in enumerate(_PIECE.findall(sentence)):
            # The first word of a sentence is capitalised whatever it is.
            if (word[0].isupper() and (at or _is_name(sentence))) or (run and word in _INSIDE):
                run.append(word)
            else:
                yield from _finished(run, language)
                run = []
        yield from _finished(run, language)


def _is_name(sentence: str) -> bool:
    """Say whether a sentence begins with a name, as far as the next word tells: names have several."""
    words = _PIECE.findall(sentence[:80])
    return len(words) > 1 and (words[1][0].isupper() or words[1] in _INSIDE)


def _finished(run: list[str], language: str) -> Iterator[str]:
    """Yield the name in a run: without small words at its end and words of grammar at its start."""
    words = list(run)
    while words and not words[-1][0].isupper():
        words.pop()
    while words and words[0].lower() in stop_words(language):
        words.pop(0)
    if words and len(" ".join(words)) >= _SHORTEST:
        yield " ".join(words)


def next_questions(
    question: str, readings: Sequence[Reading], most: int, known: Iterable[str] = (), language: str = "en"
) -> list[str]:
    """Return up to ``most`` further questions, the most promising first.

    Args:
        question: the first one.
        readings: the best results, best first.
        most: how many are wanted.
        known: what was asked already.
        language: of the question; whose words of grammar count for nothing.
    """
    asked = _terms(question, language)
    taken = [_terms(one, language) for one in known]
    weights: defaultdict[str, float] = defaultdict(float)
    source: dict[str, Reading] = {}
    for rank, reading in enumerate(readings):
        for name in names_in(reading.text, language):
            terms = _terms(name, language)
            if terms <= asked or terms <= _terms(reading.title, language) or not _says(terms):
                continue
            weights[name] += 1 / (1 + rank)
            source.setdefault(name, reading)
    chosen: list[str] = []
    for name in sorted(weights, key=lambda name: -weights[name]):
        terms = _terms(name, language)
        if len(chosen) == most:
            break
        if any(terms <= other or other <= terms for other in taken):
            continue
        taken.append(terms)
        chosen.append(f"{name} {_open(question, source[name])}".strip())
    return chosen


def covered(question: str, readings: Sequence[Reading], language: str = "en") -> bool:
    """Return whether one result alone holds every telling word of a question, and so leaves nothing open."""
    asked = _terms(question, language)
    return any(asked <= _terms(f"{one.title} {one.text}", language) for one in readings)


def _open(question: str, reading: Reading) -> str:
    """Return the words of a question that a result leaves open; all, where words cannot be told apart."""
    if is_mostly_cjk(question):
        return question
    told = set(tokenize(f"{reading.title} {reading.text}"))
    return " ".join(word for word in _WORD.findall(question) if not set(tokenize(word)) <= told)


def _terms(text: str, language: str) -> frozenset[str]:
    grammar = stop_words(language)
    return frozenset(
        term for word in _WORD.findall(text) if word.lower() not in grammar for term in tokenize(word)
    )


def _says(terms: frozenset[str]) -> bool:
    return any(not term.isdigit() for term in terms)
