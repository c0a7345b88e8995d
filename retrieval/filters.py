"""What a search may be narrowed by: a small recursive tree, compiled to store conditions elsewhere."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from ingest.anchors import Frozen

# API name -> payload field of both collections.
FIELDS = {
    "user_id": "user_id",
    "group_id": "group_id",
    "session_id": "session_id",
    "document_id": "document_id",
    "language": "language",
    "participants": "participants",
    "topic": "topics",
    "source": "source_name",
    "media_type": "media_type",
    "timestamp": "occurred_start",
    "recorded_at": "recorded_at",
}
TIME_FIELDS = frozenset({"timestamp", "recorded_at"})


class Operator(StrEnum):
    """How a field is compared. ``contains`` is a case-insensitive word match."""

    EQ = "eq"
    NE = "ne"
    IN = "in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS = "contains"


Scalar = str | int | float | bool | datetime


class Compare(Frozen):
    """One field against one value; ``field`` is a key of ``FIELDS``, ``value`` a tuple only for ``in``."""

    op: Literal["compare"] = "compare"
    field: str
    operator: Operator
    value: Scalar | tuple[Scalar, ...]


class AllOf(Frozen):
    """Every part holds."""

    op: Literal["and"] = "and"
    parts: tuple[FilterExpr, ...]


class AnyOf(Frozen):
    """At least one part holds."""

    op: Literal["or"] = "or"
    parts: tuple[FilterExpr, ...] = Field(min_length=1)


class NotOf(Frozen):
    """The part does not hold."""

    op: Literal["not"] = "not"
    part: FilterExpr


class AsOf(Frozen):
    """What held at a moment; None stands for now: what nothing has superseded.

    Not part of a caller's filters: a search adds it.
    """

    op: Literal["as_of"] = "as_of"
    moment: datetime | None = None


FilterExpr = Annotated[Compare | AllOf | AnyOf | NotOf | AsOf, Field(discriminator="op")]
