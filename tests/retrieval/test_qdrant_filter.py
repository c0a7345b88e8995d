from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from qdrant_client import models

from retrieval.filters import AllOf, AnyOf, Compare, FilterExpr, NotOf
from retrieval.qdrant.filter import bound_filter

COMPARES = st.builds(
    Compare,
    field=st.sampled_from(["user_id", "topic", "language"]),
    operator=st.sampled_from(["eq", "ne"]),
    value=st.text(min_size=1),
)
TREES: st.SearchStrategy[FilterExpr] = st.recursive(
    COMPARES,
    lambda parts: st.one_of(
        st.builds(AllOf, parts=st.lists(parts, max_size=3).map(tuple)),
        st.builds(AnyOf, parts=st.lists(parts, min_size=1, max_size=3).map(tuple)),
        st.builds(NotOf, part=parts),
    ),
    max_leaves=12,
)


@given(TREES, st.text(min_size=1), st.none() | st.text(), st.none() | st.lists(st.text(), max_size=3))
def test_the_tenant_always_binds(
    where: FilterExpr, tenant: str, document: str | None, parents: list[str] | None
) -> None:
    made = bound_filter(tenant, where, document_id=document, parents=parents)
    assert isinstance(made.must, list)
    assert made.must[0] == models.FieldCondition(key="tenant", match=models.MatchValue(value=tenant))
    assert made.should is made.must_not is made.min_should is None


@given(TREES)
def test_no_condition_names_the_tenant_but_ours(where: FilterExpr) -> None:
    def keys(node: Any) -> list[str]:
        if isinstance(node, dict):
            own = [node["key"]] if "key" in node else []
            return own + [key for value in node.values() for key in keys(value)]
        return [key for part in node for key in keys(part)] if isinstance(node, list) else []

    assert keys(bound_filter("t1", where).model_dump(exclude_none=True)).count("tenant") == 1
