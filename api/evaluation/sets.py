"""Question sets where a user points at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from api.evaluation.errors import SetInvalid
from retrieval.evaluation.sets import QuestionSet, load_set


def find_sets(folders: Sequence[Path], names: Sequence[str]) -> list[QuestionSet]:
    """Read the question sets in some folders, or in the folders right below them.

    Args:
        folders: sets, or folders of sets.
        names: only these sets; all when empty.

    Raises:
        SetInvalid: none is there, one is not in the expected layout, or two have the same name.
    """
    found: dict[str, QuestionSet] = {}
    for path in _set_folders(folders):
        if names and path.name not in names:
            continue
        if path.name in found:
            raise SetInvalid(f"There are two sets named {path.name}.")
        found[path.name] = _read(path)
    missing = set(names) - found.keys()
    if missing or not found:
        raise SetInvalid(f"There is no question set{f' {sorted(missing)}' if missing else ' there'}.")
    return list(found.values())


def _set_folders(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        resolved = folder.resolve()
        if (resolved / "queries.jsonl").exists():
            yield resolved
        elif resolved.is_dir():
            yield from sorted(path.parent for path in resolved.glob("*/queries.jsonl"))


def _read(path: Path) -> QuestionSet:
    try:
        the_set = load_set(path)
    except FileNotFoundError as error:
        raise SetInvalid(f"{path.name}: {error.filename} is missing.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise SetInvalid(f"{path.name}: a line is not as expected ({error!r}).") from error
    if not the_set.passages or not the_set.questions:
        raise SetInvalid(f"{path.name} holds no passages or no questions.")
    return the_set
