"""Read the files of the corpus with Strata and with three other libraries, in one run, and compare.

    python -m tests.bench.compare_parsers FOLDER [--only pdf,docx] [--rounds 2] [--systems strata,markitdown]

Needs CORPUS_DIR. Each of the others is installed by this script into a virtual environment of its own below
FOLDER; none is a dependency of Strata. Compared are the files whose text needs no OCR, except pictures, where
reading is OCR and nothing else; OCR is off for all.

A system is one process that has read a file of each format before (warm). Told are processor seconds of that
process and what it started, the least of the rounds, from the path to the whole text, files inside included
where the system reads them; a file it does not end with counts until it is stopped, after 120 s. The order of
the systems changes from file to file, so that they share whatever else the machine does. Recall is told by
the corpus's own ``check.py``. Last comes what confinement costs Strata: the same files through ``parse_file``
(a child process each), in seconds of waiting beside those in one process.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("compare_worker.py")
PACKAGES = {
    "markitdown": ["markitdown[all]==0.1.9"],
    "unstructured": ["unstructured[csv,doc,docx,html,md,ppt,pptx,tsv,xlsx,pdf]==0.27.35"],
    "kreuzberg": ["kreuzberg==4.10.4"],
}
PICTURES = {"bmp", "jpeg", "jpg", "png", "tiff", "webp"}
FILE_S = 120


class Reading(NamedTuple):
    """What a system made of a file: processor and waiting seconds, and its text or its error."""

    used: float
    waited: float
    text: str | None
    error: str = ""


class System:
    """A worker process of one library, started again when it dies or hangs."""

    def __init__(self, name: str, python: Path, samples: list[Path]) -> None:
        self.name, self._python, self._samples = name, python, samples
        self._process: subprocess.Popen[str] | None = None

    def read(self, path: Path) -> Reading:
        if self._process is None or self._process.poll() is not None:
            self._start()
        started = time.monotonic()
        found = self._ask(path)
        lost = time.monotonic() - started
        return Reading(**found) if found else Reading(lost, lost, None, "no end in time, or a crash")

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None

    def _start(self) -> None:
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1",
            "UNSTRUCTURED_DISABLE_NOTICE": "1", "SCARF_NO_ANALYTICS": "true",
        }  # fmt: skip
        self._process = subprocess.Popen(
            [str(self._python), str(WORKER), self.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=environment,
        )  # fmt: skip
        for sample in self._samples:
            self._ask(sample)

    def _ask(self, path: Path) -> dict[str, Any] | None:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None or process.poll() is not None:
            return None
        timer = subprocess.Popen(["sleep", str(FILE_S)])
        try:
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
            line = _line_before(process, timer)
        except BrokenPipeError:
            line = ""
        finally:
            timer.kill()
            timer.wait()
        if not line:
            self.close()
            return None
        found: dict[str, Any] = json.loads(line)
        return found


def _line_before(process: subprocess.Popen[str], timer: subprocess.Popen[bytes]) -> str:
    import select

    assert process.stdout is not None
    while timer.poll() is None:
        if select.select([process.stdout], [], [], 0.5)[0]:
            return process.stdout.readline()
    return ""


def install(folder: Path, name: str) -> Path | str:
    """Return the interpreter of a library's own environment, made when missing, or why there is none."""
    home = folder / name
    python = home / "bin" / "python"
    if (home / ".complete").exists():
        return python
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    for command in ([uv, "venv", "-q", "--allow-existing", "--python", sys.executable, str(home)],
                    [uv, "pip", "install", "-q", "--python", str(python), *PACKAGES[name]]):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    (home / ".complete").touch()
    return python


def chosen_entries(corpus: Path, only: set[str]) -> list[dict[str, Any]]:
    """Return the files of the manifest that hold text and need no OCR."""
    lines = (corpus / "manifest.jsonl").read_text("utf-8").splitlines()
    return [
        entry
        for entry in map(json.loads, lines)
        if entry["expect"] == "ok" and not entry["needs_ocr"]
        and entry["format"] not in PICTURES and (not only or entry["format"] in only)
    ]  # fmt: skip


def read_all(
    systems: list[System], corpus: Path, entries: list[dict[str, Any]], rounds: int
) -> dict[str, dict[str, Reading]]:
    """Read every file with every system and keep the quickest of the rounds."""
    found: dict[str, dict[str, Reading]] = {system.name: {} for system in systems}
    for number, entry in enumerate(entries):
        turn = number % len(systems)
        for system in systems[turn:] + systems[:turn]:
            readings = []
            for _ in range(rounds):
                readings.append(system.read(corpus / entry["file"]))
                if readings[-1].used > 5:
                    break
            found[system.name][entry["file"]] = min(readings, key=lambda reading: reading.used)
        print(f"\r{number + 1}/{len(entries)}", end="", file=sys.stderr, flush=True)
    return found


