"""Passes carried out by the store process, beside the data.

A pass asks for thousands of scores and hands back ten results. Where the store is the process that comes with
Strata, the whole pass is sent there; a Qdrant server does not know such requests, and the pass is carried out
here. Both run the same code and give the same results.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from retrieval.model import HitTrace, IndexedEpisode, IndexedFact, LaneCount
from retrieval.passes import PASS_VERSION, Course, Encode, Found, Order, OwnPasses, Pass
from retrieval.protocols import Vector
from retrieval.qdrant.connection import store_errors
from retrieval.qdrant.filter import filter_json
from retrieval.qdrant.points import plain
from retrieval.qdrant.store import QdrantStore
from retrieval.qdrant.wire import ClientWire
from retrieval.trips import Trips

logger = logging.getLogger(__name__)

# How long a store that does not carry out passes is not asked again: it may be replaced by one that does.
_NOT_AGAIN_S = 300.0
# Unknown path, method not allowed, another version, an order that it cannot read.
_NOT_SERVED = frozenset({400, 404, 405, 409, 422})


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
        dense = encode()
        body = {**_written(order, dense), **self._names, **bound}
        try:
            with store_errors(kept=_NOT_SERVED):
                answer = trips.through(lambda: wire.carry_out(body))
                found = _read(answer)
                trips.note(LaneCount.model_validate(one) for one in answer["lanes"])
        except UnexpectedResponse as error:
            logger.warning(
                "the store does not carry out passes (%s: %s); they are carried out here",
                error.status_code,
                error.content[:200].decode("utf-8", "replace"),
            )
            self._again_at = self._clock() + _NOT_AGAIN_S
            return self._own.run(trips, order, lambda: dense)
        return found


def _written(order: Order, dense: Vector | None) -> dict[str, Any]:
    return {
        "version": PASS_VERSION,
        "asked": order.asked.packed(),
        "dense": None if dense is None else plain(dense),
        "scorer": order.scorer.packed,
        "knobs": order.knobs.model_dump(mode="json", exclude={"lr_weights"}),
        "wanted": order.wanted,
        "traced": order.traced,
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
