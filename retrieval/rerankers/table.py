"""The rerankers that the setting ``RERANK_BY`` may name. A new one: a module, and a row here."""

from __future__ import annotations

from collections.abc import Callable

from extract.chat.model import ChatModel
from retrieval.errors import RerankerMissing
from retrieval.extra_knobs import RerankKnobs
from retrieval.protocols import Reranker


def _http(knobs: RerankKnobs, _: ChatModel | None) -> Reranker:
    from retrieval.rerankers.http import HttpReranker

    return HttpReranker(knobs)


def _fastembed(knobs: RerankKnobs, _: ChatModel | None) -> Reranker:
    from retrieval.rerankers.cross_encoder import CrossEncoder

    return CrossEncoder(knobs)


def _llm(_: RerankKnobs, chat: ChatModel | None) -> Reranker:
    from retrieval.rerankers.listwise import ListwiseReranker

    if chat is None:
        raise RerankerMissing(
            "RERANK_BY=llm needs a language model.",
            next_step="Set LLM_BASE_URL or LLM_API_KEY, and LLM_MODEL.",
        )
    return ListwiseReranker(chat)


# Heavy libraries load inside, so only the chosen one does.
RERANKERS: dict[str, Callable[[RerankKnobs, ChatModel | None], Reranker]] = {
    "http": _http,
    "fastembed": _fastembed,
    "llm": _llm,
}


def make_reranker(knobs: RerankKnobs, chat: ChatModel | None = None) -> Reranker | None:
    """Return the reranker the settings name, None for "off"; nothing is loaded before its first use.

    Args:
        knobs: which one, and its settings.
        chat: the language model, where there is one.

    Raises:
        RerankerMissing: its package, or the language model, is not there.
        RerankerRefused: the settings do not describe a usable one.
    """
    return None if knobs.by == "off" else RERANKERS[knobs.by](knobs, chat)
