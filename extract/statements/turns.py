"""Statements of talk: what each speaker says, with who and when; questions beside their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from extract.fillers import has_substance, is_filler, is_stage_direction
from extract.names import speaker_of
from extract.phrases import phrase, say_day
from extract.scripts import estimate_tokens, glue, one_line
from extract.sentences import Span, sentence_spans
from extract.statements.draft import Draft, Scene
from extract.statements.leaning import as_context, leans
from extract.stretch import Stretch
from ingest.model import Element, ElementKind

# A message is one statement up to this size; what is spoken at length is cut into sentences.
_MESSAGE_TOKENS = 64
_SHORT_TOKENS, _UNIT_TOKENS = 6, 40
_ANSWER_TOKENS, _REMARK_TOKENS = 48, 24
_QUESTION = re.compile(r"(?:[?？]|[吗呢么][。.]?)[\"'”’」』)）]*\s*$")


@dataclass(frozen=True, slots=True)
class Unit:
    """A few sentences of one speaker that belong together."""

    speaker: str | None
    stretch: Stretch
    start: int
    end: int
    opens_turn: bool
    ends_turn: bool

    @property
    def quote(self) -> str:
        """The words as they stand in the source."""
        return self.stretch.text[self.start : self.end]

    @property
    def elements(self) -> tuple[Element, ...]:
        """Where they stand."""
        return self.stretch.within(self.start, self.end)


def turn_drafts(scene: Scene, elements: Sequence[Element]) -> Iterator[Draft]:
    """Yield the statements of cues or messages in order; greetings and backchannels give none."""
    units = [unit for turn in _turns(elements) for unit in _units(turn)]
    before: Unit | None = None
    at = 0
    while at < len(units):
        unit = units[at]
        answer = units[at + 1] if at + 1 < len(units) else None
        if answer is not None and _answers(unit, answer):
            yield _exchange(scene, unit, answer, before)
            before, at = answer, at + 2
            continue
        if not is_filler(unit.quote) and not is_stage_direction(unit.quote):
            yield _statement(scene, unit, before)
            before = unit
        at += 1


def _turns(elements: Sequence[Element]) -> Iterator[Stretch]:
    """Join consecutive cues of one speaker; a message is a turn of its own."""
    run: list[Element] = []
    for element in elements:
        if not element.text.strip():
            continue
        same = run and element.kind is not ElementKind.MESSAGE and speaker_of(run[-1]) == speaker_of(element)
        if run and not same:
            yield Stretch.join(run)
            run = []
        run.append(element)
    if run:
        yield Stretch.join(run)


def _units(turn: Stretch) -> Iterator[Unit]:
    spans = sentence_spans(turn.text)
    message = turn.elements[0].kind is ElementKind.MESSAGE
    room = _MESSAGE_TOKENS if message else _UNIT_TOKENS
    groups: list[list[Span]] = []
    for span in spans:
        if groups and _belongs(turn.text, groups[-1], span, room, message):
            groups[-1].append(span)
        else:
            groups.append([span])
    speaker = speaker_of(turn.elements[0])
    for index, group in enumerate(groups):
        start, end = _trimmed(turn.text, group)
        yield Unit(speaker, turn, start, end, index == 0, index == len(groups) - 1)


def _belongs(text: str, group: list[Span], span: Span, room: int, message: bool) -> bool:
    if estimate_tokens(text[group[0].start : span.end]) > room:
        return False
    if message:
        return True
    last = text[group[-1].start : group[-1].end]
    return not _QUESTION.search(last) and (_is_short(text, span) or _is_short(text, group[-1]))


def _is_short(text: str, span: Span) -> bool:
    return estimate_tokens(text[span.start : span.end]) <= _SHORT_TOKENS


def _trimmed(text: str, group: list[Span]) -> tuple[int, int]:
    """Leave greetings and backchannels at either end out of a group that says more."""
    telling = [span for span in group if not is_filler(text[span.start : span.end])]
    kept = telling or group
    return kept[0].start, kept[-1].end


def _answers(question: Unit, answer: Unit) -> bool:
    if question.speaker == answer.speaker or not (question.ends_turn and answer.opens_turn):
        return False
    if is_stage_direction(answer.quote):
        return False
    return bool(_QUESTION.search(question.quote)) and estimate_tokens(answer.quote) <= _ANSWER_TOKENS


def _label(scene: Scene, unit: Unit) -> str:
    at = scene.time_of(unit.elements[0])
    if unit.speaker is None:
        return say_day(at, scene.language) if at else ""
    return (
        phrase(scene.language, "speaker_at", unit.speaker, say_day(at, scene.language))
        if at
        else unit.speaker
    )


def _statement(scene: Scene, unit: Unit, before: Unit | None) -> Draft:
    said = one_line(unit.quote)
    context = _context(scene, unit, before) if leans(said) else ""
    return Draft(
        said=said,
        quote=unit.quote,
        elements=unit.elements,
        label=_label(scene, unit),
        context=context,
        speaker=unit.speaker,
        participants=(unit.speaker,) if unit.speaker else (),
        at=scene.time_of(unit.elements[0]),
        confidence=_confidence(said, bool(context)),
        standalone=not _QUESTION.search(said),
    )


def _context(scene: Scene, unit: Unit, before: Unit | None) -> str:
    if before is None:
        return ""
    words = as_context(before.quote)
    if before.speaker == unit.speaker or before.speaker is None:
        return words
    # Another's words are borrowed only by a short remark: a longer one says enough, and is not theirs.
    short = estimate_tokens(unit.quote) <= _REMARK_TOKENS
    return f"{before.speaker}{phrase(scene.language, 'colon')}{words}" if short else ""


def _exchange(scene: Scene, question: Unit, answer: Unit, before: Unit | None) -> Draft:
    """Return a question and its answer as one statement, so that each is found by the other's words.

    "So we agree?" "Yes." says something only beside what was said before.
    """
    bare = not has_substance(f"{question.quote} {answer.quote}") or leans(question.quote)
    # The quote runs without a gap, greetings between the two included.
    asked = question.stretch.text[question.start :].strip()
    answered = answer.stretch.text[: answer.end].strip()
    replier = f"{answer.speaker}{phrase(scene.language, 'colon')}" if answer.speaker else "– "
    between = glue(asked, replier)
    return Draft(
        said=f"{one_line(asked)}{between}{replier}{one_line(answered)}",
        quote=asked + (glue(asked, answered) or " ") + answered,
        elements=(*question.elements, *answer.elements),
        label=_label(scene, question),
        speaker=answer.speaker or question.speaker,
        participants=tuple(dict.fromkeys(name for name in (question.speaker, answer.speaker) if name)),
        at=scene.time_of(question.elements[0]),
        context=(context := _context(scene, question, before) if bare else ""),
        confidence=0.85,
        supported=bool(context),
    )


def _confidence(said: str, supported: bool) -> float:
    value = 0.6 if _QUESTION.search(said) else 0.85
    if leans(said):
        value -= 0.05 if supported else 0.2
    return round(value, 2)
