"""A question set into memory, the way a user's files and conversations get there."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from api.cli.client import Client, LocalFile
from api.evaluation.errors import IngestFailed, NothingToReuse
from ingest.anchors import Frozen
from retrieval.evaluation.sets import Passage, QuestionSet

# Sees to it that what the API has accepted gets done: told the id of a batch, None when there is none.
Finish = Callable[[str | None], None]
_FILES_PER_REQUEST = 100
_MESSAGES_PER_REQUEST = 500
_TITLE_CHARACTERS = 120
# Turns without times of their own follow each other at this pace, from this moment where no date is told.
_PACE = timedelta(seconds=1)
_UNDATED = datetime(2026, 1, 5, 9, tzinfo=UTC)
_PAGE = 200


class Ingested(Frozen):
    """What taking a set in did.

    Attributes:
        documents, episodes, facts: what stands in memory.
        texts_embedded: texts that had to be encoded; None where the server did it.
        tokens: of language models, in and out.
        seconds: it took.
    """

    documents: int
    episodes: int
    facts: int
    texts_embedded: int | None
    tokens: int
    seconds: float


class Coverage(NamedTuple):
    """Which passages a found thing shows.

    Attributes:
        documents: by document id.
        episodes: by episode id, for talks.
        units: the episode of a passage of a talk, the document of a text.
        listed: ids of all documents.
    """

    documents: Mapping[str, frozenset[str]]
    episodes: Mapping[str, frozenset[str]]
    units: Mapping[str, str]
    listed: tuple[str, ...]

    def of_fact(self, anchors: Iterable[Mapping[str, Any]], document: str) -> frozenset[str]:
        """Return the passages a fact shows: the messages its anchors name, else its document."""
        named = frozenset(one["message_id"] for one in anchors if one["kind"] == "message")
        return named or self.documents.get(document, frozenset())

    def of_episode(self, episode: str, document: str) -> frozenset[str]:
        """Return the passages an episode shows: its messages, else its document."""
        return self.episodes.get(episode) or self.documents.get(document, frozenset())


def put(client: Client, the_set: QuestionSet, finish: Finish, prefix: str = "") -> None:
    """Hand in a set: turns of talks as messages, texts as files.

    Args:
        client: the API.
        the_set: what to hand in.
        finish: called after each request.
        prefix: put before the names of memories.

    Raises:
        IngestFailed: something was refused.
    """
    if the_set.talks:
        _put_talks(client, the_set, finish, prefix)
    else:
        _put_texts(client, the_set, finish, prefix)


def _put_talks(client: Client, the_set: QuestionSet, finish: Finish, prefix: str) -> None:
    grouped = groupby(
        the_set.passages, key=lambda one: (one.scope, str(one.meta.get("session") or one.scope))
    )
    for (talk, session), group in grouped:
        owner = {"user_id": prefix + talk, "session_id": session}
        turns = list(group)
        start = _moment(turns[0].meta.get("date"))
        messages = [_message(one, start + at * _PACE) for at, one in enumerate(turns)]
        for at in range(0, len(messages), _MESSAGES_PER_REQUEST):
            body = {**owner, "messages": messages[at : at + _MESSAGES_PER_REQUEST]}
            client.call("POST", "/api/v1/memories", json=body)
        finish(client.call("POST", "/api/v1/memories/flush", json=owner)["batch_id"])


def _conversation(turn: Passage) -> tuple[str, str]:
    return str(turn.scope), str(turn.meta.get("session") or turn.scope)


def _moment(date: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(date))
    except ValueError:
        return _UNDATED
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _message(turn: Passage, sent_at: datetime) -> dict[str, str]:
    speaker = str(turn.meta.get("speaker") or "speaker")
    said = turn.text.removeprefix(f"{speaker}: ")
    return {
        "message_id": turn.id,
        "sender_id": speaker,
        "timestamp": sent_at.isoformat(),
        "content": said if said.strip() else turn.text,
    }


def _put_texts(client: Client, the_set: QuestionSet, finish: Finish, prefix: str) -> None:
    """Texts of one memory and date go in one request."""
    numbered = [(number, one) for number, one in enumerate(the_set.passages)]
    for (memory, date), group in _grouped(the_set, numbered):
        owner = {
            "user_id": prefix + memory,
            **({"metadata": json.dumps({"occurred_at": date})} if date else {}),
        }
        for at in range(0, len(group), _FILES_PER_REQUEST):
            with tempfile.TemporaryDirectory(prefix="strata-eval-") as folder:
                files = [_file(Path(folder), *one) for one in group[at : at + _FILES_PER_REQUEST]]
                answer = client.upload(files, owner, None)
            for row in answer["documents"]:
                if row["document_id"] is None:
                    raise IngestFailed(f"{row['filename']}: {row.get('detail')}")
            finish(answer["batch_id"])


def _grouped(
    the_set: QuestionSet, numbered: Iterable[tuple[int, Passage]]
) -> Iterator[tuple[tuple[str, str], list[tuple[int, Passage]]]]:
    groups: dict[tuple[str, str], list[tuple[int, Passage]]] = defaultdict(list)
    for number, one in numbered:
        groups[the_set.memory_of(one), str(one.meta.get("date") or "")].append((number, one))
    yield from groups.items()


def _file(folder: Path, number: int, passage: Passage) -> LocalFile:
    """A text is a text file; one that begins with its title is Markdown that says so."""
    title, _, rest = passage.text.partition("\n")
    titled = bool(rest.strip()) and len(title) <= _TITLE_CHARACTERS
    name = file_name(number, titled)
    path = folder / name
    path.write_text(f"# {title}\n\n{rest}\n" if titled else f"{passage.text}\n", encoding="utf-8")
    return LocalFile(path, name)


def file_name(number: int, titled: bool) -> str:
    """Return the name a passage is handed in under."""
    return f"passage-{number:06d}.{'md' if titled else 'txt'}"


def listed(client: Client, memories: Iterable[str]) -> list[dict[str, Any]]:
    """Return the documents of some memories as the API lists them.

    Raises:
        NothingToReuse: there are none.
        IngestFailed: one of them did not become ready.
    """
    rows: list[dict[str, Any]] = []
    for memory in memories:
        cursor: str | None = None
        while True:
            asked = {"user_id": memory, "limit": _PAGE, **({"cursor": cursor} if cursor else {})}
            page = client.call("GET", "/api/v1/documents", params=asked)
            rows += page["documents"]
            if not page["has_more"]:
                break
            cursor = page["cursor"]
    for row in rows:
        if row["status"] != "ready":
            said = (row.get("error") or {}).get("detail", "")
            raise IngestFailed(f"{row['name']} ended as {row['status']}. {said}".strip())
    if not rows:
        raise NothingToReuse
    return rows


def tokens_spent(client: Client) -> int:
    """Return how many tokens language models have read and written so far."""
    total = client.call("GET", "/api/v1/usage")["total"]
    return int(total["prompt_tokens"] + total["completion_tokens"])


def coverage(client: Client, the_set: QuestionSet, rows: Sequence[Mapping[str, Any]]) -> Coverage:
    """Return which passages documents and episodes show, from what the API tells of them."""
    return _of_talks(client, the_set, rows) if the_set.talks else _of_texts(the_set, rows)


def _of_texts(the_set: QuestionSet, rows: Sequence[Mapping[str, Any]]) -> Coverage:
    # Equal texts of one memory are one document, which then stands for all of them.
    by_text: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in the_set.passages:
        by_text[the_set.memory_of(one), one.text].add(one.id)
    documents = {}
    for row in rows:
        number = int(row["name"].removeprefix("passage-").partition(".")[0])
        one = the_set.passages[number]
        documents[row["id"]] = frozenset(by_text[the_set.memory_of(one), one.text])
    units = {id_: document for document, ids in documents.items() for id_ in ids}
    return Coverage(documents, {}, units, tuple(documents))


def _of_talks(client: Client, the_set: QuestionSet, rows: Sequence[Mapping[str, Any]]) -> Coverage:
    order = [one.id for one in the_set.passages]
    place = {id_: at for at, id_ in enumerate(order)}
    episodes: dict[str, frozenset[str]] = {}
    for row in rows:
        for episode in pages(client, f"/api/v1/documents/{row['id']}/episodes"):
            ends = [place[anchor["message_id"]] for anchor in episode["anchors"]]
            episodes[episode["id"]] = frozenset(order[min(ends) : max(ends) + 1])
    units = {id_: episode for episode, ids in episodes.items() for id_ in sorted(ids)}
    return Coverage({}, episodes, units, tuple(row["id"] for row in rows))


def pages(client: Client, path: str) -> Iterator[dict[str, Any]]:
    """Yield all items of a list of the API that comes in pages."""
    cursor: str | None = None
    while True:
        page = client.call("GET", path, params={"limit": _PAGE, **({"cursor": cursor} if cursor else {})})
        yield from page["items"]
        if not page["has_more"]:
            return
        cursor = page["cursor"]
