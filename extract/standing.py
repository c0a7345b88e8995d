"""Whether a model's statement stands alone: who its "I" is, and from which day its "today" counts.

A model is told to name people and to copy time words. Small ones forget the first. What is left is put right
here without asking again: the speaker is named in front, as the model-free extractor does, and the day a
statement was made is put behind words that need it and could not be resolved.
"""

from __future__ import annotations

import re
from datetime import datetime

from extract.phrases import phrase, say_day

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|‘[^’]*’(?!\w)")
# "I" before a verb; in "World War I began" it is a number.
_ENGLISH_I = re.compile(r"(?:(?P<before>\S+)\s+)?\bI\b(?:['’](?:m|ve|ll|d)\b|(?=\s+[a-z]))")
_WORDS = {
    "en": r"\b(?:[Ww]e|[Oo]ur|[Oo]urs|[Mm]y|us|me|myself|ourselves)\b(?:['’](?:re|ve|ll|d)\b)?",
    "zh": r"(?<!自)我(?!国)|咱们|咱俩",
    "ja": r"私|僕|俺|我々",
    "ko": r"(?<!\S)(?:나는|내가|저는|제가|우리)",
    "de": r"\b(?:ich|mir|mich|meine?[rnms]?|wir|uns|unsere?[rnms]?)\b",
    "fr": r"\b(?:je|moi|mon|ma|mes|nous|notre|nos)\b|\bj['’]",
    "es": r"\b(?:yo|mis?|nosotr[oa]s|nuestr[oa]s?)\b",
    "it": r"\b(?:io|mi[oa]|miei|noi|nostr[oaie])\b",
    "pt": r"\b(?:eu|meus?|minhas?|nós|noss[oa]s?)\b",
    "nl": r"\b(?:ik|mij|mijn|wij|ons|onze)\b",
    "ru": r"\b(?:я|мне|меня|мой|моя|моё|мои|мы|нас|нам|наш[аеи]?)\b",
}
_FIRST_PERSON = {
    language: re.compile(words, re.IGNORECASE if language not in ("en", "zh", "ja", "ko") else 0)
    for language, words in _WORDS.items()
}
_COUNTED_FROM_NOW = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|now|currently|recently|lately|soon|ago|earlier"
    r"|(?:this|last|next) (?:morning|afternoon|evening|night|week|weekend|month|quarter|year|summer|winter"
    r"|spring|autumn|fall)"
    r"|(?:on|by|next|last|this) (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|今天|明天|后天|昨天|前天|今晚|昨晚|明晚|今早|现在|目前|最近|刚才|刚刚|周末|月底|年底|[上下本这]个?(?:周|月|季度|星期)"
    r"|(?<![一二三四五六七八九十\d年])周[一二三四五六日天]",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\[[^\]]*\d{4}[^\]]*\]|（[^）]*\d{4}年?[^）]*）")


def speaks_of_itself(text: str, language: str) -> bool:
    """Say whether a statement says "I" or "we" outside of quotation marks."""
    bare = _QUOTED.sub(" ", text)
    words = _FIRST_PERSON.get(language, _FIRST_PERSON["en"])
    if words.search(bare):
        return True
    return words is _FIRST_PERSON["en"] and any(map(_is_pronoun, _ENGLISH_I.finditer(bare)))


def _is_pronoun(found: re.Match[str]) -> bool:
    """A capitalised word before it, other than the first of the sentence, makes it a number."""
    before = found.group("before")
    return before is None or not before[0].isupper() or before[-1] in ",.;:!?" or found.start() == 0


def name_speaker(text: str, person: str | None, title: str, language: str) -> str:
    """Return a statement that says who its "I" is.

    Args:
        text: the statement.
        person: whose words it is, if that is known.
        title: what the text is called, where it is not.
        language: of the statement.
    """
    who = person or title
    # A first name is enough: "Alice said that we ship" tells who "we" are.
    known_by = person.split()[0] if person and person.strip() else title
    if not speaks_of_itself(text, language) or known_by.casefold() in text.casefold():
        return text
    return f"{who}{phrase(language, 'colon')}{text}"


def tell_day(text: str, at: datetime | None, language: str) -> str:
    """Return a statement with the day it was made, where it counts from that day and does not say so.

    Args:
        text: the statement, resolved times in brackets.
        at: when it was made, or None.
        language: of the statement.
    """
    if at is None or _NOTE.search(text) or not _COUNTED_FROM_NOW.search(_QUOTED.sub(" ", text)):
        return text
    day = say_day(at, language)
    return f"{text}（{day}）" if language == "zh" else f"{text} [{day}]"
