"""Strata beside memsearch: the same passages, the same questions, the same encoder, one run.

Run from the checkout: ``python -m tests.bench.compare_memsearch --env FOLDER SETS…`` where SETS are question
sets (or folders of them) in the layout of docs/evaluation.md. memsearch's own package is installed into an
environment of its own below FOLDER, with its Milvus Lite; it gets its vectors from our default encoder over
an OpenAI-compatible endpoint on loopback. The endpoint encodes questions as questions, which memsearch itself
does not tell apart: the generous choice.

Passages are handed to memsearch as Markdown, in two layouts: ``sections``, every passage under a heading of
its own, so that a chunk is a passage; and, for talks, ``running``, the turns of a session as paragraphs,
which memsearch cuts into chunks of up to 1,500 characters. A chunk of that size is not a fact, so Strata
stands there twice: its hits as they are, and the whole episodes they belong to. Answers are compared at equal
numbers of hits, and at equal size: each list read only as far as the text of Strata's first five hits.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from api.evaluation.configurations import DEFAULT, Means, chosen
from api.evaluation.course import Course, fewer, narrowed, sampled
from api.evaluation.ground import ground
from api.evaluation.ingest import Coverage
from api.evaluation.place import on_ground
from api.evaluation.run import searches, take_in
from api.evaluation.sets import find_sets
from extract.scripts import estimate_tokens
from retrieval.evaluation.judging import Hit, Level, measure, within
from retrieval.evaluation.metrics import Interval
from retrieval.evaluation.sets import Passage, Question, QuestionSet
from retrieval.evaluation.tally import ALL, Tally
from retrieval.protocols import Embedder
from workers.settings import Settings

PACKAGES = ("memsearch==0.4.23", "milvus-lite==3.2.2")
SHOWN = ("recall@5", "mrr@10", "hit@5", "recall@10")
TOP_K = 10


class Layout(NamedTuple):
    """Markdown of one memory: where each passage stands, by file."""

    folder: Path
    lines: dict[str, list[tuple[int, int, str]]]


def sections(folder: Path, passages: Sequence[Passage]) -> Layout:
    """Every passage under a heading of its own: its speaker, or its first line where that is a title."""
    layout = Layout(folder, {})
    for number, (_, group) in enumerate(
        groupby(passages, key=lambda one: one.meta.get("session") or one.scope)
    ):
        turns = list(group)
        if turns[0].scope is not None:
            _write(layout, f"session-{number:04d}.md", [(one.id, _turn(one)) for one in turns])
        else:
            for at, one in enumerate(turns):
                title, _, rest = one.text.partition("\n")
                text = f"# {title}\n\n{rest}" if rest.strip() and len(title) <= 120 else one.text
                _write(layout, f"passage-{number:04d}-{at:06d}.md", [(one.id, text)])
    return layout


def _turn(one: Passage) -> str:
    speaker = one.meta.get("speaker")
    said = one.text.removeprefix(f"{speaker}: ")
    return f"## {speaker or 'Turn'}\n\n{said}"


def running(folder: Path, passages: Sequence[Passage]) -> Layout:
    """The turns of a session as paragraphs under the session's date."""
    layout = Layout(folder, {})
    for number, (_, group) in enumerate(
        groupby(passages, key=lambda one: one.meta.get("session") or one.scope)
    ):
        turns = list(group)
        head = f"# {turns[0].meta.get('date') or 'Session'}"
        _write(layout, f"session-{number:04d}.md", [("", head), *((one.id, one.text) for one in turns)])
    return layout


def _write(layout: Layout, name: str, parts: Sequence[tuple[str, str]]) -> None:
    path = (layout.folder / name).resolve()
    line, lines = 1, []
    for identity, text in parts:
        end = line + text.count("\n")
        lines.append((line, end, identity))
        line = end + 2
    path.write_text("\n\n".join(text for _, text in parts) + "\n", encoding="utf-8")
    layout.lines[str(path)] = lines


