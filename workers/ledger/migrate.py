"""Bringing the tables up to date with Alembic; one process does it, the others wait."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import text

from workers.ledger.database import Database

# Any number will do, as long as nobody else takes it for a lock in the same database.
_LOCK = 7_286_141_530


def upgrade(database: Database) -> None:
    """Run the migrations that are missing. Safe to call by several processes at once."""
    if database.is_sqlite:
        database.use_wal()
    with database.write_connection() as connection:
        # On SQLite the write lock taken at the start of the transaction does the same.
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
