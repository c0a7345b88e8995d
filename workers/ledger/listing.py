"""Lists of documents, page by page, and numbers over all of them."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from sqlalchemy import ColumnElement, Select, and_, exists, func, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from ingest.anchors import Frozen
from workers.errors import BadCursor
from workers.ledger.database import Database
from workers.ledger.lifecycle import retry_times
from workers.ledger.records import document_record
from workers.ledger.tables import DocumentRow, OutboxRow
from workers.model import ENDED, DocumentPage, DocumentRecord, State

_MANY = 500


def batched(values: Iterable[str], size: int) -> Iterator[tuple[str, ...]]:
    """Yield the values in tuples of at most ``size``."""
    line = iter(values)
    while some := tuple(islice(line, size)):
        yield some


class DocumentFilter(Frozen):
    """What a list is narrowed to; None and empty do not narrow. ``roots_only`` leaves out inner files."""

    user_id: str | None = None
    group_id: str | None = None
    session_id: str | None = None
    parent_id: str | None = None
    media_type: str | None = None
    name: str | None = None
    sha256: str | None = None
    states: tuple[State, ...] = ()
    roots_only: bool = False


_ALL = DocumentFilter()


class Summary(Frozen):
    """Numbers over all tenants, for metrics and readiness.

    Attributes:
        states: documents per state.
        running: stages that run now.
        oldest_waiting_at: when the document that has waited longest, and may be worked on, last changed.
        last_ready_at: when a document last became ready.
        without_facts: ready documents that gave no fact.
    """

    states: dict[State, int]
    running: int
    oldest_waiting_at: datetime | None
    last_ready_at: datetime | None
    without_facts: int


class Overview(Frozen):
    """The numbers of one tenant: documents per state, and what the ready ones have given."""

    documents: dict[State, int]
    elements: int
    episodes: int
    facts: int
    size_bytes: int


class Listing:
    """Reads many documents at once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, tenant: str, narrow: DocumentFilter, limit: int = 50, cursor: str | None = None
    ) -> DocumentPage:
        """Return up to ``limit`` documents of a tenant, newest first, after a cursor.

        The order stays while documents come and go: none is shown twice or left out.

        Raises:
            BadCursor: the cursor is not from such a list.
        """
        query = self._narrowed(tenant, narrow)
        if cursor is not None:
            received_at, identity = _read_cursor(cursor)
            query = query.where(tuple_(DocumentRow.received_at, DocumentRow.id) < (received_at, identity))
        query = query.order_by(DocumentRow.received_at.desc(), DocumentRow.id.desc()).limit(limit + 1)
        now = self._database.now()
        with self._database.read() as session:
            rows = list(session.scalars(query))
            retries = retry_times(session, (row.id for row in rows), now)
            shown = tuple(document_record(row, now, retries.get(row.id)) for row in rows[:limit])
        more = len(rows) > limit
        return DocumentPage(documents=shown, next_cursor=_write_cursor(rows[limit - 1]) if more else None)

    def summary(self) -> Summary:
        """Return numbers over all tenants."""
        row = DocumentRow
        unfinished = row.state.not_in([state.value for state in ENDED])
        live = (row.lease_token.is_not(None), row.lease_until > self._database.now())
        # What is put off, like a conversation that may go on, does not wait for anybody.
        put_off = exists().where(
            OutboxRow.document_id == row.id, OutboxRow.available_at > self._database.now()
        )
        waiting = select(func.min(row.updated_at)).where(unfinished, row.lease_token.is_(None), ~put_off)
        ready = row.state == State.READY
        with self._database.read() as session:
            states = session.execute(select(row.state, func.count()).group_by(row.state)).all()
            return Summary(
                states={State(state): count for state, count in states},
                running=session.scalar(select(func.count()).where(*live)) or 0,
                oldest_waiting_at=session.scalar(waiting),
                last_ready_at=session.scalar(select(func.max(row.finished_at)).where(ready)),
                without_facts=session.scalar(select(func.count()).where(ready, row.facts == 0)) or 0,
            )

    def overview(self, tenant: str, narrow: DocumentFilter = _ALL) -> Overview:
        """Return the numbers of a tenant, of the documents a filter lets through."""
        row = DocumentRow
        mine = and_(*self._conditions(tenant, narrow))
        sums = (func.sum(column) for column in (row.elements, row.episodes, row.facts, row.size_bytes))
        with self._database.read() as session:
            states = session.execute(select(row.state, func.count()).where(mine).group_by(row.state)).all()
            totals = session.execute(select(*sums).where(mine, row.state == State.READY)).one()
        elements, episodes, facts, size_bytes = (int(total or 0) for total in totals)
        return Overview(
            documents={State(state): count for state, count in states},
            elements=elements,
            episodes=episodes,
            facts=facts,
            size_bytes=size_bytes,
        )

    def known(self, ids: Iterable[str]) -> set[str]:
        """Return those of the ids that are documents, of any tenant."""
        return self._among(DocumentRow.id, ids)

    def known_bytes(self, hashes: Iterable[str]) -> set[str]:
        """Return those of the hashes that are a document's bytes, of any tenant."""
        return self._among(DocumentRow.sha256, hashes)

    def every(self, states: Iterable[State], page: int = 500) -> Iterator[DocumentRecord]:
        """Yield the documents in these states of all tenants, in the order of their ids."""
        wanted = [state.value for state in states]
        last = ""
        while True:
            query = select(DocumentRow).where(DocumentRow.state.in_(wanted), DocumentRow.id > last)
            with self._database.read() as session:
                rows = list(session.scalars(query.order_by(DocumentRow.id).limit(page)))
                records = [document_record(row, self._database.now()) for row in rows]
            yield from records
            if len(rows) < page:
                return
            last = records[-1].id

    def _among(self, column: InstrumentedAttribute[str], values: Iterable[str]) -> set[str]:
        found: set[str] = set()
        with self._database.read() as session:
            for some in batched(values, _MANY):
                found.update(session.scalars(select(column).where(column.in_(some)).distinct()))
        return found

    def _narrowed(self, tenant: str, narrow: DocumentFilter) -> Select[DocumentRow]:
        return select(DocumentRow).where(*self._conditions(tenant, narrow))

    def _conditions(self, tenant: str, narrow: DocumentFilter) -> list[ColumnElement[bool]]:
        named = narrow.model_dump(exclude={"states", "roots_only"}, exclude_none=True)
        found = [DocumentRow.tenant == tenant]
        found += [getattr(DocumentRow, name) == value for name, value in named.items()]
        if narrow.states:
            found.append(DocumentRow.state.in_([state.value for state in narrow.states]))
        return [*found, DocumentRow.parent_id.is_(None)] if narrow.roots_only else found


def _write_cursor(row: DocumentRow) -> str:
    place = json.dumps([row.received_at.isoformat(), row.id])
    return base64.urlsafe_b64encode(place.encode()).decode()


def _read_cursor(cursor: str) -> tuple[datetime, str]:
    try:
        received_at, identity = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii")))
        moment = datetime.fromisoformat(received_at)
    except (ValueError, TypeError, binascii.Error) as error:
        raise BadCursor from error
    if moment.tzinfo is None or not isinstance(identity, str):
        raise BadCursor
    return moment, identity