@contextmanager
def served(embedder: Embedder) -> Iterator[str]:
    """Serve an encoder as an OpenAI-compatible endpoint on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
            if body["model"] == "query":
                vectors = [embedder.embed_query(text) for text in texts]
            else:
                vectors = list(embedder.embed_passages(texts))
            data = [
                {"object": "embedding", "index": at, "embedding": one.tolist()}
                for at, one in enumerate(vectors)
            ]
            usage = {"prompt_tokens": 0, "total_tokens": 0}
            answer = json.dumps({"object": "list", "data": data, "model": body["model"], "usage": usage})
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def environment(folder: Path) -> Path:
    """Return the interpreter of memsearch's environment, made when missing."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


def ask_memsearch(
    python: Path, url: str, layouts: Mapping[str, Layout], questions: Sequence[Question]
) -> dict[tuple[str, str], list[Hit]]:
    """Index the layouts with memsearch and return its hits by memory and question."""
    asked: dict[str, list[str]] = {memory: [] for memory in layouts}
    for one in questions:
        asked[one.memory].append(one.text)
    with tempfile.TemporaryDirectory(prefix="memsearch-") as folder:
        memories = {
            name: {"folder": str(layout.folder), "questions": list(dict.fromkeys(asked[name]))}
            for name, layout in layouts.items()
        }
        job = {"url": url, "milvus": str(Path(folder) / "milvus.db"), "top_k": TOP_K, "memories": memories}
        runner = Path(__file__).with_name("memsearch_runner.py")
        done = subprocess.run(
            [str(python), str(runner)], input=json.dumps(job), stdout=subprocess.PIPE, text=True, check=True,
            env={"HOME": folder, "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
    found = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        lines = layouts[row["memory"]].lines
        found[row["memory"], row["question"]] = [_hit(lines, *hit) for hit in row["hits"]]
    return found


def _hit(
    lines: Mapping[str, list[tuple[int, int, str]]], source: str, first: int, last: int, text: str
) -> Hit:
    covers = {id_ for start, end, id_ in lines[source] if id_ and start <= last and end >= first}
    return Hit(frozenset(covers), 0.0, len(text), estimate_tokens(text))


class Compared(NamedTuple):
    """One system on one set: measures at equal numbers of hits, and at equal size."""

    tally: Tally
    equal: Tally

    @classmethod
    def new(cls) -> Compared:
        return cls(Tally(), Tally())

    def judge(self, question: Question, hits: Sequence[Hit], budget: int) -> None:
        measured = measure([hit.covers for hit in hits[:TOP_K]], question.gold, (5, 10))
        self.tally.add(question.kind, {Level.EVIDENCE: measured})
        self.equal.add(question.kind, {Level.EVIDENCE: within(hits, question.gold, budget)._asdict()})


def compare(the_set: QuestionSet, course: Course, python: Path) -> dict[str, Compared]:
    """Run both systems on a set and judge their answers."""
    settings = Settings()
    the_set = narrowed(the_set, course.talks, course.seed)
    questions = sampled(the_set.questions, course, answerable=True)
    memories: dict[str, list[Passage]] = {}
    for one in the_set.passages:
        memories.setdefault(the_set.memory_of(one), []).append(one)
    kinds = {"sections": sections, **({"running": running} if the_set.talks else {})}
    names = [
        "strata",
        *(["strata episodes"] if the_set.talks else []),
        *(f"memsearch {kind}" for kind in kinds),
    ]
    systems = {name: Compared.new() for name in names}
    with (
        tempfile.TemporaryDirectory(prefix="compare-") as temporary,
        ground(settings, course.workdir / the_set.name, course.workdir / "vectors.db", _environ()) as made,
        served(made.embedder) as url,
    ):
        place = on_ground(made)
        shown, _ = take_in(the_set, course, place, _say)
        answers = {}
        for kind, lay_out in kinds.items():
            layouts = {}
            for number, (memory, passages) in enumerate(memories.items()):
                folder = Path(temporary) / kind / f"{number:04d}"
                folder.mkdir(parents=True)
                layouts[memory] = lay_out(folder, passages)
            answers[kind] = ask_memsearch(python, url, layouts, questions)
        texts = {one.id: one.text for one in the_set.passages}
        ((_, ask),) = searches(the_set, course, place, shown)
        for question in questions:
            made.store.forget()
            own = ask(question).hits
            budget = sum(hit.characters for hit in own[:5])
            systems["strata"].judge(question, own, budget)
            if the_set.talks:
                systems["strata episodes"].judge(question, whole(own, shown, texts), budget)
            for kind, found in answers.items():
                theirs = found[question.memory, question.text]
                systems[f"memsearch {kind}"].judge(question, theirs, budget)
    return systems


def whole(hits: Sequence[Hit], shown: Coverage, texts: Mapping[str, str]) -> list[Hit]:
    """Return the episodes of the talk that hits belong to, each at its first hit, with all it says."""
    found = dict.fromkeys(
        shown.units[id_] for hit in hits for id_ in sorted(hit.covers) if id_ in shown.units
    )
    episodes = []
    for one in found:
        text = "\n".join(texts[id_] for id_ in shown.episodes[one])
        episodes.append(Hit(shown.episodes[one], 0.0, len(text), estimate_tokens(text)))
    return episodes


def lines_of(name: str, systems: Mapping[str, Compared]) -> Iterator[str]:
    """Yield the rows of a set's table: each system, all questions and each type."""
    own = systems["strata"]
    for kind in own.tally.figures(Level.EVIDENCE):
        for system, compared in systems.items():
            figures = compared.tally.figures(Level.EVIDENCE)[kind]
            equal = compared.equal.figures(Level.EVIDENCE)[kind]
            cells = [f"{figures.values[one].mean:.3f}" for one in SHOWN]
            cells += [f"{equal.values[one].mean:.3f}" for one in ("recall", "hit")]
            ahead = ""
            if system.startswith("memsearch"):
                beside = systems["strata episodes"] if system == "memsearch running" else own
                lead = beside.tally.ahead_of(compared.tally, Level.EVIDENCE)[kind]
                ahead = ", ".join(_signed(one, lead.values[one]) for one in SHOWN[:2])
            shown = kind if kind != ALL else f"all ({figures.questions})"
            yield f"| {name} | {shown} | {system} | {' | '.join(cells)} | {ahead} |"


def _signed(name: str, value: Interval) -> str:
    return f"{name} {value.mean:+.3f} [{value.low:+.3f}, {value.high:+.3f}]"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _environ() -> dict[str, str]:
    import os

    return dict(os.environ)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--env", type=Path, required=True, help="where memsearch's environment is made")
    parser.add_argument("--workdir", type=Path, help="keep Strata's memory and all vectors here")
    parser.add_argument("--passages", type=int, help="so many texts per set of texts, spread evenly")
    parser.add_argument("--reuse", action="store_true", help="use what stands in the workdir as it is")
    parser.add_argument("--sets", default="", help="only these, divided by commas")
    parser.add_argument("--limit", type=int, help="so many questions per set, spread evenly")
    parser.add_argument("--talks", type=int, help="so many talks per set, spread evenly")
    options = parser.parse_args()
    python = environment(options.env.absolute())
    names = [
        "set",
        "questions",
        "system",
        *SHOWN,
        "recall, equal size",
        "hit, equal size",
        "Strata ahead by (running: its episodes)",
    ]
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="strata-") as temporary:
        workdir = (options.workdir or Path(temporary)).absolute()
        course = Course(
            tuple(chosen([DEFAULT], Means())),
            (5, 10),
            options.limit,
            options.talks,
            0,
            workdir,
            reuse=options.reuse,
        )
        for the_set in find_sets(options.folders, [one for one in options.sets.split(",") if one]):
            the_set = fewer(the_set, options.passages, course.seed)
            for line in lines_of(the_set.name, compare(the_set, course, python)):
                print(line, flush=True)


if __name__ == "__main__":
    main()
