"""The life of the process that reads one file: confine itself, read, report, end."""

from __future__ import annotations

import errno
import faulthandler
import os
import sys
import tempfile
import traceback
from typing import NoReturn

from ingest.confine import (
    WORK,
    OutOfBounds,
    die_with_parent,
    give_up_files,
    limit_resources,
    watch_events,
)
from ingest.detect import detect
from ingest.errors import CorruptFile, FileTooLarge, IngestError, MaliciousFile, StrataError, TransientError
from ingest.jobs import Job, Report, send
from ingest.reading import check_size, read_as

_TRACE_CHARS = 4_000


def run(job: Job, pipe: int, parent: int) -> NoReturn:
    """Read the file of a job, send the report and end this process."""
    status = 1
    try:
        _settle(job, parent)
        send(pipe, answer(job))
        status = 0
    except BaseException:  # noqa: BLE001  nothing may climb back into the fork server
        traceback.print_exc()
    finally:
        os._exit(status)


def answer(job: Job) -> Report:
    """Read the file and turn every error into a report."""
    media_type = ""
    try:
        check_size(job.path, job.limits)
        found = detect(job.path, job.name, job.limits)
        media_type = found.media_type
        outcome = read_as(found, job.path, job.name, job.limits, job.out_dir)
        return Report(media_type=media_type, pixels=_read_pixels(), outcome=outcome)
    except Exception as error:  # noqa: BLE001  the border of the process: told to the parent, with its trace
        said = error_for(error, job)
        trace = "" if said is error else traceback.format_exc()[-_TRACE_CHARS:]
    return Report(
        media_type=media_type,
        pixels=_read_pixels(),
        code=said.code,
        detail=said.detail,
        next_step=said.next_step,
        trace=trace,
    )


def _read_pixels() -> bool:
    """Tell whether a picture was read here; asking must not load what reading takes."""
    ocr = sys.modules.get("ingest.ocr")
    return ocr is not None and bool(ocr.was_used())


def error_for(error: Exception, job: Job) -> StrataError:
    """Return what an error means for the person who handed in the file."""
    limits = job.limits
    if isinstance(error, IngestError):
        return error
    if isinstance(error, MemoryError):
        return FileTooLarge(f"Reading the file needs more than {limits.memory_mb} MiB (PARSE_MEMORY_MB).")
    if isinstance(error, RecursionError):
        return MaliciousFile("The file is nested more deeply than any reader can follow.")
    if isinstance(error, OutOfBounds):
        return MaliciousFile(f"The file made its reader reach outside: {error}.")
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return FileTooLarge(
            f"Reading the file yields more than {limits.max_output_bytes} bytes (PARSE_MAX_OUTPUT_BYTES)."
        )
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return TransientError("There is no space left to write what was read.")
    return CorruptFile(f"The file is damaged: its reader stopped at {type(error).__name__} ({error!s:.200}).")


def _settle(job: Job, parent: int) -> None:
    """Take a process group, folders, streams and limits of its own."""
    os.setpgid(0, 0)
    die_with_parent(parent)
    work = job.out_dir / WORK
    work.mkdir(parents=True, exist_ok=True)
    os.chdir(work)
    for stream, target, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, os.devnull, os.O_WRONLY),
        (2, str(work / "stderr"), os.O_WRONLY | os.O_CREAT | os.O_EXCL),
    ):
        handle = os.open(target, flags, 0o600)
        os.dup2(handle, stream)
        os.close(handle)
    faulthandler.enable(file=2)
    sys.dont_write_bytecode = True  # it may not write there
    tempfile.tempdir = str(work)
    for name in ("TMPDIR", "HOME"):
        os.putenv(name, str(work))  # for helpers such as LibreOffice
    give_up_files(job.path, job.out_dir)
    limit_resources(job.limits)
    watch_events(job.out_dir)
