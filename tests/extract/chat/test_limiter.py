from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import pytest

from extract.chat.client import ChatClient
from extract.chat.limiter import PacedLimiter, Unlimited
from extract.chat.model import ChatMessage, ChatRequest, Limiter
from extract.chat.pace import Cost, LocalPaces, Paces, Rates, pace_name
from extract.chat.redis_paces import RedisPaces
from extract.errors import LimiterUnavailable, TurnFarOff
from extract.knobs import LlmKnobs
from tests.fault_server import FaultServer, serving
from workers.ledger.ledger import Ledger
from workers.ledger.paces import LedgerPaces


class Time:
    """A clock that sleeping moves on."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_calls_are_spread_by_requests_and_by_tokens_with_a_margin() -> None:
    clock = Time()
    limiter = PacedLimiter(LocalPaces(clock), Rates(60, 6000), 30, clock.sleep)
    for tokens in (10, 500, 10):
        limiter.acquire(tokens)
    assert clock.slept == pytest.approx([1.02, 5.1])


def test_a_request_beyond_a_minutes_worth_uses_up_one_minute() -> None:
    assert Rates(0, 6000).cost(10**6) == Cost(0, pytest.approx(61.2))


def test_without_limits_nothing_is_waited_for() -> None:
    clock = Time()
    limiter = PacedLimiter(LocalPaces(clock), Rates(), 30, clock.sleep)
    for _ in range(100):
        limiter.acquire(10**6)
    assert clock.slept == []


def test_a_turn_that_is_far_off_is_not_taken_from_the_others() -> None:
    clock = Time()
    paces = LocalPaces(clock)
    hasty = PacedLimiter(paces, Rates(1), 30, clock.sleep)
    hasty.acquire(1)
    with pytest.raises(TurnFarOff) as caught:
        hasty.acquire(1)
    assert caught.value.retry_after_s == pytest.approx(61.2)
    PacedLimiter(paces, Rates(1), 100, clock.sleep).acquire(1)
    assert clock.slept == pytest.approx([61.2])


def test_who_waits_already_hears_of_a_hold() -> None:
    clock = Time()
    paces = LocalPaces(clock)

    def told_to_wait_meanwhile(seconds: float) -> None:
        if not clock.slept:
            paces.hold(10)
        clock.sleep(seconds)

    limiter = PacedLimiter(paces, Rates(60), 30, told_to_wait_meanwhile)
    limiter.acquire(1)
    limiter.acquire(1)
    assert clock.slept == pytest.approx([1.02, 8.98])


def test_waiting_can_be_ended() -> None:
    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    limiter = PacedLimiter(LocalPaces(), Rates(60), 30, stop)
    limiter.acquire(1)
    with pytest.raises(KeyboardInterrupt):
        limiter.acquire(1)


@pytest.fixture(params=["local", "ledger", pytest.param("redis", marks=pytest.mark.integration)])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Paces]]:
    """Gives the pace of one key, each time to somebody else who uses it."""
    if request.param == "local":
        paces = LocalPaces()
        yield lambda: paces
        return
    if request.param == "ledger":
        ledgers = [Ledger(f"sqlite:///{tmp_path / 'ledger.db'}") for _ in range(2)]
        ledgers[0].migrate()
        turn = cycle(ledgers)
        yield lambda: LedgerPaces(next(turn).database, "key")
        for ledger in ledgers:
            ledger.close()
        return
    url = request.getfixturevalue("redis_url")
    key = f"{request.node.name}-{time.time()}"
    made: list[RedisPaces] = []

    def another() -> Paces:
        made.append(RedisPaces(url, key))
        return made[-1]

    yield another
    for paces in made:
        paces.close()


# Waits are real here, and far longer than a busy machine takes between two steps.
SLACK_S = 20.0


def test_turns_are_shared(shared: Callable[[], Paces]) -> None:
    turns = [shared().take(Cost(100.0, 0), 350.0) for _ in range(5)]
    assert [turn.taken for turn in turns] == [True, True, True, True, False]
    assert [turn.wait_s for turn in turns] == pytest.approx([0, 100, 200, 300, 400], abs=SLACK_S)


def test_tokens_count_beside_requests(shared: Callable[[], Paces]) -> None:
    assert shared().take(Cost(100.0, 500.0), 1000) == (0, True)
    assert shared().take(Cost(100.0, 0.0), 1000).wait_s == pytest.approx(500, abs=SLACK_S)
    assert shared().take(Cost(100.0, 0.0), 1000).wait_s == pytest.approx(600, abs=SLACK_S)


def test_a_hold_is_shared_and_a_shorter_one_does_not_end_it(shared: Callable[[], Paces]) -> None:
    assert shared().held_s() == 0
    shared().hold(200)
    shared().hold(100)
    assert shared().held_s() == pytest.approx(200, abs=SLACK_S)
    assert shared().take(Cost(1.0, 0.0), 1000).wait_s == pytest.approx(200, abs=SLACK_S)
    assert not shared().take(Cost(1.0, 0.0), 10).taken


def test_a_broker_that_is_away_is_told() -> None:
    paces = RedisPaces("redis://127.0.0.1:1/0", "key")
    with pytest.raises(LimiterUnavailable):
        paces.take(Cost(1, 1), 1)
    paces.close()


def test_neither_endpoint_nor_key_can_be_read_from_the_name() -> None:
    assert pace_name("http://a", "secret") not in {
        pace_name("http://b", "secret"),
        pace_name("http://a", "x"),
    }
    assert "secret" not in pace_name("http://a", "secret")


MESSAGES = 1000
WORKERS = 8
SCALE = 50  # fifty times as fast as a real minute


def answer_all(server: FaultServer, count: int, limiters: Callable[[], Limiter]) -> float:
    """Have workers ask about so many messages; return the seconds it took."""
    knobs = LlmKnobs(base_url=server.url, model="m", tries=10)

    def work(worker: int) -> None:
        # Everything of its own, as a process has it; only the broker is shared.
        chat = ChatClient(knobs, limiter=limiters())
        for number in range(worker, count, WORKERS):
            words = ChatMessage(role="user", content=f"<<<SOURCE\nMei: message {number}.\nSOURCE>>>")
            request = ChatRequest(messages=(words,), schema_name="s", json_schema={}, max_output_tokens=64)
            assert chat.ask(request).complete
        chat.close()

    began = time.monotonic()
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, range(WORKERS)))
    return time.monotonic() - began


@pytest.mark.integration
def test_a_thousand_messages_against_sixty_a_minute_are_neither_refused_nor_slow(redis_url: str) -> None:
    with serving() as server:
        machine = answer_all(server, 100, Unlimited) * MESSAGES / 100
    made: list[RedisPaces] = []

    def limiter() -> Limiter:
        made.append(RedisPaces(redis_url, "key"))
        return PacedLimiter(made[-1], Rates(60 * SCALE), 30)

    with serving() as server:
        server.limit = (60, 60 / SCALE)
        took = answer_all(server, MESSAGES, limiter)
    for paces in made:
        paces.close()
    # A machine too busy to make that many calls without any limit is not the limiter's fault.
    ideal = max(MESSAGES / SCALE, machine)
    print(f"{server.refused} refused, {took:.2f} s, {took / ideal:.3f} of the ideal {ideal:.2f} s")
    assert len(server.by_content) == MESSAGES
    assert server.refused <= 0.05 * MESSAGES
    assert took <= 1.15 * ideal
