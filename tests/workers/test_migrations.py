"""The migrations are one line without forks; two that were written side by side are told before they meet."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

import workers.ledger.migrate


def test_the_migrations_stand_in_one_line() -> None:
    config = Config()
    config.set_main_option(
        "script_location", str(Path(workers.ledger.migrate.__file__).parent / "migrations")
    )
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    files = list((Path(scripts.dir) / "versions").glob("*_[0-9]*.py"))
    line = [script.revision for script in scripts.walk_revisions()]
    assert len(scripts.get_heads()) == 1
    assert len(line) == len(files)
