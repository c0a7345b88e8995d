"""What a conversation teaches beyond its facts, learnt when it enters memory by a language model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from extract.chat.cache import AnswerCache
from extract.chat.errand import Errand, running
from extract.errors import ExtractError
from extract.model import AtomicFact, Extraction
from extract.reflection.reflector import Reflector
from ingest.anchors import MessageAnchor
from ingest.model import Element, ParseWarning
from workers.ledger.insights import CASE, PROFILE, SKILL, Insights
from workers.model import Kind, Lease
from workers.services import Services

REFLECTED = "reflected"


def reflect(
    services: Services,
    lease: Lease,
    folder: Path,
    elements: Iterable[Element],
    extractions: Iterable[Extraction],
) -> list[ParseWarning]:
    """Let profiles, cases and skills follow a conversation; what it taught before is replaced.

    An answer that cannot be used costs the document nothing but a warning: its facts are in memory. Answers
    are kept in the document's folder, and go with it.

    Raises:
        TransientError, ModelRefuses: see ``ChatModel.ask``.
        StageStopped: the lease is lost.
    """
    if services.reflector is None or lease.document.kind is not Kind.CONVERSATION:
        return []
    reflector = services.reflector(AnswerCache(folder / REFLECTED))
    owner = lease.document.owner
    facts = [fact for one in extractions for fact in one.facts if fact.grounded]
    insights = services.ledger.insights
    warnings: list[str] = []
    with running(Errand(owner.tenant, lease.document.id, "reflect")):
        try:
            known = insights.known(owner, PROFILE, without_document=lease.document.id)
            changes = reflector.profile(owner.tenant, facts, known) if facts else []
            insights.learn(lease, PROFILE, changes, {}, reflector.fingerprint)
        except ExtractError as error:
            warnings.append(f"profiles: {error.detail}")
        try:
            _learn_cases(reflector, insights, lease, list(elements), facts)
        except ExtractError as error:
            warnings.append(f"agent memory: {error.detail}")
    if not warnings:
        return []
    return [ParseWarning(code="not_reflected", detail="Nothing was learnt for " + "; ".join(warnings))]


def _learn_cases(
    reflector: Reflector,
    insights: Insights,
    lease: Lease,
    elements: Sequence[Element],
    facts: Sequence[AtomicFact],
) -> None:
    owner = lease.document.owner
    changes = reflector.cases(owner.tenant, elements)
    insights.learn(lease, CASE, changes, _facts_by_message(facts), reflector.fingerprint)
    if changes:
        cases, skills = insights.known(owner, CASE), insights.known(owner, SKILL)
        steps = reflector.skills(owner.tenant, cases, skills)
        insights.generalise(owner, steps, reflector.fingerprint)


def _facts_by_message(facts: Sequence[AtomicFact]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        for anchor in fact.anchors:
            if isinstance(anchor, MessageAnchor):
                found[anchor.message_id].append(fact.id)
    return found
