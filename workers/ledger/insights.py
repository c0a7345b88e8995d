"""Profiles, cases and skills in the ledger: changed step by step, gone with what they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, bindparam, delete, exists, or_, select
from sqlalchemy.orm import Session

from extract.reflection.model import AgentCase, AgentSkill, Change, Insight, KnownInsight, ProfileEntry
from ingest.ids import insight_id
from ingest.model import Owner
from workers.errors import StageStopped
from workers.ledger.database import Database
from workers.ledger.insight_records import HeldInsight, InsightSource, collect, held_insight
from workers.ledger.insight_tables import InsightRow, SupportRow
from workers.ledger.message_tables import StretchRow
from workers.ledger.tables import DocumentRow
from workers.model import Lease, State

PROFILE = ("attribute", "preference")
CASE = ("case",)
SKILL = ("skill",)
_MOST = 1000
# Every search asks this; without a language model there is nothing, and the whole question takes longer.
_ANY = select(exists().where(InsightRow.tenant == bindparam("tenant")))


class Insights:
    """The insights of all tenants; every call on behalf of a caller sees one tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(
        self, tenant: str, kinds: Sequence[str], ids: Sequence[str] | None = None,
        **owner: Sequence[str] | None,
    ) -> list[HeldInsight]:  # fmt: skip
        """Return insights, oldest first, without those whose last source was deleted.

        Args:
            tenant: the tenant.
            kinds: which.
            ids: only these; None does not narrow.
            owner: ``user_id`` and ``group_id``: those that are wanted; None does not narrow.
        """
        with self._database.read() as session:
            if not session.scalar(_ANY, {"tenant": tenant}):
                return []
        wanted = [InsightRow.tenant == tenant, InsightRow.kind.in_(kinds)]
        wanted += [getattr(InsightRow, name).in_(some) for name, some in owner.items() if some is not None]
        if ids is not None:
            wanted.append(InsightRow.id.in_(ids))
        newest = select(InsightRow).where(*wanted).order_by(InsightRow.updated_at.desc()).limit(_MOST)
        with self._database.read() as session:
            rows = {row.id: row for row in session.scalars(newest)}
            if not rows:
                return []
            supports = (
                select(SupportRow, DocumentRow)
                .join(DocumentRow, DocumentRow.id == SupportRow.document_id)
                .outerjoin(StretchRow, StretchRow.document_id == SupportRow.document_id)
                .where(SupportRow.insight_id.in_(rows), *_shown())
                .order_by(DocumentRow.received_at, SupportRow.document_id, SupportRow.fact_id)
            )
            sources: dict[str, dict[str, InsightSource]] = {}
            for support, document in session.execute(supports):
                collect(sources.setdefault(support.insight_id, {}), support, document)
            held = [held_insight(row, sources[row.id].values()) for row in rows.values() if row.id in sources]
        return sorted(held, key=lambda one: (one.created_at, one.id))

    def known(self, owner: Owner, kinds: Sequence[str], without_document: str = "") -> list[KnownInsight]:
        """Return an owner's insights that rest on something else than one document, oldest first."""
        named = {"user_id": owner.user_id, "group_id": owner.group_id}
        held = self.of(
            owner.tenant, kinds, **{name: [value] for name, value in named.items() if value is not None}
        )
        return [
            KnownInsight(id=one.id, insight=one.insight)
            for one in held
            if (one.user_id, one.group_id) == (owner.user_id, owner.group_id)
            and any(source.document_id != without_document for source in one.sources)
        ]

    def learn(
        self, lease: Lease, kinds: Sequence[str], changes: Sequence[Change],
        facts_of: Mapping[str, Sequence[str]], maker: str,
    ) -> None:  # fmt: skip
        """Put what a document teaches in the place of what it taught before, in one transaction.

        Args:
            lease: of the stage that read the document.
            kinds: which insights are meant.
            changes: what it teaches now.
            facts_of: ids of the facts told in a message, by the id of the message.
            maker: model and prompts.

        Raises:
            StageStopped: the lease is lost.
        """
        with self._database.write() as session:
            document = session.get(DocumentRow, lease.document.id, with_for_update=True)
            if document is None or document.lease_token != lease.token:
                raise StageStopped("Another worker has this stage now.")
            owner = lease.document.owner
            mine = select(InsightRow.id).where(*_of_owner(owner), InsightRow.kind.in_(kinds))
            session.execute(
                delete(SupportRow).where(
                    SupportRow.document_id == document.id, SupportRow.insight_id.in_(mine)
                )
            )
            for change in changes:
                told = [*change.facts, *(fact for one in change.messages for fact in facts_of.get(one, ()))]
                supports = {(document.id, fact) for fact in told} or {(document.id, "")}
                self._apply(session, owner, kinds, change, supports, maker)
            drop_unsupported(session, owner.tenant)

    def generalise(self, owner: Owner, changes: Sequence[Change], maker: str) -> None:
        """Change an owner's skills; each rests on what its cases rest on."""
        with self._database.write() as session:
            for change in changes:
                query = select(SupportRow.document_id).join(
                    InsightRow, InsightRow.id == SupportRow.insight_id
                )
                cases = (*_of_owner(owner), InsightRow.kind.in_(CASE), InsightRow.id.in_(change.cases))
                documents = set(session.scalars(query.where(*cases)))
                if documents:
                    supports = {(document, "") for document in documents}
                    self._apply(session, owner, SKILL, change, supports, maker)
            drop_unsupported(session, owner.tenant)

    def forget(self, tenant: str, ids: Iterable[str], **bound: str | None) -> list[str]:
        """Remove insights by id, and let facts with these ids support nothing any more.

        Returns:
            The ids of the insights that were removed by name.
        """
        wanted = [InsightRow.tenant == tenant, InsightRow.id.in_(list(ids))]
        wanted += [getattr(InsightRow, name) == value for name, value in bound.items() if value is not None]
        with self._database.write() as session:
            named = list(session.scalars(select(InsightRow.id).where(*wanted)))
            session.execute(delete(InsightRow).where(InsightRow.id.in_(named)))
        return named

    def drop_facts(self, tenant: str, facts: Iterable[str]) -> None:
        """Let facts support nothing any more; what rested on them alone goes."""
        gone = [fact for fact in facts if fact]
        mine = select(InsightRow.id).where(InsightRow.tenant == tenant)
        with self._database.write() as session:
            session.execute(
                delete(SupportRow).where(SupportRow.fact_id.in_(gone), SupportRow.insight_id.in_(mine))
            )
            drop_unsupported(session, tenant)

    def _apply(
        self, session: Session, owner: Owner, kinds: Sequence[str], change: Change,
        supports: set[tuple[str, str]], maker: str,
    ) -> None:  # fmt: skip
        row = session.get(InsightRow, change.id, with_for_update=True) if change.id else None
        mine = row is not None and row.kind in kinds and _is_owner(row, owner)
        if change.id and not mine:
            return  # it went meanwhile
        if change.insight is None:
            if row is not None:
                session.delete(row)
                session.flush()
            return
        now = self._database.now()
        if row is None:
            row = self._found_or_new(session, owner, change.insight, maker, now)
        else:
            # The new words rest on the new facts: the old ones said something else.
            session.execute(delete(SupportRow).where(SupportRow.insight_id == row.id))
        row.kind, row.body, row.sources = change.insight.kind, change.insight.model_dump(), list(change.cases)
        row.maker, row.updated_at = maker[:255], now
        session.flush()
        for document_id, fact in sorted(supports):
            values = {"insight_id": row.id, "document_id": document_id, "fact_id": fact}
            self._database.insert_new(session, SupportRow, values)

    def _found_or_new(
        self, session: Session, owner: Owner, insight: Insight, maker: str, now: datetime
    ) -> InsightRow:
        subject, words = _identity(insight)
        identity = insight_id(owner, insight.kind, subject, words)
        values: dict[str, object] = {
            "id": identity, "tenant": owner.tenant, "user_id": owner.user_id, "group_id": owner.group_id,
            "kind": insight.kind, "body": insight.model_dump(), "sources": [], "maker": maker[:255],
            "created_at": now, "updated_at": now,
        }  # fmt: skip
        self._database.insert_new(session, InsightRow, values)
        return session.get_one(InsightRow, identity, with_for_update=True)


