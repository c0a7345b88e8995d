"""How fast a large workbook is read, and in how much memory.

    python -m tests.bench.bench_office [--rows 200000]

Writes a workbook of ten columns (texts, dates, amounts, shares, flags) and reads it in this process.
"""

from __future__ import annotations

import argparse
import datetime
import random
import resource
import tempfile
import time
from pathlib import Path

import openpyxl
from openpyxl.cell import WriteOnlyCell

from ingest.context import ParseContext
from ingest.limits import ParseLimits
from ingest.parsers.sheet import parse

HEADER = ["Id", "Name", "City", "Date", "Amount", "Share", "Flag", "Note", "Quantity", "Code"]


def write(path: Path, rows: int) -> None:
    """Write the workbook; the same for the same number of rows."""
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
            number, chance.choice(["Ann Smith", "Bo Larsen"]), chance.choice(["Oslo", "Bergen", "Kyiv"]),
            cell(day, "yyyy-mm-dd"), cell(round(chance.random() * 10_000, 2), "#,##0.00"),
            cell(round(chance.random(), 4), "0.0%"), number % 3 == 0, f"note number {number}",
            chance.randrange(100), f"C-{number:06d}",
        ])  # fmt: skip
    book.save(path)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=200_000)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.xlsx"
        write(path, chosen.rows)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started, waited = time.process_time(), time.monotonic()
        context = ParseContext(path, path.name, "", ParseLimits(), Path(folder))
        pieces = sum(1 for _ in parse(context))
        used, waited = time.process_time() - started, time.monotonic() - waited
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{pieces} pieces of {chosen.rows} rows: {used:.1f} s of processor, {waited:.1f} s of waiting")
    print(f"peak memory {peak // 1024} MiB, {max(peak - before, 0) // 1024} MiB above what writing took")


if __name__ == "__main__":
    main()
