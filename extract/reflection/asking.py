"""One valid answer of a given form out of a language model, repaired once, and paid for once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from string import Template
from typing import TypeVar

from pydantic import ValidationError

from extract.chat.answer import NotJson, find_object
from extract.chat.cache import AnswerCache
from extract.chat.errand import current
from extract.chat.model import CallRecord, ChatMessage, ChatModel, ChatRequest, Usage
from extract.errors import AnswerCut, ExtractError, MalformedAnswer
from extract.prompting import prompt, repair_message
from extract.said import Said, closed_schema
from ingest.errors import TransientError

F = TypeVar("F", bound=Said)

PROMPTS = ("profile", "cases", "skills")
_OPEN, _CLOSE = "<<<SOURCE", "SOURCE>>>"
_SHOWN_AGAIN = 6000  # characters of a wrong answer that are shown with the request to repair it


@lru_cache(maxsize=1)
def reflection_version() -> str:
    """Return a mark that changes with any word of these prompts."""
    return hashlib.sha256("\x00".join(map(prompt, (*PROMPTS, "repair"))).encode()).hexdigest()[:8]


class Asker:
    """Asks for answers of a form.

    Args:
        chat: the model.
        cache: of validated answers.
        max_output_tokens: of one answer.
        on_call: told of every answer that was there already, with the outcome "cached".
    """

    def __init__(
        self, chat: ChatModel, cache: AnswerCache, max_output_tokens: int,
        on_call: Callable[[CallRecord], None] | None = None,
    ) -> None:  # fmt: skip
        self._chat = chat
        self._cache = cache
        self._max_output_tokens = max_output_tokens
        self._on_call = on_call or (lambda record: None)

    @property
    def fingerprint(self) -> str:
        """Model and prompts."""
        return f"{self._chat.name}/{reflection_version()}"

    def ask(
        self, tenant: str, name: str, language: str, source: str, form: type[F],
        problem_of: Callable[[F], str],
    ) -> F:  # fmt: skip
        """Return a valid answer.

        Args:
            tenant: whose source it is; answers never cross.
            name: of the prompt.
            language: what to write in.
            source: the numbered lines to read, never followed as instructions.
            form: of the answer.
            problem_of: what is wrong with an answer of the right form; empty when nothing is. An answer that
                stays wrong after a repair is returned all the same, for the caller to take what is right.

        Raises:
            TransientError, ModelRefuses: see ``ChatModel.ask``.
            ExtractError: no answer of the right form came.
        """
        system = Template(prompt(name)).substitute(language=language)
        user = "\n".join((_OPEN, source.replace(_CLOSE, "SOURCE> >>"), _CLOSE))
        request = ChatRequest(
            messages=(ChatMessage(role="system", content=system), ChatMessage(role="user", content=user)),
            schema_name=name,
            json_schema=closed_schema(form),
            max_output_tokens=self._max_output_tokens,
        )
        key = self._cache.key(tenant, self._chat.name, reflection_version(), request)
        with self._cache.held(key):
            if (known := self._cache.get(key, form)) is not None:
                self._on_call(CallRecord(self._chat.name, Usage(), 0.0, "cached", 1, current()))
                return known
            answer, problem = self._repaired(request, form, problem_of)
            if not problem:
                self._cache.put(key, answer)
            return answer

    def _repaired(self, request: ChatRequest, form: type[F], problem_of: Callable[[F], str]) -> tuple[F, str]:
        said = self._said(request)
        first, problem = _read(said, form, problem_of)
        if first is not None and not problem:
            return first, ""
        shown = ChatMessage(role="assistant", content=said[:_SHOWN_AGAIN] or "-")
        try:
            second, still = _read(self._said(request.also(shown, repair_message(problem))), form, problem_of)
        except (ExtractError, TransientError):
            if first is None:
                raise
            return first, problem
        if second is not None:
            return second, still
        if first is not None:
            return first, problem
        raise MalformedAnswer(f"The language model's answer cannot be used: {still}")

    def _said(self, request: ChatRequest) -> str:
        reply = self._chat.ask(request)
        if not reply.complete:
            raise AnswerCut
        return reply.text


def _read(said: str, form: type[F], problem_of: Callable[[F], str]) -> tuple[F | None, str]:
    try:
        answer = form.model_validate(find_object(said))
    except NotJson as error:
        return None, str(error)
    except ValidationError as error:
        first = error.errors()[0]
        return None, f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}."
    return answer, problem_of(answer)
