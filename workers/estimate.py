"""What a language model would be asked about files, and what that would cost, before anything is sent.

Requests are put together as they would be and their tokens counted; answers are guessed from the length of
the source. Repairs and second tries are not foreseen, nor are answers that are there already.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from extract.assembly import make_scene
from extract.prompting import extraction_messages
from extract.scripts import estimate_tokens
from extract.segments import split_segments
from ingest.anchors import Frozen
from ingest.model import Document, Element
from workers.settings import Settings
from workers.usage import MICRO, Prices

# A fact says the source's words twice, as statement and as quote, between the marks of JSON; title and
# summary come on top. Measured with a small model: docs/extraction.md.
_ANSWER_TOKENS, _ANSWER_PER_TOKEN = 120, 3.0
# What is encoded: the episode's text, and the facts without quotes and marks.
_STATEMENT_SHARE = 0.4


class Expected(Frozen):
    """What is expected of some files.

    Attributes:
        calls: requests to the language model.
        prompt_tokens, completion_tokens: of these requests.
        counted_tokens: what the provider counts against its limit: the longest answers allowed.
        embedded_tokens: of the texts that are encoded.
    """

    episodes: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    counted_tokens: int = 0
    embedded_tokens: int = 0

    def plus(self, other: Expected) -> Expected:
        """Return the sum of two."""
        mine, more = self.model_dump(), other.model_dump()
        return Expected(**{name: mine[name] + more[name] for name in mine})

    def price(self, settings: Settings) -> float:
        """Return what it costs, in units of the settings' prices."""
        model, service = settings.llm, settings.embed.price_in if settings.embedder == "openai" else 0.0
        asked = Prices(model.price_in, model.price_out).of(self.prompt_tokens, self.completion_tokens)
        return (asked + Prices(service).of(self.embedded_tokens, 0)) / MICRO

    def minutes(self, settings: Settings) -> float | None:
        """Return how long the limits make it take at least, in minutes; None where there are none."""
        limits = (
            (self.calls, settings.llm.requests_per_minute),
            (self.counted_tokens, settings.llm.tokens_per_minute),
        )
        waits = [amount / limit for amount, limit in limits if limit]
        return max(waits) if waits else None


def expect(document: Document, elements: Iterable[Element], max_output_tokens: int) -> Expected:
    """Return what is expected of one document."""
    total = Expected()
    for segment in split_segments(document, elements):
        messages = extraction_messages(make_scene(document, segment), segment.elements)
        asked = sum(estimate_tokens(message.content) for message in messages)
        source = sum(estimate_tokens(element.text) for element in segment.elements)
        answer = ceil(_ANSWER_TOKENS + _ANSWER_PER_TOKEN * source)
        # A longer answer is cut, and asked for again in halves.
        calls = 1 if answer <= max_output_tokens else 1 + 2 * ceil(answer / (2 * max_output_tokens))
        parts = calls - 1
        total = total.plus(
            Expected(
                episodes=1,
                calls=calls,
                prompt_tokens=asked + parts * (asked - source) + (source if parts else 0),
                completion_tokens=answer + (max_output_tokens if parts else 0),
                counted_tokens=calls * (asked + max_output_tokens),
                embedded_tokens=ceil(source + _STATEMENT_SHARE * answer),
            )
        )
    return total
