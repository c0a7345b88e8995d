"""How fast large tables are read, and in how much memory: through the child process, as in service.

    python -m tests.bench.bench_large [--csv-mb 300] [--rows 200000] [--only csv,narrow,xlsx] [--extract]

Writes a CSV file of ten columns, one of many short cells ("narrow"), and a workbook of ten columns (texts,
dates, amounts, shares, flags), reads each by ``parse_file`` with the default limits, and prints the seconds,
the processor time, and the most memory the reading process held up to 10, 50 and 100 % of the time. With
``--extract`` the elements then go through segmentation and the extractor, as the next stage does it.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import random
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import openpyxl
import psutil
from openpyxl.cell import WriteOnlyCell

from extract.extractive import ExtractiveExtractor
from extract.segments import split_segments
from ingest.artifacts import read_jsonl
from ingest.limits import ParseLimits
from ingest.model import Document, Element, Owner, Source
from ingest.parse import parse_file

HEADER = ["Id", "Name", "City", "Date", "Amount", "Share", "Flag", "Note", "Quantity", "Code"]
NAMES = ["Ann Smith", "Bo Larsen", "Jörg Weiß", "陈伟"]
CITIES = ["Oslo", "Bergen", "Kyiv, UA", 'the "old" town']
_EVERY_S = 0.05


class Memory:
    """Samples the resident memory and the processor time of processes while a block runs."""

    def __init__(self, watched: Callable[[], list[psutil.Process]]) -> None:
        self.samples: list[tuple[float, float]] = []
        self.used = 0.0
        self._watched = watched
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Memory:
        self._started = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self.seconds = time.monotonic() - self._started

    def _run(self) -> None:
        while not self._done.wait(_EVERY_S):
            held = 0
            for process in self._watched():
                try:
                    held = max(held, process.memory_info().rss)
                    self.used = sum(process.cpu_times()[:2])
                except psutil.Error:
                    continue
            if held:
                self.samples.append((time.monotonic() - self._started, held / 2**20))

    def peaks(self) -> str:
        """Return the most memory held up to 10, 50 and 100 % of the time, in MiB."""
        shown = [
            max((held for at, held in self.samples if at <= self.seconds * share), default=0.0)
            for share in (0.1, 0.5, 1.0)
        ]
        return " / ".join(f"{held:.0f}" for held in shown)


def readers() -> list[psutil.Process]:
    """Return the processes that read files: the children of the fork servers."""
    try:
        servers = psutil.Process().children()
        return [child for server in servers for child in server.children()]
    except psutil.Error:
        return []


def write_csv(path: Path, size: int) -> int:
    """Write rows of ten columns up to a size in bytes; the same for the same size. Returns how many."""
    chance = random.Random(1)
    rows = 0
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER)
        while path.stat().st_size < size:
            for number in range(rows, rows + 5_000):
                note = f'note {number}, "checked"' if number % 50 == 0 else f"note number {number}"
                writer.writerow([
                    number, chance.choice(NAMES), chance.choice(CITIES), f"2024-{number % 12 + 1:02d}-11",
                    round(chance.random() * 10_000, 2), round(chance.random(), 4), number % 3 == 0, note,
                    chance.randrange(100), f"C-{number:06d}",
                ])  # fmt: skip
            rows += 5_000
            stream.flush()
    return rows + 1


def write_narrow(path: Path, size: int) -> int:
    """Write rows of twenty small numbers up to a size in bytes. Returns how many."""
    chance = random.Random(1)
    rows = 0
    with path.open("w", encoding="ascii") as stream:
        stream.write(",".join(f"sensor_{number}" for number in range(20)) + "\n")
        while stream.tell() < size:
            stream.writelines(
                ",".join(str(chance.randrange(1000)) for _ in range(20)) + "\n" for _ in range(1000)
            )
            rows += 1000
    return rows + 1


def write_xlsx(path: Path, rows: int) -> int:
    """Write a workbook; the same for the same number of rows."""
    chance = random.Random(1)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Data")
    sheet.append(HEADER)

    def cell(value: object, code: str) -> WriteOnlyCell:
        made = WriteOnlyCell(sheet, value)
        made.number_format = code
        return made

    for number in range(rows):
        day = datetime.date(2020, 1, 1) + datetime.timedelta(days=number % 2000)
        sheet.append([
            number, chance.choice(NAMES), chance.choice(CITIES), cell(day, "yyyy-mm-dd"),
            cell(round(chance.random() * 10_000, 2), "#,##0.00"), cell(round(chance.random(), 4), "0.0%"),
            number % 3 == 0, f"note number {number}", chance.randrange(100), f"C-{number:06d}",
        ])  # fmt: skip
    book.save(path)
    return rows + 1


def read(path: Path, out: Path, rows: int) -> int:
    """Read a file by the child process and print what it took; returns the number of elements."""
    with Memory(readers) as memory:
        outcome = parse_file(path, path.name, ParseLimits(), out)
    size, written = path.stat().st_size / 2**20, (out / "elements.jsonl").stat().st_size / 2**20
    print(
        f"{path.name}: {size:.0f} MiB, {rows} rows, {outcome.element_count} elements, {memory.seconds:.1f} s"
        f" ({memory.used:.1f} of the processor: {size / memory.used:.1f} MiB/s,"
        f" {rows / memory.used:.0f} rows/s);"
        f" most memory at 10 / 50 / 100 %: {memory.peaks()} MiB; {written:.0f} MiB of elements",
        flush=True,
    )
    return outcome.element_count


def extract(path: Path, out: Path, count: int) -> None:
    """Make episodes and facts of the elements and print what it took."""
    document = Document(
        id="bench-document", owner=Owner(user_id="bench"), element_count=count,
        source=Source(name=path.name, media_type="text/csv", sha256="0" * 64, size_bytes=path.stat().st_size),
        received_at=datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
    )  # fmt: skip
    extractor = ExtractiveExtractor()
    episodes = facts = written = 0
    with Memory(lambda: [psutil.Process()]) as memory:
        before = time.process_time()
        for segment in split_segments(document, read_jsonl(out / "elements.jsonl", Element)):
            extraction = extractor.extract(document, segment)
            episodes += 1
            facts += len(extraction.facts)
            written += len(extraction.model_dump_json())
        used = time.process_time() - before
    print(
        f"{path.name}: {episodes} episodes, {facts} facts in {memory.seconds:.1f} s"
        f" ({used:.1f} of the processor: {count / used:.0f} rows/s);"
        f" most memory at 10 / 50 / 100 %: {memory.peaks()} MiB;"
        f" {written / 2**20:.0f} MiB of extractions",
        flush=True,
    )


def main() -> None:
    """Run the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--csv-mb", type=int, default=300)
    options.add_argument("--rows", type=int, default=200_000)
    options.add_argument("--only", default="csv,narrow,xlsx")
    options.add_argument("--extract", action="store_true")
    chosen = options.parse_args()
    kinds: dict[str, tuple[str, Callable[[Path, int], int], int]] = {
        "csv": ("table.csv", write_csv, chosen.csv_mb * 2**20),
        "narrow": ("narrow.csv", write_narrow, chosen.csv_mb * 2**20),
        "xlsx": ("large.xlsx", write_xlsx, chosen.rows),
    }
    for kind in chosen.only.split(","):
        name, write, amount = kinds[kind]
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / name, Path(folder) / "out"
            rows = write(path, amount)
            count = read(path, out, rows)
            if chosen.extract:
                extract(path, out, count)


if __name__ == "__main__":
    main()
