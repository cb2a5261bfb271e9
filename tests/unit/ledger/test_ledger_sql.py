"""The ledger keeps what it acknowledged, once, in one unbroken chain, in either database."""

import itertools
import json
import sqlite3
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from children import fork, wait
from ledger_examples import NOON, assumption, attempt_pair, stage, warning

from repro_pipeline.errors import IntegrityError, LedgerError
from repro_pipeline.ledger import events as event_kinds
from repro_pipeline.ledger.chain import head_of, verify_chain
from repro_pipeline.ledger.events import SCHEMA, UPGRADES, Event
from resources import ledger_engine, ledger_sql
from resources.ledger_sql import MIGRATIONS, SqlLedger

ACTOR = "code:0.1.0"


def tamper(url: str, *statements: str) -> None:
    """Change the database behind the ledger's back, its guards removed."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("DROP TRIGGER IF EXISTS events_no_update")
            connection.exec_driver_sql("DROP TRIGGER IF EXISTS events_no_delete")
        else:
            connection.exec_driver_sql("DROP TRIGGER IF EXISTS events_append_only ON events")
        for statement in statements:
            connection.exec_driver_sql(statement.replace("%", "%%"))
    engine.dispose()


def test_what_is_appended_comes_back_in_order(ledger, url):
    payloads = [
        warning("first; quote ' and ü and 😀"),
        *attempt_pair(values={"error": 0.1 + 0.2, "tiny": 5e-324}),
        assumption("trees", 100),
        stage("parse", "l1"),
    ]
    appended = [ledger.append("forests", payload, actor=ACTOR) for payload in payloads]
    again = SqlLedger(url)
    assert list(again.events("forests")) == appended
    assert [event.content for event in again.events("forests")] == payloads
    assert [event.seq for event in appended] == [1, 2, 3, 4, 5]
    assert again.head("forests") == head_of(appended[-1])
    assert verify_chain("forests", again.stored("forests"), [head_of(appended[2])]) == ()
    again.close()


def test_a_key_that_stands_returns_its_event_and_writes_nothing(ledger):
    first = ledger.append("forests", warning("a"), actor=ACTOR)
    ledger.append("forests", warning("b"), actor=ACTOR)
    assert ledger.append("forests", warning("a"), actor="human:ada") == first
    assert len(list(ledger.events("forests"))) == 2
    assert ledger.append("other", warning("a"), actor=ACTOR).seq == 1


def test_chains_are_apart(ledger):
    assert ledger.chains() == ()
    assert ledger.head("b") is None
    for number, chain in enumerate(["b", "a", "_project", "b"]):
        ledger.append(chain, warning(str(number)), actor=ACTOR)
    assert sorted(ledger.chains()) == ["_project", "a", "b"]
    assert [event.payload["sentence"] for event in ledger.events("b")] == ["0", "3"]
    assert list(ledger.events("none")) == []


def test_events_of_some_kinds_and_after_a_number(ledger):
    for payload in [warning("a"), stage("parse", "l1"), warning("b"), stage("score", "l1")]:
        ledger.append("forests", payload, actor=ACTOR)
    kinds = {"stage_finished"}
    assert [event.seq for event in ledger.events("forests", kinds=kinds)] == [2, 4]
    assert [event.seq for event in ledger.events("forests", kinds=kinds, after=2)] == [4]
    assert [event.seq for event in ledger.events("forests", after=2)] == [3, 4]
    assert list(ledger.events("forests", after=4)) == []


@pytest.mark.parametrize("count", [19, 20, 21, 45])
def test_reading_goes_on_over_many_pages_while_others_write(ledger, url, count, monkeypatch):
    monkeypatch.setattr(ledger_sql, "PAGE", 20)
    other = SqlLedger(url)
    for number in range(count):
        ledger.append("forests", warning(str(number)), actor=ACTOR)
    reading = ledger.events("forests")
    first = next(reading)
    other.append("forests", warning("late"), actor=ACTOR)
    seen = [first.seq, *(event.seq for event in reading)]
    # An event appended while reading is seen if its page was not read yet.
    assert seen in (list(range(1, count + 1)), list(range(1, count + 2)))
    assert len(list(ledger.events("forests"))) == count + 1
    other.close()


def test_secrets_do_not_reach_the_database(ledger, url):
    secret = "ghp_" + "a1B2c3D4" * 5
    event = ledger.append("forests", warning(f"push with {secret} failed"), actor=ACTOR)
    assert event.payload["sentence"] == "push with [redacted] failed"
    assert ledger.append("forests", warning(f"push with {secret} failed"), actor=ACTOR) == event
    ledger.append("forests", warning("by whom"), actor=f"human:{secret}")
    assert secret not in json.dumps([e.model_dump(mode="json") for e in ledger.events("forests")])


def test_a_number_that_is_no_json_is_refused(ledger):
    started, _ = attempt_pair()
    bad = started.model_copy(update={"config": {"lr": float("nan")}})
    with pytest.raises(LedgerError, match=r"attempt_started.*JSON"):
        ledger.append("forests", bad, actor=ACTOR)
    assert ledger.head("forests") is None


def test_the_clock_may_go_backwards(url):
    times = itertools.chain([NOON], (NOON - timedelta(hours=n) for n in itertools.count(1)))
    ledger = SqlLedger(url, clock=lambda: next(times))
    appended = [ledger.append("forests", warning(str(n)), actor=ACTOR) for n in range(5)]
    assert [event.seq for event in ledger.events("forests")] == [1, 2, 3, 4, 5]
    assert appended[4].at < appended[0].at
    assert verify_chain("forests", ledger.stored("forests")) == ()
    ledger.close()


def test_times_are_kept_in_utc(url):
    local = datetime(2024, 5, 1, 12, tzinfo=UTC).astimezone(None)
    ledger = SqlLedger(url, clock=lambda: local)
    event = ledger.append("forests", warning("a"), actor=ACTOR)
    (read,) = ledger.events("forests")
    assert read == event
    assert read.at.utcoffset() == timedelta(0)
    ledger.close()


@pytest.mark.parametrize("statement", ["UPDATE events SET actor = 'x'", "DELETE FROM events"])
def test_the_database_refuses_to_change_or_remove(ledger, url, statement):
    ledger.append("forests", warning("a"), actor=ACTOR)
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with pytest.raises(sa.exc.DBAPIError, match="append-only"), engine.begin() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()
    assert len(list(ledger.events("forests"))) == 1


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE events SET actor = 'human:eve' WHERE seq = 2", [("changed", 2)]),
        (
            """UPDATE events SET payload = replace(payload, '"1"', '"7"') WHERE seq = 2""",
            [("changed", 2)],
        ),
        ("UPDATE events SET payload = ' ' || payload WHERE seq = 2", [("changed", 2)]),
        ("UPDATE events SET payload = 'no json' WHERE seq = 2", [("changed", 2)]),
        ("UPDATE events SET at = replace(at, 'Z', '+00:00') WHERE seq = 2", [("changed", 2)]),
        ("UPDATE events SET at = 'noon' WHERE seq = 2", [("changed", 2)]),
        ("UPDATE events SET hash = 'x' WHERE seq = 2", [("changed", 2)]),
        ("UPDATE events SET schema_version = schema_version - 1 WHERE seq = 2", [("changed", 2)]),
        ("UPDATE events SET chain = 'b' WHERE seq = 2", [("removed", 2)]),
        ("UPDATE events SET seq = 9 WHERE seq = 2", [("removed", 2), ("removed", 5), ("moved", 9)]),
        ("DELETE FROM events WHERE seq = 1", [("removed", 1)]),
        ("DELETE FROM events WHERE seq = 4", [("removed", 4)]),
        ("DELETE FROM events", [("removed", 1)]),
        (
            "INSERT INTO events SELECT chain, 5, kind, 'new', at, actor, schema_version, payload, "
            "prev, hash FROM events WHERE seq = 2",
            [("changed", 5)],
        ),
        (
            "INSERT INTO events SELECT chain, 0, kind, 'new', at, actor, schema_version, payload, "
            "prev, hash FROM events WHERE seq = 2",
            [("changed", 0)],
        ),
    ],
)
def test_whatever_is_done_behind_its_back_is_found(ledger, url, statement, found):
    for number in range(4):
        ledger.append("forests", warning(str(number)), actor=ACTOR)
    anchor = ledger.head("forests")
    tamper(url, statement)
    breaks = verify_chain("forests", ledger.stored("forests"), [anchor])
    assert [(item.kind, item.seq) for item in breaks] == found


def test_a_row_that_holds_no_event_is_not_read_as_one(ledger, url):
    ledger.append("forests", warning("a"), actor=ACTOR)
    tamper(url, "UPDATE events SET payload = 'no json'")
    with pytest.raises(IntegrityError, match=r"event 1 of chain 'forests'"):
        list(ledger.events("forests"))


def write_many(url: str, chain: str, writer: int, count: int) -> None:
    ledger = SqlLedger(url)
    for number in range(count):
        ledger.append(chain, warning(f"{writer}:{number}"), actor=ACTOR)
    ledger.close()


@pytest.mark.parametrize("chains", [("one",), ("a", "b", "c")])
@pytest.mark.parametrize("how", ["processes", "threads"])
def test_eight_writers_at_once_keep_unbroken_chains(url, chains, how):
    """The first of them also make the tables."""
    writers, count = 8, 25

    def work(writer: int) -> None:
        write_many(url, chains[writer % len(chains)], writer, count)

    if how == "processes":
        assert [wait(pid) for pid in [fork(lambda w=w: work(w)) for w in range(writers)]] == [
            0
        ] * writers
    else:
        threads = [threading.Thread(target=work, args=(w,)) for w in range(writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    ledger = SqlLedger(url)
    for chain in chains:
        events = list(ledger.stored(chain))
        assert verify_chain(chain, events) == ()
        said = [event.payload["sentence"] for event in events]
        mine = [w for w in range(writers) if chains[w % len(chains)] == chain]
        assert sorted(said) == sorted(f"{w}:{n}" for w in mine for n in range(count))
        for writer in mine:
            own = [s for s in said if s.startswith(f"{writer}:")]
            assert own == [f"{writer}:{n}" for n in range(count)]
    ledger.close()


def test_writers_of_the_same_events_write_each_once(url):
    """Two pipelines on one paper: both append the same keys in the same order."""
    pids = [fork(lambda: write_many(url, "forests", 0, 40)) for _ in range(4)]
    assert [wait(pid) for pid in pids] == [0] * 4
    ledger = SqlLedger(url)
    said = [event.payload["sentence"] for event in ledger.events("forests")]
    assert said == [f"0:{number}" for number in range(40)]
    assert verify_chain("forests", ledger.stored("forests")) == ()
    ledger.close()


def test_a_ledger_can_be_used_on_both_sides_of_a_fork(ledger):
    ledger.append("forests", warning("parent"), actor=ACTOR)

    def child() -> None:
        for number in range(20):
            ledger.append("forests", warning(f"child {number}"), actor=ACTOR)

    pid = fork(child)
    for number in range(20):
        ledger.append("forests", warning(f"parent {number}"), actor=ACTOR)
    assert wait(pid) == 0
    assert len(list(ledger.events("forests"))) == 41
    assert verify_chain("forests", ledger.stored("forests")) == ()


def test_a_ledger_of_a_newer_program_is_refused(ledger, url):
    tamper(url, f"INSERT INTO ledger_version VALUES ({len(MIGRATIONS) + 1})")
    with pytest.raises(LedgerError, match="Update repro-pipeline"):
        SqlLedger(url)


def test_an_event_of_an_older_schema_is_read_as_one_of_today(ledger, monkeypatch):
    event = ledger.append("forests", warning("a"), actor=ACTOR)
    old = {**event.payload, "text": event.payload["sentence"]}
    del old["sentence"]
    stored = event.model_copy(update={"payload": old})
    with pytest.raises(LedgerError, match=r"event 1 \(warning_recorded\)"):
        _ = stored.content
    monkeypatch.setattr(event_kinds, "SCHEMA", SCHEMA + 1)
    monkeypatch.setitem(
        UPGRADES,
        ("warning_recorded", SCHEMA),
        lambda payload: {
            **{k: v for k, v in payload.items() if k != "text"},
            "sentence": payload["text"],
        },
    )
    assert stored.content.sentence == "a"


def test_a_review_of_the_first_schema_was_not_blind():
    decided = {"kind": "review_decided", "claim": "error", "scores": "0" * 64}
    decided |= {"reviewer": "ada", "decision": "confirmed", "reason": "looked"}
    fields = {"chain": "forests", "seq": 1, "kind": "review_decided", "key": "review", "at": NOON}
    fields |= {"actor": "human:ada", "prev": "0" * 64, "hash": "0" * 64}
    old = Event(**fields, schema_version=1, payload=decided)
    assert old.content.blind is False
    with pytest.raises(LedgerError):
        _ = Event(**fields, schema_version=2, payload=decided).content


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("ledger.sqlite", "not a database URL"),
        ("mysql://localhost/x", "mysql"),
        ("sqlite://", "memory"),
        ("sqlite:///{tmp}/none/ledger.sqlite", "folder .*none does not exist"),
        ("sqlite:///{tmp}/text", "not a ledger"),
        ("sqlite:///{tmp}/what?/ledger.sqlite", "`\\?`"),
        ("sqlite:///{tmp}", "cannot be opened"),
        ("postgresql://u:hunter2hunter2@127.0.0.1:1/x", "refused"),
        ("postgresql+nodriver://127.0.0.1/x", "driver"),
    ],
)
def test_a_wrong_url_is_said_in_a_sentence_without_its_password(bad, said, tmp_path):
    if bad.startswith("postgresql://"):
        pytest.importorskip("psycopg")
    (tmp_path / "text").write_text("just text\n" * 200)
    with pytest.raises(LedgerError, match=said) as caught:
        SqlLedger(bad.format(tmp=tmp_path))
    assert "hunter2" not in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["what?", "50% #1", "file:x", "a b&c=d"])
def test_a_ledger_can_lie_in_a_folder_of_any_name(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    ledger = SqlLedger("sqlite:///ledger.sqlite", folder=folder)
    ledger.append("forests", warning("a"), actor=ACTOR)
    ledger.close()
    assert (folder / "ledger.sqlite").stat().st_size > 0
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_another_sqlite_database_is_not_taken_for_a_ledger_and_keeps_its_tables(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE events (mine TEXT)")
        connection.execute("INSERT INTO events VALUES ('kept')")
    with pytest.raises(LedgerError, match="already"):
        SqlLedger(f"sqlite:///{path}")
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT mine FROM events").fetchall() == [("kept",)]


def test_a_stage_that_ends_differently_within_a_launch_is_written_again(ledger):
    first = ledger.append("forests", stage("parse", "l1", content="x"), actor=ACTOR)
    slower = stage("parse", "l1", content="x").model_copy(update={"seconds": 9.0})
    assert ledger.append("forests", slower, actor=ACTOR) == first
    assert ledger.append("forests", stage("parse", "l1", content="y"), actor=ACTOR).seq == 2


def test_more_threads_than_a_pool_has_connections_can_use_one_ledger(ledger):
    append_in_threads(ledger, 30, lambda: None)


def test_threads_wait_for_a_connection_and_do_not_exhaust_the_server(postgres):
    """A PostgreSQL server takes 100 by default; all threads are kept from appending for a while."""
    psycopg = pytest.importorskip("psycopg")
    url = postgres.place()
    ledger = SqlLedger(url)
    with psycopg.connect(url.partition("?")[0]) as holder:
        name = "repro-ledger:forests"
        holder.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"

        def release() -> None:
            while holder.execute(waiting).fetchone()[0] < ledger_engine.CONNECTIONS:
                time.sleep(0.01)
            holder.rollback()

        append_in_threads(ledger, 120, release)
    ledger.close()


def append_in_threads(ledger: SqlLedger, count: int, meanwhile: Callable[[], None]) -> None:
    def work(writer: int) -> None:
        for number in range(2):
            ledger.append("forests", warning(f"{writer}:{number}"), actor=ACTOR)

    threads = [threading.Thread(target=work, args=(writer,)) for writer in range(count)]
    for thread in threads:
        thread.start()
    meanwhile()
    for thread in threads:
        thread.join()
    assert len(list(ledger.events("forests"))) == 2 * count
    assert verify_chain("forests", ledger.stored("forests")) == ()


@pytest.mark.parametrize(
    "payload",
    [
        '{"a": NaN}',
        '{"a": "\\ud800"}',
        '{"kind": "x", "kind": "y"}',
        "[" * 100_000,
        '{"a":' + "[" * 5000 + "]" * 5000 + "}",
    ],
    ids=["nan", "half a pair", "key twice", "open brackets", "deep"],
)
def test_a_payload_that_the_hash_cannot_cover_is_named_and_never_read(ledger, url, payload):
    for number in range(3):
        ledger.append("forests", warning(str(number)), actor=ACTOR)
    tamper(url, f"UPDATE events SET payload = '{payload}' WHERE seq = 2")
    breaks = verify_chain("forests", ledger.stored("forests"))
    assert [(item.kind, item.seq) for item in breaks] == [("changed", 2)]
    with pytest.raises(IntegrityError, match=r"event 2 of chain 'forests'"):
        list(ledger.events("forests"))


def test_a_head_that_is_none_is_said_to_whoever_reads_or_appends(ledger, url):
    ledger.append("forests", warning("a"), actor=ACTOR)
    tamper(url, "UPDATE events SET hash = 'x'")
    with pytest.raises(IntegrityError, match="event 1 of chain 'forests'"):
        ledger.head("forests")
    with pytest.raises(IntegrityError, match="event 1 of chain 'forests'"):
        ledger.append("forests", warning("b"), actor=ACTOR)


def remade(url: str, *statements: str) -> None:
    """The table as a forger may make it anew: without key, types and guards."""
    tamper(
        url,
        "CREATE TABLE copy AS SELECT * FROM events",
        "DROP TABLE events",
        "ALTER TABLE copy RENAME TO events",
        *statements,
    )


@pytest.mark.parametrize("last", [4, 5, 6, 10])
def test_an_event_that_shares_its_number_is_found_also_at_the_seam_of_pages(
    tmp_path, last, monkeypatch
):
    monkeypatch.setattr(ledger_sql, "PAGE", 5)
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    ledger = SqlLedger(url)
    for number in range(12):
        ledger.append("forests", warning(str(number)), actor=ACTOR)
    columns = "chain, seq, kind, 'new', at, actor, schema_version, payload, prev, hash"
    remade(url, f"INSERT INTO events SELECT {columns} FROM events WHERE seq = {last}")
    breaks = verify_chain("forests", ledger.stored("forests"))
    assert [(item.kind, item.seq) for item in breaks] == [("changed", last)]
    ledger.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET seq = 'x' WHERE seq = 2",
        "UPDATE events SET chain = CAST(chain AS BLOB)",
        "UPDATE events SET seq = 9223372036854775807 WHERE seq = 2",
        "UPDATE events SET seq = 1",
    ],
)
def test_what_a_remade_table_may_hold_is_said_in_a_sentence(tmp_path, statement, monkeypatch):
    monkeypatch.setattr(ledger_sql, "PAGE", 2)
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    ledger = SqlLedger(url)
    for number in range(2):
        ledger.append("forests", warning(str(number)), actor=ACTOR)
    remade(url, statement)
    with pytest.raises(LedgerError, match="damaged"):
        for chain in ledger.chains():
            list(ledger.stored(chain))
            ledger.append(chain, warning("more"), actor=ACTOR)
    ledger.close()


def test_an_event_of_a_newer_schema_is_not_taken_for_one_of_today(ledger):
    event = ledger.append("forests", warning("a"), actor=ACTOR)
    with pytest.raises(LedgerError, match="Update"):
        _ = event.model_copy(update={"schema_version": SCHEMA + 1}).content
