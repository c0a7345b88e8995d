"""Two small question sets of our own: a few talks, and a few texts in two languages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

TALKS: Mapping[str, Mapping[str, Sequence[tuple[str, str]]]] = {
    "harbour": {
        "2024-03-02T09:00": [
            ("Ines", "I finally bought the old tugboat from the auction in Emden."),
            ("Piet", "No way! What did you pay for it?"),
            ("Ines", "Eleven thousand euros, and the engine still runs."),
            ("Piet", "My sister repairs diesel engines, she could look at it."),
        ],
        "2024-04-10T18:30": [
            ("Piet", "I started learning the accordion last week."),
            ("Ines", "Lovely. I am painting the cabin green tomorrow."),
            ("Piet", "My teacher is called Mrs Okafor and she is very strict."),
        ],
    },
    "orchard": {
        "2024-05-01T08:00": [
            ("Yara", "The frost killed half of our cherry blossoms."),
            ("Tom", "That is terrible. Are the plums fine?"),
            ("Yara", "The plums are fine, they bloom two weeks later."),
        ],
        "2024-06-20T19:00": [
            ("Tom", "The new cider press arrived and it weighs half a ton."),
            ("Yara", "Then we need the neighbour's tractor to move it."),
        ],
    },
}
ASKED = (
    ("harbour", "What boat did Ines buy at the auction?", "single-hop", ["harbour:0"]),
    ("harbour", "How much did the tugboat cost?", "single-hop", ["harbour:2"]),
    (
        "harbour",
        "Which instrument is Piet learning, who teaches him?",
        "multi-hop",
        ["harbour:4", "harbour:6"],
    ),
    ("orchard", "What did the frost do to the cherry blossoms?", "single-hop", ["orchard:0"]),
    ("orchard", "Which fruit does Yara say is fine?", "single-hop", ["orchard:2"]),
    ("orchard", "Which boat did Tom buy?", "adversarial", ["orchard:1"]),
)
TEXTS = (
    ("en", "1", "The lighthouse of Varn was built in 1871 by Marit Lunde and is 34 metres high."),
    ("en", "2", "Buckwheat noodles are boiled for four minutes and rinsed in cold water before serving."),
    ("en", "3", "The night train from Porto to Lugo stops at eleven stations and carries bicycles for free."),
    ("zh", "1", "瓦恩灯塔由工程师玛丽特·伦德于1871年建造，高三十四米。"),
    ("zh", "2", "荞麦面要煮四分钟，上桌前用冷水冲洗。"),
    ("zh", "3", "从波尔图开往卢戈的夜班火车停靠十一站，自行车免费携带。"),
)  # fmt: skip
TEXTS_ASKED = (
    ("en", "How high is the lighthouse of Varn?", "1"),
    ("en", "How long are buckwheat noodles boiled?", "2"),
    ("zh", "夜班火车停靠几站？", "3"),
)


def write(folder: Path, **files: Sequence[Mapping[str, object]]) -> Path:
    """Write the files of a set."""
    folder.mkdir(parents=True)
    for name, rows in files.items():
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def talks(folder: Path) -> Path:
    """Write the set of talks."""
    docs = []
    for talk, sessions in TALKS.items():
        number = 0
        for at, (date, turns) in enumerate(sessions.items()):
            for speaker, said in turns:
                meta = {"conv": talk, "session": f"{talk}:S{at}", "date": date, "speaker": speaker}
                docs.append({"id": f"{talk}:{number}", "text": f"{speaker}: {said}", "meta": meta})
                number += 1
    queries = [
        {"id": f"q{at}", "text": text, "lang": "en", "type": kind, "meta": {"conv": talk}}
        for at, (talk, text, kind, _) in enumerate(ASKED)
    ]
    qrels = [
        {"query_id": f"q{at}", "doc_id": id_, "grade": 1}
        for at, (*_, gold) in enumerate(ASKED)
        for id_ in gold
    ]
    return write(folder, docs=docs, queries=queries, qrels=qrels)


def texts(folder: Path) -> Path:
    """Write the set of parallel texts."""
    docs = [{"id": f"{language}:{pair}", "text": text, "meta": {}} for language, pair, text in TEXTS]
    queries = [
        {"id": f"q{at}", "text": text, "lang": language, "type": "fact", "meta": {}}
        for at, (language, text, _) in enumerate(TEXTS_ASKED)
    ]
    qrels = [
        {"query_id": f"q{at}", "doc_id": f"{language}:{pair}", "grade": 1}
        for at, (_, _, pair) in enumerate(TEXTS_ASKED)
        for language in ("en", "zh")
    ]
    return write(folder, docs=docs, queries=queries, qrels=qrels)
