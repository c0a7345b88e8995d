"""Settings from the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.settings import Settings, SettingsError


def test_unset_and_empty_variables_keep_their_defaults() -> None:
    assert Settings.from_env({}) == Settings()
    assert Settings.from_env({"DATABASE_URL": "", "UNRELATED": "x"}) == Settings()


def test_groups_are_read_by_their_prefix() -> None:
    settings = Settings.from_env({"PARSE_WALL_S": "7", "MRAG_ALPHA": "0.25", "WORKER_CONCURRENCY": "3"})
    assert settings.parse.wall_s == 7
    assert settings.mrag.alpha == 0.25
    assert settings.worker_concurrency == 3


def test_what_is_not_named_lies_under_the_home_folder(tmp_path: Path) -> None:
    settings = Settings.from_env({"STRATA_HOME": str(tmp_path)})
    assert settings.ledger_url == f"sqlite:///{tmp_path}/ledger.db"
    assert settings.blobs_url == f"file://{tmp_path}/blobs"
    assert settings.artifacts == tmp_path / "artifacts"
    elsewhere = Settings.from_env({"DATABASE_URL": "postgresql+psycopg://db/x", "ARTIFACTS_DIR": "/shared"})
    assert elsewhere.ledger_url == "postgresql+psycopg://db/x"
    assert elsewhere.artifacts == Path("/shared")


def test_the_home_folder_may_be_written_with_a_tilde() -> None:
    assert str(Path.home()) in Settings.from_env({"STRATA_HOME": "~/memory"}).ledger_url


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("STRATA_PORT", "99999"),
        ("PARSE_WALL_S", "never"),
        ("WORKER_HARD_LIMIT_S", "5000"),
        ("PARSE_WALL_S", "900"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(variable: str, value: str) -> None:
    with pytest.raises(SettingsError, match=variable):
        Settings.from_env({variable: value})


def test_passwords_do_not_show() -> None:
    assert "secret" not in repr(Settings.from_env({"QDRANT_API_KEY": "secret"}))
