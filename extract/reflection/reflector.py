"""Profiles and agent memory out of conversations, by a language model. Nothing enters without a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from extract.language import detect_language
from extract.model import AtomicFact
from extract.prompting import language_name
from extract.reflection.asking import Asker
from extract.reflection.forms import SaidCases, SaidEntry, SaidProfile, SaidSkill, SaidSkills
from extract.reflection.model import AgentCase, AgentSkill, Change, KnownInsight, ProfileEntry
from extract.scripts import estimate_tokens, shorten
from ingest.anchors import MessageAnchor
from ingest.model import Element

_FACTS_AT_ONCE = 100
_KNOWN_SHOWN = 60
_CASES_SHOWN = 20
_CONVERSATION_TOKENS = 6000
_MESSAGE_WIDTH = 1500
_WORKERS = frozenset({"assistant", "tool"})


class Reflector:
    """Learns from conversations.

    Args:
        asker: asks the model.
    """

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    @property
    def fingerprint(self) -> str:
        """Model and prompts."""
        return self._asker.fingerprint

    def profile(
        self, tenant: str, facts: Sequence[AtomicFact], known: Sequence[KnownInsight]
    ) -> list[Change]:
        """Return how facts of a conversation change the profiles of the people in it.

        Raises:
            TransientError, ModelRefuses: see ``ChatModel.ask``.
            ExtractError: no usable answer came.
        """
        changes: list[Change] = []
        for some in _portions(facts, _FACTS_AT_ONCE):
            shown = known[-_KNOWN_SHOWN:]
            lines = [f"k{at}: {_told(one)}" for at, one in enumerate(shown, 1)]
            lines += [f"[{at}] {fact.text}" for at, fact in enumerate(some, 1)]
            said = self._asker.ask(
                tenant, "profile", _language(fact.text for fact in some), "\n".join(lines), SaidProfile,
                lambda answer, some=some, shown=shown: _first_problem(  # type: ignore[misc]
                    _entry_problem(one, some, shown) for one in answer.operations
                ),
            )  # fmt: skip
            changes += (
                _entry_change(one, some, shown)
                for one in said.operations
                if not _entry_problem(one, some, shown)
            )
        return changes

    def cases(self, tenant: str, elements: Sequence[Element]) -> list[Change]:
        """Return the tasks an agent worked on in a conversation; none where no agent spoke.

        Raises:
            TransientError, ModelRefuses: see ``ChatModel.ask``.
            ExtractError: no usable answer came.
        """
        if not any(one.metadata.get("role") in _WORKERS for one in elements):
            return []
        shown = list(_fitting(elements))
        lines = [f"[{at}] {one.metadata.get('role')}: {_message(one)}" for at, one in enumerate(shown, 1)]
        said = self._asker.ask(
            tenant, "cases", _language(one.text for one in shown), "\n".join(lines), SaidCases,
            lambda answer: _first_problem(_numbers(one.messages, len(shown)) for one in answer.cases),
        )  # fmt: skip
        return [
            Change(
                insight=AgentCase(
                    task=shorten(one.task, 990), approach=shorten(one.approach, 1990),
                    outcome=shorten(one.outcome, 990),
                ),
                messages=tuple(dict.fromkeys(_message_id(shown[number - 1]) for number in one.messages)),
            )
            for one in said.cases
            if not _numbers(one.messages, len(shown))
        ]  # fmt: skip

    def skills(
        self, tenant: str, cases: Sequence[KnownInsight], known: Sequence[KnownInsight]
    ) -> list[Change]:
        """Return how cases change what an agent can do; fewer than two teach nothing.

        Raises:
            TransientError, ModelRefuses: see ``ChatModel.ask``.
            ExtractError: no usable answer came.
        """
        shown, skills = cases[-_CASES_SHOWN:], known[-_KNOWN_SHOWN:]
        if len(shown) < 2:
            return []
        lines = [f"k{at}: {_told(one)}" for at, one in enumerate(skills, 1)]
        lines += [f"[{at}] {_told(one)}" for at, one in enumerate(shown, 1)]
        said = self._asker.ask(
            tenant, "skills", _language(_told(one) for one in shown), "\n".join(lines), SaidSkills,
            lambda answer: _first_problem(_skill_problem(one, shown, skills) for one in answer.operations),
        )  # fmt: skip
        return [
            _skill_change(one, shown, skills)
            for one in said.operations
            if not _skill_problem(one, shown, skills)
        ]


def _portions(facts: Sequence[AtomicFact], size: int) -> Iterator[list[AtomicFact]]:
    line = iter(facts)
    return iter(lambda: list(islice(line, size)), [])


def _language(texts: Iterable[str]) -> str:
    return language_name(detect_language("\n".join(islice(texts, 20))))


def _told(one: KnownInsight) -> str:
    match one.insight:
        case ProfileEntry(subject=subject, kind=kind, text=text):
            return f"{subject} | {kind} | {text}"
        case AgentCase(task=task, approach=approach, outcome=outcome):
            return f"task: {task} | approach: {approach} | outcome: {outcome}"
        case AgentSkill(name=name, when=when, approach=approach):
            return f"{name} | when: {when} | approach: {approach}"


def _fitting(elements: Sequence[Element]) -> Iterator[Element]:
    """Yield the first messages, as many as a request holds."""
    room = _CONVERSATION_TOKENS
    for element in elements:
        room -= estimate_tokens(element.text[:_MESSAGE_WIDTH])
        if room < 0:
            return
        yield element


def _message(element: Element) -> str:
    sender = element.anchor.sender if isinstance(element.anchor, MessageAnchor) else None
    words = " ".join(element.text[:_MESSAGE_WIDTH].split())
    return f"{sender}: {words}" if sender else words


def _message_id(element: Element) -> str:
    return element.anchor.message_id if isinstance(element.anchor, MessageAnchor) else ""


def _first_problem(problems: Iterable[str]) -> str:
    return next((problem for problem in problems if problem), "")


def _numbers(numbers: Sequence[int], most: int) -> str:
    if not numbers:
        return "Every item has to name the numbers it rests on."
    wrong = next((number for number in numbers if not 1 <= number <= most), None)
    return "" if wrong is None else f"There is no number {wrong}; the last one is {most}."


def _which(id_: str, known: Sequence[KnownInsight]) -> KnownInsight | None:
    number = id_.removeprefix("k")
    return known[int(number) - 1] if number.isdecimal() and 1 <= int(number) <= len(known) else None


def _step_problem(op: str, id_: str, known: Sequence[KnownInsight], *, worded: bool) -> str:
    if op != "add" and _which(id_, known) is None:
        return f"There is nothing known as {id_!r} to {op}."
    return "An item that is added or updated needs its words." if op != "remove" and not worded else ""


def _entry_problem(one: SaidEntry, facts: Sequence[AtomicFact], known: Sequence[KnownInsight]) -> str:
    wrong = _step_problem(one.op, one.id, known, worded=bool(one.text))
    if wrong or (wrong := _numbers(one.facts, len(facts))):
        return wrong
    subject = one.subject.casefold()
    told = " ".join(f"{facts[number - 1].text} {facts[number - 1].speaker or ''}" for number in one.facts)
    if one.op == "add" and (not subject or subject not in told.casefold()):
        return f"The facts {list(one.facts)} say nothing of {one.subject!r}."
    return ""


def _entry_change(one: SaidEntry, facts: Sequence[AtomicFact], known: Sequence[KnownInsight]) -> Change:
    there = None if one.op == "add" else _which(one.id, known)
    sources = tuple(dict.fromkeys(facts[number - 1].id for number in one.facts))
    if one.op == "remove":
        return Change(id=there.id if there else "", facts=sources)
    subject = one.subject
    if there is not None and isinstance(there.insight, ProfileEntry):
        subject = there.insight.subject
    entry = ProfileEntry(kind=one.kind, subject=subject[:256], text=shorten(one.text, 490))
    return Change(id=there.id if there else "", insight=entry, facts=sources)


def _skill_problem(one: SaidSkill, cases: Sequence[KnownInsight], known: Sequence[KnownInsight]) -> str:
    wrong = _step_problem(one.op, one.id, known, worded=bool(one.name and one.when and one.approach))
    if wrong or (wrong := _numbers(one.cases, len(cases))):
        return wrong
    several = len(set(one.cases)) > 1 or one.op != "add"
    return "" if several else "A skill rests on at least two cases."


def _skill_change(one: SaidSkill, cases: Sequence[KnownInsight], known: Sequence[KnownInsight]) -> Change:
    there = None if one.op == "add" else _which(one.id, known)
    sources = tuple(dict.fromkeys(cases[number - 1].id for number in one.cases))
    if one.op == "remove":
        return Change(id=there.id if there else "", cases=sources)
    skill = AgentSkill(
        name=shorten(one.name, 190), when=shorten(one.when, 990), approach=shorten(one.approach, 1990)
    )
    return Change(id=there.id if there else "", insight=skill, cases=sources)
