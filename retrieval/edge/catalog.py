"""All collections of one data directory and the aliases that stand for them."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

import orjson

from retrieval.edge.fields import Fields, Refusal
from retrieval.edge.shards import Shard

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,254}")
_ALIASES = "aliases.json"


class DirectoryInUse(Exception):
    """Another store process works on this data directory."""


class CollectionDamaged(Exception):
    """A collection cannot be opened."""


@contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Hold a data directory for this process alone: two engines on one directory lose data.

    Raises:
        DirectoryInUse: another process holds it; names its pid.
    """
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (root / ".lock").open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            owner = handle.read().strip() or "unknown"
            raise DirectoryInUse(f"{root} is in use by the store process {owner}.") from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield


class Catalog:
    """Opens every collection of a directory that ``exclusive`` holds.

    A collection's folder gets its name when it is complete and loses it before it is removed, so what is
    found at start is whole.

    Raises:
        CollectionDamaged: one cannot be opened; names its folder.
    """

    def __init__(self, root: Path) -> None:
        self._folder = root / "collections"
        self._scratch = root / "scratch"
        self._alias_file = root / _ALIASES
        self._lock = RLock()
        self._folder.mkdir(exist_ok=True)
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir()
        self._shards = {path.name: _opened(path) for path in sorted(self._folder.iterdir())}
        known = orjson.loads(self._alias_file.read_bytes()) if self._alias_file.exists() else {}
        self._aliases: dict[str, str] = {a: name for a, name in known.items() if name in self._shards}

    def names(self) -> list[str]:
        """Return the names of all collections."""
        return sorted(self._shards)

    def aliases(self, collection: str | None = None) -> list[dict[str, str]]:
        """Return all aliases, or those of one collection."""
        return [
            {"alias_name": alias, "collection_name": name}
            for alias, name in sorted(self._aliases.items())
            if collection in (None, name)
        ]

    def shards(self) -> list[tuple[str, Shard]]:
        """Return every collection with its name."""
        return sorted(self._shards.items())

    def has(self, name: str) -> bool:
        """Return whether a collection or an alias has this name."""
        return self._aliases.get(name, name) in self._shards

    def get(self, name: str) -> Shard:
        """Return a collection by its name or an alias.

        Raises:
            Refusal: there is none.
        """
        shard = self._shards.get(self._aliases.get(name, name))
        if shard is None:
            raise Refusal(404, f"Not found: Collection `{name}` doesn't exist!")
        return shard

    def create(self, name: str, body: dict[str, Any]) -> None:
        """Create a collection.

        Raises:
            Refusal: the name is taken or cannot be used, or the configuration is not served here.
        """
        if not _NAME.fullmatch(name):
            raise Refusal(422, f"{name!r} cannot be the name of a collection")
        with self._lock:
            if self.has(name):
                raise Refusal(409, f"Wrong input: Collection `{name}` already exists!")
            draft = self._scratch / name
            shutil.rmtree(draft, ignore_errors=True)
            Shard.create(draft, body)
            final = draft.rename(self._folder / name)
            self._shards[name] = Shard(final)

    def delete(self, name: str) -> bool:
        """Delete a collection and its aliases; return whether there was one."""
        with self._lock:
            shard = self._shards.pop(name, None)
            if shard is None:
                return False
            self._write_aliases({a: target for a, target in self._aliases.items() if target != name})
            shard.close()
            trash = self._scratch / f"deleted-{name}"
            shutil.rmtree(trash, ignore_errors=True)
            (self._folder / name).rename(trash)
            shutil.rmtree(trash)
            return True

    def change_aliases(self, body: Any) -> None:  # noqa: ANN401  any JSON
        """Carry out the actions of ``POST /collections/aliases``: all of them or none."""
        with self._lock:
            aliases = dict(self._aliases)
            with Fields(body, "body") as fields:
                for at, action in enumerate(fields.array("actions")):
                    with Fields(action, f"actions[{at}]") as step:
                        self._change(aliases, step)
            self._write_aliases(aliases)

    def close(self) -> None:
        """Flush and close every collection."""
        with self._lock:
            for shard in self._shards.values():
                shard.close()

    def _change(self, aliases: dict[str, str], step: Fields) -> None:
        if "create_alias" in step:
            with Fields(step.take("create_alias"), step.where) as made:
                alias, target = str(made.need("alias_name")), str(made.need("collection_name"))
            if alias in self._shards:
                raise Refusal(409, f"Wrong input: `{alias}` is the name of a collection")
            if target not in self._shards:
                raise Refusal(404, f"Not found: Collection `{target}` doesn't exist!")
            aliases[alias] = target
        elif "delete_alias" in step:
            with Fields(step.take("delete_alias"), step.where) as gone:
                aliases.pop(str(gone.need("alias_name")), None)
        elif "rename_alias" in step:
            with Fields(step.take("rename_alias"), step.where) as renamed:
                old, new = str(renamed.need("old_alias_name")), str(renamed.need("new_alias_name"))
            if old not in aliases:
                raise Refusal(404, f"Not found: Alias `{old}` doesn't exist!")
            aliases[new] = aliases.pop(old)

    def _write_aliases(self, aliases: dict[str, str]) -> None:
        draft = self._scratch / _ALIASES
        with draft.open("wb") as handle:
            handle.write(orjson.dumps(aliases))
            handle.flush()
            os.fsync(handle.fileno())
        draft.replace(self._alias_file)
        self._aliases = aliases


def _opened(folder: Path) -> Shard:
    try:
        return Shard(folder)
    except (Refusal, OSError, orjson.JSONDecodeError) as error:
        raise CollectionDamaged(f"The collection in {folder} cannot be opened: {error}.") from error
