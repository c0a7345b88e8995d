"""Who writes episodes and facts: the text itself, or a language model. Chosen by the settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from extract.protocols import Extractor
from workers.settings import Settings

if TYPE_CHECKING:
    from extract.chat.cache import AnswerCache
    from extract.chat.client import ChatClient
    from extract.chat.model import CallRecord, Limiter
    from extract.chat.pace import Paces
    from extract.knobs import LlmKnobs
    from extract.reflection.reflector import Reflector
    from extract.vision import Viewer

MODEL_MODULES = (
    "extract.llm",
    "extract.reflection.reflector",
    "extract.extractive",
    "extract.chat.client",
    "extract.chat.redis_paces",
)
TEXT_MODULES = ("extract.extractive",)


def make_chat(
    settings: Settings,
    limiter: Limiter | None = None,
    on_call: Callable[[CallRecord], None] | None = None,
) -> ChatClient | None:
    """Return the client of the language model, or None where the settings name none.

    Args:
        settings: endpoint, key and model.
        limiter: shared by all who use the key; see ``make_limiter`` when None.
        on_call: told of every call.
    """
    return _client(settings, settings.llm, limiter, on_call) if settings.model_writes else None


def make_viewer(
    settings: Settings, limiter: Limiter | None = None, on_call: Callable[[CallRecord], None] | None = None
) -> Viewer | None:
    """Return what describes pictures, or None where the settings name no vision model.

    Args:
        settings: endpoint, key and model.
        limiter: shared by all who use the key; see ``make_limiter`` when None.
        on_call: told of every call, and of answers that were there already.
    """
    if not settings.vision_model:
        return None
    from extract.chat.cache import AnswerCache
    from extract.vision import Viewer

    knobs = settings.llm.model_copy(update={"model": settings.vision_model})
    chat = _client(settings, knobs, limiter, on_call)
    return Viewer(chat, AnswerCache(settings.answers), knobs.max_output_tokens, on_call)


def _client(
    settings: Settings,
    knobs: LlmKnobs,
    limiter: Limiter | None,
    on_call: Callable[[CallRecord], None] | None,
) -> ChatClient:
    from extract.chat.capabilities import CapabilityMemory
    from extract.chat.client import ChatClient

    memory = CapabilityMemory(settings.model_folder / "endpoints")
    return ChatClient(knobs, memory, limiter or make_limiter(settings), on_call)


def make_limiter(settings: Settings, elsewhere: Callable[[str], Paces] | None = None) -> Limiter:
    """Return what keeps the calls of the language model's key under its limits, in all workers together.

    Args:
        settings: the limits, and the broker, which the workers share.
        elsewhere: keeps the pace of this name where the broker is no Redis; None: each process alone.
    """
    from extract.chat.limiter import PacedLimiter
    from extract.chat.pace import LocalPaces, Rates, pace_name
    from extract.chat.redis_paces import RedisPaces

    knobs = settings.llm
    name = pace_name(knobs.endpoint, knobs.api_key.get_secret_value())
    paces: Paces
    if settings.celery_broker_url.startswith(("redis://", "rediss://")):
        paces = RedisPaces(settings.celery_broker_url, name, settings.queue_prefix)
    else:
        paces = elsewhere(name) if elsewhere else LocalPaces()
    rates = Rates(knobs.requests_per_minute, knobs.tokens_per_minute)
    return PacedLimiter(paces, rates, knobs.longest_wait_s)


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
    questioner = Questioner(chat, AnswerCache(settings.answers), knobs.max_output_tokens, on_call)
    fallback = ExtractiveExtractor() if knobs.fallback == "extractive" else None
    gaps = ExtractiveExtractor() if knobs.gaps == "fill" else None
    return LlmExtractor(chat, questioner, fallback, knobs.concurrency, gaps)


def make_reflector(
    settings: Settings, chat: ChatClient | None, on_call: Callable[[CallRecord], None] | None = None
) -> Callable[[AnswerCache], Reflector] | None:
    """Return what learns profiles and agent memory with a cache of its answers, or None to do without.

    Args:
        settings: whether that is wanted, and limits.
        chat: the language model, or None where there is none.
        on_call: told of answers that were there already.
    """
    if chat is None or not settings.llm.reflect:
        return None
    from extract.reflection.asking import Asker
    from extract.reflection.reflector import Reflector

    def make(cache: AnswerCache) -> Reflector:
        return Reflector(Asker(chat, cache, settings.llm.max_output_tokens, on_call))

    return make
