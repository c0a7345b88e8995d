"""How a language model is used, each a setting ``LLM_<NAME>``."""

from __future__ import annotations

from pydantic import Field

from ingest.anchors import Frozen


class LlmKnobs(Frozen):
    """Endpoint, limits and patience of the language model.

    Attributes:
        base_url: any OpenAI-compatible endpoint, with its /v1.
        model: its name there.
        timeout_s: a whole call, from sending to the last byte.
        max_output_tokens: of one answer; a longer one is asked for in halves.
        max_answer_bytes: an answer beyond is not read on.
        tries: calls for one request before the stage waits, repairs not counted.
        longest_wait_s: a longer Retry-After is left to the queue.
        requests_per_minute, tokens_per_minute: limits of the key; 0 means none.
        fallback: a stretch no valid answer comes for gets model-free facts, so that nothing is lost.
    """

    base_url: str = ""
    model: str = ""
    timeout_s: float = Field(default=120.0, gt=0)
    max_output_tokens: int = Field(default=2000, ge=64)
    max_answer_bytes: int = Field(default=4 * 2**20, gt=0)
    tries: int = Field(default=4, ge=1, le=20)
    longest_wait_s: float = Field(default=30.0, ge=0)
    requests_per_minute: int = Field(default=0, ge=0)
    tokens_per_minute: int = Field(default=0, ge=0)
    fallback: bool = True
