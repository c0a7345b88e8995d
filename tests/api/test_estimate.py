"""What files would cost, before anything is sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.cli.main import main
from workers.estimate import Expected
from workers.settings import Settings

PRICED = {
    "LLM_BASE_URL": "http://127.0.0.1:9/v1",
    "LLM_MODEL": "m",
    "LLM_PRICE_IN": "1",
    "LLM_PRICE_OUT": "2",
}


def estimated(folder: Path, **environ: str) -> dict[str, object]:
    environ = {"STRATA_HOME": str(folder / "home"), **environ}
    result = CliRunner().invoke(main, ["ingest", "--estimate", "--json", str(folder / "files")], env=environ)
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "files").mkdir()
    for number in range(2):
        text = (
            f"# Room {number}\n\nThe rent of room {number} is {900 + number} euros a month from May 2026.\n"
        )
        (tmp_path / "files" / f"{number}.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_files_are_read_and_counted_and_no_server_is_asked(folder: Path) -> None:
    (folder / "files" / "broken.pdf").write_bytes(b"%PDF-1.7 nothing of it")
    limits = {"LLM_REQUESTS_PER_MINUTE": "4", "LLM_TOKENS_PER_MINUTE": "1000000"}
    found = estimated(folder, **PRICED, **limits)
    assert (found["files"], found["episodes"], found["calls"], found["model"]) == (2, 2, 2, "m")
    assert [row["filename"] for row in found["unreadable"]] == ["broken.pdf"]  # type: ignore[attr-defined]
    tokens_in, tokens_out = found["prompt_tokens"], found["completion_tokens"]
    assert isinstance(tokens_in, int)
    assert isinstance(tokens_out, int)
    assert found["price"] == pytest.approx((tokens_in + 2 * tokens_out) / 10**6)
    assert found["minutes_at_limits"] == 0.5
    assert not (folder / "home").exists()


def test_without_a_model_that_is_said(folder: Path) -> None:
    found = estimated(folder)
    assert (found["model"], found["price"], found["minutes_at_limits"]) == (None, 0, None)
    shown = CliRunner().invoke(main, ["ingest", "--estimate", str(folder / "files")])
    assert "no model is asked" in shown.output


def test_a_stretch_whose_answer_is_too_long_is_asked_about_in_parts(folder: Path) -> None:
    whole = estimated(folder, **PRICED)
    parts = estimated(folder, **PRICED, LLM_MAX_OUTPUT_TOKENS="100")
    assert parts["calls"] > whole["calls"]  # type: ignore[operator]
    assert parts["prompt_tokens"] > whole["prompt_tokens"]  # type: ignore[operator]


def test_the_slower_limit_counts() -> None:
    expected = Expected(calls=100, counted_tokens=50_000)
    settings = Settings.model_validate({"llm": {"requests_per_minute": 50, "tokens_per_minute": 10_000}})
    assert expected.minutes(settings) == 5
    assert expected.plus(expected).minutes(settings) == 10
