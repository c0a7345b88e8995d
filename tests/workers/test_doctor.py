"""What the doctor finds, and what it can put right."""

from __future__ import annotations

import io
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.artifacts import artifact_dir
from retrieval.protocols import Collection
from tests.workers.parts import drain, hand_in
from workers.doctor import Trouble, examine, repair
from workers.model import State
from workers.services import Services


@pytest.fixture
def identity(services: Services) -> str:
    found = hand_in(services, "One line\nAnother line").document.id
    drain(services)
    return found


def troubles(services: Services) -> list[Trouble]:
    return [finding.trouble for finding in examine(services).findings]


def test_all_is_well(services: Services, identity: str) -> None:
    examination = examine(services)
    assert examination.findings == ()
    assert examination.states == {State.READY: 1}
    assert (examination.episodes, examination.facts, examination.blobs) == (2, 2, 1)
    assert examination.artifact_folders == 1


def test_work_under_way_is_no_trouble(services: Services) -> None:
    hand_in(services, "One line")
    assert troubles(services) == []


def test_what_belongs_to_no_document_is_found_and_removed(services: Services, identity: str) -> None:
    with services.ledger.database.write() as session:
        session.connection().exec_driver_sql("DELETE FROM documents")
    found = examine(services).findings
    assert [finding.trouble for finding in found] == [
        Trouble.ORPHANED_POINTS, Trouble.ORPHANED_BYTES, Trouble.ORPHANED_ARTIFACTS,
    ]  # fmt: skip
    assert found[0].tenant == "acme"
    assert "4 points" in found[0].detail
    assert all(repair(services, finding) for finding in found)
    after = examine(services)
    assert after.findings == ()
    assert (after.episodes, after.facts, after.blobs, after.artifact_folders) == (0, 0, 0, 0)


def test_bytes_that_got_a_document_meanwhile_are_kept(services: Services) -> None:
    services.blobs.put(io.BytesIO(b"One line"), 100)
    (finding,) = examine(services).findings
    assert finding.trouble is Trouble.ORPHANED_BYTES
    sha256 = hand_in(services, "One line").document.sha256
    assert not repair(services, finding)
    assert services.blobs.exists(sha256)


@pytest.mark.parametrize("trouble", [Trouble.MISSING_POINTS, Trouble.MISSING_ARTIFACTS])
def test_what_a_document_lacks_is_made_anew(services: Services, identity: str, trouble: Trouble) -> None:
    if trouble is Trouble.MISSING_POINTS:
        some = list(services.store.ids(Collection.FACTS, "acme", identity))[:1]
        services.store.delete(Collection.FACTS, "acme", some)
    else:
        shutil.rmtree(artifact_dir(services.artifacts, identity))
    (finding,) = examine(services).findings
    assert (finding.trouble, finding.id) == (trouble, identity)
    assert repair(services, finding)
    drain(services)
    assert troubles(services) == []


def test_lost_bytes_are_told_but_only_the_sender_has_them(services: Services, identity: str) -> None:
    services.blobs.delete(services.ledger.documents.get("acme", identity).sha256)
    (finding,) = examine(services).findings
    assert finding.trouble is Trouble.MISSING_BYTES
    assert not repair(services, finding)


def test_an_installation_without_anything(services: Services, tmp_path: Path) -> None:
    empty = replace(services, artifacts=tmp_path / "nowhere")
    assert examine(empty).findings == ()
