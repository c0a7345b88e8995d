"""Small episodes and facts for tests of this room."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from extract.model import AtomicFact, Episode, Granularity, Origin, SegmentKind, TimeSpan
from ingest.anchors import RowAnchor
from ingest.ids import episode_id, fact_id
from ingest.model import Owner
from retrieval.model import DocumentRef, EpisodeContext, IndexedEpisode, IndexedFact

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def day(number: int) -> TimeSpan:
    """The day so many days after 1 January 2026."""
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)
    return TimeSpan(start=start, end=start + timedelta(days=1), granularity=Granularity.DAY)


def owner(tenant: str = "t1", user: str = "ann", **more: Any) -> Owner:
    return Owner(tenant=tenant, user_id=user, **more)


def an_episode(
    document: str = "doc-1", position: int = 0, *, text: str = "text", **more: Any
) -> IndexedEpisode:
    name = more.pop("name", f"{document}.txt")
    media_type = more.pop("media_type", "text/plain")
    values: dict[str, Any] = {
        "owner": owner(), "kind": SegmentKind.PROSE, "title": "Title", "summary": text[:80],
        "recorded_at": NOW, "first": 0, "last": 0, **more,
    }  # fmt: skip
    episode = Episode(
        id=episode_id(document, position), document_id=document, position=position, text=text, **values
    )
    return IndexedEpisode(
        episode=episode, document=DocumentRef(id=document, name=name, media_type=media_type)
    )


def a_fact(
    document: str = "doc-1", episode: int = 0, position: int = 0, *, text: str = "text", **more: Any
) -> IndexedFact:
    name = more.pop("name", f"{document}.txt")
    media_type = more.pop("media_type", "text/plain")
    context = more.pop("context", EpisodeContext(recorded_at=NOW))
    values: dict[str, Any] = {
        "owner": owner(), "topic_name": "Topic", "quote": text, "anchors": (RowAnchor(row=1),),
        "origin": Origin.EXTRACTIVE, **more,
    }  # fmt: skip
    parent = episode_id(document, episode)
    fact = AtomicFact(
        id=fact_id(parent, position), episode_id=parent, document_id=document, position=position, text=text,
        **values,
    )  # fmt: skip
    return IndexedFact(
        fact=fact, document=DocumentRef(id=document, name=name, media_type=media_type), context=context
    )
