"""Dagster's event log in SQLite with its connections kept, for a launch that writes thousands of events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

import sqlalchemy as sa
from dagster import DagsterInstance
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

_BUSY_SECONDS = 60
"""How long a statement waits for another process's, as in Dagster."""


@contextmanager
def connections_kept(instance: DagsterInstance) -> Iterator[None]:
    """Keep one connection to each of the log's files while the block runs; other logs are left alone.

    Dagster makes an engine and a connection for every statement, compiles each anew, and has SQLite
    write its log back at each close: most of what an event costs. What is written is the same, each in
    a transaction of its own.
    """
    log = instance.event_log_storage
    if not isinstance(log, SqliteEventLogStorage):
        yield
        return
    with ExitStack() as stack:

        @cache
        def engine(shard: str) -> sa.Engine:
            made = sa.create_engine(
                log.conn_string_for_shard(shard), connect_args={"timeout": _BUSY_SECONDS}
            )
            stack.callback(made.dispose)
            if shard not in log._initialized_dbs:
                log._initdb(made)
                log._initialized_dbs.add(shard)
            return made

        @contextmanager
        def connect(shard: str) -> Iterator[sa.Connection]:
            with log._db_lock, engine(shard).begin() as connection:
                yield connection

        for name, kept in {"_connect": connect, "has_table": cache(log.has_table)}.items():
            setattr(log, name, kept)
            stack.callback(delattr, log, name)
        yield
