"""Kill -9 of every part in the middle of the work: nothing is lost, nothing is doubled."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from api.cli.client import Client, LocalFile, WaitTimeout
from api.cli.files import collect, hand_in
from tests.e2e.instance import Instance, ids_of, wait_done

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
FILES = 24
# A slow machine under load needs many times what a quiet one does (15 s); losing work would mean never.
PATIENCE_S = 420.0
SAMPLES = Path(__file__).parent.parent.parent / "api" / "samples"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[LocalFile]:
    folder = tmp_path_factory.mktemp("files")
    for number in range(FILES):
        lines = [
            f"Station {number} reported {number * 37 + line} units in week {line}." for line in range(40)
        ]
        (folder / f"report-{number:02d}.md").write_text(
            f"# Station {number}\n\n" + "\n\n".join(lines), "utf-8"
        )
    return [*collect([folder]), *collect([SAMPLES])]


def hand_in_all(client: Client, files: list[LocalFile]) -> str:
    batch_id, rows = hand_in(client, files, {"user_id": "u"})
    assert len(rows) == len(files)
    return batch_id


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, files: list[LocalFile]
) -> list[tuple[str, str, int, int]]:
    instance = Instance(tmp_path_factory.mktemp("calm"))
    client = instance.start()
    try:
        wait_done(client, hand_in_all(client, files))
        return list(ids_of(client, "u"))
    finally:
        instance.stop()


def points(client: Client) -> tuple[int, int]:
    overview = client.call("GET", "/api/v1/status")
    return overview["memory"]["episodes"], overview["memory"]["facts"]


def check(
    instance: Instance, client: Client, batch_id: str, undisturbed: list[tuple[str, str, int, int]]
) -> None:
    try:
        state = wait_done(client, batch_id, PATIENCE_S)
    except WaitTimeout as late:
        late.add_note(f"{client.call('GET', f'/api/v1/batches/{batch_id}')}\n{instance.logs()}")
        raise
    assert state["counts"] == {"ready": state["total"]}, state["counts"]
    assert list(ids_of(client, "u")) == undisturbed
    assert points(client) == (sum(row[2] for row in undisturbed), sum(row[3] for row in undisturbed))


@pytest.mark.parametrize("part", ["store", "worker", "broker", "api"])
def test_a_part_is_killed(
    part: str, tmp_path: Path, files: list[LocalFile], undisturbed: list[tuple[str, str, int, int]]
) -> None:
    instance = Instance(tmp_path)
    client = instance.start()
    try:
        batch_id = hand_in_all(client, files)
        for _ in range(2):
            time.sleep(1.5)
            instance.kill(part)
        time.sleep(3)
        check(instance, client, batch_id, undisturbed)
    finally:
        instance.stop()


def test_everything_is_killed(
    tmp_path: Path, files: list[LocalFile], undisturbed: list[tuple[str, str, int, int]]
) -> None:
    instance = Instance(tmp_path)
    client = instance.start()
    try:
        batch_id = hand_in_all(client, files)
        for _ in range(2):
            time.sleep(2)
            instance.kill_all()
            client = instance.start()
        check(instance, client, batch_id, undisturbed)
    finally:
        instance.stop()
