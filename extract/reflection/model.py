"""What is learnt from conversations beyond facts: profiles of people, and what agents did and can do."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ingest.anchors import Frozen


class ProfileEntry(Frozen):
    """Something stable about a person: an attribute ("works as a nurse") or a preference."""

    kind: Literal["attribute", "preference"]
    subject: str = Field(min_length=1, max_length=256)
    text: str = Field(min_length=1, max_length=500)


class AgentCase(Frozen):
    """A task an agent worked on, how it went about it, and how that ended."""

    kind: Literal["case"] = "case"
    task: str = Field(min_length=1, max_length=1000)
    approach: str = Field(min_length=1, max_length=2000)
    outcome: str = Field(min_length=1, max_length=1000)


class AgentSkill(Frozen):
    """What several cases taught: for which tasks, and how they are done."""

    kind: Literal["skill"] = "skill"
    name: str = Field(min_length=1, max_length=200)
    when: str = Field(min_length=1, max_length=1000)
    approach: str = Field(min_length=1, max_length=2000)


Insight = Annotated[ProfileEntry | AgentCase | AgentSkill, Field(discriminator="kind")]


class KnownInsight(Frozen):
    """An insight that is there already."""

    id: str
    insight: Insight


class Change(Frozen):
    """One step from what is known to what is to be known.

    Attributes:
        id: of the insight that is updated or removed; empty for a new one.
        insight: the new words; None to remove.
        facts: ids of the facts it rests on.
        messages: ids of the messages a case was told in.
        cases: ids of the cases a skill was generalised from.
    """

    id: str = ""
    insight: Insight | None = None
    facts: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
