"""Filters applied outside the store let the same things pass as the store does."""

from __future__ import annotations

import pytest
from qdrant_client import QdrantClient

from retrieval.filters import AllOf, AnyOf, AsOf, Compare, FilterExpr, NotOf, Operator
from retrieval.matching import Fields, matches, owner_values
from retrieval.model import IndexedFact
from retrieval.protocols import Collection, SparseVector
from retrieval.qdrant.store import QdrantStore
from tests.retrieval.builders import NOW, a_fact, day, owner
from tests.retrieval.test_store_contract import CASES

ANN = Compare(field="user_id", operator=Operator.EQ, value="ann")
ZH = Compare(field="language", operator=Operator.EQ, value="zh")
SHELF = (
    a_fact("a", text="one", owner=owner(group_id="g1"), occurred=day(0), topic_name="Budget plan",
           speaker="Ann Lee", language="en", name="Q1 report.pdf", media_type="application/pdf"),
    a_fact("b", text="two", owner=owner(user="bob", session_id="s1"), occurred=day(5),
           topic_name="预算会议", participants=("Bob", "Cid"), language="zh"),
    a_fact("c", text="three", owner=owner(user="cid"), topic_name="Travel"),
)  # fmt: skip


def fields(item: IndexedFact) -> Fields:
    fact = item.fact
    single = {
        "user_id": fact.owner.user_id, "group_id": fact.owner.group_id, "session_id": fact.owner.session_id,
        "document_id": fact.document_id, "language": fact.language, "topic": fact.topic_name,
        "source": item.document.name, "media_type": item.document.media_type,
    }  # fmt: skip
    return {
        **{name: (value,) for name, value in single.items() if value is not None},
        "participants": lambda: (*fact.participants, *((fact.speaker,) if fact.speaker else ())),
        "timestamp": (fact.occurred.start,) if fact.occurred else (),
        "recorded_at": (NOW,),
    }


@pytest.fixture(scope="module")
def store() -> QdrantStore:
    made = QdrantStore(QdrantClient(":memory:"), "fp", 4)
    made.prepare()
    made.put_facts(SHELF, [None] * 3, [SparseVector((1,), (1.0,))] * 3)
    return made


def compared(field: str, operator: str, value: object) -> Compare:
    return Compare.model_validate({"field": field, "operator": operator, "value": value})


WHERE = [
    compared(*case[:3]) for case in CASES if case[0] != "timestamp" or not isinstance(case[2], str | float)
]
NESTED = [
    AnyOf(parts=(ANN, ZH)), AllOf(parts=(ANN, ZH)), NotOf(part=AnyOf(parts=(ANN, ZH))), AllOf(parts=()),
    NotOf(part=AllOf(parts=())), NotOf(part=NotOf(part=ANN)), AllOf(parts=(AsOf(), NotOf(part=ZH))),
]  # fmt: skip


@pytest.mark.parametrize("where", [*WHERE, *NESTED], ids=lambda where: where.model_dump_json())
def test_the_same_pass_as_in_the_store(store: QdrantStore, where: FilterExpr) -> None:
    page = store.page(Collection.FACTS, "t1", where, 10)
    held = {item.fact.text for item in page.items if isinstance(item, IndexedFact)}
    assert {item.fact.text for item in SHELF if matches(where, fields(item))} == held


def test_what_owners_a_filter_leaves() -> None:
    several = Compare(field="user_id", operator=Operator.IN, value=("ann", "bob"))
    assert owner_values(AllOf(parts=(ANN, ZH)), "user_id") == ("ann",)
    assert owner_values(AllOf(parts=(several, AllOf(parts=(ANN,)))), "user_id") == ("ann",)
    assert owner_values(AllOf(parts=(AnyOf(parts=(ANN, ZH)),)), "user_id") is None
    assert owner_values(NotOf(part=ANN), "user_id") is None
    assert set(owner_values(several, "user_id") or ()) == {"ann", "bob"}
