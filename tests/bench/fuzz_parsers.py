"""Feed damaged files to ``parse_file`` and see that every one ends well.

    python tests/bench/fuzz_parsers.py [--seed 1] [--each 30] [--seconds 300] [--only docx,pdf] [--skip 1000]
    CORPUS_DIR=... python tests/bench/fuzz_parsers.py --corpus

Small files of many types are made here and then damaged: bytes flipped, ends cut off, stretches repeated,
members of archives swapped, emptied or filled with noise. A run ends well when each file gives an outcome or
a typed error within its limits, the fork server never dies, nothing is written outside the output folder and
no socket is opened: told by an audit hook in the child and, where ``strace`` is installed, by the kernel. The
same seed gives the same files.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from ingest import sandbox
from ingest.errors import IngestError, ParserCrashed
from ingest.jobs import Answer, Job
from ingest.limits import ParseLimits
from ingest.parse import parse_file
from tests.bench import fuzz_watch
from tests.bench.fuzz_seeds import SEEDS

LIMITS = ParseLimits(wall_s=20, cpu_s=15, ocr_s=20, memory_mb=1024, max_output_bytes=64 * 2**20)
SLACK_S = 20
PICTURES = {"png", "jpg", "webp", "tiff", "bmp"}


def damage(data: bytes, chance: random.Random) -> bytes:
    """Return a damaged copy."""
    hurt = bytearray(data)
    way = chance.randrange(6)
    if way == 0:
        return bytes(hurt[: chance.randrange(len(hurt))])
    if way == 1:
        place = chance.randrange(len(hurt))
        hurt[place:place] = hurt[place : place + 200] * chance.randrange(1, 50)
    elif way == 2:
        place = chance.randrange(len(hurt))
        hurt[place : place + 8] = chance.choice(
            (b"\0" * 8, b"\xff" * 8, b"99999999", b"<" * 8, b"\x7f\xff\xff\xff" * 2)
        )
    elif way == 3 and zipfile.is_zipfile(io.BytesIO(data)):
        return damage_members(data, chance)
    else:
        for _ in range(chance.randrange(1, 40)):
            hurt[chance.randrange(len(hurt))] ^= 1 << chance.randrange(8)
    return bytes(hurt)


def damage_members(data: bytes, chance: random.Random) -> bytes:
    """Return an intact archive whose members are swapped, emptied, damaged or repeated."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        members = {name: package.read(name) for name in package.namelist()}
    names = sorted(members)
    for _ in range(chance.randrange(1, 4)):
        one, other = chance.choice(names), chance.choice(names)
        way = chance.randrange(5)
        if way == 0:
            members[one], members[other] = members[other], members[one]
        elif way == 1:
            members[one] = b""
        elif way == 2:
            members.pop(one, None)
            names = sorted(members) or names
        elif members.get(one):
            members[one] = damage(members[one], chance) if way == 3 else _without_a_tag(members[one], chance)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for name, member in members.items():
            package.writestr(name, member)
    return stream.getvalue()


def _without_a_tag(member: bytes, chance: random.Random) -> bytes:
    start = member.find(b"<", chance.randrange(len(member)))
    end = member.find(b">", start)
    return member[:start] + member[end + 1 :] if 0 <= start < end else member


