"""New versions of files in the store; ``workers.ledger.versions`` says how the switch goes."""

from __future__ import annotations

from workers.ledger.versions import Replaced
from workers.model import Lease
from workers.services import Services


def take_place(services: Services, lease: Lease) -> Replaced | None:
    """Let a document take the place of older ones of its name, or stay in the shade of a newer one.

    Returns:
        How the document has been replaced itself, as the store was told; None when it has not.

    Raises:
        StoreUnavailable: the store is away.
        StageStopped: the lease is lost.
    """
    record, store = lease.document, services.store
    tenant = record.owner.tenant
    # Asked anew: the lease is from before the stage, and others switch meanwhile.
    switch = services.ledger.versions.switch(lease)
    marks = (*switch.older, *([switch.replaced] if switch.replaced else []))
    if marks or switch.holds_from:
        store.prepare()
    for one in marks:
        store.supersede(tenant, one.id, one.successor, one.at)
    if switch.holds_from:
        store.hold_from(tenant, record.id, switch.holds_from)
    return switch.replaced
