"""What the calls about conversations take and give."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ingest.sources.conversation import Message, Role, unnamed_id
from workers.conversation import KnownMessage, TakenMessage
from workers.texts import is_storable, storable

_EARLIEST_MS = 10**11  # 3 March 1973; in seconds it is the year 5138
_EARLIEST_YEAR = 1900
_LATEST = datetime(2200, 1, 1, tzinfo=UTC)


class MessageIn(BaseModel):
    """A message. Without a ``message_id`` the same words of the same sender and time are the same message."""

    model_config = ConfigDict(extra="forbid")

    message_id: str | None = Field(default=None, min_length=1, max_length=256)
    sender_id: str = Field(min_length=1, max_length=256)
    sender_name: str | None = Field(default=None, min_length=1, max_length=256)
    role: Role = Role.USER
    timestamp: int | str = Field(
        description="milliseconds since 1970, or ISO 8601; CONVERSATION_TIMEZONE where no offset is given"
    )
    content: str = Field(min_length=1)

    @field_validator("timestamp")
    @classmethod
    def _is_a_time(cls, timestamp: int | str) -> int | str:
        moment = _moment(timestamp)
        if moment.year < _EARLIEST_YEAR:
            raise ValueError(f"the time lies before the year {_EARLIEST_YEAR}")
        if (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) > _LATEST:
            raise ValueError("the time lies in the far future")
        return timestamp

    @field_validator("content", "sender_name", mode="before")
    @classmethod
    def _says_something(cls, text: object) -> object:
        # Half an emoji, as a client cuts it, is no reason to lose what was said.
        if not isinstance(text, str):
            return text
        if text and not text.strip():
            raise ValueError("it holds nothing but blanks")
        return storable(text)

    @field_validator("message_id", "sender_id", mode="before")
    @classmethod
    def _names_one(cls, name: object) -> object:
        # Two halves would become the same sign, and one message would take the place of another.
        return _whole(name)

    @property
    def is_naive(self) -> bool:
        """Whether its time has no offset."""
        return isinstance(self.timestamp, str) and _moment(self.timestamp).tzinfo is None

    def message(self, zone: tzinfo) -> Message:
        """Return the message; ``zone`` is the clock of times that name none."""
        moment = _moment(self.timestamp)
        sent_at = moment.replace(tzinfo=zone) if moment.tzinfo is None else moment
        if isinstance(self.timestamp, int):
            sent_at = sent_at.astimezone(zone)
        return Message(
            message_id=self.message_id or unnamed_id(self.sender_id, sent_at, self.content),
            sender_id=self.sender_id,
            sender_name=self.sender_name,
            role=self.role,
            sent_at=sent_at,
            content=self.content,
        )


def _moment(timestamp: int | str) -> datetime:
    """Return a time as it is given, perhaps without an offset.

    Raises:
        ValueError: it is no time, or seconds were given for milliseconds.
    """
    if isinstance(timestamp, str):
        try:
            return datetime.fromisoformat(timestamp)
        except ValueError as error:
            raise ValueError("it is no ISO 8601 time, like 2026-03-01T09:30:00+01:00") from error
    if timestamp < _EARLIEST_MS:
        raise ValueError("it has to be in milliseconds since 1970; this looks like seconds")
    try:
        return datetime.fromtimestamp(timestamp / 1000, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise ValueError("it is no time in milliseconds since 1970") from error


class OwnerIn(BaseModel):
    """Whose memory: a user_id or a group_id, unless the key is bound to one."""

    model_config = ConfigDict(extra="forbid")

    user_id: str | None = Field(default=None, min_length=1, max_length=256)
    group_id: str | None = Field(default=None, min_length=1, max_length=256)
    session_id: str | None = Field(default=None, min_length=1, max_length=256)

    @field_validator("user_id", "group_id", "session_id", mode="before")
    @classmethod
    def _names_one(cls, name: object) -> object:
        return _whole(name)


def _whole(name: object) -> object:
    if isinstance(name, str):
        if name and not name.strip():
            raise ValueError("it holds nothing but blanks")
        if not is_storable(name):
            raise ValueError("it holds half a character or a NUL")
    return name


class AddRequest(OwnerIn):
    """Messages of one conversation, which is named by the owner and the session."""

    messages: list[MessageIn] = Field(min_length=1)


class Warned(BaseModel):
    """Something the sender should know although the request was taken."""

    code: str
    detail: str


class AddResponse(BaseModel):
    """What became of each message. They are kept from now on, and shown until they are in memory."""

    accepted: int = Field(description="new messages")
    updated: int = Field(description="new versions of messages that were there")
    unchanged: int = Field(description="messages that were there already")
    messages: list[TakenMessage]
    document_ids: list[str] = Field(description="the stretches they are in; see /api/v1/documents/{id}")
    warnings: list[Warned] = []


class FlushResponse(BaseModel):
    """The stretches that are read now. Poll ``/api/v1/batches/{batch_id}``; null when none was open."""

    batch_id: str | None
    document_ids: list[str]


class RawMessageOut(BaseModel):
    """A message that is not in memory yet."""

    id: str
    message_id: str
    version: int
    user_id: str | None
    group_id: str | None
    session_id: str | None
    sender_id: str
    sender_name: str | None
    role: Role
    timestamp: datetime
    content: str
    document_id: str
    status: str = Field(description="state of the document that will hold it")

    @classmethod
    def of(cls, known: KnownMessage) -> RawMessageOut:
        """Return the public form of a message."""
        message = known.message
        return cls(
            id=known.id,
            message_id=message.message_id,
            version=known.version,
            user_id=known.owner.user_id,
            group_id=known.owner.group_id,
            session_id=known.owner.session_id,
            sender_id=message.sender_id,
            sender_name=message.sender_name,
            role=message.role,
            timestamp=message.sent_at,
            content=message.content,
            document_id=known.document_id,
            status=known.state,
        )
