"""Requests and answers in the form the OpenAI chat completions API has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from extract.chat.capabilities import Capabilities
from extract.chat.faults import of_refusal, telling_words
from extract.chat.model import ChatMessage, ChatReply, ChatRequest, Rung, Usage
from extract.errors import ContentFiltered, ModelUnavailable
from ingest.errors import StrataError

_SCHEMA_WORDS = "Answer with one JSON object and nothing else. It has to keep to this JSON schema:\n"
_SEED = 7
_CUT = frozenset({"length", "max_tokens", "model_length"})
_HELD_BACK = frozenset({"content_filter", "SAFETY", "safety"})
_BOUNDS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})


def body_of(request: ChatRequest, capabilities: Capabilities, model: str) -> dict[str, Any]:
    """Return the arguments of a call."""
    messages = request.messages
    if capabilities.rung >= Rung.OBJECT:
        messages = _with_schema(messages, request.json_schema)
    body: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in messages],
        "max_tokens" if capabilities.legacy_limit else "max_completion_tokens": request.max_output_tokens,
    }
    if capabilities.sampling:
        body |= {"temperature": 0, "seed": _SEED}
    match capabilities.rung:
        case Rung.SCHEMA:
            schema = {"name": request.schema_name, "schema": _strict(request.json_schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        case Rung.OBJECT_SCHEMA:
            body["response_format"] = {"type": "json_object", "schema": request.json_schema}
        case Rung.OBJECT:
            body["response_format"] = {"type": "json_object"}
    return body


def _message(message: ChatMessage) -> dict[str, Any]:
    if not message.pictures:
        return {"role": message.role, "content": message.content}
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in message.pictures]
    return {"role": message.role, "content": [{"type": "text", "text": message.content}, *shown]}


def _strict(schema: Any) -> Any:  # noqa: ANN401  any JSON value
    """Return a schema without the bounds that strict endpoints refuse; the validation here keeps them."""
    if isinstance(schema, Mapping):
        return {name: _strict(value) for name, value in schema.items() if name not in _BOUNDS}
    return [_strict(one) for one in schema] if isinstance(schema, list) else schema


def _with_schema(messages: tuple[ChatMessage, ...], schema: Mapping[str, Any]) -> tuple[ChatMessage, ...]:
    words = _SCHEMA_WORDS + json.dumps(schema, ensure_ascii=False)
    first = messages[0]
    if first.role != "system":
        return (ChatMessage(role="system", content=words), *messages)
    return (ChatMessage(role="system", content=f"{first.content}\n\n{words}"), *messages[1:])


def read_reply(raw: bytes, rung: Rung) -> ChatReply:
    """Return what an endpoint answered.

    Raises:
        ModelUnavailable: the body is not an answer.
        StrataError: the body is a refusal; see ``extract.chat.faults``.
        ContentFiltered: the provider held the answer back.
    """
    try:
        body = json.loads(raw)
        if isinstance(body, dict) and body.get("error") and not body.get("choices"):
            raise _refused(body["error"])
        choice = body["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        text = message.get("content") or ""
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ModelUnavailable("The language model's endpoint sent no readable answer.") from error
    if finish in _HELD_BACK or message.get("refusal"):
        raise ContentFiltered
    return ChatReply(
        text=_text(text), complete=str(finish).lower() not in _CUT, usage=_usage(body.get("usage")), rung=rung
    )


def _refused(error: Any) -> StrataError:  # noqa: ANN401  whatever the endpoint says
    """Some gateways answer 200 and put the refusal of the one behind them into the body."""
    status = error.get("code") if isinstance(error, dict) else None
    return of_refusal(status if isinstance(status, int) else 500, telling_words(error))


def _text(content: Any) -> str:  # noqa: ANN401  a string, or a list of parts
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content)


def _usage(usage: Any) -> Usage:  # noqa: ANN401  whatever the endpoint says
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    return Usage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(cached),
    )


def _count(value: Any) -> int:  # noqa: ANN401
    return value if isinstance(value, int) and value >= 0 else 0
