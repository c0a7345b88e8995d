import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest import sandbox
from ingest.artifacts import read_jsonl
from ingest.errors import (
    CorruptFile,
    FileTooLarge,
    IngestError,
    MaliciousFile,
    NoTextFound,
    ParserCrashed,
    ParseTimeout,
)
from ingest.landlock import supported_version
from ingest.limits import ParseLimits
from ingest.model import Element
from ingest.parse import parse_file

LIMITS = ParseLimits(wall_s=90, cpu_s=20, memory_mb=512)  # a busy machine stretches the wall
HERE = Path(__file__).parent
START = """
import importlib.util, sys
sys.path.insert(0, {root!r})
spec = importlib.util.spec_from_file_location("ingest.parsers.plain", {hostile!r})
module = importlib.util.module_from_spec(spec)
sys.modules["ingest.parsers.plain"] = module
spec.loader.exec_module(module)
from ingest.forkserver import main
main([])
"""

needs_landlock = pytest.mark.skipif(not supported_version(), reason="this kernel has no Landlock")


@pytest.fixture(scope="module")
def servers() -> Iterator[sandbox._Pool]:
    pool = sandbox._Pool()
    yield pool
    pool.close()


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch, servers: sandbox._Pool) -> None:
    """Fork servers whose parser for plain text is the hostile one."""
    start = START.format(root=str(HERE.parent.parent), hostile=str(HERE / "hostile.py"))
    monkeypatch.setattr(sandbox, "command", lambda cold: [sys.executable, "-I", "-c", start])
    monkeypatch.setattr(sandbox, "_POOL", servers)


def order(tmp_path: Path, text: str, limits: ParseLimits = LIMITS) -> str:
    source = tmp_path / "blob"
    source.write_text(text)
    parse_file(source, "order.txt", limits, tmp_path / "out")
    return next(read_jsonl(tmp_path / "out/elements.jsonl", Element)).text


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("segv", ParserCrashed, "died"),
        ("die 3", ParserCrashed, "died"),
        ("kill", FileTooLarge, "PARSE_MEMORY_MB"),
        ("eat", FileTooLarge, "PARSE_MEMORY_MB"),
        ("recurse", MaliciousFile, "nested"),
        ("fail here", CorruptFile, "KeyError"),
        ("connect 9", MaliciousFile, "socket"),
        ("run_program /bin/true", MaliciousFile, "subprocess"),
    ],
)
def test_every_death_is_a_typed_error(
    tmp_path: Path, text: str, error: type[IngestError], words: str
) -> None:
    with pytest.raises(error, match=words):
        order(tmp_path, text)
    assert order(tmp_path, "environment")


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize(
    ("text", "limits", "words"),
    [
        ("sleep", {"wall_s": 0.5}, "PARSE_WALL_S"),
        ("yield_and_sleep", {"wall_s": 1}, "PARSE_WALL_S"),
        ("spin", {"cpu_s": 1}, "PARSE_CPU_S"),
    ],
)
def test_time_limits_end_a_parse(tmp_path: Path, text: str, limits: dict[str, float], words: str) -> None:
    started = time.monotonic()
    with pytest.raises(ParseTimeout, match=words):
        order(tmp_path, text, LIMITS.model_copy(update=limits))
    assert time.monotonic() - started < 60
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.usefixtures("hostile")
def test_output_is_limited(tmp_path: Path) -> None:
    limits = LIMITS.model_copy(update={"max_output_bytes": 2**20})
    with pytest.raises(FileTooLarge, match="PARSE_MAX_OUTPUT_BYTES"):
        order(tmp_path, f"write_much {2**21}", limits)


@pytest.mark.usefixtures("hostile")
def test_nothing_is_written_outside(tmp_path: Path) -> None:
    target = tmp_path / "outside"
    with pytest.raises(MaliciousFile, match="outside"):
        order(tmp_path, f"write_outside {target}")
    if supported_version():
        assert order(tmp_path, f"native_write {target}") == "refused"
    assert not target.exists()


