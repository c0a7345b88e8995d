"""Read every file of the corpus through ``parse_file`` and judge what comes out.

    python tests/bench/corpus_check.py [--only pdf,docx] [--out FOLDER] [--jobs 2] [--verbose]

Needs CORPUS_DIR: a folder with ``manifest.jsonl``, ``check.py`` and ``files/``. Writes one text, or one error
file, for each file of the manifest and runs the corpus's own ``check.py`` over them. A file's text is its own
and that of the files inside it, down to ``--depth``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from ingest.artifacts import read_jsonl
from ingest.errors import IngestError, NoTextFound
from ingest.limits import ParseLimits
from ingest.model import Element
from ingest.parse import parse_file
from ingest.render import as_text


def text_of(path: Path, name: str, limits: ParseLimits, work: Path, depth: int) -> Iterator[str]:
    """Yield the text of a file and of the files inside it."""
    outcome = parse_file(path, name, limits, work)
    if outcome.element_count:
        yield from as_text(read_jsonl(work / "elements.jsonl", Element))
    for child in outcome.children if depth else ():
        yield f"\n{child.name}\n"
        try:
            stored = work / "children" / child.stored_as
            yield from text_of(stored, child.name, limits, work / f"in-{child.stored_as}", depth - 1)
        except IngestError as error:
            yield f"[{error.code}]\n"


def read_one(corpus: Path, entry: dict, limits: ParseLimits, out: Path, depth: int) -> tuple[str, float, str]:
    """Read one file of the manifest and keep its text or its error."""
    name = entry["file"]
    target = out / name
    target.parent.mkdir(parents=True, exist_ok=True)
    work = out / "work" / name.replace("/", "__")
    started = time.monotonic()
    try:
        text = "".join(text_of(corpus / name, Path(name).name, limits, work, depth))
        Path(f"{target}.txt").write_text(text, encoding="utf-8")
        said = ""
    except NoTextFound:
        # Read to its end, and there is nothing in it: the right answer for a picture of a landscape.
        Path(f"{target}.txt").touch()
        said = "no text"
    except IngestError as error:
        Path(f"{target}.err").write_text(f"{error.code}\t{error.detail}\n", encoding="utf-8")
        said = f"{error.code}: {error.detail}"
    shutil.rmtree(work, ignore_errors=True)
    return name, time.monotonic() - started, said


def main() -> None:
    """Run the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="", help="formats of the manifest, by comma")
    options.add_argument("--out", type=Path, default=Path("build/corpus"))
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--depth", type=int, default=4)
    options.add_argument("--seconds", type=float, default=1500)
    options.add_argument("--wall", type=float, default=180, help="seconds a file may take")
    options.add_argument("--verbose", action="store_true")
    chosen = options.parse_args()
    if "CORPUS_DIR" not in os.environ:
        sys.exit("CORPUS_DIR is not set: it names the folder with manifest.jsonl and files/.")
    corpus = Path(os.environ["CORPUS_DIR"])
    entries = [json.loads(line) for line in (corpus / "manifest.jsonl").read_text("utf-8").splitlines()]
    only = set(filter(None, chosen.only.split(",")))
    entries = [entry for entry in entries if not only or entry["format"] in only]
    shutil.rmtree(chosen.out, ignore_errors=True)
    chosen.out.mkdir(parents=True)
    manifest = chosen.out / "manifest.jsonl"
    manifest.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    limits = ParseLimits(wall_s=chosen.wall)
    deadline = time.monotonic() + chosen.seconds

    def work(entry: dict) -> tuple[str, float, str]:
        if time.monotonic() > deadline:
            return entry["file"], 0.0, "not run: out of time"
        return read_one(corpus, entry, limits, chosen.out, chosen.depth)

    started = time.monotonic()
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for name, seconds, said in pool.map(work, entries):
            if chosen.verbose and (said or seconds > 5):
                print(f"{seconds:6.1f} s  {name}  {said}")
    print(f"{len(entries)} files in {time.monotonic() - started:.0f} s")
    check = [sys.executable, str(corpus / "check.py"), str(chosen.out), "--manifest", str(manifest)]
    subprocess.run([*check, *(["--verbose"] if chosen.verbose else [])], check=True)


if __name__ == "__main__":
    main()
