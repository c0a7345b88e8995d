"""Sentences that lean on the one before: they start with a pronoun or a joining word."""

from __future__ import annotations

import re

from extract.scripts import one_line, shorten

_LEANING = re.compile(
    r"[\"'“‘(\[]*(?:(?:and|but|so|then|also|well|yeah|yes|no|oh|because|however|therefore|otherwise|instead"
    r"|in that case)[,\s]+)*"
    r"(?:it|its|it['’]s|it['’]ll|he|he['’]s|his|him|she|she['’]s|her|they|they['’]re|they['’]ve|their|them"
    r"|this(?! (?:paper|article|document|section|report|chapter|page|policy|agreement|manual|guide|study|work"
    r"|book|meeting|e-?mail|letter|note|year|month|week|quarter)\b)|that|that['’]s|these|those|such|both|neither|otherwise|instead"
    r"|the (?:former|latter|same|other|others|first|second))\b",
    re.IGNORECASE,
)
_CHINESE_LEANING = re.compile(
    r"[“「『（]*(?:但是?|所以|因此|而且|然后|于是|不过|同时|另外|并且?)?[，,]?"
    r"(?:他|她|它|他们|她们|它们|其|该|此|这|那|此外|以上|上述|前者|后者|两者)"
)
_WIDTH = 150


def leans(sentence: str) -> bool:
    """Say whether a sentence cannot be understood without the one before it."""
    return bool(_LEANING.match(sentence) or _CHINESE_LEANING.match(sentence))


def as_context(sentence: str) -> str:
    """Return the words of a sentence that fit as context in front of the next one."""
    return shorten(one_line(sentence), _WIDTH)
