"""What stands beside the vectors: flat fields to filter by, and the frozen model itself under ``body``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from extract.model import TimeSpan
from ingest.model import Owner
from retrieval.model import DocumentRef, IndexedEpisode, IndexedFact
from retrieval.protocols import Collection
from retrieval.tokenizer import tokenize
from retrieval.traits import Traits, episode_traits

Payload = dict[str, Any]

# Payload fields that answer ``contains``; their words are kept under ``words.<field>``.
WORD_FIELDS = ("participants", "topics", "source_name", "media_type")


def words_of(values: tuple[str, ...]) -> list[str]:
    """Return the index terms of some values, each once."""
    return sorted({word for value in values for word in tokenize(value)})


def instant(when: datetime | None) -> str | None:
    """Return a time as the store compares it: RFC 3339 in UTC. A time without an offset is taken as UTC."""
    if when is None:
        return None
    aware = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat()


def _common(owner: Owner, document: DocumentRef, occurred: TimeSpan | None) -> Payload:
    return {
        "tenant": owner.tenant,
        "user_id": owner.user_id,
        "group_id": owner.group_id,
        "session_id": owner.session_id,
        "document_id": document.id,
        "source_name": document.name,
        "media_type": document.media_type,
        "occurred_start": instant(occurred.start) if occurred else None,
        "occurred_end": instant(occurred.end) if occurred else None,
    }


def _finished(payload: Payload, body: str) -> Payload:
    words = {
        field: words_of(tuple(value) if isinstance(value := payload[field], list) else (value,))
        for field in WORD_FIELDS
    }
    filled = {key: value for key, value in payload.items() if value is not None}
    return {**filled, "words": words, "body": body}


def episode_payload(item: IndexedEpisode) -> Payload:
    """Return the payload of an episode. Absent values are left out."""
    episode = item.episode
    return _finished(
        {
            **_common(episode.owner, item.document, episode.occurred),
            "document_id": episode.document_id,
            "episode_id": episode.id,
            "recorded_at": instant(episode.recorded_at),
            "language": episode.language,
            "participants": list(episode.participants),
            "topics": list(episode.topics),
            "traits": episode_traits(episode).packed(),
        },
        item.model_dump_json(),
    )


def fact_payload(item: IndexedFact, traits: Traits) -> Payload:
    """Return the payload of a fact.

    Absent values are left out. The speaker and the episode's participants count as participants; a fact
    without a time of its own stands at the time of its episode.
    """
    fact, context = item.fact, item.context
    people = [*fact.participants, *((fact.speaker,) if fact.speaker else ())]
    occurred, recorded_at = fact.occurred, None
    if context is not None:
        people += context.participants
        occurred, recorded_at = occurred or context.occurred, context.recorded_at
    return _finished(
        {
            **_common(fact.owner, item.document, occurred),
            "document_id": fact.document_id,
            "episode_id": fact.episode_id,
            "recorded_at": instant(recorded_at),
            "language": fact.language,
            "participants": list(dict.fromkeys(people)),
            "topics": [fact.topic_name],
            "valid_from": instant(fact.valid_from),
            "valid_to": instant(fact.valid_to),
            "superseded_by": fact.superseded_by,
            "traits": traits.packed(),
        },
        item.model_dump_json(),
    )


def read_item(collection: Collection, payload: Mapping[str, Any]) -> IndexedEpisode | IndexedFact:
    """Return the model kept in a payload."""
    model = IndexedEpisode if collection is Collection.EPISODES else IndexedFact
    return model.model_validate_json(payload["body"])


def read_carried(payload: Mapping[str, Any]) -> tuple[Traits | None, str | None]:
    """Return the traits and the item's JSON, each None where the payload lacks it."""
    packed = payload.get("traits")
    return (None if packed is None else Traits.unpacked(packed)), payload.get("body")
