"""Errors of the workers' room.

StrataError
├── TransientError
│   ├── BlobLeaving         blob_leaving
│   ├── PointsRemain        points_remain
│   ├── Postponed
│   │   └── BudgetUsedUp    budget_day, budget_batch
│   └── StageTimeout        stage_timeout
├── BytesMissing            bytes_missing
├── ArtifactMissing         artifact_missing
├── StageStopped            stopped
├── NotFound                not_found
├── StateConflict           state_conflict
├── BadCursor               bad_cursor
├── KeyReused               key_reused
├── KeyInFlight             key_in_flight
└── Poison                  poison
"""

from __future__ import annotations

from ingest.errors import Postponed, StrataError, TransientError


class BlobLeaving(TransientError):
    """The stored bytes are being removed at this moment; store them again and hand the file in again."""

    code = "blob_leaving"


class PointsRemain(TransientError):
    """The store still holds points of a document that was removed."""

    code = "points_remain"


class BudgetUsedUp(Postponed):
    """What may be spent on models is spent; the work waits for more."""

    code = "budget_day"


class StageTimeout(TransientError):
    """One step of the work took longer than WORKER_SOFT_LIMIT_S allows."""

    code = "stage_timeout"


class BytesMissing(StrataError):
    """The bytes of the document are not in the blob store."""

    code = "bytes_missing"
    advice = "Hand the file in again; several hosts have to share one BLOB_URL."


class ArtifactMissing(StrataError):
    """What an earlier stage left is not where this worker looks for it."""

    code = "artifact_missing"
    advice = "Retry the document; several hosts have to share one ARTIFACTS_DIR."


class StageStopped(StrataError):
    """The stage may not go on: the document was cancelled or deleted, or another worker has it."""

    code = "stopped"
    advice = "Nothing has to be done."


class NotFound(StrataError):
    """There is no such thing for this tenant."""

    code = "not_found"
    advice = "Check the id and the key it is asked with."


class StateConflict(StrataError):
    """This cannot be done in the state the document is in."""

    code = "state_conflict"
    advice = "Look at the document's state and try again when it allows the step."


class BadCursor(StrataError):
    """The cursor is not one this list gave out."""

    code = "bad_cursor"
    advice = "Start again without a cursor."


class KeyReused(StrataError):
    """The idempotency key was used before with another request."""

    code = "key_reused"
    advice = "Take a new key for a new request."


class KeyInFlight(StrataError):
    """The first request with this idempotency key is still being answered."""

    code = "key_in_flight"
    advice = "Send the same request again in a few seconds."


class Poison(StrataError):
    """Working on this document ended the worker more than once, so it is not tried again by itself."""

    code = "poison"
    advice = "Hand in a smaller or repaired copy, or give the workers more memory and time and retry."
