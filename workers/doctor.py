"""Comparing the ledger with what it stands for: points, bytes and artifacts without a document, and back.

What is looked at is counted first and the ledger asked afterwards, so a document that arrives meanwhile is
never taken for an orphan.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from ingest.anchors import Frozen
from ingest.artifacts import artifact_dir
from retrieval.protocols import Collection
from workers.errors import NotFound, StateConflict
from workers.model import ENDED, STAGE_OF, DocumentRecord, Kind, State
from workers.pipeline import DOCUMENT, EXTRACTIONS
from workers.purging import purge
from workers.services import Services


class Trouble(StrEnum):
    """What can be wrong."""

    ORPHANED_POINTS = "orphaned_points"
    ORPHANED_BYTES = "orphaned_bytes"
    ORPHANED_ARTIFACTS = "orphaned_artifacts"
    MISSING_POINTS = "missing_points"
    MISSING_BYTES = "missing_bytes"
    MISSING_ARTIFACTS = "missing_artifacts"


class Finding(Frozen):
    """Something that is wrong.

    Attributes:
        trouble: what it is.
        id: of the document, or the hash of the bytes.
        tenant: whose it is; empty where that cannot be told.
        detail: for a person.
    """

    trouble: Trouble
    id: str
    tenant: str = ""
    detail: str


class Examination(Frozen):
    """What was looked at and what was found.

    Attributes:
        states: documents per state, all tenants.
        episodes, facts: points in the store.
        blobs: things in the blob store.
        artifact_folders: documents with a folder of artifacts.
        findings: what is wrong.
    """

    states: dict[State, int]
    episodes: int
    facts: int
    blobs: int
    artifact_folders: int
    findings: tuple[Finding, ...]


def examine(services: Services) -> Examination:
    """Look at everything and change nothing.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    services.store.prepare()
    counts = {kind: services.store.census(kind) for kind in Collection}
    blobs = set(services.blobs.hashes())
    folders = _artifact_folders(services.artifacts)
    findings = [
        *_orphaned_points(services, counts),
        *_orphaned_bytes(services, blobs),
        *_orphaned_artifacts(services, folders),
        *_missing(services),
    ]
    return Examination(
        states=services.ledger.listing.summary().states,
        episodes=sum(counts[Collection.EPISODES].values()),
        facts=sum(counts[Collection.FACTS].values()),
        blobs=len(blobs),
        artifact_folders=len(folders),
        findings=tuple(findings),
    )


def repair(services: Services, finding: Finding) -> bool:
    """Put one finding right: orphans are removed, a document that lacks something is read anew.

    Returns:
        Whether something was done; False when only the sender can help, or it has changed meanwhile.
    """
    match finding.trouble:
        case Trouble.ORPHANED_POINTS:
            return services.store.delete_document(finding.tenant, finding.id) > 0
        case Trouble.ORPHANED_BYTES:
            leaves = services.ledger.purges.mark_unused(finding.id)
            if leaves:
                purge(services.ledger, services.blobs, finding.id)
            return leaves
        case Trouble.ORPHANED_ARTIFACTS:
            if services.ledger.listing.known([finding.id]):
                return False
            shutil.rmtree(artifact_dir(services.artifacts, finding.id), ignore_errors=True)
            return True
        case Trouble.MISSING_POINTS | Trouble.MISSING_ARTIFACTS:
            return _read_anew(services, finding)
        case Trouble.MISSING_BYTES:
            return False


def _read_anew(services: Services, finding: Finding) -> bool:
    try:
        services.ledger.documents.requeue(finding.tenant, finding.id, from_start=True)
    except (NotFound, StateConflict):
        return False
    services.enqueue()
    return True


def _orphaned_points(
    services: Services, counts: dict[Collection, dict[tuple[str, str], int]]
) -> Iterator[Finding]:
    held = {key for count in counts.values() for key in count}
    known = services.ledger.listing.known(identity for _, identity in held)
    for tenant, identity in sorted(held):
        if identity not in known:
            number = sum(count.get((tenant, identity), 0) for count in counts.values())
            yield Finding(
                trouble=Trouble.ORPHANED_POINTS, id=identity, tenant=tenant,
                detail=f"The store holds {number} points of a document that does not exist.",
            )  # fmt: skip


def _orphaned_bytes(services: Services, blobs: set[str]) -> Iterator[Finding]:
    for sha256 in sorted(blobs - services.ledger.listing.known_bytes(blobs)):
        yield Finding(trouble=Trouble.ORPHANED_BYTES, id=sha256, detail="The bytes belong to no document.")


def _artifact_folders(root: Path) -> set[str]:
    return {folder.name for folder in root.glob("*/*/*") if folder.is_dir()} if root.exists() else set()


def _orphaned_artifacts(services: Services, folders: set[str]) -> Iterator[Finding]:
    for identity in sorted(folders - services.ledger.listing.known(folders)):
        yield Finding(
            trouble=Trouble.ORPHANED_ARTIFACTS, id=identity,
            detail="The artifacts belong to a document that does not exist.",
        )  # fmt: skip


def _missing(services: Services) -> Iterator[Finding]:
    for record in services.ledger.listing.every([*ENDED, *STAGE_OF]):
        has_bytes = record.kind is Kind.FILE and record.state is not State.DELETING
        if has_bytes and not services.blobs.exists(record.sha256):
            yield _about(record, Trouble.MISSING_BYTES, "The bytes are not in the blob store.")
        if record.state is State.READY:
            yield from _missing_of_ready(services, record)


def _missing_of_ready(services: Services, record: DocumentRecord) -> Iterator[Finding]:
    folder = artifact_dir(services.artifacts, record.id)
    wanted = [DOCUMENT, EXTRACTIONS] if record.counts.elements else [DOCUMENT]
    lacking = [name for name in wanted if not (folder / name).exists()]
    if lacking:
        yield _about(record, Trouble.MISSING_ARTIFACTS, f"There is no {', '.join(lacking)}.")
    expected = (record.counts.episodes, record.counts.facts)
    held = tuple(services.store.count(kind, record.owner.tenant, record.id) for kind in Collection)
    if held != expected and _is_still(services, record):
        detail = f"The store holds {held} episodes and facts instead of {expected}."
        yield _about(record, Trouble.MISSING_POINTS, detail)


def _is_still(services: Services, record: DocumentRecord) -> bool:
    """Tell whether a document is as it was: one that is deleted or read anew meanwhile lacks nothing."""
    try:
        return services.ledger.documents.get(record.owner.tenant, record.id) == record
    except NotFound:
        return False


def _about(record: DocumentRecord, trouble: Trouble, detail: str) -> Finding:
    return Finding(trouble=trouble, id=record.id, tenant=record.owner.tenant, detail=detail)
