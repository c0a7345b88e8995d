"""`strata ingest --estimate`: what files would cost, without a server and without asking a model."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from api.cli.client import LocalFile
from api.cli.console import err, out
from api.cli.parse import Parsed, parse_deep
from ingest.errors import IngestError
from ingest.ids import document_id
from ingest.model import Document, Owner, Source
from workers.estimate import Expected, expect
from workers.settings import Settings

# Whose the files will be makes no difference to what they cost.
_NOBODY = Owner(tenant="estimate", user_id="estimate")
_NO_BYTES = "0" * 64


def estimate(files: Sequence[LocalFile], settings: Settings) -> dict[str, Any]:
    """Return what is expected of files, those inside them included, and which cannot be read."""
    total, rows, refused = Expected(), [], []
    with Progress(
        TextColumn("reading"), BarColumn(), MofNCompleteColumn(), console=err, transient=True
    ) as bar:
        for file in bar.track(files):
            try:
                found = _of_file(file, settings)
            except IngestError as error:
                refused.append({"filename": file.name, "code": error.code, "detail": error.detail})
                continue
            total = total.plus(found)
            rows.append({"filename": file.name, **found.model_dump()})
    return {
        "files": len(rows),
        **total.model_dump(),
        "price": round(total.price(settings), 6),
        "minutes_at_limits": total.minutes(settings),
        "model": settings.llm.model if settings.model_writes else None,
        "unreadable": refused,
        "documents": rows,
    }


def show_estimate(found: dict[str, Any]) -> None:
    """Print an estimate for people."""
    out.print(f"{found['files']} files, {found['episodes']} episodes")
    out.print(
        f"{found['calls']} model calls, about {found['prompt_tokens']:,} tokens in and "
        f"{found['completion_tokens']:,} out; {found['embedded_tokens']:,} to encode"
    )
    out.print(f"price about {found['price']:g} at LLM_PRICE_IN, LLM_PRICE_OUT and EMBED_PRICE_IN")
    minutes = found["minutes_at_limits"]
    told = "no limit is set" if minutes is None else f"at least {minutes:.1f} minutes"
    out.print(f"at LLM_REQUESTS_PER_MINUTE and LLM_TOKENS_PER_MINUTE: {told}")
    if found["model"] is None:
        out.print("With these settings no model is asked, and nothing is paid (EXTRACTOR, LLM_BASE_URL).")
    if found["unreadable"]:
        table = Table("cannot be read", "code", "why", box=None, header_style="bold")
        for row in found["unreadable"]:
            table.add_row(row["filename"], row["code"], row["detail"])
        out.print(table)


def _of_file(file: LocalFile, settings: Settings) -> Expected:
    with tempfile.TemporaryDirectory(prefix="strata-estimate-") as folder:
        return _of_parsed(parse_deep(file.path, file.name, settings.parse, Path(folder) / "0"), settings)


def _of_parsed(parsed: Parsed, settings: Settings) -> Expected:
    outcome = parsed.outcome
    document = Document(
        id=document_id(_NOBODY, _NO_BYTES),
        owner=_NOBODY,
        source=Source(name=parsed.name, media_type=outcome.media_type, sha256=_NO_BYTES, size_bytes=0),
        received_at=datetime.now(UTC),
        metadata=outcome.metadata,
        element_count=outcome.element_count,
        children=outcome.children,
    )
    found = expect(document, parsed.elements(), settings.llm.max_output_tokens)
    for child in parsed.children:
        found = found.plus(_of_parsed(child, settings))
    return found
