"""A summary made of the text's own sentences.

Sentences are weighed by how much they share with the others (degree centrality over shared terms, after
LexRank, Erkan and Radev 2004, with the length norm of TextRank, Mihalcea and Tarau 2004), by standing
early, and by words that mark decisions. The best two or three come in their original order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from extract.scripts import estimate_tokens, glue, is_mostly_cjk, shorten
from extract.terms import terms

# About 80 English words or 160 Chinese characters.
MAX_TOKENS = 115
_MAX_SENTENCES = 3
_DECIDES = re.compile(
    r"\b(?:decid\w+|decision|agree[ds]?|agreement|approv\w+|deadline|due|will|must|shall|plan(?:s|ned)?|conclu\w+"
    r"|result\w*|therefore|in summary|overall|move[ds]? .{0,40} to|postpone\w*|budget|action item)\b"
    r"|决定|同意|截止|批准|通过|确定|将于|必须|负责|推迟|提前|改到|结论|因此|总之|计划|目标|预算",
    re.IGNORECASE,
)


_ENDS = tuple('.!?…。！？”":：;；')


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may enter a summary: how it is shown, and whether it may lead."""

    text: str
    weight: float = 1.0


def choose(candidates: Sequence[Candidate], language: str, max_tokens: int = MAX_TOKENS) -> list[str]:
    """Return the sentences that stand best for all, in their order, within a budget of tokens."""
    usable = [one for one in candidates if one.text]
    if not usable:
        return []
    scores = _scores(usable, language)
    ranked = sorted(range(len(usable)), key=lambda at: -scores[at])
    bags = [frozenset(terms(one.text, language)) for one in usable]
    chosen: list[int] = []
    room = max_tokens
    for at in ranked:
        cost = estimate_tokens(usable[at].text)
        if len(chosen) == _MAX_SENTENCES:
            break
        if cost <= room and not any(_alike(bags[at], bags[other]) for other in chosen):
            chosen.append(at)
            room -= cost
    if not chosen:
        width = max_tokens * (3 if is_mostly_cjk(usable[ranked[0]].text) else 4)
        return [shorten(usable[ranked[0]].text, width)]
    return [usable[at].text for at in sorted(chosen)]


def join_sentences(sentences: Sequence[str]) -> str:
    """Return sentences as running text, fragments set apart by semicolons."""
    text = ""
    for sentence in sentences:
        if text and not text.endswith(_ENDS):
            text += "；" if glue(text, sentence) == "" else ";"
        text += glue(text, sentence) + sentence
    return text


def _scores(candidates: Sequence[Candidate], language: str) -> list[float]:
    bags = [frozenset(terms(one.text, language)) for one in candidates]
    degrees = [sum(_similarity(bag, other) for other in bags if other is not bag) for bag in bags]
    top = max(degrees, default=0.0) or 1.0
    count = len(candidates)
    return [
        (
            0.55 * degree / top
            + 0.3 * (1 - at / count)
            + (0.15 if at == 0 else 0.0)
            + 0.3 * bool(_DECIDES.search(one.text))
        )
        * one.weight
        * min(1.0, len(bag) / 5)
        for at, (one, bag, degree) in enumerate(zip(candidates, bags, degrees, strict=True))
    ]


def _similarity(left: frozenset[str], right: frozenset[str]) -> float:
    shared = len(left & right)
    return shared / (log(len(left) + 1) + log(len(right) + 1)) if shared else 0.0


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    smaller = min(len(left), len(right))
    return smaller > 0 and len(left & right) > 0.7 * smaller
