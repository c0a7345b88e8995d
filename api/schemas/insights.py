"""What was learnt from conversations, as an answer shows it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel

from extract.reflection.model import AgentCase, AgentSkill, ProfileEntry
from workers.learnt import Learnt
from workers.ledger.insight_records import HeldInsight

Scored = Sequence[tuple[HeldInsight, float]]


class ProfileEntryOut(BaseModel):
    """Something stable about a person, and the facts it rests on."""

    id: str
    text: str
    supporting_facts: list[str]
    document_ids: list[str]
    score: float
    updated_at: datetime


class ProfileOut(BaseModel):
    """What is known of a person, what answers the question best first."""

    user_id: str | None
    group_id: str | None
    subject: str
    score: float
    attributes: list[ProfileEntryOut] = []
    preferences: list[ProfileEntryOut] = []


class AgentCaseOut(BaseModel):
    """A task an agent worked on."""

    id: str
    user_id: str | None
    group_id: str | None
    task: str
    approach: str
    outcome: str
    supporting_facts: list[str]
    document_ids: list[str]
    score: float
    updated_at: datetime


class AgentSkillOut(BaseModel):
    """What several cases taught."""

    id: str
    user_id: str | None
    group_id: str | None
    name: str
    when: str
    approach: str
    case_ids: list[str]
    document_ids: list[str]
    score: float
    updated_at: datetime


class AgentMemoryOut(BaseModel):
    """What agents learned: cases and the skills generalised from them."""

    cases: list[AgentCaseOut] = []
    skills: list[AgentSkillOut] = []

    @classmethod
    def of(cls, learnt: Learnt) -> AgentMemoryOut:
        """Return the public form of cases and skills."""
        return cls(
            cases=[
                AgentCaseOut(
                    **one.insight.model_dump(exclude={"kind"}), **_owner(one), supporting_facts=_facts(one),
                    score=score,
                )
                for one, score in learnt.cases
                if isinstance(one.insight, AgentCase)
            ],
            skills=[
                AgentSkillOut(
                    **one.insight.model_dump(exclude={"kind"}), **_owner(one), case_ids=list(one.cases),
                    score=score,
                )
                for one, score in learnt.skills
                if isinstance(one.insight, AgentSkill)
            ],
        )  # fmt: skip


def profiles_of(entries: Scored) -> list[ProfileOut]:
    """Return profiles by owner and person, the one with the best entry first."""
    found: dict[tuple[str | None, str | None, str], ProfileOut] = {}
    for one, score in entries:
        insight = one.insight
        if not isinstance(insight, ProfileEntry):
            continue
        key = (one.user_id, one.group_id, insight.subject.casefold())
        profile = found.setdefault(
            key,
            ProfileOut(user_id=one.user_id, group_id=one.group_id, subject=insight.subject, score=score),
        )
        entry = ProfileEntryOut(
            id=one.id, text=insight.text, supporting_facts=_facts(one), score=score,
            document_ids=[source.document_id for source in one.sources], updated_at=one.updated_at,
        )  # fmt: skip
        (profile.attributes if insight.kind == "attribute" else profile.preferences).append(entry)
    return list(found.values())


def _owner(one: HeldInsight) -> dict[str, object]:
    return {
        "id": one.id,
        "user_id": one.user_id,
        "group_id": one.group_id,
        "document_ids": [source.document_id for source in one.sources],
        "updated_at": one.updated_at,
    }


def _facts(one: HeldInsight) -> list[str]:
    return [fact for source in one.sources for fact in source.facts]
