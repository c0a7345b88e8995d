"""What the ledger knows of documents, stages and batches, as frozen values."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from pydantic import Field, JsonValue

from ingest.anchors import Frozen
from ingest.errors import StrataError
from ingest.model import Owner, ParseWarning
from workers.texts import storable


class State(StrEnum):
    """How far a document is. A state names the stage that runs or is waited for."""

    QUEUED = "queued"
    PARSING = "parsing"
    EXTRACTING = "extracting"
    INDEXING = "indexing"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DELETING = "deleting"


class Stage(StrEnum):
    """One step of work; also the name of its queue."""

    PARSE = "parse"
    EXTRACT = "extract"
    INDEX = "index"
    DELETE = "delete"


class Kind(StrEnum):
    """What a document is made of: the bytes of a file, or the messages of a stretch of a conversation."""

    FILE = "file"
    CONVERSATION = "conversation"


# Nothing happens to a document in one of these by itself.
ENDED = frozenset({State.READY, State.FAILED, State.CANCELLED})
# The state a document has while a stage works on it.
WORKING = MappingProxyType(
    {
        Stage.PARSE: State.PARSING,
        Stage.EXTRACT: State.EXTRACTING,
        Stage.INDEX: State.INDEXING,
        Stage.DELETE: State.DELETING,
    }
)
# The stage a document in this state waits for or is in.
STAGE_OF = MappingProxyType({State.QUEUED: Stage.PARSE, **{state: stage for stage, state in WORKING.items()}})
NEXT = MappingProxyType({Stage.PARSE: Stage.EXTRACT, Stage.EXTRACT: Stage.INDEX})


class ErrorRecord(Frozen):
    """A diagnosis as it is kept and shown."""

    code: str
    detail: str
    next_step: str

    @classmethod
    def of(cls, error: StrataError) -> ErrorRecord:
        """Take the diagnosis of an error."""
        return cls(code=error.code, detail=storable(error.detail), next_step=storable(error.next_step))


def given_up(error: ErrorRecord, attempts: int) -> ErrorRecord:
    """Return the diagnosis of a passing trouble that did not pass: what to do is no longer to wait."""
    told = (
        f"It was tried {attempts} times. When the cause is gone, hand the file in again or send"
        " POST /api/v1/documents/{id}/retry; what was done so far is kept."
    )
    return error.model_copy(update={"next_step": told})


class Counts(Frozen):
    """What a document has given so far.

    Attributes:
        facts: those whose quote stands in the text.
        ungrounded: facts whose quote does not; kept to be looked at, not searched.
    """

    elements: int = 0
    episodes: int = 0
    facts: int = 0
    ungrounded: int = 0


class Upload(Frozen):
    """Bytes that stand in the blob store and are to become a document.

    Attributes:
        metadata: what the uploader says of the file; shown again, and known keys refine the document.
        stored_at: when the storing of the bytes began; guards against a removal of equal bytes meanwhile.
        replace_same_name: take the place of the owner's older ones of the same name.
    """

    owner: Owner
    name: str = Field(min_length=1, max_length=1024)
    media_type: str = "application/octet-stream"
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: int = Field(ge=0)
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    stored_at: datetime
    replace_same_name: bool = False


class DocumentRecord(Frozen):
    """A document as the ledger shows it.

    Attributes:
        kind: a conversation has no bytes of its own: ``sha256`` names it, ``size_bytes`` measures its text.
        running: a worker is on it now; False while it waits in a queue.
        done, total: progress of the current stage in its own units (segments, points); total 0 is unknown.
        attempts: starts of the current stage so far.
        retry_at: when the current stage is tried again after a transient error or a wait; None otherwise.
        waits_for: why the stage is put off although nothing failed (a limit, a budget); None otherwise.
        error: the latest diagnosis; kept through a retry until a stage succeeds. In words, why it waits.
        superseded_by: the newer version that took its place, since when it holds no more.
        parent_id, parent_part: the document this one was a part of, and where.
        root_id: the outermost ancestor; its own id for an uploaded file.
    """

    id: str
    kind: Kind = Kind.FILE
    owner: Owner
    name: str
    media_type: str
    sha256: str
    size_bytes: int
    metadata: dict[str, JsonValue]
    state: State
    running: bool
    done: int
    total: int
    attempts: int
    retry_at: datetime | None
    waits_for: str | None = None
    error: ErrorRecord | None
    warnings: tuple[ParseWarning, ...]
    counts: Counts
    parent_id: str | None
    parent_part: str | None
    root_id: str
    depth: int
    received_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    pipeline_version: str


class Accepted(Frozen):
    """What became of an upload.

    Attributes:
        duplicate_of: the id of the document that already holds these bytes, when nothing new is done.
        requeued: the document was there, failed or cancelled, and is run again.
    """

    document: DocumentRecord
    duplicate_of: str | None = None
    requeued: bool = False


class Lease(Frozen):
    """The right to run one stage of one document until it lapses; every write shows its token."""

    document: DocumentRecord
    stage: Stage
    token: str


class DocumentPage(Frozen):
    """One page of a list; ``next_cursor`` is None on the last."""

    documents: tuple[DocumentRecord, ...]
    next_cursor: str | None = None


class BatchFile(Frozen):
    """A file of a batch: accepted (with its document, None once deleted) or refused (with the error)."""

    filename: str
    document_id: str | None = None
    document: DocumentRecord | None = None
    duplicate_of: str | None = None
    error: ErrorRecord | None = None


class BatchStatus(Frozen):
    """How far an upload of one or more files is.

    Attributes:
        files: the uploaded files in order, then the documents found inside them.
        counts: documents per state; ``refused`` and ``deleted`` count files without a document.
        waiting, running: unfinished documents in a queue, and those a worker is on.
        waits_for: of those that wait, how many for which limit or budget.
        done: every document, those found inside others included, has ended.
    """

    id: str
    tenant: str
    created_at: datetime
    files: tuple[BatchFile, ...]
    counts: dict[str, int]
    waiting: int
    running: int
    waits_for: dict[str, int] = Field(default_factory=dict)
    done: bool


class OutboxEntry(Frozen):
    """A message that has to be in the queue ``stage`` until a worker takes it."""

    id: int
    document_id: str
    stage: Stage
    available_at: datetime
    sent_at: datetime | None


class ApiKey(Frozen):
    """An API key without its secret. A bound user or group narrows it to that memory."""

    id: str
    name: str
    tenant: str
    user_id: str | None
    group_id: str | None
    scopes: tuple[str, ...]
    created_at: datetime
    revoked_at: datetime | None


class StoredResponse(Frozen):
    """The answer kept for an idempotency key."""

    status: int
    body: JsonValue