def drop_unsupported(session: Session, tenant: str) -> None:
    """Remove a tenant's insights that rest on nothing any more, inside a transaction."""
    supported = exists().where(SupportRow.insight_id == InsightRow.id)
    session.execute(delete(InsightRow).where(InsightRow.tenant == tenant, ~supported))


def _shown() -> tuple[ColumnElement[bool], ...]:
    """Conditions of a support that may be shown: its document is not being deleted, nothing was taken out."""
    withdrawn = and_(StretchRow.withdrawn.is_(True), StretchRow.pending.is_(True))
    return (DocumentRow.state != State.DELETING, or_(StretchRow.document_id.is_(None), ~withdrawn))


def _of_owner(owner: Owner) -> tuple[ColumnElement[bool], ...]:
    return (
        InsightRow.tenant == owner.tenant,
        InsightRow.user_id.is_not_distinct_from(owner.user_id),
        InsightRow.group_id.is_not_distinct_from(owner.group_id),
    )


def _is_owner(row: InsightRow, owner: Owner) -> bool:
    return (row.tenant, row.user_id, row.group_id) == (owner.tenant, owner.user_id, owner.group_id)


def _identity(insight: Insight) -> tuple[str, str]:
    match insight:
        case ProfileEntry(subject=subject, text=text):
            return subject, text
        case AgentCase(task=task, approach=approach, outcome=outcome):
            return "", "\n".join((task, approach, outcome))
        case AgentSkill(name=name):
            return "", name