def judge(
    corpus: Path, out: Path, entries: list[dict[str, Any]], readings: dict[str, Reading]
) -> dict[str, Any]:
    """Write the texts of a system and return what ``check.py`` says of each file."""
    out.mkdir(parents=True)
    manifest = out / "manifest.jsonl"
    manifest.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    for file, reading in readings.items():
        target = out / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if reading.text is None:
            Path(f"{target}.err").write_text(f"error\t{reading.error}\n", encoding="utf-8")
        else:
            Path(f"{target}.txt").write_text(reading.text, encoding="utf-8", errors="replace")
    report = out / "report.json"
    command = [
        sys.executable,
        str(corpus / "check.py"),
        str(out),
        "--manifest",
        str(manifest),
        "--json",
        str(report),
    ]
    subprocess.run(command, check=True, capture_output=True)
    said: dict[str, Any] = json.loads(report.read_text("utf-8"))
    return said


def print_table(
    entries: list[dict[str, Any]], found: dict[str, dict[str, Reading]], said: dict[str, dict[str, Any]]
) -> None:
    """Print seconds and recall by format, as rows of a Markdown table."""
    formats: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        formats[entry["format"]].append(entry)
    names = list(found)
    print("| format | files | " + " | ".join(f"{name} s | recall" for name in names) + " |")
    print("|---" * (2 + 2 * len(names)) + "|")
    for kind, group in [*sorted(formats.items()), ("total", entries)]:
        cells = []
        for name in names:
            used = sum(found[name][entry["file"]].used for entry in group)
            wanted = sum(len(entry["must_contain"]) for entry in group)
            missed = sum(len(said[name][entry["file"]]["missing"]) for entry in group)
            failed = sum(found[name][entry["file"]].text is None for entry in group)
            recall = f"{100 * (wanted - missed) / wanted:.1f} %" if wanted else "-"
            cells.append(f"{used:.2f} | {recall}" + (f" ({failed} unread)" if failed else ""))
        print(f"| {kind} | {len(group)} | " + " | ".join(cells) + " |")
    for name in names:
        lost = [e["file"] for e in entries if found[name][e["file"]].error.startswith("no end")]
        if lost:
            print(f"\n{name} came to no end with {', '.join(lost)}.")
    if "unstructured" in found and "strata" in found:
        both = [e["file"] for e in entries if found["unstructured"][e["file"]].text is not None]
        ours, theirs = (sum(found[name][file].used for file in both) for name in ("strata", "unstructured"))
        print(f"\nOn the {len(both)} files unstructured reads: {theirs / ours:.1f} times its speed.")


def print_overhead(corpus: Path, entries: list[dict[str, Any]], readings: dict[str, Reading]) -> None:
    """Print what the child process of every file adds to reading it in this one."""
    from ingest.errors import IngestError
    from ingest.limits import ParseLimits
    from ingest.parse import parse_file

    limits = ParseLimits(ocr_s=0)
    added = []
    with tempfile.TemporaryDirectory() as name:
        for _ in range(2):
            added.clear()
            for entry in entries:
                path = corpus / entry["file"]
                started = time.monotonic()
                try:
                    parse_file(path, path.name, limits, Path(name))
                except IngestError:
                    continue
                added.append((time.monotonic() - started) - readings[entry["file"]].waited)
    added.sort()
    if added:
        print(
            f"\nThrough a child process each: {1000 * added[len(added) // 2]:.0f} ms more a file (median of"
            f" {len(added)}; files inside not read), {1000 * added[len(added) * 9 // 10]:.0f} ms at the 90th"
            " percentile, against waiting in one process."
        )


def main() -> None:
    """Run the command line."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder", type=Path, help="where the environments of the others are made")
    options.add_argument("--only", default="", help="formats of the manifest, by comma")
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--systems", default="strata,markitdown,unstructured,kreuzberg")
    chosen = options.parse_args()
    if "CORPUS_DIR" not in os.environ:
        sys.exit("CORPUS_DIR is not set: it names the folder with manifest.jsonl and files/.")
    corpus = Path(os.environ["CORPUS_DIR"])
    entries = chosen_entries(corpus, set(filter(None, chosen.only.split(","))))
    first: dict[str, Path] = {}
    for entry in entries:
        path = corpus / entry["file"]
        if entry["format"] not in first or path.stat().st_size < first[entry["format"]].stat().st_size:
            first[entry["format"]] = path
    systems = []
    for name in chosen.systems.split(","):
        python = Path(sys.executable) if name == "strata" else install(chosen.folder, name)
        if isinstance(python, str):
            print(f"{name} could not be installed: {python}")
            continue
        systems.append(System(name, python, list(first.values())))
    found = read_all(systems, corpus, entries, chosen.rounds)
    for system in systems:
        system.close()
    with tempfile.TemporaryDirectory() as folder:
        said = {name: judge(corpus, Path(folder) / name, entries, found[name]) for name in found}
    print_table(entries, found, said)
    if "strata" in found:
        print_overhead(corpus, entries, found["strata"])


if __name__ == "__main__":
    main()
