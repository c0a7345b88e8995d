"""Whether an answer of a language model can be used, and what is wrong with it in words it understands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ValidationError

from extract.alignment import Aligner
from extract.chat.answer import NotJson, find_object
from extract.language import UNDETERMINED, detect_language, share_script
from extract.model import SegmentKind
from extract.prompting import language_name
from extract.said import SaidEpisode
from extract.scripts import estimate_tokens
from extract.statements.draft import Scene
from ingest.model import Element

# Below this many tokens of prose, languages that share a script are not told apart well enough to object.
_ENOUGH_TO_TELL = 40
# A stretch of this many tokens says something; an answer without a fact has overlooked it.
_ENOUGH_TO_SAY = 25
_MOST_INVENTED = 0.5
_SHOWN = 3


class Verdict(NamedTuple):
    """What an answer is worth.

    Attributes:
        answer: None where it cannot be used at all.
        problem: what should be better; empty when nothing should.
        grounded: how many facts have a quote that stands in the source.
        unfinished: it broke off.
    """

    answer: SaidEpisode | None
    problem: str = ""
    grounded: int = 0
    unfinished: bool = False


def judge(scene: Scene, elements: Sequence[Element], text: str) -> Verdict:
    """Return what an answer about some elements is worth.

    Form and language have to be right. Facts that are missing or rest on invented quotes are worth another
    question, but not worth throwing the rest away.
    """
    try:
        answer = SaidEpisode.model_validate(find_object(text))
    except NotJson as error:
        return Verdict(None, str(error), unfinished=error.unfinished)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return Verdict(None, f"{place}: {first['msg']}.")
    if not _in_language(scene, answer):
        return Verdict(None, f"It must be written in {language_name(scene.language)}.")
    aligner = Aligner(elements)
    invented = [fact.quote for fact in answer.facts if aligner.ground(fact.quote, fact.text) is None]
    grounded = len(answer.facts) - len(invented)
    if len(invented) > _MOST_INVENTED * len(answer.facts):
        shown = "; ".join(f'"{quote[:80]}"' for quote in invented[:_SHOWN])
        return Verdict(answer, f"These quotes are not in the source; copy its words: {shown}", grounded)
    if not answer.facts and sum(estimate_tokens(one.text) for one in elements) >= _ENOUGH_TO_SAY:
        return Verdict(answer, "The list of facts is empty, but the source says something.", grounded)
    return Verdict(answer, grounded=grounded)


def _in_language(scene: Scene, answer: SaidEpisode) -> bool:
    prose = " ".join([answer.summary, *(fact.text for fact in answer.facts)])
    written = detect_language(prose)
    if written == scene.language or UNDETERMINED in (written, scene.language):
        return True
    if not share_script(written, scene.language):
        return False
    # Names and figures of a table are of no language.
    return scene.segment.kind is SegmentKind.TABLE or estimate_tokens(prose) < _ENOUGH_TO_TELL
