"""What was forgotten by request, known by a hash of its words: ids change when a source is read again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from sqlalchemy import select

from extract.model import AtomicFact, Episode
from workers.errors import NotFound
from workers.ledger.database import Database
from workers.ledger.message_tables import ForgottenRow
from workers.ledger.tables import DocumentRow


def digest_of(item: Episode | AtomicFact) -> str:
    """Return what a forgotten episode or fact is known by."""
    kind = "episode" if isinstance(item, Episode) else "fact"
    return hashlib.sha256(f"{kind}\x1f{item.text}".encode("utf-8", "replace")).hexdigest()


class Forgotten:
    """Remembers what must not come back."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, tenant: str, document_id: str, digests: Iterable[str], *, episodes: int, facts: int
    ) -> None:
        """Note what leaves a document's memory, and count its episodes and facts anew.

        Raises:
            NotFound: the tenant has no such document.
        """
        with self._database.write() as session:
            row = session.get(DocumentRow, document_id, with_for_update=True)
            if row is None or row.tenant != tenant:
                raise NotFound("There is no such document.")
            for digest in sorted(set(digests)):
                values = {"document_id": document_id, "digest": digest}
                self._database.insert_new(session, ForgottenRow, values)
            row.episodes, row.facts = max(0, row.episodes - episodes), max(0, row.facts - facts)
            row.updated_at = self._database.now()

    def of(self, document_id: str) -> frozenset[str]:
        """Return the digests of what must stay out of a document's memory."""
        query = select(ForgottenRow.digest).where(ForgottenRow.document_id == document_id)
        with self._database.read() as session:
            return frozenset(session.scalars(query))
