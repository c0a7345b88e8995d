"""Which legacy code page some bytes are in, told by how natural the characters look that they become.

Every candidate decodes the bytes; the characters beyond ASCII are then judged in their context, in the manner
of Mozilla's chardetng: letters usual in a language count for, and signs inside words, a capital after a small
letter, mixed scripts, control codes and rare ideographs count against. The letters usual in a language are
listed in ``charset_letters``, with the commonest ideographs and syllables.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ingest.charset_letters import EAST_ASIAN, LATIN, SCRIPTS

# Characters beyond ASCII that are judged: of every candidate, and of those still in question after that.
_FIRST_LOOK, _SECOND_LOOK = 300, 3_000
_STILL_IN_QUESTION = 0.4
_NONSENSE = -0.5
# Judgements one file may cost, about a second. A hostile mail has ten thousand parts in no language at all.
_JUDGEMENTS_PER_FILE = 4_000_000
_RUN = re.compile(r"(?s)[^\s\x00-\x7f]?[a-zA-Z]?[^\x00-\x7f]+[a-zA-Z]?")
_RARE = frozenset(("cp437", "cp850", "cp852", "macintosh", "iso-8859-6"))
_TYPOGRAPHIC = frozenset(
    "“”„‚‘’«»‹›–—…•·€£§©®™°¿¡№×½¼¾²³±µ\xa0\xad†‡、。「」『』・ー！？（）：；，《》〈〉　～‥"
)

# The codec that reads what is in the wild under a name: supersets, as in the WHATWG Encoding standard.
CODECS = {
    "shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs", "windows-874": "cp874",
    "macintosh": "mac_roman", "mac-cyrillic": "mac_cyrillic",
}  # fmt: skip


class Guess(NamedTuple):
    """An encoding and how natural its text looks, from -2 (nonsense) to 1 (every sign usual)."""

    encoding: str
    score: float


def codec_of(encoding: str) -> str:
    """Return the name Python knows an encoding by."""
    return CODECS.get(encoding, encoding)


@dataclass
class _Effort:
    """What guessing has cost since a file was begun, and what was found in it last."""

    left: int = _JUDGEMENTS_PER_FILE
    last: str = "windows-1252"


_EFFORT = _Effort()


def begin_file() -> None:
    """Say that what is guessed from now on belongs to another file: the effort is counted by file."""
    _EFFORT.left, _EFFORT.last = _JUDGEMENTS_PER_FILE, "windows-1252"


def guess_charset(data: bytes) -> Guess:
    """Return the most natural legacy encoding of some bytes; "windows-1252" when nothing tells.

    In a file that has been guessed at for too long, it is what was found in it last.
    """
    if _EFFORT.left <= 0:
        return Guess(_EFFORT.last, 0.0)
    candidates = dict(_decodings(data))
    scores = {name: naturalness(runs, name, _FIRST_LOOK) for name, runs in candidates.items()}
    likely = max(scores, key=lambda name: scores[name], default="windows-1252")
    best = Guess("windows-1252", -2.0)
    if scores.get(likely, -2.0) < _NONSENSE:
        return best  # no text in any language
    least = scores[likely] - _STILL_IN_QUESTION
    for encoding, runs in candidates.items():
        if scores[encoding] >= least:
            score = naturalness(runs, encoding, _SECOND_LOOK)
            if score > best.score + 0.02:
                best = Guess(encoding, score)
    _EFFORT.last = best.encoding
    return best


def _decodings(data: bytes) -> Iterator[tuple[str, list[str]]]:
    """Yield the encodings that can decode some bytes, with the stretches beyond ASCII they become."""
    for encoding in (*LATIN, *SCRIPTS, *EAST_ASIAN):
        try:
            text = data.decode(codec_of(encoding))
        except UnicodeDecodeError as error:
            if error.start < len(data) - 3:
                continue
            text = data[: error.start].decode(codec_of(encoding))
        yield encoding, list(_bounded((match.group() for match in _RUN.finditer(text)), _SECOND_LOOK))


def _bounded(runs: Iterable[str], signs: int) -> Iterator[str]:
    """Yield stretches of text up to a number of characters, the last one cut."""
    for run in runs:
        yield run[:signs]
        signs -= len(run)
        if signs <= 0:
            return


def naturalness(runs: Iterable[str], encoding: str, signs: int) -> float:
    """Return how usual characters beyond ASCII are in a language written in that encoding.

    Args:
        runs: the stretches of text they stand in.
        encoding: one of ``LATIN``, ``SCRIPTS`` or ``EAST_ASIAN``.
        signs: how many characters are looked at.
    """
    runs = list(_bounded(runs, signs))
    _EFFORT.left -= sum(map(len, runs))
    if encoding in EAST_ASIAN:
        return _mean(_judge_ideographs(runs, _set(EAST_ASIAN[encoding])), encoding)
    if encoding in SCRIPTS:
        return max(_mean(_judge_script(runs, _weights(letters)), encoding) for letters in SCRIPTS[encoding])
    return max(_mean(_judge_latin(runs, _weights(letters)), encoding) for letters in LATIN[encoding])


def _mean(values: Iterator[float], encoding: str) -> float:
    """Average the judgements together with two more that say how common the encoding is in files."""
    prior = 0.6 if encoding == "windows-1252" else 0.2 if encoding.startswith("windows") else 0.0
    prior = -0.3 if encoding in _RARE else prior
    total, count = 2 * prior, 2
    for value in values:
        total += value
        count += 1
    return total / count


@cache
def _set(letters: str) -> frozenset[str]:
    return frozenset(letters)


@cache
def _weights(letters: str) -> dict[str, float]:
    """Weigh letters listed by frequency from 1.0 down to 0.4."""
    return {letter: 1.0 - 0.6 * place / len(letters) for place, letter in reversed([*enumerate(letters)])}


def _judge_ideographs(runs: list[str], usual: frozenset[str]) -> Iterator[float]:
    for run in runs:
        for sign in run:
            if sign in usual:
                yield 1.0
            elif sign in _TYPOGRAPHIC:
                yield 0.3
            elif sign > "\x7f":
                yield 0.1 if "\u4e00" <= sign <= "\u9fff" or "\uac00" <= sign <= "\ud7a3" else -1.0


def _judge_script(runs: list[str], weights: dict[str, float]) -> Iterator[float]:
    for run in runs:
        before = ""
        for sign in run:
            if sign > "\x7f":
                yield _script_sign(before, sign, weights)
            elif before > "\x7f" and before.isalpha():
                yield -1.0  # a Latin letter grown onto another script
            before = sign


def _script_sign(before: str, sign: str, weights: dict[str, float]) -> float:
    weight = weights.get(sign.lower())
    if weight is None:
        return _other_sign(before, sign)
    if sign.isupper():
        return -1.0 if before.islower() else weight * 0.8
    return weight


def _judge_latin(runs: list[str], weights: dict[str, float]) -> Iterator[float]:
    for run in runs:
        before = ""
        for sign in run:
            if sign > "\x7f":
                yield _latin_sign(before, sign, weights)
            before = sign


def _latin_sign(before: str, sign: str, weights: dict[str, float]) -> float:
    weight = weights.get(sign.lower())
    if weight is None:
        return _other_sign(before, sign)
    if sign.isupper() and before.islower():
        return -1.0
    if before > "\x7f" and before.isalpha():
        return weight - 0.7  # words of accented letters alone are another script in disguise
    return weight


def _other_sign(before: str, sign: str) -> float:
    if sign in _TYPOGRAPHIC:
        return -0.3 if before.isalpha() and sign not in "’”»…–—\xad\xa0" else 0.3
    if sign.isalpha():
        return -0.5
    return -2.0 if unicodedata.category(sign) in ("Cc", "Cn", "Co") else -1.0
