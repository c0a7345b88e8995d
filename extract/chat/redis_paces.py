"""The pace of a key in Redis or Valkey, for all processes on all machines.

One script is one step that nobody comes between, and it reads the server's own clock, so hosts whose clocks
differ still agree. What is kept is three moments; a server that forgets them costs one early call.
"""

from __future__ import annotations

from functools import cached_property
from math import ceil
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from extract.chat.pace import Cost, Turn
from extract.errors import LimiterUnavailable

_US = 1_000_000
_TIMEOUT_S = 5

# KEYS[1]; ARGV: request cost, token cost, longest wait. Microseconds. Returns {wait, taken}.
_TAKE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local known = redis.call('HMGET', KEYS[1], 'requests', 'tokens', 'held')
local start = math.max(now, tonumber(known[1] or 0), tonumber(known[2] or 0), tonumber(known[3] or 0))
if start - now > tonumber(ARGV[3]) then return {start - now, 0} end
local requests, tokens = start + ARGV[1], start + ARGV[2]
redis.call('HSET', KEYS[1], 'requests', string.format('%.0f', requests),
           'tokens', string.format('%.0f', tokens))
local last = math.max(requests, tokens, tonumber(known[3] or 0))
redis.call('PEXPIRE', KEYS[1], math.ceil((last - now) / 1000) + 60000)
return {start - now, 1}
"""
# KEYS[1]; ARGV: microseconds to hold.
_HOLD = """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local until_ = math.max(now + ARGV[1], tonumber(redis.call('HGET', KEYS[1], 'held') or 0))
redis.call('HSET', KEYS[1], 'held', string.format('%.0f', until_))
local left = math.ceil((until_ - now) / 1000) + 60000
if redis.call('PTTL', KEYS[1]) < left then redis.call('PEXPIRE', KEYS[1], left) end
return 1
"""
# KEYS[1]. Returns the microseconds it is still held.
_HELD = """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
return math.max(0, tonumber(redis.call('HGET', KEYS[1], 'held') or 0) - now)
"""


class RedisPaces:
    """Keeps the pace of one key in Redis; connects on first use.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://``.
        name: whose pace it is; see ``pace_name``.
        prefix: put before the name, where several installations share a server.
    """

    def __init__(self, url: str, name: str, prefix: str = "") -> None:
        self._url = url
        self._name = f"{prefix}strata:pace:{name}"

    def take(self, cost: Cost, longest_s: float) -> Turn:
        """Take the next turn; see ``Paces``."""
        wait_us, taken = self._run("_take", *map(_us, cost), _us(longest_s))
        return Turn(wait_us / _US, bool(taken))

    def hold(self, seconds: float) -> None:
        """Let nobody call for this long; see ``Paces``."""
        self._run("_hold", _us(seconds))

    def held_s(self) -> float:
        """Return for how long nobody may call, in seconds; see ``Paces``."""
        return float(self._run("_held")) / _US

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _run(self, script: str, *arguments: int) -> Any:  # noqa: ANN401  what the script returns
        try:
            return getattr(self, script)(keys=[self._name], args=arguments)
        except RedisError as error:
            raise LimiterUnavailable from error

    @cached_property
    def _client(self) -> Redis:
        return Redis.from_url(self._url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S)

    @cached_property
    def _take(self) -> Any:  # noqa: ANN401  a script of the library
        return self._client.register_script(_TAKE)

    @cached_property
    def _hold(self) -> Any:  # noqa: ANN401
        return self._client.register_script(_HOLD)

    @cached_property
    def _held(self) -> Any:  # noqa: ANN401
        return self._client.register_script(_HELD)


def _us(seconds: float) -> int:
    return ceil(seconds * _US)
