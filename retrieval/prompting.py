"""The words a search asks a language model with; what was found is quoted as material, not as orders."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from extract.chat.model import ChatMessage

_OPEN, _CLOSE = "<<<PASSAGES", "PASSAGES>>>"
_ASK, _ASKED = "<<<QUESTION", "QUESTION>>>"


@lru_cache(maxsize=8)
def prompt(name: str) -> str:
    """Return the text of a prompt file."""
    return (files("retrieval.prompts") / f"{name}.txt").read_text(encoding="utf-8").strip()


def fenced(texts: Sequence[str]) -> str:
    """Return passages numbered from 1, one a line, between marks that no passage can close."""
    lines = [f"[{number}] {_one_line(text)}" for number, text in enumerate(texts, 1)]
    return "\n".join([_OPEN, *lines, _CLOSE])


def conversation(name: str, question: str, *parts: str) -> tuple[ChatMessage, ...]:
    """Return the request of a prompt file about a question and further parts."""
    asked = "\n".join([_ASK, _one_line(question), _ASKED])
    user = "\n\n".join([asked, *parts])
    return (ChatMessage(role="system", content=prompt(name)), ChatMessage(role="user", content=user))


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace(">>>", "> >>").replace("<<<", "< <<")
