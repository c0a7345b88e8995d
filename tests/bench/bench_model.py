"""What a real language model makes of the sample files: validity, grounding, tokens, seconds, and its words.

    LLM_BASE_URL=http://127.0.0.1:8123/v1 LLM_MODEL=qwen LLM_TIMEOUT_S=3000 LLM_CONCURRENCY=1 \
        python -m tests.bench.bench_model --out /tmp/model-report [FILE…]

The files go through the real pipeline (parse, extract, index) on a ledger and store of this run alone; when
none is named the samples of the project do. ``calls.jsonl`` below the folder holds every request and answer,
``facts.txt`` what came of each file, for a person to read. A second run pays for nothing again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from extract.chat.model import CallRecord, ChatModel, ChatReply, ChatRequest
from extract.llm import LlmExtractor
from extract.model import Extraction, Origin
from extract.segments import split_segments
from ingest.artifacts import artifact_dir, read_jsonl
from ingest.parse import parse_file
from tests.workers.parts import ANNA, drain, make_services
from workers.bookkeeping import bookkeeper
from workers.ledger.ledger import Ledger
from workers.ledger.listing import DocumentFilter
from workers.model import DocumentRecord, Upload
from workers.services import Services
from workers.settings import Settings
from workers.usage import Prices
from workers.writer import make_chat, make_extractor

SAMPLES = Path(__file__).parents[2] / "api" / "samples"


class Overheard:
    """Passes requests on and keeps what was asked and answered."""

    def __init__(self, chat: ChatModel, path: Path) -> None:
        self._chat = chat
        self._path = path

    @property
    def name(self) -> str:
        return self._chat.name

    def ask(self, request: ChatRequest) -> ChatReply:
        repair = len(request.messages) > 2
        began = time.monotonic()
        reply = self._chat.ask(request)
        seconds = round(time.monotonic() - began, 1)
        said = {
            "repair": repair, "asked": request.messages[-1].content, "answer": reply.text,
            "complete": reply.complete, "rung": reply.rung.name, "seconds": seconds,
            "usage": reply.usage.model_dump(),
        }  # fmt: skip
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(said, ensure_ascii=False) + "\n")
        print(f"  {seconds} s, {reply.usage.completion_tokens} tokens out", flush=True)
        return reply


def build(folder: Path, records: list[CallRecord]) -> Services:
    """Return the real parts, on a ledger and a store in memory; the model's answers are kept."""
    settings = Settings.from_env({**os.environ, "STRATA_HOME": str(folder), "EXTRACTOR": "llm"})
    ledger = Ledger(f"sqlite:///{folder / 'ledger.db'}")
    ledger.migrate()
    enter = bookkeeper(ledger.usages, Prices(settings.llm.price_in, settings.llm.price_out))

    def on_call(record: CallRecord) -> None:
        records.append(record)
        enter(record)

    chat = make_chat(settings, on_call=on_call)
    assert chat is not None
    overheard = Overheard(chat, folder / "calls.jsonl")
    extractor = make_extractor(settings, chat, on_call)
    assert isinstance(extractor, LlmExtractor)
    extractor._chat = overheard
    extractor._questioner._chat = overheard
    parts = make_services(ledger, folder, parse=parse_file, split=split_segments, extractor=extractor)
    return replace(parts, settings=settings)


def hand_in(services: Services, path: Path) -> None:
    with path.open("rb") as stream:
        began = services.ledger.database.now()
        blob = services.blobs.put(stream, 10**8)
    told = Upload(owner=ANNA, name=path.name, sha256=blob.sha256, size_bytes=blob.size_bytes, stored_at=began)
    services.ledger.documents.accept(told)


def extractions(services: Services, record: DocumentRecord) -> list[Extraction]:
    path = artifact_dir(services.artifacts, record.id) / "extractions.jsonl"
    return list(read_jsonl(path, Extraction)) if path.exists() else []


def describe(services: Services, records: list[DocumentRecord], folder: Path) -> tuple[int, int, int, int]:
    """Write what came of each file; return episodes, facts, grounded facts, facts made without the model."""
    episodes = facts = grounded = replaced = 0
    with (folder / "facts.txt").open("w", encoding="utf-8") as out:
        for record in records:
            print(f"\n## {record.name}: {record.state} {record.error or ''}", file=out)
            for one in extractions(services, record):
                episodes += 1
                print(f"# {one.episode.title}\n  {one.episode.summary}  {one.replaced or ''}", file=out)
                for fact in one.facts:
                    facts += 1
                    grounded += fact.grounded
                    replaced += fact.origin is Origin.EXTRACTIVE
                    mark = " " if fact.grounded else "!"
                    day = fact.occurred.start.date() if fact.occurred else ""
                    print(
                        f"{mark} {fact.text}\n      «{fact.quote}» {day}",
                        file=out,
                    )
    return episodes, facts, grounded, replaced


def report(services: Services, records: list[CallRecord], folder: Path) -> None:
    page = services.ledger.listing.page(ANNA.tenant, DocumentFilter(), 500)
    episodes, facts, grounded, replaced = describe(services, list(page.documents), folder)
    print(f"documents: {len(page.documents)}, of them " + ", ".join(
        f"{state} {sum(one.state == state for one in page.documents)}"
        for state in sorted({one.state for one in page.documents})
    ))  # fmt: skip
    print(f"episodes {episodes}; facts {facts}, of them made without the model {replaced}")
    if facts:
        print(f"grounded facts: {grounded} of {facts} ({grounded / facts:.0%})")
    told = [json.loads(line) for line in (folder / "calls.jsonl").read_text("utf-8").splitlines()]
    repairs = sum(one["repair"] for one in told)
    firsts, seconds = len(told) - repairs, [one["seconds"] for one in told]
    print(f"first answers used as they were: {firsts - repairs} of {firsts}; repairs asked for {repairs}")
    print(f"tokens in {sum(one['usage']['prompt_tokens'] for one in told)}, "
          f"out {sum(one['usage']['completion_tokens'] for one in told)}")  # fmt: skip
    print(f"seconds per call: median {statistics.median(seconds):.1f}, most {max(seconds):.1f}; "
          f"per episode {sum(seconds) / max(1, episodes):.1f}")  # fmt: skip
    print("calls of this run by outcome:", dict(Counter(one.outcome for one in records)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder of this run")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "ledger.db").unlink(missing_ok=True)
    records: list[CallRecord] = []
    services = build(given.out, records)
    for path in given.files or sorted(SAMPLES.iterdir()):
        print(path.name, flush=True)
        hand_in(services, path)
        drain(services)
    report(services, records, given.out)


if __name__ == "__main__":
    main()
