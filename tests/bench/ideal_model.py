"""What a language model could give at best: evidence recall with a set's own observations as its facts.

Run from the checkout: ``python -m tests.bench.ideal_model DIR/locomo_dev --workdir W`` (``--talks 3`` for a
quick look; everything behind the folder goes to ``strata eval``). The set has to hold ``docs_facts.jsonl``
with ``source_turns``. Two evaluations are run with the same questions: without a model, and with a scripted
endpoint on the loopback whose answers are ideal: for each stretch the observations that begin in it, each
with its turn as the quote. With ``--all-turns`` there is a third, in which a turn without an observation
gives a fact of its own words, as a thorough model would: the observations alone pass over most turns.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from extract.scripts import one_line
from tests.fault_server import FaultServer, source_lines

SUMMARY_WORDS = 60


class Observations:
    """Answers requests from a set's own observations."""

    def __init__(self, folder: Path, *, all_turns: bool) -> None:
        self.all_turns = all_turns
        self.turns: dict[str, dict[str, Any]] = {}
        self.by_line: dict[str, list[str]] = defaultdict(list)
        for row in _rows(folder / "docs.jsonl"):
            self.turns[row["id"]] = row
            self.by_line[one_line(row["text"])].append(row["id"])
        self.facts: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in _rows(folder / "docs_facts.jsonl"):
            self.facts[row["meta"]["source_turns"][0]].append(row)

    def answer(self, body: dict[str, Any]) -> str:
        """Return the ideal answer about the source in a request."""
        lines = [one_line(line) for line in source_lines(body)]
        named = Counter(
            self.turns[turn]["meta"]["session"] for line in lines for turn in self.by_line.get(line, ())
        )
        session = named.most_common(1)[0][0] if named else ""
        facts: list[dict[str, str]] = []
        for line in lines:
            own = [turn for turn in self.by_line.get(line, ()) if self._session(turn) == session]
            if own:
                facts += self._facts_of(own[0], line)
        return json.dumps(_answer(session, lines, facts), ensure_ascii=False)

    def _session(self, turn: str) -> str:
        return str(self.turns[turn]["meta"]["session"])

    def _facts_of(self, turn: str, line: str) -> list[dict[str, str]]:
        speaker = str(self.turns[turn]["meta"]["speaker"])
        quote = line.removeprefix(f"{speaker}: ")
        told = [fact["text"] for fact in self.facts.get(turn, ())] or ([line] if self.all_turns else [])
        return [
            {"text": text, "topic": "conversation", "speaker": speaker, "time": "", "quote": quote}
            for text in told
        ]


def _answer(session: str, lines: Sequence[str], facts: list[dict[str, str]]) -> dict[str, Any]:
    told = " ".join(fact["text"] for fact in facts) or " ".join(lines)
    summary = " ".join(told.split()[:SUMMARY_WORDS])
    title = " ".join(told.split()[:10])
    return {"title": title, "summary": summary, "topics": [], "participants": [], "facts": facts}


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def evaluate(folder: Path, workdir: Path, options: Sequence[str], **model: str) -> dict[str, Any]:
    """Run ``strata eval`` and return its report."""
    command = [
        sys.executable, "-m", "api.cli.main", "eval", str(folder), "--json", "--configs", "hybrid",
        "--workdir", str(workdir), *options,
    ]  # fmt: skip
    kept = {name: value for name, value in os.environ.items() if not re.match("LLM_(?!GAPS)|EXTRACTOR", name)}
    done = subprocess.run(command, env={**kept, **model}, stdout=subprocess.PIPE, text=True, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def main() -> None:
    folder, *options = [one for one in sys.argv[1:] if one != "--all-turns"]
    at = options.index("--workdir")
    workdir = Path(options[at + 1])
    del options[at : at + 2]
    server = FaultServer()
    server.start()
    reports = {"extractive": evaluate(Path(folder), workdir / "extractive", options, EXTRACTOR="extractive")}
    for name, all_turns in (("observations", False), ("observations and turns", True)):
        if all_turns and "--all-turns" not in sys.argv:
            continue
        server.answer = Observations(Path(folder), all_turns=all_turns).answer
        reports[name] = evaluate(
            Path(folder), workdir / name.replace(" ", "-"), options,
            EXTRACTOR="llm", LLM_BASE_URL=server.url, LLM_MODEL=name.replace(" ", "-"),
        )  # fmt: skip
        print(f"{name}: {len(server.accepted)} calls", file=sys.stderr)
    server.stop()
    print(json.dumps(reports, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
