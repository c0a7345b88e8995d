"""Who is asked before a request to a service is paid for, and told afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from extract.chat.model import CallRecord


def _freely() -> None:
    """Let every request pass."""


def _unheard(record: CallRecord) -> None:
    """Keep nothing."""


class Meter(NamedTuple):
    """What stands at the tap of a service that costs.

    Attributes:
        before: called before every request; may raise, and nothing is sent.
        after: told of every request, failed ones included.
    """

    before: Callable[[], None] = _freely
    after: Callable[[CallRecord], None] = _unheard


UNMETERED = Meter()
