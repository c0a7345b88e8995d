"""Index folders with memsearch and ask them questions. Run by the interpreter of memsearch's own environment.

Reads one JSON object from standard input: ``milvus`` (file), ``url`` (embeddings), ``top_k`` and ``memories``
{name: {folder, questions: [text]}}. Writes one JSON line per question to standard output.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from memsearch import MemSearch  # type: ignore[import-not-found]  # not installed where the project is


def opened(job: dict[str, Any], memory: dict[str, Any], number: int, model: str) -> MemSearch:
    """One collection for each memory: that is how memsearch keeps projects apart."""
    return MemSearch(
        [memory["folder"]], embedding_provider="openai", embedding_model=model, embedding_base_url=job["url"],
        embedding_api_key="none", milvus_uri=job["milvus"], collection=f"memory_{number}",
    )  # fmt: skip


async def main() -> None:
    job = json.load(sys.stdin)
    for number, (name, memory) in enumerate(job["memories"].items()):
        index = opened(job, memory, number, "passage")
        report = await index.index_with_report()
        if report.failed_files:
            raise SystemExit(f"memsearch failed on {report.failed_files[0]}")
        index.close()
        print(f"{name}: {report.indexed_chunks} chunks", file=sys.stderr, flush=True)
        search = opened(job, memory, number, "query")
        for question in memory["questions"]:
            started = time.perf_counter()
            found = await search.search(question, top_k=job["top_k"])
            took = time.perf_counter() - started
            hits = [[one["source"], one["start_line"], one["end_line"], one["content"]] for one in found]
            print(
                json.dumps({"memory": name, "question": question, "took_s": took, "hits": hits}), flush=True
            )
        search.close()


asyncio.run(main())
