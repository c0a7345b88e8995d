from __future__ import annotations

import time
from pathlib import Path

import pytest

from retrieval.edge import keeper
from retrieval.edge.catalog import Catalog
from retrieval.edge.keeper import Keeper
from retrieval.edge.points import read_upsert
from retrieval.edge.shards import Shard


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    made = Catalog(tmp_path)
    made.create("c", {"vectors": {"size": 1, "distance": "Dot"}})
    return made


def test_flushing_waits_for_quiet_but_not_for_ever(catalog: Catalog) -> None:
    shard = catalog.get("c")
    assert not shard.flush()
    shard.change(read_upsert, {"points": [{"id": 1, "vector": [1.0]}]})
    assert not shard.flush(quiet_s=60, latest_s=60)
    assert shard.flush(quiet_s=60, latest_s=0)
    assert not shard.flush()
    catalog.close()


def test_a_failing_disk_is_told_and_tried_again(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Shard) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(keeper, "_EVERY_S", 0.01)
    made = Keeper(catalog)
    assert made.healthy()
    with monkeypatch.context() as broken:
        broken.setattr(Shard, "sync", full)
        made.start()
        _wait_until(lambda: not made.healthy())
    _wait_until(made.healthy)
    made.stop()
    catalog.close()


def _wait_until(holds: object) -> None:
    assert callable(holds)
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_drafts_and_deleted_collections_are_swept_at_start(tmp_path: Path) -> None:
    first = Catalog(tmp_path)
    for name in ("kept", "gone"):
        first.create(name, {"vectors": {"size": 1, "distance": "Dot"}})
    first.change_aliases({"actions": [{"create_alias": {"collection_name": "gone", "alias_name": "now"}}]})
    first.close()
    (tmp_path / "collections" / "gone").rename(tmp_path / "scratch" / "deleted-gone")
    (tmp_path / "scratch" / "half").mkdir()
    again = Catalog(tmp_path)
    assert again.names() == ["kept"]
    assert again.aliases() == []
    assert list((tmp_path / "scratch").iterdir()) == []
    again.close()
