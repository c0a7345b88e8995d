"""What an endpoint has shown that it takes, remembered so that every lesson is paid for once."""

from __future__ import annotations

import hashlib
from pathlib import Path
from threading import Lock

from pydantic import ValidationError

from extract.chat.faults import Dislike
from extract.chat.model import Rung
from ingest.anchors import Frozen
from ingest.artifacts import write_json


class Capabilities(Frozen):
    """What is sent to an endpoint and what is left out.

    Attributes:
        rung: how the schema is asked for.
        sampling: temperature and seed are sent.
        legacy_limit: the output limit is called max_tokens, not max_completion_tokens.
    """

    rung: Rung = Rung.SCHEMA
    sampling: bool = True
    legacy_limit: bool = True

    def without(self, dislike: Dislike) -> Capabilities | None:
        """Return what is left to try after a refusal, or None when nothing is."""
        match dislike:
            case Dislike.SCHEMA if self.rung < Rung.TEXT:
                return self.model_copy(update={"rung": Rung(self.rung + 1)})
            case Dislike.SAMPLING if self.sampling:
                return self.model_copy(update={"sampling": False})
            case Dislike.MAX_TOKENS if self.legacy_limit:
                return self.model_copy(update={"legacy_limit": False})
        return None


class CapabilityMemory:
    """Remembers the capabilities of endpoints, in this process and, with a folder, across processes.

    Args:
        folder: where to keep them; None keeps them in memory only.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._known: dict[str, Capabilities] = {}
        self._learned: set[str] = set()
        self._lock = Lock()

    def get(self, endpoint: str) -> Capabilities:
        """Return what is known of an endpoint; of an unknown one the best is hoped for."""
        with self._lock:
            if endpoint not in self._known:
                self._known[endpoint] = self._read(endpoint)
            return self._known[endpoint]

    def proven(self, endpoint: str) -> bool:
        """Tell whether an endpoint has ever answered."""
        with self._lock:
            return endpoint in self._learned or (
                self._folder is not None and self._path(self._folder, endpoint).exists()
            )

    def learn(self, endpoint: str, capabilities: Capabilities, *, keep: bool = True) -> None:
        """Keep what a call that worked has shown.

        Args:
            endpoint: its URL and model.
            capabilities: what worked.
            keep: for other processes too; not so where the reason for a refusal was only guessed.
        """
        with self._lock:
            if endpoint in self._learned and self._known.get(endpoint) == capabilities:
                return
            self._known[endpoint] = capabilities
            self._learned.add(endpoint)
            if self._folder is not None and keep:
                write_json(self._path(self._folder, endpoint), capabilities)

    def _read(self, endpoint: str) -> Capabilities:
        if self._folder is None:
            return Capabilities()
        try:
            return Capabilities.model_validate_json(self._path(self._folder, endpoint).read_bytes())
        except (FileNotFoundError, ValidationError):
            return Capabilities()

    @staticmethod
    def _path(folder: Path, endpoint: str) -> Path:
        return folder / f"{hashlib.sha256(endpoint.encode()).hexdigest()[:32]}.json"
