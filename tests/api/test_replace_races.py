"""Files of one name handed in with `replace` at once: none is lost, and the last one answers."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from flask.testing import FlaskClient

from ingest.model import Owner
from tests.api.conftest import KeyMaker
from tests.api.test_versions import told
from tests.workers.parts import drain, hand_in
from workers.doctor import examine
from workers.model import ENDED, DocumentRecord, Stage, State
from workers.run import run_stage
from workers.services import Services

ANA = Owner(tenant="acme", user_id="ana")
TEXTS = ["The rent is 900 euros.", "The rent is 950 euros.", "The rent is 990 euros."]


def give(services: Services, text: str, *, newer: bool = True, name: str = "rent.txt") -> str:
    accepted = hand_in(services, text, name=name, owner=ANA, replace_same_name=newer)
    return accepted.document.id


def go(services: Services, identity: str, *stages: Stage) -> None:
    for stage in stages or (Stage.PARSE, Stage.EXTRACT, Stage.INDEX):
        run_stage(services, stage, identity)


def record(services: Services, identity: str) -> DocumentRecord:
    return services.ledger.documents.get("acme", identity)


class InTurn:
    """A store that answers one at a time: the one in memory is not made for threads."""

    def __init__(self, store: Any) -> None:
        self._store, self._lock = store, threading.Lock()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self._call, getattr(self._store, name))

    def _call(self, method: Callable[..., Any], *args: Any, **named: Any) -> Any:
        with self._lock:
            found = method(*args, **named)
            return list(found) if hasattr(found, "__next__") else found


def is_settled(client: FlaskClient, headers: dict[str, str], services: Services, ids: list[str]) -> None:
    """Every file is there, each answers for its time and the last one for now."""
    drain(services)
    records = [record(services, one) for one in ids]
    assert [one.state for one in records] == [State.READY] * len(ids)
    assert services.ledger.documents.hidden_ids("acme") == []
    inside = [told(client, headers, as_of=one.received_at.isoformat()) for one in records]
    assert inside == [[text] for text in TEXTS[: len(ids)]]
    assert told(client, headers) == [TEXTS[len(ids) - 1]]
    assert [one.superseded_by for one in records] == [*ids[1:], None]
    assert examine(services).findings == ()


@pytest.mark.parametrize("seed", range(12))
def test_stages_may_come_in_any_order(
    client: FlaskClient, key: KeyMaker, services: Services, seed: int
) -> None:
    ids = [give(services, text) for text in TEXTS]
    turns = [one for one in ids for _ in range(3)]
    random.Random(seed).shuffle(turns)
    left = {one: [Stage.PARSE, Stage.EXTRACT, Stage.INDEX] for one in ids}
    for one in turns:
        go(services, one, left[one].pop(0))
    is_settled(client, key(), services, ids)


@pytest.mark.parametrize("step", ["switch", "supersede", "complete"])
@pytest.mark.parametrize("first", [0, 1])
def test_one_switches_while_the_other_is_in_the_middle_of_it(
    client: FlaskClient, key: KeyMaker, services: Services, first: int, step: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    ids = [give(services, text) for text in TEXTS[:2]]
    for one in ids:
        go(services, one, Stage.PARSE, Stage.EXTRACT)
    places = {
        "switch": services.ledger.versions, "supersede": services.store, "complete": services.ledger.stages,
    }  # fmt: skip
    real = getattr(places[step], step)

    def meanwhile(*args: Any, **named: Any) -> Any:
        monkeypatch.setattr(places[step], step, real)
        go(services, ids[1 - first], Stage.INDEX)
        return real(*args, **named)

    monkeypatch.setattr(places[step], step, meanwhile)
    go(services, ids[first], Stage.INDEX)
    monkeypatch.setattr(places[step], step, real)
    go(services, ids[1 - first], Stage.INDEX)
    is_settled(client, key(), services, ids)


@pytest.mark.parametrize("turn", range(4))
def test_many_hands_at_once(client: FlaskClient, key: KeyMaker, services: Services, turn: int) -> None:
    apart = replace(services, store=InTurn(services.store))
    texts = [f"In round {turn} the rent is {900 + number} euros." for number in range(6)]
    with ThreadPoolExecutor(4) as pool:
        ids = list(pool.map(lambda text: give(apart, text), texts))

        def work() -> None:
            while any(record(apart, one).state not in ENDED for one in ids):
                for entry in apart.ledger.outbox.take(2):
                    run_stage(apart, entry.stage, entry.document_id)

        for done in [pool.submit(work) for _ in range(4)]:
            done.result(timeout=60)
    drain(services)
    records = sorted((record(services, one) for one in ids), key=lambda one: (one.received_at, one.id))
    assert [one.state for one in records] == [State.READY] * 6
    assert services.ledger.documents.hidden_ids("acme") == []
    said = dict(zip(ids, texts, strict=True))
    headers = key()
    assert told(client, headers) == [said[records[-1].id]]
    assert [one.superseded_by for one in records] == [one.id for one in records[1:]] + [None]
    for one in records:
        assert told(client, headers, as_of=one.received_at.isoformat()) == [said[one.id]]


@pytest.mark.parametrize("passed", range(4))
@pytest.mark.parametrize("newer", [True, False])
def test_handed_in_again_it_is_the_last_one(
    client: FlaskClient, key: KeyMaker, services: Services, passed: int, newer: bool
) -> None:
    stages = [Stage.PARSE, Stage.EXTRACT, Stage.INDEX]
    old = give(services, TEXTS[0], newer=newer)
    go(services, old, *stages[:passed]) if passed else None
    new = give(services, TEXTS[1])
    assert give(services, TEXTS[0], newer=newer) == old
    go(services, new)
    drain(services)
    expected = [TEXTS[0]] if newer else sorted(TEXTS[:2])
    assert told(client, key()) == expected
    assert {record(services, one).state for one in (old, new)} == {State.READY}
    assert services.ledger.documents.hidden_ids("acme") == []


@pytest.mark.parametrize("passed", range(4))
def test_handed_in_again_after_it_was_replaced_unread(
    client: FlaskClient, key: KeyMaker, services: Services, passed: int
) -> None:
    stages = [Stage.PARSE, Stage.EXTRACT, Stage.INDEX]
    old, new = give(services, TEXTS[0]), give(services, TEXTS[1])
    go(services, old, *stages[:passed]) if passed else None
    go(services, new)
    assert record(services, old).superseded_by == new
    give(services, TEXTS[0])
    drain(services)
    assert told(client, key()) == [TEXTS[0]]
    assert record(services, new).superseded_by == old


def test_a_removal_under_way_does_not_bring_back_the_older_one(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    old = give(services, TEXTS[0])
    drain(services)
    services.ledger.documents.mark_deleting("acme", old)
    give(services, TEXTS[0])
    new = give(services, TEXTS[1])
    go(services, new)
    drain(services)
    assert told(client, key()) == [TEXTS[1]]
    assert record(services, old).superseded_by == new


def test_a_new_version_that_holds_nothing_leaves_the_old_one_its_time(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    old = give(services, TEXTS[0])
    drain(services)
    then = services.ledger.database.now().isoformat()
    new = give(services, "\n")
    drain(services)
    assert record(services, new).counts.elements == 0
    assert (record(services, old).superseded_by, record(services, old).state) == (new, State.READY)
    assert told(client, key()) == []
    assert told(client, key(), as_of=then) == [TEXTS[0]]


def test_what_had_failed_before_goes_and_what_fails_meanwhile_stays_to_be_seen(services: Services) -> None:
    before = give(services, TEXTS[0])
    services.ledger.documents.cancel("acme", before)
    meanwhile, new = give(services, TEXTS[1]), give(services, TEXTS[2])
    services.ledger.documents.cancel("acme", meanwhile)
    go(services, new)
    assert record(services, before).state is State.DELETING
    assert (record(services, meanwhile).state, record(services, meanwhile).superseded_by) == (
        State.CANCELLED, new,
    )  # fmt: skip


def test_one_whose_successor_goes_before_it_told_the_store_comes_back_for_its_time(
    client: FlaskClient, key: KeyMaker, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = give(services, TEXTS[0])
    drain(services)
    then = services.ledger.database.now().isoformat()
    new = give(services, TEXTS[1])

    def goes(*_: Any) -> None:
        services.ledger.documents.mark_deleting("acme", new)

    with monkeypatch.context() as patch:
        patch.setattr(services.store, "supersede", goes)
        go(services, new)
    drain(services)
    assert services.ledger.documents.hidden_ids("acme") == []
    assert told(client, key(), as_of=then) == [TEXTS[0]]
    assert told(client, key()) == []
    assert record(services, old).state is State.READY


@pytest.mark.parametrize("newer", [False, True])
def test_known_bytes_under_another_name_keep_theirs_and_are_replaced_by_it(
    client: FlaskClient, key: KeyMaker, services: Services, newer: bool
) -> None:
    first = give(services, TEXTS[0], newer=False, name="a.txt")
    drain(services)
    assert give(services, TEXTS[0], newer=newer, name="b.txt") == first
    drain(services)
    assert record(services, first).name == "a.txt"
    second = give(services, TEXTS[1], name="a.txt")
    drain(services)
    assert record(services, first).superseded_by == second
    assert told(client, key()) == [TEXTS[1]]
