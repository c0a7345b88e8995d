"""A language model writes, and its worker is killed with -9: only what is missing is asked for again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.cli.client import LocalFile
from api.cli.files import collect, hand_in
from tests.e2e.instance import Instance, ask, wait_done
from tests.fault_server import FaultServer, ideal, serving

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
EPISODES, LANES = 200, 4


def slowly(body: dict[str, Any]) -> str:
    """Take long enough for a kill to hit the middle."""
    time.sleep(0.03)
    return ideal(body)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving(slowly) as running:
        yield running


@pytest.fixture
def book(tmp_path: Path) -> list[LocalFile]:
    """A text of 200 sections, each long enough to be an episode of its own."""
    folder = tmp_path / "files"
    folder.mkdir()
    told = (
        "with all goods that were counted, weighed and put on the shelves of the northern hall by the crew "
    )
    sections = [
        f"## Station {number}\n\nStation {number} reported {number * 37} units {told * 6}in week {number}."
        for number in range(EPISODES)
    ]
    (folder / "stations.md").write_text("# Stations\n\n" + "\n\n".join(sections), "utf-8")
    return list(collect([folder]))


def test_a_killed_worker_costs_only_the_calls_on_their_way(
    server: FaultServer, book: list[LocalFile], tmp_path: Path
) -> None:
    instance = Instance(
        tmp_path / "home", LLM_BASE_URL=server.url, LLM_MODEL="m", LLM_CONCURRENCY=str(LANES),
        EMBEDDER="openai", EMBED_BASE_URL=server.url, EMBED_MODEL="e", EMBED_DIMENSION="8",
    )  # fmt: skip
    client = instance.start()
    try:
        batch_id, _ = hand_in(client, book, {"user_id": "u"})
        deadline = time.monotonic() + 60
        while len(server.accepted) < EPISODES // 2:
            assert time.monotonic() < deadline, instance.logs()
            time.sleep(0.01)
        instance.kill("worker")
        assert len(server.accepted) < EPISODES
        state = wait_done(client, batch_id)
        (document,) = state["documents"]
        assert state["counts"] == {"ready": 1}, instance.logs()
        assert (document["episodes"], document["facts"]) == (EPISODES, EPISODES)  # a heading is no fact
        assert EPISODES <= len(server.accepted) <= EPISODES + LANES
        assert len(server.by_content) == EPISODES
        answer = ask(client, "Station 73 units", "u", method="keyword")
        assert "Station 73 " in answer["episodes"][0]["episode"]
    finally:
        instance.stop()
