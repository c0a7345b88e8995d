"""Short messages from several worker processes against a server that takes sixty requests a minute.

    python -m tests.bench.bench_limits --redis redis://127.0.0.1:6379/15 --scale 10

Time runs ``scale`` times as fast. Told are the calls that were refused and the time beside the limit's ideal.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
import uuid
from typing import Any

from extract.chat.client import ChatClient
from extract.chat.limiter import PacedLimiter
from extract.chat.model import ChatMessage, ChatRequest
from extract.chat.pace import Rates
from extract.chat.redis_paces import RedisPaces
from extract.knobs import LlmKnobs
from tests.fault_server import serving

PER_MINUTE = 60


def work(redis: str, url: str, key: str, scale: int, left: Any, start: Any) -> None:
    """Do what a worker process does: take the next message until none is left."""
    paces = RedisPaces(redis, key)
    limiter = PacedLimiter(paces, Rates(PER_MINUTE * scale), 30)
    chat = ChatClient(LlmKnobs(base_url=url, model="m", tries=10), limiter=limiter)
    start.wait()
    while (number := take(left)) is not None:
        words = ChatMessage(role="user", content=f"<<<SOURCE\nMei: message {number}.\nSOURCE>>>")
        request = ChatRequest(messages=(words,), schema_name="s", json_schema={}, max_output_tokens=64)
        assert chat.ask(request).complete
    chat.close()
    paces.close()


def take(left: Any) -> int | None:
    """Return the number of the next message."""
    with left.get_lock():
        left.value -= 1
        return left.value if left.value >= 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redis", required=True)
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--scale", type=int, default=10)
    given = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with serving() as server:
        server.limit = (PER_MINUTE, 60 / given.scale)
        left, start = context.Value("i", given.messages), context.Barrier(given.workers + 1)
        told = (given.redis, server.url, uuid.uuid4().hex, given.scale, left, start)
        processes = [context.Process(target=work, args=told) for _ in range(given.workers)]
        for process in processes:
            process.start()
        start.wait()  # interpreters that start are not the limiter's time
        began = time.monotonic()
        for process in processes:
            process.join()
        took = time.monotonic() - began
    ideal = given.messages / PER_MINUTE * 60 / given.scale
    refused = f"{server.refused} refused ({server.refused / given.messages:.1%})"
    print(f"{len(server.by_content)} messages answered by {given.workers} processes, {refused}")
    print(f"{took:.1f} s, {took / ideal:.3f} of the ideal {ideal:.1f} s")
    assert all(process.exitcode == 0 for process in processes)


if __name__ == "__main__":
    main()
