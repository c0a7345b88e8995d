"""The tables themselves, and the smaller subjects: lists, keys, idempotency, duties."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from ingest.model import Owner
from tests.workers.conftest import Clock, upload
from workers.errors import BadCursor, KeyInFlight, KeyReused, NotFound
from workers.ledger.ledger import Ledger
from workers.ledger.listing import DocumentFilter
from workers.ledger.tables import Base
from workers.model import Stage, State

EVERY = DocumentFilter()


def test_the_migrations_make_the_tables_of_the_models(ledger: Ledger) -> None:
    with ledger.database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_migrating_twice_changes_nothing(ledger: Ledger) -> None:
    identity = ledger.documents.accept(upload("a")).document.id
    ledger.migrate()
    assert ledger.documents.get("acme", identity).id == identity
    ledger.ping()


def test_processes_that_start_together_do_not_race_in_the_migrations(database_url: str) -> None:
    code = "import sys; from workers.ledger.ledger import Ledger; Ledger(sys.argv[1]).migrate()"
    command = [sys.executable, "-c", code, database_url]
    root = Path(__file__).parents[2]
    started = [subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE) for _ in range(4)]
    errors = [process.communicate(timeout=60)[1] for process in started]
    assert [process.returncode for process in started] == [0] * 4, errors


def test_a_list_shows_each_document_once_while_others_arrive(ledger: Ledger, clock: Clock) -> None:
    expected = []
    for content in "abcdef":
        expected.append(ledger.documents.accept(upload(content)).document.id)
        clock.forward(0.5 if content < "d" else 0)
    seen, cursor = [], None
    for number in range(10):
        page = ledger.listing.page("acme", EVERY, limit=2, cursor=cursor)
        seen += [one.id for one in page.documents]
        ledger.documents.accept(upload(str(number)))
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 6
    assert seen[3:] == expected[2::-1]
    assert set(seen) == set(expected)


def test_a_list_is_narrowed_by_owner_state_and_tenant(ledger: Ledger) -> None:
    mine = ledger.documents.accept(upload("a")).document.id
    ledger.documents.accept(upload("b", owner=Owner(tenant="acme", user_id="ben")))
    ledger.documents.accept(upload("c", owner=Owner(tenant="other", user_id="anna")))
    inner = ledger.documents.accept(upload("d"), parent=(mine, "1")).document.id
    ledger.documents.cancel("acme", inner)

    def ids(narrow: DocumentFilter) -> set[str]:
        return {one.id for one in ledger.listing.page("acme", narrow).documents}

    assert ids(DocumentFilter(user_id="anna")) == {mine, inner}
    assert ids(DocumentFilter(user_id="anna", roots_only=True)) == {mine}
    assert ids(DocumentFilter(parent_id=mine)) == {inner}
    assert ids(DocumentFilter(states=(State.CANCELLED,))) == {inner}
    assert len(ids(EVERY)) == 3


@pytest.mark.parametrize("cursor", ["x", "", "W10=", "é", "WyIyMDI2LTAxLTAxIiwgMV0="])
def test_a_made_up_cursor_is_refused(ledger: Ledger, cursor: str) -> None:
    with pytest.raises(BadCursor):
        ledger.listing.page("acme", EVERY, cursor=cursor)


def test_the_summary_counts_over_all_tenants(ledger: Ledger, clock: Clock) -> None:
    first = ledger.documents.accept(upload("a")).document.id
    ledger.documents.accept(upload("b", owner=Owner(tenant="other", user_id="x")))
    ledger.stages.claim(first, Stage.PARSE)
    summary = ledger.listing.summary()
    assert summary.states == {State.PARSING: 1, State.QUEUED: 1}
    assert summary.running == 1
    assert summary.oldest_waiting_at == clock()
    assert summary.last_ready_at is None


def test_a_key_is_found_by_its_secret_until_it_is_revoked(ledger: Ledger) -> None:
    secret, key = ledger.keys.create("laptop", "acme", ["write", "read"], user_id="anna")
    found = ledger.keys.find(secret)
    assert found == key
    assert found.scopes == ("read", "write")
    assert ledger.keys.find(secret + "x") is None
    assert ledger.keys.list("other") == []
    with pytest.raises(NotFound):
        ledger.keys.revoke("other", key.id)
    ledger.keys.revoke("acme", key.id)
    assert ledger.keys.find(secret) is None
    assert ledger.keys.list("acme")[0].revoked_at is not None


def test_the_secret_of_a_key_is_not_kept(ledger: Ledger) -> None:
    secret, _ = ledger.keys.create("laptop", "acme", ["read"])
    with ledger.database.engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM api_keys").all()
    assert secret not in repr(rows)


def test_an_idempotency_key_answers_the_same_and_refuses_another_request(ledger: Ledger) -> None:
    assert ledger.idempotency.begin("acme", "k", "h1") is None
    with pytest.raises(KeyInFlight):
        ledger.idempotency.begin("acme", "k", "h1")
    ledger.idempotency.finish("acme", "k", 202, {"batch_id": "b"})
    stored = ledger.idempotency.begin("acme", "k", "h1")
    assert stored is not None
    assert (stored.status, stored.body) == (202, {"batch_id": "b"})
    with pytest.raises(KeyReused):
        ledger.idempotency.begin("acme", "k", "h2")
    assert ledger.idempotency.begin("other", "k", "h2") is None


def test_one_of_many_equal_requests_is_carried_out(ledger: Ledger) -> None:
    def begin(_: int) -> bool:
        try:
            return ledger.idempotency.begin("acme", "k", "h") is None
        except KeyInFlight:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(begin, range(16))) == 1


def test_a_reservation_ends_when_its_request_failed_or_its_process_died(ledger: Ledger, clock: Clock) -> None:
    ledger.idempotency.begin("acme", "k", "h")
    ledger.idempotency.abandon("acme", "k")
    assert ledger.idempotency.begin("acme", "k", "h") is None
    clock.forward(601)
    assert ledger.idempotency.begin("acme", "k", "h") is None
    clock.forward(90_000)
    ledger.idempotency.forget(older_than_s=86_400)
    assert ledger.idempotency.begin("acme", "k", "another") is None


def test_a_duty_has_one_holder_until_it_lapses_or_is_dropped(ledger: Ledger, clock: Clock) -> None:
    assert ledger.duties.take("reconcile", "one", 10)
    assert not ledger.duties.take("reconcile", "two", 10)
    clock.forward(8)
    assert ledger.duties.take("reconcile", "one", 10)
    clock.forward(8)
    assert not ledger.duties.take("reconcile", "two", 10)
    clock.forward(3)
    assert ledger.duties.take("reconcile", "two", 10)
    ledger.duties.drop("reconcile", "one")
    assert not ledger.duties.take("reconcile", "one", 10)
    ledger.duties.drop("reconcile", "two")
    assert ledger.duties.take("reconcile", "one", 10)


def test_bytes_marked_as_leaving_are_remembered_until_gone(ledger: Ledger, clock: Clock) -> None:
    assert ledger.purges.mark_unused("e" * 64)
    assert ledger.purges.unfinished() == ["e" * 64]
    assert ledger.purges.unfinished(older_than_s=5) == []
    ledger.purges.finish("e" * 64)
    assert ledger.purges.unfinished() == []
    ledger.documents.accept(upload("a"))
    assert not ledger.purges.mark_unused("a" * 64)
    clock.forward(100)
    ledger.purges.forget(older_than_s=50)
