"""A stretch that is read again: only what changed is extracted anew, and ids follow positions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from extract.segments import split_segments
from ingest.artifacts import artifact_dir
from ingest.model import Owner
from ingest.sources.conversation import Message
from retrieval.protocols import Collection
from tests.workers.parts import drain
from tests.workers.stand_ins import LineExtractor
from workers.services import Services

OWNER = Owner(tenant="acme", user_id="anna", session_id="s1")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def said(number: int, text: str = "") -> Message:
    words = text or f"Remark number {number} is about subject {number}. " * 8
    at = NOON + timedelta(minutes=number)
    return Message(message_id=f"m{number}", sender_id="anna", sent_at=at, content=words)


def read_now(services: Services, *messages: Message) -> str:
    taken = services.ledger.conversations.add(OWNER, messages)
    services.ledger.conversations.flush("acme")
    drain(services)
    return taken[0].document_id


def test_closed_episodes_are_not_extracted_again(services: Services) -> None:
    extractor = LineExtractor()
    services = replace(services, extractor=extractor, split=split_segments)
    home = read_now(services, *(said(at) for at in range(1, 20)))
    episodes = len(extractor.seen)
    assert episodes >= 4
    extractor.seen.clear()
    assert read_now(services, said(19, "Other words at the end.")) == home
    # The cut before the last one may move with the size of what follows; nothing further up does.
    assert set(extractor.seen) <= {episodes - 2, episodes - 1}
    extractor.seen.clear()
    assert read_now(services, *(said(at) for at in range(30, 40))) != home
    assert services.ledger.documents.get("acme", home).state == "ready"


def test_what_moved_keeps_its_words_under_new_ids(services: Services) -> None:
    extractor = LineExtractor()
    services = replace(services, extractor=extractor)
    home = read_now(services, said(2, "two"), said(3, "three"))
    extractor.seen.clear()
    assert read_now(services, said(1, "one")) == home
    assert extractor.seen == [0]
    for layer in Collection:
        found = services.store.fetch(layer, "acme", list(services.store.ids(layer, "acme", home)))
        assert len(found) == 3
    facts = services.store.fetch(
        Collection.FACTS, "acme", list(services.store.ids(Collection.FACTS, "acme", home))
    )
    told = {one.fact.text: one.fact for one in facts.values()}
    assert set(told) == {"one", "two", "three"}
    assert told["three"].anchors[0].message_id == "m3"
    kept = artifact_dir(services.artifacts, home) / "kept"
    assert len(list(kept.iterdir())) == 3
    services.ledger.conversations.add(OWNER, [said(2, "two again")])
    services.ledger.conversations.flush("acme")
    drain(services)
    assert len(list(kept.iterdir())) == 3
