"""The database behind the ledger: its URL, connections that keep what they write, errors in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
)

from repro_pipeline.errors import LedgerError

BUSY_SECONDS = 60.0
"""How long a writer waits for the others, or for a connection, before it gives up."""
CONNECTIONS = 8
"""That a process holds to a server at most: its threads wait, rather than exhaust the server."""


def database_url(text: str, below: Path) -> URL:
    """The URL of a ledger, a file of SQLite below a folder. Raises LedgerError for what can be none."""
    try:
        url = sa.make_url(text)
    except ArgumentError as error:
        raise LedgerError(
            "the ledger's URL is not a database URL",
            hint="Write sqlite:///FILE or postgresql://USER@HOST/DATABASE.",
        ) from error
    backend = url.get_backend_name()
    if backend not in {"sqlite", "postgresql"}:
        raise LedgerError(
            f"the ledger cannot live in '{backend}'",
            where=database_name(url),
            hint="Use sqlite or postgresql.",
        )
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg") if url.drivername == backend else url
    if url.database in {None, "", ":memory:"}:
        raise LedgerError("a ledger in memory keeps nothing", hint="Name a file: sqlite:///FILE.")
    if "?" in text:
        raise LedgerError(
            "a ledger in SQLite takes no options, and a `?` in a URL begins them",
            where=database_name(url),
            hint="Name the file relative to the project, or one without `?` in its path.",
        )
    url = url.set(database=str(below / url.database))
    folder = Path(url.database).parent
    if not folder.is_dir():
        raise LedgerError(
            f"the ledger's folder {folder} does not exist",
            where=database_name(url),
            hint="Make the folder, or correct the URL.",
        )
    return url


def make_engine(url: URL) -> Engine:
    """Connections whose acknowledged writes are on disk. Raises LedgerError without a driver.

    The execution option `writes` takes SQLite's lock at the transaction's begin.
    """
    sqlite = url.get_backend_name() == "sqlite"
    special = (
        {"connect_args": {"timeout": BUSY_SECONDS}, "max_overflow": -1}
        if sqlite
        # A snapshot older than the lock would show an old head.
        else {
            "connect_args": {"client_encoding": "utf8"},
            "isolation_level": "READ COMMITTED",
            "pool_pre_ping": True,
            "pool_size": CONNECTIONS,
            "max_overflow": 0,
            "pool_timeout": BUSY_SECONDS,
        }
    )
    try:
        engine = sa.create_engine(url, **special)
    except (ImportError, NoSuchModuleError) as error:
        raise LedgerError(
            f"no driver for '{url.drivername}' is installed",
            where=database_name(url),
            hint="Run `pip install 'repro-pipeline[postgres]'`.",
        ) from error
    if sqlite:
        sa.event.listen(engine, "connect", _durable_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    else:
        sa.event.listen(engine, "connect", _durable_postgresql)
    return engine


def _durable_sqlite(connection: object, _record: object) -> None:
    connection.isolation_level = None  # transactions begin in _begin_sqlite, not in the driver
    connection.execute("PRAGMA synchronous = FULL")


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the lock before it reads the head.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _durable_postgresql(connection: object, _record: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit TO on")
    connection.commit()


def database_name(url: URL) -> str:
    """What an error calls the database by; never its password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return url.render_as_string(hide_password=True)


_DAMAGED = ("the ledger's file is damaged", "Restore it from a copy.")
_CAUSES = (
    ("readonly database", "the ledger is read-only", "Make the file and its folder writable."),
    ("disk is full", "the disk is full: nothing was written", "Make room and run again."),
    ("disk i/o error", "the disk refused to write or read", "Check the disk and its free space."),
    ("not a database", "the file is not a ledger", "Correct the URL, or move the file away."),
    ("malformed", *_DAMAGED),
    ("database is locked", "another writer holds the ledger for too long", "Run again."),
    ("unable to open", "the ledger's file cannot be opened", "Check the path and its permissions."),
    (
        "already exists",
        "the database holds tables already that are no ledger",
        "Name another file.",
    ),
    ("append-only", "the ledger is append-only", "Events are never changed or removed."),
)


def damaged(url: URL) -> LedgerError:
    """What is raised for a file that holds what no ledger can."""
    what, hint = _DAMAGED
    return LedgerError(what, where=database_name(url), hint=hint)


@contextmanager
def explained(url: URL) -> Iterator[None]:
    """Turn the database's errors into a LedgerError that says what to do."""
    try:
        yield
    except OverflowError as error:  # no database takes the number after the last of a forged chain
        raise damaged(url) from error
    except SQLAlchemyError as error:
        detail = str(error.orig) if isinstance(error, DBAPIError) else str(error)
        for words, what, hint in _CAUSES:
            if words in detail.lower():
                busy = words == "database is locked"
                raise LedgerError(
                    what, where=database_name(url), hint=hint, transient=busy
                ) from error
        away = isinstance(error, OperationalError) and url.get_backend_name() != "sqlite"
        what = f"the ledger's database refused: {detail.splitlines()[0] if detail else error!r}"
        raise LedgerError(
            what, where=database_name(url), hint="Check the URL and the server.", transient=away
        ) from error
