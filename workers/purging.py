"""Removing bytes from the blob store."""

from __future__ import annotations

from workers.ledger.ledger import Ledger
from workers.protocols import Blobs


def purge(ledger: Ledger, blobs: Blobs, sha256: str) -> None:
    """Remove bytes that were marked as leaving, and record that they are gone."""
    blobs.delete(sha256)
    ledger.purges.finish(sha256)
