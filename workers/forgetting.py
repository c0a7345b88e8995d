"""Forgetting by request: single facts, episodes and messages, for good, though their source stays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from extract.model import AtomicFact, Episode, Extraction
from ingest.anchors import Frozen
from ingest.artifacts import artifact_dir, read_jsonl
from retrieval.model import IndexedEpisode, IndexedFact
from retrieval.protocols import Collection
from workers.errors import NotFound
from workers.ledger.forgotten import digest_of
from workers.services import Services


class Forgot(Frozen):
    """How much was forgotten; ``unknown`` are the ids that name nothing the caller has."""

    episodes: int = 0
    facts: int = 0
    messages: int = 0
    insights: int = 0
    unknown: tuple[str, ...] = ()


def forget(services: Services, tenant: str, ids: Sequence[str], **bound: str | None) -> Forgot:
    """Forget episodes with their facts, facts, messages, entries of profiles, cases and skills.

    A fact or an episode stays away when its document is read again. Of a message nothing stays: its stretch
    is hidden at once and read without it.

    Args:
        services: the parts.
        tenant: the tenant.
        ids: of any of these.
        bound: ``user_id`` and ``group_id`` they have to belong to; None does not narrow.

    Raises:
        StoreUnavailable: the store does not answer; asking again goes on where this ended.
    """
    mine = _Mine(services, tenant, bound)
    episodes = [one for one in mine.fetch(Collection.EPISODES, ids) if isinstance(one, IndexedEpisode)]
    facts = [one for one in mine.fetch(Collection.FACTS, ids) if isinstance(one, IndexedFact)]
    found = {one.episode.id for one in episodes} | {one.fact.id for one in facts}
    messages = services.ledger.messages.by_ids(tenant, [one for one in ids if one not in found], **bound)
    services.ledger.conversations.take_out(tenant, [one.id for one in messages], **bound)
    by_document: dict[str, list[Episode | AtomicFact]] = defaultdict(list)
    for hit in episodes:
        by_document[hit.episode.document_id].append(hit.episode)
    for fact in facts:
        by_document[fact.fact.document_id].append(fact.fact)
    named = services.ledger.insights.forget(tenant, ids, **bound)
    totals = [_from_document(services, tenant, identity, some) for identity, some in by_document.items()]
    found |= {one.id for one in messages} | set(named)
    return Forgot(
        episodes=sum(counts[0] for counts in totals),
        facts=sum(counts[1] for counts in totals),
        messages=len(messages),
        insights=len(named),
        unknown=tuple(one for one in dict.fromkeys(ids) if one not in found),
    )


class _Mine:
    """What a caller may lay hands on."""

    def __init__(self, services: Services, tenant: str, bound: dict[str, str | None]) -> None:
        self._store, self._tenant, self._bound = services.store, tenant, bound

    def fetch(self, collection: Collection, ids: Sequence[str]) -> Iterator[IndexedEpisode | IndexedFact]:
        for item in self._store.fetch(collection, self._tenant, valid_ids(ids)).values():
            owner = item.episode.owner if isinstance(item, IndexedEpisode) else item.fact.owner
            if all(value is None or getattr(owner, name) == value for name, value in self._bound.items()):
                yield item


def valid_ids(ids: Iterable[str]) -> list[str]:
    """Return those of the ids that can be ids of ours: the store refuses others."""
    return [one for one in ids if len(one) == 36 and set(one) <= set("0123456789abcdef-")]


def _from_document(
    services: Services, tenant: str, identity: str, items: Sequence[Episode | AtomicFact]
) -> tuple[int, int]:
    """Forget items of one document; return how many episodes and facts left the store."""
    episodes = {one.id for one in items if isinstance(one, Episode)}
    digests = {digest_of(one) for one in items}
    facts = {one.id for one in items if isinstance(one, AtomicFact)}
    for extraction in _extractions(services, identity):
        if extraction.episode.id in episodes:
            digests |= {digest_of(fact) for fact in extraction.facts}
            facts |= {fact.id for fact in extraction.facts}
    held = set(services.store.fetch(Collection.FACTS, tenant, sorted(facts)))
    try:
        counts = {"episodes": len(episodes), "facts": len(held)}
        services.ledger.forgotten.add(tenant, identity, digests, **counts)
    except NotFound:
        # It was deleted meanwhile, and took everything along.
        return 0, 0
    services.ledger.insights.drop_facts(tenant, facts)
    services.store.delete(Collection.FACTS, tenant, sorted(held))
    services.store.delete(Collection.EPISODES, tenant, sorted(episodes))
    return len(episodes), len(held)


def _extractions(services: Services, identity: str) -> Iterator[Extraction]:
    path = artifact_dir(services.artifacts, identity) / "extractions.jsonl"
    if path.exists():
        yield from read_jsonl(path, Extraction)


def without(extractions: Iterable[Extraction], digests: frozenset[str]) -> Iterator[Extraction]:
    """Yield extractions without what was forgotten."""
    for extraction in extractions:
        if digest_of(extraction.episode) in digests:
            continue
        facts = tuple(fact for fact in extraction.facts if digest_of(fact) not in digests)
        yield (
            extraction
            if len(facts) == len(extraction.facts)
            else extraction.model_copy(update={"facts": facts})
        )
