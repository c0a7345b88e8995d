"""New versions of files in the store; ``workers.ledger.versions`` says how the switch goes."""

from __future__ import annotations

from workers.model import Lease
from workers.services import Services


def take_place(services: Services, lease: Lease) -> None:
    """Let a document take the place of older ones of its name, or stay in the shade of a newer one.

    Raises:
        StoreUnavailable: the store is away.
        StageStopped: the lease is lost.
    """
    record, store = lease.document, services.store
    tenant = record.owner.tenant
    switch = services.ledger.versions.switch(lease)
    for older in switch.older:
        store.supersede(tenant, older, record.id, switch.at)
    if switch.older:
        store.hold_from(tenant, record.id, switch.at)
    if record.superseded_by is not None and record.superseded_at is not None:
        store.supersede(tenant, record.id, record.superseded_by, record.superseded_at)
