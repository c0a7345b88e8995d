"""Question sets on disk: documents, questions and which documents answer them.

A set is a folder of JSON lines: ``docs.jsonl`` {id, text, meta}, ``queries.jsonl`` {id, text, lang, type,
meta} and ``qrels.jsonl`` {query_id, doc_id, grade}; corrected judgements stand in ``qrels_audited.jsonl`` and
are preferred. What kind of documents they are is told by their ``meta``: turns of a talk carry ``conv`` or
``meeting``, everything else is a text of its own.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

# What a talk is called, and with it the scope a question is asked in.
_SCOPES = ("conv", "meeting")
# Such questions have no answer in the set; they measure abstention and count in no recall.
UNANSWERABLE = "adversarial"
# Whose memory a text belongs to that is neither part of a talk nor one of several languages.
EVERYWHERE = "all"


class Passage(NamedTuple):
    """A document of a set: a paragraph, or a turn of a talk."""

    id: str
    text: str
    meta: Mapping[str, JsonValue]

    @property
    def scope(self) -> str | None:
        """The talk it belongs to, None for a text of its own."""
        return _scope(self.meta)


class Question(NamedTuple):
    """A question with the ids of the passages that answer it, each with its grade.

    ``scope`` is the talk to search in; None means everywhere. ``language`` narrows the search to passages of
    one language, where the set holds every passage in several. ``answer`` is the expected answer in words.
    """

    id: str
    text: str
    kind: str
    scope: str | None
    gold: Mapping[str, int]
    language: str | None = None
    answer: str | None = None

    @property
    def memory(self) -> str:
        """The memory to search: of its talk, of its language, or of everything."""
        return self.scope or self.language or EVERYWHERE

    @property
    def answerable(self) -> bool:
        """Whether the set holds an answer."""
        return self.kind != UNANSWERABLE and bool(self.gold)


class QuestionSet(NamedTuple):
    """Passages and questions."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]

    @property
    def talks(self) -> bool:
        """Whether the passages are turns of talks."""
        return bool(self.passages) and self.passages[0].scope is not None

    @property
    def parallel(self) -> bool:
        """Whether every passage stands in several languages."""
        return bool(self.questions) and self.questions[0].language is not None

    def memory_of(self, passage: Passage) -> str:
        """Return the memory a passage belongs to; see ``Question.memory``."""
        return passage.scope or (_language_of(passage.id) if self.parallel else EVERYWHERE)


def load_set(folder: Path) -> QuestionSet:
    """Read a question set.

    Raises:
        FileNotFoundError: a file of the set is missing.
        ValueError: a line is not what the layout says.
    """
    audited = folder / "qrels_audited.jsonl"
    gold: dict[str, dict[str, int]] = defaultdict(dict)
    for row in _rows(audited if audited.exists() else folder / "qrels.jsonl"):
        gold[row["query_id"]][row["doc_id"]] = int(row["grade"])
    passages = tuple(Passage(row["id"], row["text"], row["meta"]) for row in _rows(folder / "docs.jsonl"))
    languages = {one.id: _language_of(one.id) for one in passages} if _parallel(passages, gold) else {}
    questions: list[Question] = []
    for row in _rows(folder / "queries.jsonl"):
        answer = row["meta"].get("answer")
        question = Question(
            row["id"],
            row["text"],
            row["type"],
            _scope(row["meta"]),
            gold[row["id"]],
            answer=answer if isinstance(answer, str) else None,
        )
        questions.extend(_by_language(question, row["lang"], languages) if languages else [question])
    return QuestionSet(folder.name, passages, tuple(questions))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _language_of(identity: str) -> str:
    return identity.split(":")[0]


def _scope(meta: Mapping[str, JsonValue]) -> str | None:
    return next((str(meta[name]) for name in _SCOPES if name in meta), None)


def _parallel(passages: tuple[Passage, ...], gold: Mapping[str, Mapping[str, int]]) -> bool:
    """A parallel set names passages ``language:number`` and answers every question in each language."""
    prefixes = {_language_of(one.id) for one in passages}
    if not 2 <= len(prefixes) <= 20 or not all(len(prefix) == 2 for prefix in prefixes):
        return False
    return all({_language_of(id_) for id_ in answers} == prefixes for answers in gold.values())


def _by_language(question: Question, asked_in: str, languages: Mapping[str, str]) -> Iterator[Question]:
    for language in sorted(set(languages.values())):
        gold = {id_: 1 for id_ in question.gold if languages[id_] == language}
        yield question._replace(
            id=f"{question.id}>{language}", kind=f"{asked_in}>{language}", gold=gold, language=language
        )
