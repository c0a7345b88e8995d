"""Ids that are the same each time the same thing is processed.

uuid5 (RFC 9562) over the parts that make a thing what it is: processing twice overwrites, never doubles.
"""

from __future__ import annotations

import uuid

from ingest.model import Owner

# Changes when parsing, splitting or extraction would give other results for the same bytes.
PIPELINE_VERSION = "1"

_NAMESPACE = uuid.UUID("6f2c1c52-5d0a-5b53-9d6e-5f1f4d1f7a10")


def _stable(*parts: str | int | None) -> str:
    # The unit separator cannot be typed into a name by accident, so ("a", "bc") and ("ab", "c") differ.
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join("\x00" if part is None else str(part) for part in parts)))


def document_id(owner: Owner, sha256: str, *, parent: tuple[str, str] | None = None) -> str:
    """Return the id of these bytes for this owner.

    Args:
        owner: whose memory it enters; equal bytes of two owners are two documents.
        sha256: hex digest of the content.
        parent: (document id, part path) when the bytes are a part of another document.
    """
    return _stable(
        "document", owner.tenant, owner.user_id, owner.group_id, owner.session_id, sha256, PIPELINE_VERSION,
        *(parent or ()),
    )  # fmt: skip


def conversation_id(owner: Owner) -> str:
    """Return the id of an owner's session, or of all that it says outside of any."""
    return _stable("conversation", owner.tenant, owner.user_id, owner.group_id, owner.session_id)


def stretch_id(conversation: str, message_id: str, life: int) -> str:
    """Return the id of the document made of a stretch of a conversation.

    Args:
        conversation: its id.
        message_id: of the message that began the stretch.
        life: 0, or how many stretches that began with this message are there already.
    """
    return _stable("stretch", conversation, message_id, life)


def message_key(conversation: str, message_id: str) -> str:
    """Return the id of a message, unlike those of all other conversations."""
    return _stable("message", conversation, message_id)


def insight_id(owner: Owner, kind: str, subject: str, words: str) -> str:
    """Return the id of something learnt about a subject: the same for the same words, whoever says them."""
    told = " ".join(words.casefold().split())
    return _stable("insight", owner.tenant, owner.user_id, owner.group_id, kind, subject.casefold(), told)


def episode_id(document: str, position: int) -> str:
    """Return the id of the episode at a 0-based position of a document."""
    return _stable("episode", document, position)


def fact_id(episode: str, position: int) -> str:
    """Return the id of the fact at a 0-based position of an episode."""
    return _stable("fact", episode, position)
