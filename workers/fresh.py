"""Messages that were accepted and are not in memory yet: an answer shows them as they are."""

from __future__ import annotations

from extract.language import detect_language
from ingest.sources.conversation import MEDIA_TYPE
from retrieval.matching import Fields, matches, owner_values
from retrieval.model import MemoryType, SearchQuery
from workers.conversation import KnownMessage
from workers.ledger.ledger import Ledger
from workers.shared_words import shared_words

# Of more than this many, only the newest are looked at.
_LOOKED_AT = 300


def fresh_messages(ledger: Ledger, query: SearchQuery, most: int) -> list[KnownMessage]:
    """Return messages that are not in memory yet and pass a search's filters, newest first.

    To be asked before the store is: a message that enters memory in between is then seen twice, not never.
    Where there are more than ``most``, those that share words with the question come before the newest.

    Args:
        ledger: where they are.
        query: the search.
        most: how many to return at most.
    """
    if not most or not {MemoryType.EPISODIC, MemoryType.RAW} & set(query.memory_types):
        return []
    owners = {field: owner_values(query.where, field) for field in ("user_id", "group_id")}
    held = ledger.messages.pending(query.tenant, _LOOKED_AT, **owners)
    fitting = [
        one
        for one in held
        if (query.as_of is None or one.message.sent_at <= query.as_of)
        and matches(query.where, message_fields(one))
    ]
    if len(fitting) <= most:
        return fitting
    shares = shared_words(query.text, [one.message.content for one in fitting])
    ranked = sorted(range(len(fitting)), key=lambda at: (-shares[at], at))
    return [fitting[at] for at in sorted(ranked[:most])]


def message_fields(one: KnownMessage) -> Fields:
    """Return what filters can ask of a message."""
    message = one.message
    texts = {
        "user_id": one.owner.user_id,
        "group_id": one.owner.group_id,
        "session_id": one.owner.session_id,
        "document_id": one.document_id,
        "source": one.document_name,
        "media_type": MEDIA_TYPE,
    }
    return {
        **{name: (value,) for name, value in texts.items() if value is not None},
        "participants": tuple({message.sender, message.sender_id}),
        "timestamp": (message.sent_at,),
        "recorded_at": (one.received_at,),
        "language": lambda: (detect_language(message.content),),
    }
