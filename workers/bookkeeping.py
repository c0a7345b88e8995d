"""Entering the calls of models into the ledger, as they are made."""

from __future__ import annotations

import logging
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from extract.chat.model import CallRecord
from workers.ledger.usages import Usages
from workers.usage import PaidCall, Prices

log = logging.getLogger(__name__)


def bookkeeper(usages: Usages, prices: Prices) -> Callable[[CallRecord], None]:
    """Return what is told of every call of one model."""

    def enter(record: CallRecord) -> None:
        call = paid_call(record, prices)
        try:
            usages.enter(call)
        except SQLAlchemyError as error:
            # The answer has been paid for and must not be lost with the entry.
            log.error("a call could not be entered (%s): %s", error, call.model_dump_json())

    return enter


def paid_call(record: CallRecord, prices: Prices) -> PaidCall:
    """Return a call with its price."""
    usage, errand = record.usage, record.errand
    return PaidCall(
        tenant=errand.tenant,
        document_id=errand.document_id or None,
        stage=errand.stage,
        model=record.model,
        outcome=record.outcome,
        attempt=record.attempt,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        estimated=usage.estimated,
        price_micro=prices.of(usage.prompt_tokens, usage.completion_tokens),
        seconds=round(record.seconds, 3),
    )
