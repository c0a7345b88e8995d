"""The door to all parsers: a path in, elements on disk and an outcome back, whatever the file does."""

from __future__ import annotations

from pathlib import Path

from ingest.formats import PDF
from ingest.limits import ParseLimits
from ingest.outcome import ParseOutcome
from ingest.reading import parse_in_process
from ingest.sandbox import run_limited
from ingest.signatures import binary_type

__all__ = ["ParseOutcome", "parse_file", "parse_in_process"]


def parse_file(path: Path, name: str, limits: ParseLimits, out_dir: Path) -> ParseOutcome:
    """Read a file in a child process of limited memory, time and reach.

    Writes ``out_dir/elements.jsonl`` (one ``Element`` a line) and ``out_dir/children/NNNNN.bin``.

    Args:
        path: the bytes; never written to.
        name: the sender's file name, used to tell types apart and for titles, never as a path.
        limits: what the child may use.
        out_dir: made when missing; the only place written to.

    Raises:
        IngestError: one subclass for each way a file can be unreadable.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    return run_limited(path.resolve(), name, _time_for(path, limits), out_dir.resolve())


def _time_for(path: Path, limits: ParseLimits) -> ParseLimits:
    """Add the processor time a file of this size may take, and that for letters if it can hold pixels."""
    with path.open("rb") as stream:
        media_type = binary_type(stream.read(1024)) or ""
        size = stream.seek(0, 2)
    wall_s, cpu_s = limits.wall_s, limits.cpu_s + int(limits.cpu_s_per_mb * size / 2**20)
    if media_type == PDF or media_type.startswith("image/"):
        wall_s, cpu_s = wall_s + limits.ocr_s, cpu_s + int(limits.ocr_s)
    return limits.model_copy(update={"wall_s": wall_s, "cpu_s": cpu_s})
