"""Batches: how far an upload is."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint

from api.auth import Principal, Scope, require
from api.routes.current import services
from api.schemas.documents import BatchQuery, BatchResponse
from api.schemas.usage import BudgetIn, budget_out, usage_out
from api.shown import waiting_out
from workers.errors import NotFound
from workers.model import ENDED, BatchFile, BatchStatus, State
from workers.usage import Budget, Spent

blueprint = APIBlueprint("batches", __name__, url_prefix="/api/v1/batches")


def _row(file: BatchFile, spent: Spent) -> dict[str, Any]:
    document = file.document
    error = file.error or (document.error if document and document.state == State.FAILED else None)
    waiting = waiting_out(document) if document else None
    state = document.state if document else ("refused" if file.error else "deleted")
    return {
        "filename": file.filename,
        "document_id": file.document_id,
        "status": state,
        "running": bool(document and document.running),
        "stage_done": document.done if document else 0,
        "stage_total": (document.total or None) if document else None,
        "elements": document.counts.elements if document else 0,
        "episodes": document.counts.episodes if document else 0,
        "facts": document.counts.facts if document else 0,
        "parent_id": document.parent_id if document else None,
        "duplicate_of": file.duplicate_of,
        "tokens": spent.tokens,
        "price": round(spent.price, 6),
        "warnings": [warning.model_dump() for warning in document.warnings] if document else [],
        "error": error.model_dump() if error else None,
        "waiting": waiting.model_dump(mode="json") if waiting else None,
    }


def refuse_strangers(caller: Principal, status: BatchStatus) -> None:
    """Let a key that is bound to one owner see and fill only batches of that owner.

    Raises:
        NotFound: somebody else's document is in the batch.
    """
    for file in status.files:
        if file.document is None:
            continue
        owner = file.document.owner
        if (caller.user_id and owner.user_id != caller.user_id) or (
            caller.group_id and owner.group_id != caller.group_id
        ):
            raise NotFound("There is no such batch.")


def batch_out(status: BatchStatus) -> BatchResponse:
    """Return the public form of a batch, with what it cost."""
    usages = services().ledger.usages
    spent = usages.of_documents(file.document_id for file in status.files if file.document_id)
    finished = sum(1 for file in status.files if file.document is None or file.document.state in ENDED)
    return BatchResponse(
        batch_id=status.id,
        done=status.done,
        total=len(status.files),
        finished=finished,
        waiting=status.waiting,
        running=status.running,
        counts=status.counts,
        waits_for=status.waits_for,
        budget=budget_out(services().ledger.budgets.of_batch(status.tenant, status.id)),
        usage=usage_out(usages.of_batch(status.id)),
        documents=[_row(file, spent.get(file.document_id or "", Spent())) for file in status.files],
    )


@blueprint.get("/<batch_id>")
@blueprint.input(BatchQuery, location="query", arg_name="asked")
@blueprint.output(BatchResponse)
@blueprint.doc(summary="How far an upload is", security="bearer", responses=[401, 404])
def show(batch_id: str, asked: BatchQuery) -> BatchResponse:
    """Show counts per state and a row per file; with ``wait`` answer when all has ended or time is up."""
    caller = require(Scope.READ)
    status = services().ledger.batches.wait(caller.tenant, batch_id, asked.wait)
    refuse_strangers(caller, status)
    return batch_out(status)


@blueprint.put("/<batch_id>/budget")
@blueprint.input(BudgetIn, arg_name="asked")
@blueprint.output(BatchResponse)
@blueprint.doc(
    summary="Set what a batch may cost; what waited for it goes on",
    security="bearer",
    responses=[401, 403, 404, 422],
)
def set_budget(batch_id: str, asked: BudgetIn) -> BatchResponse:
    """Set the budget of a batch; work that waited for it goes on within seconds."""
    caller = require(Scope.WRITE)
    batches, budgets = services().ledger.batches, services().ledger.budgets
    refuse_strangers(caller, batches.status(caller.tenant, batch_id))
    budgets.set(caller.tenant, batch_id, Budget(price=asked.budget, tokens=asked.budget_tokens))
    return batch_out(batches.status(caller.tenant, batch_id))
