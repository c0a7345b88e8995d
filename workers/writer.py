"""Who writes episodes and facts: the text itself, or a language model. Chosen by the settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from extract.protocols import Extractor
from workers.settings import Settings

if TYPE_CHECKING:
    from extract.chat.client import ChatClient
    from extract.chat.model import CallRecord, Limiter

MODEL_MODULES = ("extract.llm", "extract.extractive", "extract.chat.client")
TEXT_MODULES = ("extract.extractive",)


def make_chat(
    settings: Settings,
    limiter: Limiter | None = None,
    on_call: Callable[[CallRecord], None] | None = None,
) -> ChatClient | None:
    """Return the client of the language model, or None where the settings name none.

    Args:
        settings: endpoint, key and model.
        limiter: shared by all who use the key; one of this process alone when None.
        on_call: told of every call.
    """
    if not settings.model_writes:
        return None
    from extract.chat.capabilities import CapabilityMemory
    from extract.chat.client import ChatClient
    from extract.chat.limiter import BucketLimiter

    knobs = settings.llm
    own = limiter or BucketLimiter(knobs.requests_per_minute, knobs.tokens_per_minute)
    return ChatClient(knobs, CapabilityMemory(settings.model_folder / "endpoints"), own, on_call)


def make_extractor(
    settings: Settings, chat: ChatClient | None, on_call: Callable[[CallRecord], None] | None = None
) -> Extractor:
    """Return what makes episodes and facts.

    Args:
        settings: limits and fallback.
        chat: the language model, or None to do without.
        on_call: told of answers that were there already.
    """
    from extract.extractive import ExtractiveExtractor

    if chat is None:
        return ExtractiveExtractor()
    from extract.chat.cache import AnswerCache
    from extract.llm import LlmExtractor
    from extract.questioning import Questioner

    knobs = settings.llm
    questioner = Questioner(
        chat, AnswerCache(settings.model_folder / "answers"), knobs.max_output_tokens, on_call
    )
    fallback = ExtractiveExtractor() if knobs.fallback == "extractive" else None
    return LlmExtractor(chat, questioner, fallback, knobs.concurrency)
