"""What a search may use beyond one pass: a reranker, and who says what to ask next."""

from __future__ import annotations

from extract.chat.model import ChatModel
from retrieval.judging import Judge, ModelJudge, TextJudge
from retrieval.passes import Passes
from retrieval.rerankers.table import make_reranker
from retrieval.reranking import Rerank
from retrieval.rounds import Rounds
from retrieval.search import Extras
from workers.settings import Settings, SettingsError


def make_extras(settings: Settings, chat: ChatModel | None, passes: Passes | None = None) -> Extras:
    """Return rerank and rounds as the settings want them.

    Raises:
        SettingsError: a language model is wanted and there is none.
        RerankerMissing, RerankerRefused: the reranker cannot be built.
    """
    reranker = make_reranker(settings.rerank, chat)
    return Extras(
        rerank=None if reranker is None else Rerank(reranker, settings.rerank),
        rounds=Rounds(_judge(settings, chat), settings.agentic),
        passes=passes,
    )


def _judge(settings: Settings, chat: ChatModel | None) -> Judge:
    wanted = settings.agentic.judge
    if wanted == "llm" and chat is None:
        raise SettingsError("AGENTIC_JUDGE: llm needs a language model; set LLM_BASE_URL or LLM_API_KEY.")
    return TextJudge() if chat is None or wanted == "text" else ModelJudge(chat)
