"""A child process for each file: limited, watched and answered for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from pydantic import BaseModel

from ingest.artifacts import read_json
from ingest.errors import IngestError, ParserCrashed, ParseTimeout
from ingest.limits import ParseLimits
from ingest.outcome import ParseOutcome

REPORT = ".report.json"
_ROOT = Path(__file__).parent.parent


class Job(BaseModel):
    """What the child is asked to do."""

    path: Path
    name: str
    limits: ParseLimits
    out_dir: Path


class Report(BaseModel):
    """What the child answers: an outcome, or the code and words of an error."""

    outcome: ParseOutcome | None = None
    code: str = ""
    detail: str = ""
    next_step: str = ""


def error_of(report: Report) -> IngestError:
    """Return the error a child reported, as the class that has its code."""
    classes = {kind.code: kind for kind in IngestError.__subclasses__()}
    return classes.get(report.code, ParserCrashed)(report.detail, next_step=report.next_step or None)


def run_limited(path: Path, name: str, limits: ParseLimits, out_dir: Path) -> ParseOutcome:
    """Read one file in a child process.

    Raises:
        IngestError: what the child reported, or that it died or took too long.
    """
    job = Job(path=path, name=name, limits=limits, out_dir=out_dir)
    report_path = out_dir / REPORT
    report_path.unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "ingest.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        cwd=_ROOT,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        start_new_session=True,
    )
    try:
        process.communicate(job.model_dump_json().encode(), timeout=limits.wall_s)
    except subprocess.TimeoutExpired:
        raise ParseTimeout(f"Reading took longer than {limits.wall_s:g} s (PARSE_WALL_S).") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if not report_path.exists():
        raise ParserCrashed
    report = read_json(report_path, Report)
    report_path.unlink()
    if report.outcome is None:
        raise error_of(report)
    return report.outcome
