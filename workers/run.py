"""Running one stage of one document: take it, watch it, and settle how it ended."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping
from types import MappingProxyType

from billiard.exceptions import SoftTimeLimitExceeded
from sqlalchemy.exc import SQLAlchemyError

from ingest.errors import Postponed, StrataError, TransientError
from workers.errors import ArtifactMissing, StageStopped, StageTimeout
from workers.model import ErrorRecord, Lease, Stage
from workers.pipeline import delete_stage, extract_stage, index_stage, parse_stage
from workers.services import Services
from workers.watch import Interrupted, Watch

log = logging.getLogger(__name__)

_FIRST_PAUSE_S = 2.0
_LONGEST_PAUSE_S = 900.0
_DELETE_PAUSE_S = 300.0
_PUT_OFF_S = 30.0

Work = Callable[[Services, Lease, Watch], None]
WORK: Mapping[Stage, Work] = MappingProxyType(
    {
        Stage.PARSE: parse_stage,
        Stage.EXTRACT: extract_stage,
        Stage.INDEX: index_stage,
        Stage.DELETE: delete_stage,
    }
)


def run_stage(services: Services, stage: Stage, document_id: str, work: Work | None = None) -> bool:
    """Run a stage if there is anything to do, and send the messages that follow from it.

    Args:
        services: the parts.
        stage: which stage.
        document_id: of which document.
        work: does the stage; tests hand in their own.

    Returns:
        Whether this call worked on it.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the ledger is away. The lease lapses and the stage runs again.
    """
    lease = services.ledger.stages.claim(document_id, stage)
    if lease is None:
        services.enqueue()
        return False
    settings = services.settings
    watch = Watch(
        services.ledger.stages, lease, renew_s=settings.worker_lease_s / 3, slice_s=settings.worker_slice_s
    )
    try:
        with watch:
            (work or WORK[stage])(services, lease, watch)
    except (StageStopped, Interrupted):
        services.ledger.stages.hand_back(lease)
    except Exception as error:  # noqa: BLE001  the border: whatever ended the stage is written down
        _settle(services, lease, watch, error)
    services.enqueue()
    return True


def pause_before_retry(attempts: int, retry_after_s: float | None, longest_s: float) -> float:
    """Return how long to wait before another try, in seconds.

    Three times as long after each attempt, with full jitter in the upper half so that documents which
    failed together do not come back together; never before the time a service has asked for.
    """
    pause = min(longest_s, _FIRST_PAUSE_S * 3 ** min(attempts - 1, 20))
    return max(retry_after_s or 0.0, random.uniform(pause / 2, pause))


def _put_off_s(reason: Postponed) -> float:
    """Return how long to wait, in seconds; a little longer than told, so that not all come back at once."""
    told = _PUT_OFF_S if reason.retry_after_s is None else max(1.0, reason.retry_after_s)
    return told + random.uniform(0, min(told / 4, _PUT_OFF_S))


def _settle(services: Services, lease: Lease, watch: Watch, error: Exception) -> None:
    stages = services.ledger.stages
    try:
        # The stage may have failed because it was being stopped: its reader was ended under it.
        watch.check()
        known = _known(error)
        if isinstance(known, Postponed):
            stages.put_off(lease, ErrorRecord.of(known), _put_off_s(known))
            return
        if not isinstance(known, TransientError):
            resume = Stage.PARSE if isinstance(known, ArtifactMissing) else None
            stages.fail(lease, ErrorRecord.of(known), resume=resume)
            return
        longest = _DELETE_PAUSE_S if lease.stage is Stage.DELETE else _LONGEST_PAUSE_S
        pause = pause_before_retry(lease.document.attempts, known.retry_after_s, longest)
        stages.fail(lease, ErrorRecord.of(known), retry_in_s=pause)
    except (StageStopped, Interrupted):
        stages.hand_back(lease)


def _known(error: Exception) -> StrataError:
    """Return an error as one of ours; what we did not think of is logged with its trace."""
    if isinstance(error, StrataError):
        return error
    log.error("a stage ended unexpectedly", exc_info=error)
    if isinstance(error, SoftTimeLimitExceeded):
        return StageTimeout()
    if isinstance(error, OSError | SQLAlchemyError):
        return TransientError(f"{type(error).__name__}: {error}")
    return StrataError(f"An internal error ended the work: {type(error).__name__}: {error}")
