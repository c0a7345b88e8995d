"""Validated answers by the content they answer: a re-run, a retry or a second copy of a text pays nothing.

Only what passed validation gets in, and nothing crosses from one tenant to another. A lock per entry makes
two workers with the same text ask once.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

from pydantic import BaseModel, ValidationError

from extract.chat.model import ChatRequest
from ingest.artifacts import replacing, write_json

M = TypeVar("M", bound=BaseModel)


class AnswerCache:
    """A folder of validated answers.

    Args:
        folder: made when missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @staticmethod
    def key(tenant: str, model: str, fingerprint: str, request: ChatRequest) -> str:
        """Return the name of the answer to a request: tenant, model, prompts, schema and content make it."""
        parts = [tenant, model, fingerprint, request.model_dump(mode="json", exclude={"max_output_tokens"})]
        words = json.dumps(parts, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()

    @contextmanager
    def held(self, key: str) -> Iterator[None]:
        """Hold an entry: whoever else wants it waits, and then finds it there."""
        path = self._path(key).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = _locked(path)
        try:
            yield
        finally:
            # Removed while it is held: who waits for it sees that it is gone and makes a new one.
            path.unlink(missing_ok=True)
            stream.close()

    def get(self, key: str, model: type[M]) -> M | None:
        """Return a cached answer, or None; one written by another version counts as missing."""
        try:
            return model.model_validate_json(self._path(key).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def put(self, key: str, answer: BaseModel) -> None:
        """Keep a validated answer."""
        write_json(self._path(key), answer)
        self._mark(key).unlink(missing_ok=True)

    def too_long(self, key: str, max_output_tokens: int) -> bool:
        """Tell whether the answer is known not to fit so many tokens."""
        try:
            return max_output_tokens <= int(self._mark(key).read_bytes())
        except (FileNotFoundError, ValueError):
            return False

    def note_too_long(self, key: str, max_output_tokens: int) -> None:
        """Remember that the answer did not fit, so that it is asked for in halves at once next time."""
        with replacing(self._mark(key)) as stream:
            stream.write(str(max_output_tokens).encode())

    def remove(self, key: str) -> None:
        """Forget an answer."""
        self._path(key).unlink(missing_ok=True)
        self._mark(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    def _mark(self, key: str) -> Path:
        return self._path(key).with_suffix(".long")


def _locked(path: Path) -> BinaryIO:
    """Open and lock a file that is still the one of this name once the lock is there."""
    while True:
        stream = path.open("wb")
        fcntl.flock(stream, fcntl.LOCK_EX)
        try:
            if os.fstat(stream.fileno()).st_ino == path.stat().st_ino:
                return stream
        except FileNotFoundError:
            pass
        stream.close()
