"""Episodes and facts worded by a language model, every quote checked against the source.

Nothing a model says is taken on trust: an answer must keep to its form, be written in the source's language,
and rest on words that stand in the source. One repair is asked for; an answer cut for length, or a text too
long for the model, is asked for in halves; what still fails ends in a typed error, or, where a fallback is
given, in model-free facts.
"""

from __future__ import annotations

from collections.abc import Sequence

from extract.alignment import Aligner
from extract.assembly import build_episode, make_scene
from extract.chat.model import ChatModel
from extract.errors import ExtractError
from extract.model import AtomicFact, Extraction, Segment
from extract.prompting import prompts_version
from extract.protocols import Extractor
from extract.questioning import Questioner
from extract.said import SaidEpisode
from extract.scripts import shorten
from extract.statements.draft import Scene
from extract.wording import facts_of
from ingest.ids import fact_id
from ingest.model import Document

_MAX_TOPICS = 8
# Far beyond what is asked for; small models go on for ever, and halves add up.
_SUMMARY_WIDTH, _TITLE_WIDTH = 1200, 160
# Why model-free facts stand beside a model's: none of its quotes was found.
NOTHING_GROUNDED = "llm_ungrounded"
_VERSION = "1"


class LlmExtractor:
    """Makes episodes and facts with a language model.

    Args:
        chat: the model.
        questioner: asks it, repairs, splits and remembers.
        fallback: makes the facts of a stretch no valid answer comes for; None raises instead.
        at_once: how many segments may be asked about at the same time.
        gaps: makes the facts of the elements that no fact of the model rests on; None leaves them out.
    """

    def __init__(
        self,
        chat: ChatModel,
        questioner: Questioner,
        fallback: Extractor | None = None,
        at_once: int = 1,
        gaps: Extractor | None = None,
    ) -> None:
        self._chat = chat
        self._questioner = questioner
        self._fallback = fallback
        self.at_once = at_once
        self._gaps = gaps

    @property
    def fingerprint(self) -> str:
        """Mode, model and prompts."""
        filled = "+gaps" if self._gaps else ""
        return f"llm-{_VERSION}{filled}/{self._chat.name}/{prompts_version()}"

    def extract(self, document: Document, segment: Segment) -> Extraction:
        """Return the episode and facts of a segment; see ``Extractor``.

        Raises:
            RateLimited, ModelUnavailable: try again later; what was answered so far is kept.
            ModelRefuses: every request will be refused until somebody acts.
            ExtractError: no valid answer came, and there is no fallback.
        """
        scene = make_scene(document, segment)
        try:
            answered = self._questioner.ask(scene, segment.elements)
        except ExtractError as error:
            if self._fallback is None:
                raise
            return self._fallback.extract(document, segment).model_copy(update={"replaced": error.code})
        made = assemble(scene, answered.said).model_copy(update={"answers": answered.kept})
        told = {anchor for fact in made.facts if fact.grounded for anchor in fact.anchors}
        if not told and self._fallback is not None:
            return _completed(made, self._fallback.extract(document, segment).facts, NOTHING_GROUNDED)
        if self._gaps is None:
            return made
        free = self._gaps.extract(document, segment).facts
        return _completed(made, [fact for fact in free if not told.intersection(fact.anchors)])


def _completed(made: Extraction, facts: Sequence[AtomicFact], replaced: str = "") -> Extraction:
    """Return an extraction that also has model-free facts, behind the model's."""
    if not facts:
        return made
    start = len(made.facts)
    added = (
        fact.model_copy(update={"id": fact_id(made.episode.id, start + at), "position": start + at})
        for at, fact in enumerate(facts)
    )
    return made.model_copy(update={"facts": (*made.facts, *added), "replaced": replaced})


def assemble(scene: Scene, said: SaidEpisode) -> Extraction:
    """Return the extraction a model's answer makes."""
    episode = build_episode(
        scene,
        summary=shorten(said.summary, _SUMMARY_WIDTH),
        topics=tuple(dict.fromkeys(topic for topic in said.topics if topic))[:_MAX_TOPICS],
        title=shorten(said.title, _TITLE_WIDTH),
        participants=_present(scene, said.participants),
    )
    return Extraction(
        episode=episode, facts=facts_of(scene, episode, said.facts, Aligner(scene.segment.elements))
    )


def _present(scene: Scene, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that stand in the source; a model also names whom it only supposes."""
    text = "\n".join(element.text for element in scene.segment.elements).casefold()
    return tuple(dict.fromkeys(name for name in names if name and name.casefold() in text))
