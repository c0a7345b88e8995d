"""Passes carried out by the store process, beside the data.

A pass asks for thousands of scores and hands back ten results. Where the store is the process that comes with
Strata, the whole pass is sent there; a Qdrant server does not know such requests, and the pass is carried out
here. Both run the same code and give the same results.

While this process encodes the question, the store already looks up its words: both have work to do, each on a
core of its own.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from secrets import token_hex
from typing import Any

from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from retrieval.model import HitTrace, IndexedEpisode, IndexedFact, LaneCount
from retrieval.passes import PASS_VERSION, Course, Encode, Found, Order, OwnPasses, Pass
from retrieval.qdrant_connection import store_errors
from retrieval.qdrant_filter import filter_json
from retrieval.qdrant_points import plain
from retrieval.qdrant_store import QdrantStore
from retrieval.qdrant_wire import ClientWire, Wire
from retrieval.trips import Trips

logger = logging.getLogger(__name__)

# How long a store that does not carry out passes is not asked again: it may be replaced by one that does.
_NOT_AGAIN_S = 300.0
# Unknown path, method not allowed, another version.
_NOT_SERVED = frozenset({404, 405, 409})
_FAILED = (ResponseHandlingException, UnexpectedResponse)


class StorePasses:
    """Lets the store carry out passes where it can. Safe to share between threads.

    Args:
        store: where the memory is.
        clock: seconds; tests hand in their own.
    """

    def __init__(self, store: QdrantStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._wire = store.wire
        self._names = {str(kind): name for kind, name in store.names.items()}
        self._clock = clock
        self._own = OwnPasses()
        self._again_at = clock()
        # One at a time: with several searches at once both cores are busy anyway.
        self._ahead = ThreadPoolExecutor(1, thread_name_prefix="words-ahead")
        self._under_way: Future[None] | None = None

    def run(self, trips: Trips, order: Order, encode: Encode) -> Pass:
        """Return the best results of a question; see ``Passes``.

        Raises:
            StoreUnavailable: the store does not answer.
            InvalidQuery: the filter names what does not exist.
        """
        wire = self._wire
        if isinstance(wire, ClientWire) or self._clock() < self._again_at:
            return self._own.run(trips, order, encode)
        bound = {"where": filter_json(trips.tenant, trips.where), "corpus": filter_json(trips.tenant)}
        body = {**_written(order), **self._names, **bound}
        token = self._begin(wire, trips, body)
        dense = encode()
        body |= {"token": token, "dense": None if dense is None else plain(dense)}
        try:
            with store_errors(kept=_NOT_SERVED):
                answer = trips.through(lambda: wire.carry_out(body))
                found = _read(answer)
                trips.note(LaneCount.model_validate(one) for one in answer["lanes"])
        except UnexpectedResponse:
            self._again_at = self._clock() + _NOT_AGAIN_S
            return self._own.run(trips, order, lambda: dense)
        return found

    def _begin(self, wire: Wire, trips: Trips, body: dict[str, Any]) -> str | None:
        """Let the store look up the question's words meanwhile; return the token of that."""
        if self._under_way is not None and not self._under_way.done():
            return None
        token = token_hex(16)
        asked = {**body, "token": token}
        self._under_way = self._ahead.submit(_looked_up, wire, asked)
        trips.count += 1
        return token


def _looked_up(wire: Wire, body: Mapping[str, Any]) -> None:
    try:
        wire.begin(body)
    except _FAILED:
        # Nothing is lost: the pass that follows asks for everything itself, and tells what is wrong.
        logger.debug("the store did not begin a search", exc_info=True)


def _written(order: Order) -> dict[str, Any]:
    return {
        "version": PASS_VERSION,
        "asked": order.asked.packed(),
        "scorer": order.scorer.packed,
        "knobs": order.knobs.model_dump(mode="json", exclude={"lr_weights"}),
        "wanted": order.wanted,
    }


def _read(answer: Mapping[str, Any]) -> Pass:
    try:
        return Pass(
            tuple(
                Found(id_, parent, score, HitTrace.model_construct(**trace))
                for id_, parent, score, trace in answer["found"]
            ),
            {id_: IndexedFact.model_validate_json(body) for id_, body in answer["facts"].items()},
            {id_: IndexedEpisode.model_validate_json(body) for id_, body in answer["episodes"].items()},
            Course(*answer["course"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ResponseHandlingException(error) from error
