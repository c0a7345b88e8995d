"""Draw facts from files and look each one up at its anchor with another reader."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from extract.extractive import ExtractiveExtractor
from extract.model import AtomicFact
from extract.segments import split_segments
from ingest.artifacts import read_jsonl
from ingest.limits import ParseLimits
from ingest.model import Document, Element, Owner, Source
from ingest.parse import parse_file
from tests.extract import openers

_SEED = 7
_LABEL = re.compile(r"\(?[\w.]{1,8}[.)]\s+|[•▪➢✓–-]\s+")


class Drawn(NamedTuple):
    """A fact, the file it came from and what another reader finds at its anchors."""

    format: str
    path: Path
    fact: AtomicFact
    opened: str

    @property
    def is_there(self) -> bool:
        """Whether the quote stands at the place its anchors name."""
        if self.format in openers.PIXELS:
            return is_read_in(self.fact.quote, self.opened)
        if self.format in openers.WHOLE:
            there = letters(self.opened)
            words = self.fact.quote.split()
            # A file in pieces may cut a word in two.
            return sum(letters(word) in there for word in words) >= 0.9 * len(words)
        return stands_in(self.fact.quote, self.opened)


def facts_of(path: Path, folder: Path) -> tuple[list[AtomicFact], str]:
    """Return the facts of a file, read as in production, and its encoding."""
    outcome = parse_file(path, path.name, ParseLimits(), folder)
    document = Document(
        id="3a9d0c9e-0000-5000-8000-000000000001",
        owner=Owner(user_id="u"),
        source=Source(name=path.name, media_type=outcome.media_type, sha256="0" * 64, size_bytes=1),
        received_at=datetime(2026, 1, 1, tzinfo=UTC),
        metadata=outcome.metadata,
    )
    elements = read_jsonl(folder / "elements.jsonl", Element) if outcome.element_count else []
    extractor = ExtractiveExtractor()
    segments = split_segments(document, elements)
    facts = [fact for segment in segments for fact in extractor.extract(document, segment).facts]
    return facts, outcome.metadata.encoding or "utf-8"


def draw(files: dict[str, list[Path]], count: int, folder: Path, per_format: int = 3) -> list[Drawn]:
    """Draw facts evenly over all formats, the same ones every time.

    Args:
        files: by format; of each at most ``per_format`` are read.
        count: how many facts in all.
        folder: to work in.
    """
    chance = random.Random(_SEED)
    pools = {}
    for name, paths in sorted(files.items()):
        chosen = chance.sample(sorted(paths), min(per_format, len(paths)))
        found = [
            (path, fact, encoding)
            for number, path in enumerate(chosen)
            for facts, encoding in [facts_of(path, folder / f"{name}-{number}")]
            for fact in facts
        ]
        pools[name] = chance.sample(found, len(found))
    drawn: list[Drawn] = []
    while len(drawn) < count and any(pools.values()):
        for name in [name for name, pool in pools.items() if pool][: count - len(drawn)]:
            path, fact, encoding = pools[name].pop()
            with suppress(openers.NotOpened):
                drawn.append(Drawn(name, path, fact, _opened(name, path, fact, encoding)))
    return drawn


def _opened(name: str, path: Path, fact: AtomicFact, encoding: str) -> str:
    if name in openers.WITH_ENCODING:
        return "\n".join(openers.WITH_ENCODING[name](path, anchor, encoding) for anchor in fact.anchors)
    return "\n".join(openers.PLAIN[name](path, anchor) for anchor in fact.anchors)


def stands_in(quote: str, text: str) -> bool:
    """Tell whether every value or sentence of a quote stands in a text; only letters and digits count.

    A table row is quoted as its values with " | " between them, a chart as "name: point = value; …". The
    number of a list item, which a program shows and no file holds, may be missing; a list mark that the other
    reader takes for a letter may come between.
    """
    there = letters(text)
    parts = [part for part in re.split(r"\s\|\s|\n", quote) if letters(part)]
    return bool(parts) and all(_part_stands_in(part, text, there) for part in parts)


def _part_stands_in(part: str, text: str, there: str) -> bool:
    if letters(part) in there or letters(_LABEL.sub("", part, count=1)) in there:
        return True
    values = [value for value in re.split(r"\s=\s|[:;]\s", part) if letters(value)]
    if len(values) > 2 and all(letters(value) in there for value in values):
        return True
    words = iter(re.findall(r"\w+", text.casefold()))
    return all(word in words for word in re.findall(r"\w+", part.casefold()))


def is_read_in(quote: str, text: str) -> bool:
    """Tell whether another OCR engine read about the same: two thirds of all pairs of letters."""
    said, there = letters(quote), letters(text)
    pairs = {said[at : at + 2] for at in range(len(said) - 1)} or {said}
    return 3 * sum(pair in there for pair in pairs) >= 2 * len(pairs)


def letters(text: str) -> str:
    """Return the letters and digits of a text, without case and forms of width."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def table(drawn: Iterable[Drawn]) -> str:
    """Return how many facts of each format were drawn and found."""
    counts: dict[str, list[bool]] = {}
    for one in drawn:
        counts.setdefault(one.format, []).append(one.is_there)
    rows = [f"{name:5} {sum(found):3} of {len(found):3}" for name, found in counts.items()]
    every = [one for found in counts.values() for one in found]
    return "\n".join([*rows, f"all   {sum(every):3} of {len(every):3}"])
