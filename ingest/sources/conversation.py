"""Messages of a conversation: as they come in, and the elements they become."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from pydantic import Field, JsonValue, field_validator

from ingest.anchors import Frozen, MessageAnchor
from ingest.artifacts import write_jsonl
from ingest.cutting import in_parts
from ingest.model import DocumentMeta, Element, ElementKind
from ingest.outcome import ParseOutcome

MEDIA_TYPE = "application/vnd.strata.conversation+jsonl"
# A pasted page is cut into parts of this many characters, so that it can spread over several episodes.
_PART = 2000


class Role(StrEnum):
    """What a sender is in the conversation."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class Message(Frozen):
    """One message.

    Attributes:
        message_id: the sender's own id, the same each time the message is sent.
        sent_at: with an offset; the day the message belongs to is the one of that offset.
    """

    message_id: str = Field(min_length=1, max_length=256)
    sender_id: str = Field(min_length=1, max_length=256)
    sender_name: str | None = Field(default=None, min_length=1, max_length=256)
    role: Role = Role.USER
    sent_at: datetime
    content: str = Field(min_length=1)

    @field_validator("sent_at")
    @classmethod
    def _has_offset(cls, sent_at: datetime) -> datetime:
        if sent_at.tzinfo is None:
            raise ValueError("times need an offset")
        return sent_at

    @property
    def sender(self) -> str:
        """What the sender is called."""
        return self.sender_name or self.sender_id

    @property
    def digest(self) -> str:
        """SHA-256 over all of it; differs when anything was edited."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def unnamed_id(sender_id: str, sent_at: datetime, content: str) -> str:
    """Return the id of a message that came without one: the same for the same words, sender and time."""
    told = "\x1f".join((sender_id, str(round(sent_at.timestamp() * 1000)), content))
    return "auto-" + hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:32]


def message_elements(messages: Iterable[Message]) -> Iterator[Element]:
    """Yield the elements of messages in the order given; a very long message becomes several."""
    position = 0
    for message in messages:
        anchor = MessageAnchor(message_id=message.message_id, sender=message.sender)
        metadata: dict[str, JsonValue] = {"sent_at": message.sent_at.isoformat(), "role": message.role.value}
        for part in in_parts(message.content, _PART):
            yield Element(
                position=position, kind=ElementKind.MESSAGE, text=part, anchor=anchor, metadata=metadata
            )
            position += 1


def write_conversation(messages: Sequence[Message], out_dir: Path) -> ParseOutcome:
    """Write ``out_dir/elements.jsonl`` as a parser does, and say what the messages tell of themselves."""
    out_dir.mkdir(parents=True, exist_ok=True)
    count = write_jsonl(out_dir / "elements.jsonl", message_elements(messages))
    meta = DocumentMeta(
        participants=tuple(dict.fromkeys(message.sender for message in messages)),
        occurred_at=messages[0].sent_at if messages else None,
    )
    return ParseOutcome(media_type=MEDIA_TYPE, metadata=meta, element_count=count)
