"""The process of one library in ``compare_parsers``: paths in, texts and seconds out, a line of JSON each."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

DEPTH = 4


def strata() -> Callable[[str], str]:
    from ingest.artifacts import read_jsonl
    from ingest.detect import detect
    from ingest.errors import IngestError, NoTextFound
    from ingest.limits import ParseLimits
    from ingest.model import Element
    from ingest.reading import check_size, read_as
    from ingest.render import as_text

    limits = ParseLimits(ocr_s=0)

    def text_of(path: Path, name: str, out: Path, depth: int) -> Iterator[str]:
        out.mkdir()
        check_size(path, limits)
        outcome = read_as(detect(path, name, limits), path, name, limits, out)
        if outcome.element_count:
            yield from as_text(read_jsonl(out / "elements.jsonl", Element))
        for child in outcome.children if depth else ():
            yield f"\n{child.name}\n"
            try:
                stored = out / "children" / child.stored_as
                yield from text_of(stored, child.name, out / f"in-{child.stored_as}", depth - 1)
            except IngestError as error:
                yield f"[{error.code}]\n"

    def read(path: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            try:
                return "".join(text_of(Path(path), Path(path).name, Path(folder) / "out", DEPTH))
            except NoTextFound:
                return ""

    return read


def markitdown() -> Callable[[str], str]:
    from markitdown import MarkItDown

    reader = MarkItDown(enable_plugins=False)
    return lambda path: str(reader.convert(path).text_content)


def unstructured() -> Callable[[str], str]:
    import spacy
    from unstructured.nlp import tokenize
    from unstructured.partition.auto import partition

    # Its language model would be downloaded; a blank one splits sentences and costs less.
    plain = spacy.blank("en")
    plain.add_pipe("sentencizer")
    vars(tokenize)["_get_nlp"] = lambda: plain

    return lambda path: "\n\n".join(map(str, partition(filename=path, strategy="fast")))


def kreuzberg() -> Callable[[str], str]:
    from kreuzberg import ExtractionConfig, extract_file_sync

    settings = ExtractionConfig(use_cache=False, disable_ocr=True)
    return lambda path: str(extract_file_sync(path, config=settings).content)


READERS = {function.__name__: function for function in (strata, markitdown, unstructured, kreuzberg)}


def used() -> float:
    """Return the processor seconds of this process, its threads and the processes it has waited for."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libraries print
    read = READERS[sys.argv[1]]()
    for line in sys.stdin:
        text, error = None, ""
        started, before = time.monotonic(), used()
        try:
            text = read(line.rstrip("\n"))
        except Exception as caught:  # noqa: BLE001  whatever a library raises is its answer
            error = f"{type(caught).__name__}: {caught!s:.300}"
        answer = {"used": used() - before, "waited": time.monotonic() - started, "text": text, "error": error}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
