"""The knobs of what a search can do beyond one pass: rerank, and ask again."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from ingest.anchors import Frozen


class RerankKnobs(Frozen):
    """Whether and how results are scored once more by a stronger model, each a setting ``RERANK_<NAME>``.

    Attributes:
        by: "off"; "http", a service with the rerank interface of Cohere and Jina; "fastembed", a
            cross-encoder on this machine; or "llm", the language model of ``LLM_*``.
        url: the service's whole address, as https://api.jina.ai/v1/rerank.
        model: its name at the service, or in fastembed's list.
        model_dir: folder with ``model.onnx`` and its tokenizer, for fastembed without a network.
        api_key: sent as a bearer token; local services want none.
        multiplier: so many times the results wanted are scored.
        text_chars: of a result that are shown to the model; longer ones are cut.
        timeout_s: for a whole answer; what is not there by then is done without.
        threads: processor threads of a local model.
    """

    by: Literal["off", "http", "fastembed", "llm"] = "off"
    url: str = ""
    model: str = ""
    model_dir: Path | None = None
    api_key: SecretStr = SecretStr("")
    multiplier: int = Field(default=3, ge=1, le=10)
    text_chars: int = Field(default=1200, ge=100, le=20_000)
    timeout_s: float = Field(default=10.0, gt=0)
    threads: int = Field(default=1, ge=1, le=64)


class AgenticKnobs(Frozen):
    """Bounds of the method ``agentic``, each a setting ``AGENTIC_<NAME>``.

    Attributes:
        judge: who says whether the results suffice and what to ask next: "text", by names that the results
            bring up, without a model; "llm", the language model of ``LLM_*``; "auto", the latter where there
            is one.
        rounds: searches after one another, the first included.
        questions: further questions a round may ask.
        tokens: the language model may read and write for one search, as estimated before each call.
        seconds: after which no further round begins.
    """

    judge: Literal["auto", "text", "llm"] = "auto"
    rounds: int = Field(default=3, ge=1, le=8)
    questions: int = Field(default=4, ge=1, le=10)
    tokens: int = Field(default=12_000, ge=0)
    seconds: float = Field(default=10.0, gt=0)
