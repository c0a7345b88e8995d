from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.errors import InvalidQuery
from retrieval.filters import AllOf, AnyOf, Compare, NotOf, Operator
from retrieval.query_parse import parse_filters

USER = Compare(field="user_id", operator=Operator.EQ, value="u1")


def test_a_bare_value_means_eq() -> None:
    assert parse_filters({"user_id": "u1"}) == AllOf(parts=(USER,))


def test_keys_and_operators_beside_each_other_all_hold() -> None:
    found = parse_filters({"user_id": "u1", "timestamp": {"gte": "2024-03-01", "lt": 1711929600000}})
    assert found.parts[1:] == (
        Compare(field="timestamp", operator=Operator.GTE, value=datetime(2024, 3, 1, tzinfo=UTC)),
        Compare(field="timestamp", operator=Operator.LT, value=datetime(2024, 4, 1, tzinfo=UTC)),
    )


def test_an_offset_is_kept() -> None:
    found = parse_filters({"user_id": "u1", "recorded_at": {"gt": "2024-03-01T08:00:00+08:00"}}).parts[1]
    assert isinstance(found, Compare)
    assert found.value == datetime(2024, 3, 1, 8, tzinfo=timezone(timedelta(hours=8)))


def test_branches_nest() -> None:
    found = parse_filters(
        {
            "group_id": {"in": ["g1", "g2"]},
            "OR": [{"topic": "budget"}, {"AND": [{"language": "en"}, {"NOT": {"source": {"ne": "a.txt"}}}]}],
        }
    )
    group, either = found.parts
    assert group == Compare(field="group_id", operator=Operator.IN, value=("g1", "g2"))
    assert isinstance(either, AnyOf)
    assert isinstance(either.parts[1], AllOf)
    nested = either.parts[1].parts[1]
    assert isinstance(nested, AllOf)
    assert isinstance(nested.parts[0], NotOf)


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"user_id": "u", "colour": "red"}, "colour"),
        ({"user_id": "u", "OR": [{"topic": "a"}, {"topic": {"like": "b"}}]}, r"OR\[1\].topic.like"),
        ({"user_id": "u", "topic": {"gt": "b"}}, "topic.gt"),
        ({"user_id": "u", "timestamp": {"contains": "2024"}}, "timestamp.contains"),
        ({"user_id": "u", "timestamp": "soon"}, "timestamp"),
        ({"user_id": "u", "timestamp": 1e300}, "timestamp"),
        ({"user_id": "u", "timestamp": True}, "timestamp"),
        ({"user_id": "u", "topic": {"in": "a"}}, "topic.in"),
        ({"user_id": "u", "topic": {"in": []}}, "topic.in"),
        ({"user_id": "u", "topic": {}}, "topic"),
        ({"user_id": "u", "topic": ["a"]}, "topic"),
        ({"user_id": "u", "topic": None}, "topic"),
        ({"user_id": "u", "OR": []}, "OR"),
        ({"user_id": "u", "OR": {"topic": "a"}}, "OR"),
        ({"user_id": "u", "NOT": {}}, "NOT"),
        ({"user_id": "u", "AND": ["x"]}, r"AND\[0\]"),
        ({"user_id": " "}, "user_id"),
        ({"user_id": "u", "or": [{"topic": "a"}]}, "or"),
    ],
)
def test_what_is_wrong_is_named(filters: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidQuery, match=named):
        parse_filters(filters)


@pytest.mark.parametrize(
    "filters",
    [
        None,
        {},
        {"topic": "a"},
        {"session_id": "s"},
        {"OR": [{"user_id": "u1"}, {"user_id": "u2"}]},
        {"OR": [{"user_id": "u1"}, {"topic": "a"}]},
        {"NOT": {"user_id": "u1"}},
        {"user_id": {"ne": "u1"}},
        {"user_id": {"contains": "u"}},
    ],
)
def test_an_owner_is_required_of_every_hit(filters: dict[str, Any] | None) -> None:
    with pytest.raises(InvalidQuery, match="user_id or group_id is required"):
        parse_filters(filters)


def test_an_owner_inside_and_counts() -> None:
    assert parse_filters({"AND": [{"user_id": "u1"}, {"topic": "a"}]})


def test_a_bound_key_needs_no_owner_and_cannot_leave_its_own() -> None:
    assert parse_filters(None, user_id="u1") == AllOf(parts=(USER,))
    widened = parse_filters({"OR": [{"user_id": "u2"}, {"user_id": "u1"}]}, user_id="u1")
    assert widened.parts[0] == USER
    assert len(widened.parts) == 2


def test_depth_and_width_are_bounded() -> None:
    deep: dict[str, Any] = {"topic": "a"}
    for _ in range(20):
        deep = {"AND": [deep]}
    with pytest.raises(InvalidQuery, match="nested deeper"):
        parse_filters({"user_id": "u", **deep})
    wide = {"OR": [{"topic": "a"}] * 300}
    with pytest.raises(InvalidQuery, match="conditions"):
        parse_filters({"user_id": "u", **wide})


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["AND", "OR", "NOT", "topic", "timestamp", "gte", "in"]), inner)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["AND", "OR", "NOT", "user_id", "timestamp", "topic"]), JSON))
def test_any_json_is_read_or_refused(filters: dict[str, Any]) -> None:
    try:
        found = parse_filters(filters, user_id="u1")
    except InvalidQuery:
        return
    assert found.parts[0] == USER
