"""The words of a subtitle cue: tags and references resolved, voices told apart.

WebVTT (W3C Candidate Recommendation, 2019), section 6.4, read tolerantly: what is no known tag but looks like
one is dropped, a "<" that begins no tag is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import NamedTuple

_TAG = re.compile(r"<(/?)([a-zA-Z]+)(?:[.\s][^<>]*)?>|<\d[\d:.,]*>|</>")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*+)?[ \t]++([^<>]*+)>", re.IGNORECASE)
_VOICE_MARK = re.compile(r"<(?=v[.\s][^<>]*>|/v>)", re.IGNORECASE)
_READING = re.compile(r"<rt[^<>]*>([^<>]*)(?:</rt>)?", re.IGNORECASE)
_RUBY = re.compile(r"<ruby[^<>]*>(.*?)(?:</ruby>|\Z)", re.IGNORECASE | re.DOTALL)
_WORD_TIMES = re.compile(r"<\d+:\d[\d:.]*>")

# A name before a colon: "Ana Petrović: …", "Dr. No: …", "Speaker 1: …", "李雷：…".
_PREFIX = re.compile(r"\s*([^\s:：<>][^:：<>\n]{0,59}?)\s*(?::(?=\s)|：|:(?=[\u3040-\u9fff]))\s*")
_NAME_WORD = re.compile(r"[^\W\d_][\w'’.\-]*|\d{1,3}|[(\[][^()\[\]]*[)\]]|[&+/|–-]")
_PARTICLES = frozenset("al and bin da de del den der di dos du el la le of the und van von y".split())  # noqa: SIM905
_MAX_NAME_WORDS = 7
# A transcript with names gives one in at least this share of its cues; else a name must return to count.
_NAMED_SHARE = 0.3


class Utterance(NamedTuple):
    """Words of one voice."""

    speaker: str | None
    text: str


def has_word_times(text: str) -> bool:
    """Whether words carry times of their own, as in captions that roll up line by line."""
    return _WORD_TIMES.search(text) is not None


def utterances(text: str) -> list[Utterance]:
    """Return the words of a cue, one entry for each voice tag; the speaker is None where none is tagged."""
    found: list[Utterance] = []
    for part in _VOICE_MARK.split(text):
        voice = _VOICE.match(f"<{part}") if part[:1] in "vV" else None
        plain = _plain(part[voice.end() - 1 :] if voice else part.removeprefix("/v>"))
        if plain:
            speaker = " ".join(unescape(voice.group(1)).split()) if voice else None
            found.append(Utterance(speaker or None, plain))
    return found


def _plain(text: str) -> str:
    if "<" in text:
        text = _TAG.sub("", _RUBY.sub(lambda ruby: _with_reading(ruby.group(1)), text))
    lines = (" ".join(line.split()) for line in unescape(text).split("\n"))
    return "\n".join(line for line in lines if line)


def _with_reading(ruby: str) -> str:
    reading = "".join(_READING.findall(ruby)).strip()
    return _READING.sub("", ruby) + (f"({reading})" if reading else "")


def known_names(texts: Iterable[str]) -> frozenset[str]:
    """Return the names that stand before a colon at the beginning of cues.

    One colon proves nothing ("Note: …"): names count where many cues have one, or where the same one returns.

    Args:
        texts: words of all cues without a voice tag.
    """
    counts: dict[str, int] = {}
    cues = named = 0
    for text in texts:
        cues += 1
        match = _PREFIX.match(text)
        if match and _is_name(match.group(1)):
            named += 1
            counts[match.group(1)] = counts.get(match.group(1), 0) + 1
    least = 1 if named >= _NAMED_SHARE * cues else 2
    return frozenset(name for name, count in counts.items() if count >= least)


def split_names(text: str, names: frozenset[str]) -> list[Utterance]:
    """Divide the words of a cue at lines that begin with one of the names."""
    found: list[Utterance] = []
    for line in text.split("\n"):
        match = _PREFIX.match(line)
        if match and match.group(1) in names:
            found.append(Utterance(match.group(1), line[match.end() :]))
        elif found:
            found[-1] = Utterance(found[-1].speaker, f"{found[-1].text}\n{line}".strip())
        else:
            found.append(Utterance(None, line))
    return [one for one in found if one.text]


def _is_name(text: str) -> bool:
    words = text.split()
    if not 0 < len(words) <= _MAX_NAME_WORDS or not words[0][0].isalpha():
        return False
    return all(
        _NAME_WORD.fullmatch(word.rstrip(",")) and (not word[0].islower() or word.rstrip(",.") in _PARTICLES)
        for word in words
    )
