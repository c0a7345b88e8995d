"""What extraction needs from outside."""

from __future__ import annotations

from typing import Protocol

from extract.model import Extraction, Segment
from ingest.model import Document


class Extractor(Protocol):
    """Turns one segment into an episode and its facts."""

    @property
    def fingerprint(self) -> str:
        """Name and version of everything that shapes the result (mode, model, prompts)."""

    @property
    def at_once(self) -> int:
        """How many segments may be extracted at the same time, from several threads; 1 where it computes."""

    def extract(self, document: Document, segment: Segment) -> Extraction:
        """Return the episode and facts of a segment of this document.

        Raises:
            ExtractError: nothing usable could be made of it.
            TransientError: a service is away; try again later.
        """
