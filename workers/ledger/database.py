"""The connection to the ledger's database: SQLite by default, PostgreSQL by URL."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, literal
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.orm import Session

from workers.ledger.tables import Base

Clock = Callable[[], datetime]
_BUSY_TIMEOUT_S = 30


def utc_now() -> datetime:
    """Return the time, in UTC and aware of it."""
    return datetime.now(UTC)


class Database:
    """Opens read and write transactions.

    A write transaction on SQLite takes the write lock at its start (``BEGIN IMMEDIATE``): taking it later
    fails at once when another writer came between. On PostgreSQL rows are locked where they are read.

    Args:
        url: SQLAlchemy URL, ``sqlite:///path`` or ``postgresql+psycopg://…``.
        clock: gives the time; tests hand in their own.
    """

    def __init__(self, url: str, clock: Clock = utc_now) -> None:
        self.now = clock
        self.engine = _make_engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._writing = self.engine.execution_options(strata_write=True)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a transaction that only reads."""
        with Session(self.engine) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a transaction that is committed at the end of the block and rolled back on an error."""
        with Session(self._writing) as session, session.begin():
            yield session

    @contextmanager
    def write_connection(self) -> Iterator[Connection]:
        """Open a write transaction below the ORM, for schema changes."""
        with self._writing.begin() as connection:
            yield connection

    def insert_new(self, session: Session, table: type[Base], values: Mapping[str, Any]) -> bool:
        """Insert a row unless one with the same key is there; tell whether it was inserted."""
        dialect = sqlite if self.is_sqlite else postgresql
        statement = dialect.insert(table).values(**values).on_conflict_do_nothing()
        # psycopg's row count is not filled for every kind of insert, so the row is asked for.
        return session.connection().execute(statement.returning(literal(1))).first() is not None

    def use_wal(self) -> None:
        """Let readers and one writer work side by side (SQLite; kept in the file).

        The switch ignores the busy timeout, so while another process does the same it is tried again.

        Raises:
            sqlite3.OperationalError: the file stayed locked.
        """
        deadline = time.monotonic() + _BUSY_TIMEOUT_S
        while True:
            try:
                with closing(self.engine.raw_connection()) as connection:
                    connection.cursor().execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _make_engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return create_engine(parsed, pool_pre_ping=True, pool_size=5, max_overflow=10)
    if parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(parsed, connect_args={"timeout": _BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401  a DBAPI connection
    # None: the driver starts no transactions of its own; _begin_sqlite does.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    # FULL: what was answered with 202 survives a power cut.
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("strata_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
