"""What carries nothing by itself: greetings, backchannels, hesitation."""

from __future__ import annotations

import re

from extract.scripts import CJK, is_mostly_cjk
from extract.terms import is_stop_word
from extract.wordlists import word_list

_WORD = re.compile(rf"[^\W_{CJK}]+(?:['’][^\W_{CJK}]+)*")
_HAN_RUN = re.compile(f"[{CJK}]+")
_NUMBER = re.compile(r"\d")


def is_filler(text: str) -> bool:
    """Say whether a sentence only greets, agrees, thanks or hesitates ("yeah", "ok, great", "嗯，好的")."""
    if _NUMBER.search(text):
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


def has_substance(text: str) -> bool:
    """Say whether a text says enough to stand as a fact: two words that mean something, or a number."""
    if _NUMBER.search(text):
        return len(text.strip()) > 3
    if is_mostly_cjk(text):
        return sum(map(len, _HAN_RUN.findall(text))) > 3 and not is_filler(text)
    words = _WORD.findall(text.lower())
    return sum(len(word) > 1 and not is_stop_word(word) for word in words) > 1 and not is_filler(text)
