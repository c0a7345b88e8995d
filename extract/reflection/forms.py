"""The forms in which a language model says what it learnt. Numbers point to numbered lines of the request."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from extract.said import Said


class SaidEntry(Said):
    """A step in a person's profile."""

    op: Literal["add", "update", "remove"]
    id: str = Field(
        default="", description="of the known entry that is updated or removed, like k3; else empty"
    )
    subject: str = Field(default="", description="the person, named as in the facts")
    kind: Literal["attribute", "preference"] = "attribute"
    text: str = Field(default="", description="one short sentence; empty to remove")
    facts: tuple[int, ...] = Field(default=(), description="numbers of the facts it rests on")


class SaidProfile(Said):
    """The steps a conversation makes in profiles."""

    operations: tuple[SaidEntry, ...] = Field(description="empty when nothing stable was learnt")


class SaidCase(Said):
    """One task an agent worked on."""

    task: str = Field(min_length=4, description="what was wanted, in one sentence")
    approach: str = Field(min_length=4, description="what the agent did, step by step")
    outcome: str = Field(min_length=2, description="how it ended")
    messages: tuple[int, ...] = Field(description="numbers of the messages that tell it")


class SaidCases(Said):
    """The tasks of a conversation."""

    cases: tuple[SaidCase, ...] = Field(description="empty when no agent worked on a task")


class SaidSkill(Said):
    """A step in what an agent can do."""

    op: Literal["add", "update", "remove"]
    id: str = Field(
        default="", description="of the known skill that is updated or removed, like k3; else empty"
    )
    name: str = Field(default="", description="a short name")
    when: str = Field(default="", description="for which tasks it is good")
    approach: str = Field(default="", description="how it is done")
    cases: tuple[int, ...] = Field(default=(), description="numbers of the cases it was learnt from")


class SaidSkills(Said):
    """What cases have in common."""

    operations: tuple[SaidSkill, ...] = Field(description="empty when the cases teach nothing in common")
