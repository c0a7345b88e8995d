"""The JSON object in what a language model said, whatever stands around it.

Models wrap their answers in fences, think aloud first, write backslashes JSON does not know, break surrogate
pairs, leave commas behind. Nothing is guessed: an answer that ends early is not closed for it.
"""

from __future__ import annotations

import json
import re
from typing import Any

_THINKING = re.compile(r"<(think|thinking|reasoning|thought)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THINKING = re.compile(r"^.*?</(?:think|thinking|reasoning|thought)>", re.DOTALL | re.IGNORECASE)
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class NotJson(ValueError):
    """There is no JSON object in the text."""


def find_object(text: str) -> dict[str, Any]:
    """Return the first complete JSON object of a model's answer.

    Raises:
        NotJson: there is none; the message says what was found instead.
    """
    text = _OPEN_THINKING.sub("", _THINKING.sub("", text))
    start = text.find("{")
    if start < 0:
        raise NotJson("The answer holds no JSON object.")
    while start >= 0:
        end = _closing_brace(text, start)
        if end is None:
            raise NotJson("The JSON object is not closed.")
        found = _parse(text[start : end + 1])
        if found is not None:
            return found
        start = text.find("{", end + 1)
    raise NotJson("The JSON object cannot be read.")


def _closing_brace(text: str, start: int) -> int | None:
    depth, quoted, escaped = 0, False, False
    for at in range(start, len(text)):
        char = text[at]
        if quoted:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return at
    return None


def _parse(text: str) -> dict[str, Any] | None:
    for attempt in (text, _TRAILING_COMMA.sub("", _BAD_ESCAPE.sub(r"\\\\", text))):
        try:
            # Not strict: models put line breaks into strings.
            found = json.loads(attempt, strict=False)
        except (json.JSONDecodeError, RecursionError):
            continue
        if isinstance(found, dict):
            return {str(key): without_surrogates(value) for key, value in found.items()}
    return None


def without_surrogates(value: Any) -> Any:  # noqa: ANN401  any JSON value
    """Return a JSON value whose strings can be stored: surrogate pairs joined, lone halves replaced."""
    if isinstance(value, str):
        if not _LONE_SURROGATE.search(value):
            return value
        joined = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return joined
    if isinstance(value, list):
        return [without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {str(key): without_surrogates(one) for key, one in value.items()}
    return value
