"""The ledger in a SQL database: SQLite in WAL mode by default, PostgreSQL by URL.

An acknowledged append is on disk (SQLite `synchronous=FULL`, PostgreSQL `synchronous_commit=on`).
Writers of one chain wait for one another (SQLite: of one database), so that each links to the head
that the one before it left. Readers never wait.
"""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.engine import URL, Connection

from repro_pipeline.errors import IntegrityError, LedgerError
from repro_pipeline.frozen import canonical_json
from repro_pipeline.ledger.chain import link, start, time_text
from repro_pipeline.ledger.events import Event, Head, Payload
from repro_pipeline.ledger.redact import redact, storable
from resources.ledger_engine import damaged, database_name, database_url, explained, make_engine

PAGE = 1000
"""Events read at a time: no read transaction stays open while a caller works."""
EVENTS = sa.Table(
    "events",
    sa.MetaData(),
    sa.Column("chain", sa.Text, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("kind", sa.Text),
    sa.Column("key", sa.Text),
    sa.Column("at", sa.Text),
    sa.Column("actor", sa.Text),
    sa.Column("schema_version", sa.Integer),
    sa.Column("payload", sa.Text),
    sa.Column("prev", sa.Text),
    sa.Column("hash", sa.Text),
)

_COLUMNS = """
    chain TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
    at TEXT NOT NULL, actor TEXT NOT NULL, schema_version INTEGER NOT NULL,
    payload TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL,
    PRIMARY KEY (chain, seq), UNIQUE (chain, key)
"""
MIGRATIONS: tuple[dict[str, tuple[str, ...]], ...] = (
    {
        # WITHOUT ROWID keeps the events of a chain beside one another, however many others there
        # are. The triggers guard against slips; what proves an alteration is the hash chain.
        "sqlite": (
            f"CREATE TABLE events ({_COLUMNS}) STRICT, WITHOUT ROWID",
            "CREATE TRIGGER events_no_update BEFORE UPDATE ON events "
            "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
            "CREATE TRIGGER events_no_delete BEFORE DELETE ON events "
            "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
        ),
        "postgresql": (
            f"CREATE TABLE events ({_COLUMNS})",
            "CREATE FUNCTION events_refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$",
            "CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events "
            "FOR EACH STATEMENT EXECUTE FUNCTION events_refuse()",
        ),
    },
)
"""The statements that lead from version n to n + 1 of the tables, by dialect. Only ever added to."""

_OF_CHAIN = EVENTS.c.chain == sa.bindparam("chain")
_SAME = EVENTS.select().where(_OF_CHAIN, EVENTS.c.key == sa.bindparam("key"))
_LINK = sa.select(EVENTS.c.seq, EVENTS.c.hash, EVENTS.c.key)
_LAST = _LINK.where(_OF_CHAIN).order_by(EVENTS.c.seq.desc()).limit(1)
# Whether the key stands, and what the new event would follow, in one question.
_BEFORE = sa.union_all(
    _LINK.where(_OF_CHAIN, EVENTS.c.key == sa.bindparam("key")), sa.select(_LAST.subquery())
)
_INSERT = EVENTS.insert()
# The distinct chains by one index step each, not by reading every event.
_CHAINS = sa.text(
    "WITH RECURSIVE names(chain) AS (SELECT MIN(chain) FROM events UNION ALL "
    "SELECT (SELECT MIN(chain) FROM events WHERE chain > names.chain) FROM names "
    "WHERE names.chain IS NOT NULL) SELECT chain FROM names WHERE chain IS NOT NULL"
)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class SqlLedger:
    """`ports.Ledger` over SQLAlchemy. The file or the tables are made where there are none.

    `url` is `sqlite:////absolute/path`, `sqlite:///path` below `folder`, or `postgresql://…`.
    Raises LedgerError.
    """

    def __init__(
        self, url: str, *, folder: Path = Path(), clock: Callable[[], datetime] = now
    ) -> None:
        self._url = database_url(url, folder)
        self._clock = clock
        self._engine = make_engine(self._url)
        self._writer = self._engine.execution_options(writes=True)
        # A connection must not be used on both sides of a fork.
        dispose = weakref.WeakMethod(self._engine.dispose)
        os.register_at_fork(after_in_child=lambda: (call := dispose()) and call(close=False))
        self._migrate()

    def append(self, chain: str, payload: Payload, *, actor: str) -> Event:
        """Append once per key: a key that stands already returns its event and writes nothing.

        Secrets in payload and actor are replaced by `[redacted]` first. Raises LedgerError where nothing
        was written, or where it is not known whether it was: appending again is then safe.
        """
        payload, actor = storable(payload), redact(actor)
        key = payload.key
        with self._writing() as connection:
            if connection.dialect.name == "postgresql":
                _lock(connection, chain)
            same = {"chain": chain, "key": key}
            before = connection.execute(_BEFORE, same).all()
            if any(row.key == key for row in before):
                return self._event(connection.execute(_SAME, same).one())
            head = self._head(chain, before[0]) if before else start(chain)
            event = _linked(head, payload, self._clock(), actor)
            row = dict(event) | {
                "at": time_text(event.at),
                "payload": canonical_json(event.payload).decode(),
            }
            connection.execute(_INSERT, row)
        return event

    def events(self, chain: str, *, kinds: Collection[str] = (), after: int = 0) -> Iterator[Event]:
        """The events of a chain in order, of the given kinds (all by default).

        Raises IntegrityError at a row that holds no event.
        """
        return map(self._event, self._rows(chain, kinds, after))

    def stored(self, chain: str) -> Iterator[Event]:
        """The rows of a chain as they stand, damaged or not: what `verify_chain` takes.

        A row that holds no event, or not in its one spelling, comes with the payload
        `{"unreadable": …}`, so that its hash cannot be right.
        """
        for row in self._rows(chain, (), None):
            try:
                yield _read(row)
            except ValueError:
                yield _unreadable(row)

    def chains(self) -> tuple[str, ...]:
        """The names of all chains."""
        with self._reading() as connection:
            names = tuple(connection.execute(_CHAINS).scalars())
        if not all(isinstance(name, str) for name in names):
            raise damaged(self._url)
        return names

    def head(self, chain: str) -> Head | None:
        """Where the chain ends; None for an empty chain."""
        with self._reading() as connection:
            last = connection.execute(_LAST, {"chain": chain}).one_or_none()
        return self._head(chain, last) if last else None

    def copy_to(self, other: SqlLedger) -> None:
        """Copy every row as it stands, of one moment whoever writes, into an empty ledger."""
        isolation = "REPEATABLE READ" if self._url.get_backend_name() == "postgresql" else None
        engine = (
            self._engine.execution_options(isolation_level=isolation) if isolation else self._engine
        )
        with explained(self._url), engine.begin() as source, other._writing() as target:
            rows = source.execution_options(yield_per=PAGE).execute(EVENTS.select())
            for page in rows.mappings().partitions():
                target.execute(_INSERT, [dict(row) for row in page])

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def _rows(self, chain: str, kinds: Collection[str], after: int | None) -> Iterator[sa.Row]:
        query = EVENTS.select().where(EVENTS.c.chain == chain).order_by(EVENTS.c.seq).limit(PAGE)
        if kinds:
            query = query.where(EVENTS.c.kind.in_(sorted(kinds)))
        while True:
            page_query = query if after is None else query.where(EVENTS.c.seq > after)
            with self._reading() as connection:
                page = connection.execute(page_query).all()
            # A table that was made anew, without our key, can hold anything, and a number twice.
            if not all(isinstance(row.seq, int) for row in page):
                raise damaged(self._url)
            if len(page) < PAGE:
                yield from page
                return
            whole = [row for row in page if row.seq != page[-1].seq]
            if not whole:
                raise damaged(self._url)
            yield from whole
            after = whole[-1].seq

    def _event(self, row: sa.Row) -> Event:
        try:
            return _read(row)
        except ValueError as error:
            raise _altered(self._url, row.chain, row.seq) from error

    def _head(self, chain: str, last: sa.Row) -> Head:
        try:
            return Head(chain=chain, seq=last.seq, hash=last.hash)
        except ValidationError as error:
            raise _altered(self._url, chain, last.seq) from error

    def _migrate(self) -> None:
        with self._reading() as connection:
            version = _version(connection)
        if version > len(MIGRATIONS):
            raise LedgerError(
                f"the ledger has version {version}, this program knows up to {len(MIGRATIONS)}",
                where=database_name(self._url),
                hint="Update repro-pipeline.",
            )
        if version == len(MIGRATIONS):
            return
        if self._url.get_backend_name() == "sqlite":
            self._use_wal()
        with self._writing() as connection:
            if connection.dialect.name == "postgresql":
                _lock(connection, "")
            dialect = connection.dialect.name
            if (version := _version(connection)) == 0:
                connection.exec_driver_sql(
                    "CREATE TABLE IF NOT EXISTS ledger_version (version INTEGER PRIMARY KEY)"
                )
            for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
                for statement in statements[dialect]:
                    connection.exec_driver_sql(statement)
                connection.exec_driver_sql(f"INSERT INTO ledger_version VALUES ({number})")

    def _use_wal(self) -> None:
        with self._reading() as connection:
            connection.exec_driver_sql("ROLLBACK")  # the mode cannot change in a transaction
            mode = connection.exec_driver_sql("PRAGMA journal_mode = WAL").scalar_one()
            connection.exec_driver_sql("BEGIN")
        if mode != "wal":
            raise LedgerError(
                "this file system does not support SQLite's write-ahead log",
                where=database_name(self._url),
                hint="Put the ledger on a local disk, or use PostgreSQL.",
            )

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with explained(self._url), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with explained(self._url), self._writer.begin() as connection:
            yield connection


def _lock(connection: Connection, chain: str) -> None:
    """Hold the chain until the transaction ends; two names with one hash only wait for longer."""
    connection.execute(
        sa.text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"),
        {"name": f"repro-ledger:{chain}"},
    )


def _version(connection: Connection) -> int:
    if not sa.inspect(connection).has_table("ledger_version"):
        return 0
    return connection.exec_driver_sql("SELECT MAX(version) FROM ledger_version").scalar() or 0


def _altered(url: URL, chain: str, seq: object) -> IntegrityError:
    return IntegrityError(
        f"event {seq} of chain '{chain}' cannot be read: the ledger was altered",
        where=database_name(url),
        hint="Run `repro ledger verify` to see what was.",
    )


def _linked(head: Head, payload: Payload, at: datetime, actor: str) -> Event:
    try:
        return link(head, payload, at=at, actor=actor)
    except ValueError as error:
        raise LedgerError(
            "the event holds what is no JSON, such as NaN", where=payload.kind, hint=str(error)
        ) from error


def _read(row: sa.Row) -> Event:
    """The event in a row that spells it as it was appended. Raises ValueError.

    What is read is what the hash covers: no key stands twice, no NaN, nothing that is no UTF-8.
    """
    if not isinstance(row.payload, str):
        raise ValueError("the payload is no text")
    try:
        event = Event(**{**row._mapping, "payload": json.loads(row.payload)})
        spelled = canonical_json(event.payload).decode()
    except RecursionError as error:
        raise ValueError("the payload is nested too deeply") from error
    if time_text(event.at) != row.at or spelled != row.payload:
        raise ValueError("not in its one spelling")
    return event


def _unreadable(row: sa.Row) -> Event:
    raw = {name: str(value) for name, value in row._mapping.items()}
    return Event.model_construct(
        **raw
        | {
            "seq": row.seq,
            "schema_version": row.schema_version,
            "at": datetime.fromtimestamp(0, UTC),
            "payload": {"unreadable": raw},
        }
    )
