"""Every client a test makes is closed after it: left to the collector, its sockets warn at any later time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from extract.chat.client import ChatClient


@pytest.fixture(autouse=True)
def _closed_clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    made: list[ChatClient] = []
    begin = ChatClient.__init__

    def remember(client: ChatClient, *args: Any, **more: Any) -> None:
        begin(client, *args, **more)
        made.append(client)

    monkeypatch.setattr(ChatClient, "__init__", remember)
    yield
    for client in made:
        client.close()
