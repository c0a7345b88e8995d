"""How a language model is used, each a setting ``LLM_<NAME>``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from ingest.anchors import Frozen

OPENAI_URL = "https://api.openai.com/v1"


class LlmKnobs(Frozen):
    """Endpoint, limits and patience of the language model.

    Attributes:
        base_url: any OpenAI-compatible endpoint, with its /v1; an empty one is OpenAI's own.
        model: its name there. A base URL or a key without a model is refused at start.
        api_key: of the endpoint; local ones want none.
        concurrency: stretches of one document that are asked about at the same time.
        timeout_s: a whole call, from sending to the last byte.
        max_output_tokens: of one answer; a longer one is asked for in halves.
        max_answer_bytes: an answer beyond is not read on.
        tries: calls for one request before the stage waits, repairs not counted.
        longest_wait_s: a longer Retry-After is left to the queue.
        requests_per_minute, tokens_per_minute: limits of the key; 0 means none.
        price_in, price_out: what a million tokens cost, in any currency; 0 counts tokens only.
        fallback: what becomes of a stretch no valid answer comes for: "extractive" gives it model-free facts,
            so that nothing is lost; "fail" leaves it out with a warning, and fails a document of only such.
        gaps: what becomes of what the model passes over: "leave", or "fill" with model-free facts.
        reflect: learn profiles and agent memory from conversations.
    """

    base_url: str = ""
    model: str = ""
    api_key: SecretStr = SecretStr("")
    concurrency: int = Field(default=4, ge=1, le=64)
    timeout_s: float = Field(default=120.0, gt=0)
    max_output_tokens: int = Field(default=4000, ge=64)
    max_answer_bytes: int = Field(default=4 * 2**20, gt=0)
    tries: int = Field(default=4, ge=1, le=20)
    longest_wait_s: float = Field(default=30.0, ge=0)
    requests_per_minute: int = Field(default=0, ge=0)
    tokens_per_minute: int = Field(default=0, ge=0)
    price_in: float = Field(default=0.0, ge=0)
    price_out: float = Field(default=0.0, ge=0)
    fallback: Literal["extractive", "fail"] = "extractive"
    gaps: Literal["leave", "fill"] = "leave"
    reflect: bool = True

    @property
    def endpoint(self) -> str:
        """Where requests go."""
        return self.base_url or OPENAI_URL

    @property
    def wanted(self) -> bool:
        """Tell whether anything says that a model is there."""
        return bool(self.base_url or self.api_key.get_secret_value())
