"""What carries nothing by itself: greetings, backchannels, hesitation, stage directions."""

from __future__ import annotations

import re

from extract.scripts import CJK, is_mostly_cjk
from extract.terms import stop_words
from extract.wordlists import word_list

_WORD = re.compile(rf"[^\W_{CJK}]+(?:['’][^\W_{CJK}]+)*")
_HAN_RUN = re.compile(f"[{CJK}]+")
_DIGIT = re.compile(r"\d")
_DIRECTION = re.compile(r"\[[^\]]*\]|\([^)]*\)|（[^）]*）|【[^】]*】|♪[^♪]*♪?")


def is_filler(text: str) -> bool:
    """Say whether a sentence only greets, agrees, thanks or hesitates ("yeah", "ok, great", "嗯，好的")."""
    if _DIGIT.search(text):
        return False
    words = [word.replace("’", "'") for word in _WORD.findall(text.lower())]
    runs = _HAN_RUN.findall(text)
    if not words and not runs:
        return True
    return all(word in word_list("fillers") for word in words) and all(_is_filler_run(run) for run in runs)


def _is_filler_run(run: str) -> bool:
    fillers = word_list("fillers_cjk")
    at = 0
    while at < len(run):
        size = next((size for size in (5, 4, 3, 2, 1) if run[at : at + size] in fillers), 0)
        if not size:
            return False
        at += size
    return True


def is_stage_direction(text: str) -> bool:
    """Say whether a caption only tells what is heard: "[Laughter]", "(music)", "♪"."""
    return not _WORD.search(rest := _DIRECTION.sub("", text)) and not _HAN_RUN.search(rest)


def telling_words(text: str, language: str = "en") -> int:
    """Return how many words of a text mean something; two Chinese or Japanese characters count as one."""
    stops = stop_words(language)
    words = sum(len(word) > 1 and word.replace("’", "'") not in stops for word in _WORD.findall(text.lower()))
    return words + sum(map(len, _HAN_RUN.findall(text))) // 2


def has_substance(text: str, language: str = "en") -> bool:
    """Say whether a text says enough to stand as a fact: two words that mean something, one a number."""
    if _DIGIT.search(text):
        return telling_words(text, language) > 1 or (len(text.strip()) > 3 and bool(_WORD.search(text)))
    if is_mostly_cjk(text):
        return sum(map(len, _HAN_RUN.findall(text))) > 3 and not is_filler(text)
    return telling_words(text, language) > 1 and not is_filler(text)
