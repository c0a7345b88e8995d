"""Profiles, cases and skills as an answer shows them."""

from __future__ import annotations

from typing import NamedTuple

from extract.reflection.model import AgentCase, AgentSkill, ProfileEntry
from retrieval.matching import Fields, matches, owner_values
from retrieval.model import MemoryType, SearchQuery
from workers.ledger.insight_records import HeldInsight, InsightSource
from workers.ledger.insights import CASE, PROFILE, SKILL
from workers.ledger.ledger import Ledger
from workers.shared_words import shared_words

_MOST_ENTRIES = 100


class Learnt(NamedTuple):
    """Insights with their scores, best first: which part of the question's words each one shares, 0 to 1."""

    profiles: tuple[tuple[HeldInsight, float], ...] = ()
    cases: tuple[tuple[HeldInsight, float], ...] = ()
    skills: tuple[tuple[HeldInsight, float], ...] = ()


def learnt(ledger: Ledger, query: SearchQuery) -> Learnt:
    """Return what was learnt of a query's owner and passes its filters.

    An insight passes when one of the documents it rests on does. A profile is shown whole, up to 100 entries;
    of cases and skills there are up to ``top_k`` each.
    """
    wanted = set(query.memory_types)
    found = Learnt()
    if MemoryType.PROFILE in wanted:
        found = found._replace(profiles=_ranked(ledger, query, PROFILE, _MOST_ENTRIES))
    if MemoryType.AGENT in wanted:
        cases, skills = (_ranked(ledger, query, kind, query.top_k) for kind in (CASE, SKILL))
        found = found._replace(cases=cases, skills=skills)
    return found


def _ranked(
    ledger: Ledger, query: SearchQuery, kinds: tuple[str, ...], most: int
) -> tuple[tuple[HeldInsight, float], ...]:
    owners = {field: owner_values(query.where, field) for field in ("user_id", "group_id")}
    held = [
        one
        for one in ledger.insights.of(query.tenant, kinds, **owners)
        if any(matches(query.where, _fields(one, source)) for source in one.sources)
    ]
    scores = shared_words(query.text, [_words(one) for one in held])
    # Of equal ones the latest first.
    ranked = sorted(
        zip(held, scores, strict=True), key=lambda pair: (pair[1], pair[0].updated_at), reverse=True
    )
    return tuple(ranked[:most])


def _words(one: HeldInsight) -> str:
    match one.insight:
        case ProfileEntry(subject=subject, text=text):
            return f"{subject} {text}"
        case AgentCase(task=task, approach=approach, outcome=outcome):
            return f"{task} {approach} {outcome}"
        case AgentSkill(name=name, when=when, approach=approach):
            return f"{name} {when} {approach}"


def _fields(one: HeldInsight, source: InsightSource) -> Fields:
    texts = {
        "user_id": one.user_id,
        "group_id": one.group_id,
        "session_id": source.session_id,
        "document_id": source.document_id,
        "source": source.document_name,
        "media_type": source.media_type,
        "participants": one.insight.subject if isinstance(one.insight, ProfileEntry) else None,
    }
    return {
        **{name: (value,) for name, value in texts.items() if value is not None},
        "recorded_at": (one.updated_at,),
    }
