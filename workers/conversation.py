"""What is known of conversations: their rules, and what became of messages that came in."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator

from ingest.anchors import Frozen
from ingest.model import Owner
from ingest.sources.conversation import Message
from workers.model import State


class ConversationKnobs(Frozen):
    """How conversations are cut and bounded, each a setting ``CONVERSATION_<NAME>``.

    Attributes:
        gap_s: a pause this long ends a stretch, in seconds; after it the last one is read.
        settle_s: wait this long for more before a stretch that has ended is read, in seconds.
        max_messages: messages after which a stretch ends.
        max_characters: characters after which a stretch ends.
        timezone: IANA name of the clock for times without an offset; it decides where their days end.
        request_messages: most messages in a request.
        request_bytes: largest request.
        message_characters: longest message.
        raw_messages: most messages shown in an answer that are not in memory yet.
    """

    gap_s: float = Field(default=3600.0, gt=0)
    settle_s: float = Field(default=5.0, ge=0)
    max_messages: int = Field(default=100, ge=1)
    max_characters: int = Field(default=40_000, ge=1)
    timezone: str = "UTC"
    request_messages: int = Field(default=1000, ge=1)
    request_bytes: int = Field(default=16 * 2**20, ge=1024)
    message_characters: int = Field(default=50_000, ge=1)
    raw_messages: int = Field(default=20, ge=0, le=500)

    @field_validator("timezone")
    @classmethod
    def _known(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (OSError, ValueError) as error:
            raise ValueError(f"there is no time zone {name!r} on this system") from error
        return name

    @property
    def zone(self) -> ZoneInfo:
        """The clock of times without an offset."""
        return ZoneInfo(self.timezone)


class Fate(StrEnum):
    """What became of a message that was sent."""

    ACCEPTED = "accepted"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


class TakenMessage(Frozen):
    """A message that was sent, what became of it, and the document it is in."""

    message_id: str
    document_id: str
    fate: Fate


class KnownMessage(Frozen):
    """A message as the ledger holds it.

    Attributes:
        id: unlike that of any other message.
        version: 1, and one more each time it was sent again with other words.
        received_at: when this version came.
        document_id, state: the document it is in, and how far that is.
    """

    id: str
    owner: Owner
    message: Message
    version: int
    received_at: datetime
    document_id: str
    document_name: str
    state: State


class Stretch(Frozen):
    """The messages of a stretch at one moment; ``revision`` grows with every change."""

    revision: int
    messages: tuple[Message, ...]