@needs_landlock
@pytest.mark.usefixtures("hostile")
def test_other_files_cannot_be_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    with pytest.raises(CorruptFile, match="PermissionError"):
        order(tmp_path, f"read_other {secret}")
    with pytest.raises(CorruptFile, match="PermissionError"):
        order(tmp_path, f"read_other /proc/{os.getpid()}/environ")


@needs_landlock
@pytest.mark.usefixtures("hostile")
def test_native_code_reaches_no_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert order(tmp_path, f"native_connect {server.getsockname()[1]}") == "refused"


@pytest.mark.usefixtures("hostile")
def test_the_environment_holds_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    sandbox._POOL.close()
    assert "sk-secret" not in order(tmp_path, "environment")


@pytest.mark.usefixtures("hostile")
def test_what_a_parser_leaves_behind_is_killed(tmp_path: Path) -> None:
    assert order(tmp_path, "leave_behind") == "done"
    daemon = int((tmp_path / "out/children/daemon.pid").read_text())
    assert not Path(f"/proc/{daemon}").exists()


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("way", ["link_child", "link_elements", "name_elsewhere", "fifo_child"])
def test_what_is_left_is_checked_before_anyone_reads_it(tmp_path: Path, way: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    with pytest.raises((ParserCrashed, CorruptFile, MaliciousFile)):
        order(tmp_path, f"{way} {secret}")


@pytest.mark.usefixtures("hostile")
def test_a_leftover_of_an_earlier_try_is_cleared(tmp_path: Path) -> None:
    (tmp_path / "out/.work").mkdir(parents=True)
    (tmp_path / "out/.work/stderr").symlink_to(tmp_path / "victim")
    (tmp_path / "out/children").mkdir()
    (tmp_path / "out/children/00000.bin").write_text("old")
    order(tmp_path, "environment")
    assert not (tmp_path / "victim").exists()
    assert list((tmp_path / "out/children").iterdir()) == []


def test_a_file_without_text_is_told_apart(tmp_path: Path) -> None:
    source = tmp_path / "blob"
    source.write_text(" \n\n ")
    with pytest.raises(NoTextFound):
        parse_file(source, "blank.txt", LIMITS, tmp_path / "out")
    assert not (tmp_path / "out/elements.jsonl").exists()


def test_a_dead_server_is_replaced(tmp_path: Path) -> None:
    source = tmp_path / "blob"
    source.write_text("words")
    parse_file(source, "a.txt", LIMITS, tmp_path / "out")
    for server in sandbox._POOL._idle:
        server.process.kill()
        server.process.wait()
    assert parse_file(source, "a.txt", LIMITS, tmp_path / "out").element_count == 1


def test_threads_parse_side_by_side(tmp_path: Path) -> None:
    counts: list[int] = []

    def work(number: int) -> None:
        source = tmp_path / f"blob{number}"
        source.write_text("one\n\n" * (number + 1))
        counts.append(parse_file(source, "a.txt", LIMITS, tmp_path / f"out{number}").element_count)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(counts) == [1, 2, 3, 4]
    assert len(sandbox._POOL._idle) <= 2


def test_a_forked_process_does_not_share_servers(tmp_path: Path) -> None:
    source = tmp_path / "blob"
    source.write_text("words")
    parse_file(source, "a.txt", LIMITS, tmp_path / "out")
    before = sandbox._POOL._idle[0].process.pid
    pid = os.fork()
    if pid == 0:
        fine = not sandbox._POOL._idle
        outcome = parse_file(source, "a.txt", LIMITS, tmp_path / "out2")
        sandbox._POOL.close()
        os._exit(0 if fine and outcome.element_count == 1 else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert Path(f"/proc/{before}").exists()
    assert parse_file(source, "a.txt", LIMITS, tmp_path / "out").element_count == 1
