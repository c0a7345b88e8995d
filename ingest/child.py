"""The child process that reads one file: ``python -m ingest.child`` with a job on standard input."""

from __future__ import annotations

import resource
import sys

from ingest.artifacts import write_json
from ingest.errors import CorruptFile, FileTooLarge, IngestError
from ingest.limits import ParseLimits
from ingest.reading import read_file
from ingest.sandbox import REPORT, Job, Report


def limit_self(limits: ParseLimits) -> None:
    """Give this process its last resources."""
    for what, most in (
        (resource.RLIMIT_AS, limits.memory_mb * 2**20),
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_FSIZE, limits.max_output_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


def answer(job: Job) -> Report:
    """Read the file and turn every error into a report."""
    try:
        return Report(outcome=read_file(job.path, job.name, job.limits, job.out_dir))
    except IngestError as error:
        refused: IngestError = error
    except MemoryError:
        refused = FileTooLarge(f"Reading needs more memory than {job.limits.memory_mb} MB (PARSE_MEMORY_MB).")
    except Exception as error:  # noqa: BLE001  the last border: any library error means a damaged file
        refused = CorruptFile(f"The file is damaged: its reader stopped with {type(error).__name__}: {error}")
    return Report(code=refused.code, detail=refused.detail, next_step=refused.next_step)


def main() -> None:
    """Serve one job."""
    job = Job.model_validate_json(sys.stdin.buffer.read())
    limit_self(job.limits)
    write_json(job.out_dir / REPORT, answer(job))


if __name__ == "__main__":
    main()
