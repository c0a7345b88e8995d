"""A conversation through the whole stack: sent again, killed in the middle, searched by two people."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from api.cli.client import Client
from tests.e2e.instance import Instance, ask, wait_done

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
START = 1_772_366_400_000  # 1 March 2026, 12:00 UTC


def messages(who: str, count: int = 40) -> list[dict[str, Any]]:
    return [
        {
            "message_id": f"{who}-{at}", "sender_id": who,
            "timestamp": START + at * 600_000 + at // 10 * 7_200_000,
            "content": f"{who} counted {at * 37} herons at pond number {at}.",
        }
        for at in range(count)
    ]  # fmt: skip


def send(client: Client, user: str, some: list[dict[str, Any]]) -> dict[str, Any]:
    body = {"user_id": user, "session_id": "s", "messages": some}
    answer: dict[str, Any] = client.call("POST", "/api/v1/memories", json=body)
    return answer


def flush(client: Client, user: str) -> None:
    answer = client.call("POST", "/api/v1/memories/flush", json={"user_id": user})
    if answer["batch_id"]:
        wait_done(client, answer["batch_id"])


def told(client: Client, user: str, **more: Any) -> str:
    return json.dumps(ask(client, "How many herons at pond number 7?", user, **more))


def memory(client: Client) -> Any:
    return client.call("GET", "/api/v1/status")["memory"]


def test_a_conversation_survives_kills_and_stays_its_owner_s(tmp_path: Path) -> None:
    instance = Instance(tmp_path, CONVERSATION_SETTLE_S="0")
    client = instance.start()
    try:
        taken = send(client, "ana", messages("ana"))
        assert taken["accepted"] == 40
        assert ask(client, "herons", "ana", memory_types=["raw_message"])["raw_messages"]
        send(client, "ben", messages("ben", 8))
        for _ in range(2):
            instance.kill("worker")
            time.sleep(1)
            assert send(client, "ana", messages("ana"))["unchanged"] == 40
        instance.kill_all()
        client = instance.start()
        flush(client, "ana")
        flush(client, "ben")
        for identity in taken["document_ids"]:
            assert wait_ready(client, identity)["warnings"] == []
        held = memory(client)
        assert held["facts"] == 48
        assert ask(client, "herons", "ana")["raw_messages"] == []
        for method in ("keyword", "vector", "hybrid"):
            mine, his = told(client, "ana", method=method), told(client, "ben", method=method)
            assert "259 herons" in mine
            assert "ben counted" not in mine
            assert "ana counted" not in his
        assert send(client, "ana", messages("ana"))["unchanged"] == 40
        ran = instance.run("remember", str(written(tmp_path)), "--user", "ana", "--session", "s", "--json")
        assert json.loads(ran.stdout)["unchanged"] == 40, ran.stderr
        assert memory(client) == held
    finally:
        instance.stop()


def written(folder: Path) -> Path:
    path = folder / "messages.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in messages("ana")), encoding="utf-8")
    return path


def wait_ready(client: Client, identity: str) -> Any:
    deadline = time.monotonic() + 120
    while (document := client.call("GET", f"/api/v1/documents/{identity}"))["status"] != "ready":
        assert time.monotonic() < deadline, document
        time.sleep(0.2)
    return document
