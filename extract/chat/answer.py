"""The JSON object in what a language model said, whatever stands around it.

Models wrap their answers in fences, think aloud first, write backslashes JSON does not know, break surrogate
pairs, leave commas behind. Nothing is guessed: an answer that ends early is not closed for it.
"""

from __future__ import annotations

import json
import re
from typing import Any

_THOUGHT = re.compile(r"</(?:think|thinking|reasoning|thought)>", re.IGNORECASE)
# A model that opens more braces than this before it comes to the point has none.
_MOST_STARTS = 20
# Whole escapes are taken as pairs, so that the second half of "\\\\" is never read as the start of another.
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_OPENING = re.compile(r'\{\s*(?:"|\})')
# No store takes these: half a surrogate pair, and control characters other than a break or a tab.
_UNSTORABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


class NotJson(ValueError):
    """There is no JSON object in the text.

    Attributes:
        unfinished: one begins and does not end.
    """

    def __init__(self, message: str, *, unfinished: bool = False) -> None:
        self.unfinished = unfinished
        super().__init__(message)


def find_object(text: str) -> dict[str, Any]:
    """Return the first complete JSON object of a model's answer.

    Raises:
        NotJson: there is none; the message says what was found instead.
    """
    if text.lstrip().startswith("{"):
        return _first_object(text)
    thoughts = list(_THOUGHT.finditer(text))
    return _first_object(text[thoughts[-1].end() :] if thoughts else text)


def _first_object(text: str) -> dict[str, Any]:
    start, unfinished = text.find("{"), False
    for _ in range(_MOST_STARTS):
        if start < 0:
            break
        end = _closing_brace(text, start)
        if end is None:
            unfinished = True
            # A piece of an object that breaks off is no answer; a lone brace in a sentence is passed over.
            start = -1 if _OPENING.match(text, start) else text.find("{", start + 1)
            continue
        found = _parse(text[start : end + 1])
        if found is not None:
            return found
        start = text.find("{", end + 1)
    if unfinished:
        raise NotJson("The JSON object is not closed.", unfinished=True)
    raise NotJson("The answer holds no JSON object that can be read.")


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
    for attempt in (text, _mended(text)):
        try:
            # Not strict: models put line breaks into strings.
            found = json.loads(attempt, strict=False)
        except (json.JSONDecodeError, RecursionError):
            continue
        if isinstance(found, dict):
            return {str(key): storable(value) for key, value in found.items()}
    return None


def _mended(text: str) -> str:
    """Return a JSON text with stray backslashes doubled and commas before a closing bracket left out."""
    text = _ESCAPE.sub(lambda found: found.group() if found.group(1) else r"\\", text)
    return _STRING_OR_COMMA.sub(lambda found: found.group() if found.group() != "," else "", text)


def storable(value: Any) -> Any:  # noqa: ANN401  any JSON value
    """Return a JSON value whose strings can be stored: pairs joined, halves replaced, no controls."""
    if isinstance(value, str):
        if not _UNSTORABLE.search(value):
            return value
        joined = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return _CONTROL.sub(" ", joined)
    if isinstance(value, list):
        return [storable(one) for one in value]
    if isinstance(value, dict):
        return {str(key): storable(one) for key, one in value.items()}
    return value
