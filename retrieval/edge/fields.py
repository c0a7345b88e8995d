"""Reading JSON objects strictly: what is not understood is refused by name, never passed over."""

from __future__ import annotations

from types import TracebackType
from typing import Any


class Refusal(Exception):
    """A request is answered with an error.

    Attributes:
        status: HTTP status.
        reason: what is wrong with it, for the caller.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Fields:
    """The fields of one JSON object, to be taken one by one inside a ``with`` block.

    A field that is null counts as absent. Fields left over at the end of the block are refused.

    Args:
        value: the decoded JSON.
        where: its place in the request, for the error message.

    Raises:
        Refusal: the value is no object, or fields were left over.
    """

    def __init__(self, value: Any, where: str) -> None:  # noqa: ANN401  any JSON
        if not isinstance(value, dict):
            raise Refusal(400, f"{where}: an object is expected, not {type(value).__name__}")
        self._left = {name: item for name, item in value.items() if item is not None}
        self.where = where

    def __enter__(self) -> Fields:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._left:
            raise Refusal(
                400, f"{self.where}: unknown or unsupported fields: {', '.join(sorted(self._left))}"
            )

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(self, name: str, default: Any = None) -> Any:  # noqa: ANN401  any JSON
        """Return a field's value and strike it off."""
        return self._left.pop(name, default)

    def need(self, name: str) -> Any:  # noqa: ANN401  any JSON
        """Return a field that has to be there."""
        if name not in self._left:
            raise Refusal(400, f"{self.where}: the field {name!r} is missing")
        return self._left.pop(name)

    def items(self, name: str) -> list[Any] | None:
        """Return a field as a list; a single value stands for a list of one."""
        value = self.take(name)
        return value if value is None or isinstance(value, list) else [value]

    def array(self, name: str) -> list[Any]:
        """Return a field that has to be a list."""
        value = self.need(name)
        if not isinstance(value, list):
            raise Refusal(400, f"{self.where}.{name}: a list is expected")
        return value


def choice(table: dict[str, Any], value: Any, where: str) -> Any:  # noqa: ANN401  any JSON
    """Return what a word stands for.

    Raises:
        Refusal: the word is not in the table.
    """
    if not isinstance(value, str) or value.lower() not in table:
        raise Refusal(400, f"{where}: {value!r} is not served here; known are {', '.join(table)}")
    return table[value.lower()]