def cases(seed: int, each: int, only: set[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (extension, damaged bytes), the types in turn; of pictures a fifth, because OCR takes seconds."""
    chance = random.Random(seed)
    originals = {kind: make() for kind, make in SEEDS.items() if not only or kind in only}
    for turn in range(each):
        for kind, data in originals.items():
            if kind not in PICTURES or turn % 5 == 0:
                yield kind, damage(data, chance)


class Judge:
    """Reads files one by one through a watched fork server and says how each ended.

    Args:
        folder: an empty folder, of which children may write to ``out`` only.
    """

    def __init__(self, folder: Path) -> None:
        self._source, self._out = folder / "blob", folder / "out"
        self._log, self._inside = folder / "seen", self._out.resolve()
        self._inside.mkdir()
        self._reported = 0
        self.servers = 0
        self.peak_mb = 0.0
        self._answers: list[Answer] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Put the watched server in the place of the usual one."""
        ask, server_class = sandbox._ask, sandbox._Server

        def start() -> sandbox._Server:
            self.servers += 1
            return server_class()

        def asked(job: Job) -> Answer:
            self._answers.append(ask(job))
            return self._answers[-1]

        changed = {
            "command": lambda cold: fuzz_watch.command(self._log, self._inside, cold),
            "_Server": start,
            "_ask": asked,
        }
        usual = {name: getattr(sandbox, name) for name in changed}
        sandbox._POOL.close()
        try:
            for name, value in changed.items():
                setattr(sandbox, name, value)
            yield
        finally:
            sandbox._POOL.close()
            for name, value in usual.items():
                setattr(sandbox, name, value)

    def judge(self, kind: str, data: bytes) -> tuple[str, str]:
        """Read one damaged file; return how it ended and what was wrong with that, "" for nothing."""
        self._source.write_bytes(data)
        self._answers.clear()
        started, servers = time.monotonic(), self.servers
        complaint = ""
        try:
            parse_file(self._source, f"fuzz.{kind}", LIMITS, self._out)
            ending = "ok"
        except IngestError as error:
            ending = error.code
            if isinstance(error, ParserCrashed) or "reach outside" in error.detail:
                complaint = f"{error.code}: {error.detail}"
        seconds = time.monotonic() - started
        if seconds > LIMITS.wall_s + LIMITS.ocr_s + SLACK_S:
            complaint = f"took {seconds:.0f} s"
        self.peak_mb = max(self.peak_mb, *(answer.peak_mb for answer in self._answers), 0.0)
        if self.servers > servers + (servers == 0):
            complaint = "the fork server died"
        return ending, complaint or self._traces()

    def _traces(self) -> str:
        strangers = {entry.name for entry in self._source.parent.iterdir()} - {
            "blob", "out", "seen", "seen.kernel",
        }  # fmt: skip
        strangers |= {entry.name for entry in self._out.iterdir()} - {"elements.jsonl", "children"}
        if strangers:
            return f"wrote {strangers}"
        reached = self._log.read_text(errors="replace").splitlines() if self._log.exists() else []
        new, self._reported = reached[self._reported :], len(reached)
        return f"reached for {new[:3]}" if new else ""

    def seen(self) -> list[str]:
        """Return all that children reached for, as Python and the kernel saw it."""
        return list(fuzz_watch.seen(self._log, self._inside))


def corpus_cases(corpus: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the corpus as they are."""
    for line in (corpus / "manifest.jsonl").read_text("utf-8").splitlines():
        path = corpus / json.loads(line)["file"]
        yield path.name, path.read_bytes()


def main() -> int:
    """Run the command line; 1 when a file ended badly."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--each", type=int, default=30, help="damaged files of each type")
    options.add_argument("--skip", type=int, default=0, help="files to pass over, to go on where a run ended")
    options.add_argument("--seconds", type=float, default=300)
    options.add_argument("--only", default="")
    options.add_argument("--corpus", action="store_true", help="the files of CORPUS_DIR instead")
    options.add_argument("--keep", type=Path, help="folder for the files that ended badly")
    chosen = options.parse_args()
    files = cases(chosen.seed, chosen.each, set(filter(None, chosen.only.split(","))))
    if chosen.corpus:
        files = corpus_cases(Path(os.environ["CORPUS_DIR"]))
    endings: dict[str, Counter[str]] = {}
    bad = done = 0
    slowest = (0.0, "")
    deadline = time.monotonic() + chosen.seconds
    with tempfile.TemporaryDirectory() as name:
        judge = Judge(Path(name))
        with judge.watching():
            for number, (kind, data) in enumerate(files):
                if number < chosen.skip:
                    continue
                if time.monotonic() > deadline:
                    print(f"out of time: go on with --skip {number}")
                    break
                started = time.monotonic()
                ending, complaint = judge.judge(kind, data)
                slowest = max(slowest, (time.monotonic() - started, f"{kind} #{number}"))
                endings.setdefault(kind.rpartition(".")[2], Counter())[ending] += 1
                done += 1
                if complaint:
                    bad += 1
                    print(f"BAD {kind} #{number}: {complaint}")
                    if chosen.keep:
                        chosen.keep.mkdir(parents=True, exist_ok=True)
                        (chosen.keep / f"{number:06d}.{kind}").write_bytes(data)
        seen = judge.seen()
    for kind, counts in endings.items():
        print(f"{kind:6}", "  ".join(f"{ending} {count}" for ending, count in counts.most_common()))
    print(
        f"{done} files; {bad} bad; servers started: {judge.servers}; most memory {judge.peak_mb:.0f} MiB of"
        f" {LIMITS.memory_mb}; longest {slowest[0]:.1f} s ({slowest[1]}); reached outside: {len(seen)}"
    )
    print("\n".join(seen[:20]))
    return int(bad > 0 or bool(seen))


if __name__ == "__main__":
    sys.exit(main())
