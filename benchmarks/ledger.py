"""The ledger against MLflow's SQLite store and a plain table, with the same records and durability.

    python benchmarks/ledger.py                          # some minutes
    python benchmarks/ledger.py --full                   # 100,000 records, a million events: hours
    python benchmarks/ledger.py --mlflow VENV/bin/python # with MLflow, from an environment of its own

A record is one finished run of an experiment. Every record is one commit (for MLflow, as many as its
API makes) under SQLite's write-ahead log with `synchronous = FULL`. Prints Markdown, and with
`--json FILE` writes the numbers.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from repro_pipeline.frozen import canonical_json, digest
from repro_pipeline.ledger.chain import head_of, link, start, time_text, verify_chain
from repro_pipeline.ledger.events import AttemptFinished
from repro_pipeline.ledger.projections import State, advance, runs
from repro_pipeline.ledger.runs import Attempt
from resources.ledger_sql import EVENTS, SqlLedger

ACTOR = "code:benchmark"
OWN = 200
"""Events of the paper whose state is queried."""


def main() -> None:
    options = _options()
    report: dict = {"machine": machine(), "records": options.records}
    print(f"# Ledger benchmark\n\n{report['machine']}\n")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        report["append"] = append_table(Path(folder), options.records, options.mlflow)
        report["query"] = query_table(Path(folder), options.events)
        report["read"] = read_table(Path(folder), options.records)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def append_table(folder: Path, count: int, mlflow: Path | None) -> dict:
    """Records per second by 1 and 8 writers, one commit a record; interleaved, the median of 3."""
    records = [payload(number) for number in range(count)]
    sides: dict[str, Callable[[Path, int], dict]] = {
        "plain sqlite3 table": lambda place, n: measured(
            write_plain, read_plain, records, place, n
        ),
        "ledger, one chain": lambda place, n: measured(
            write_ledger, read_ledger, records, place, n
        ),
        "ledger, a chain each": lambda place, n: measured(
            write_chains, read_ledger, records, place, n
        ),
    }
    if mlflow:
        flat = [record.attempt.model_dump(mode="json") for record in records]
        for calls in ("run", "batch"):
            sides[f"MLflow, {calls}"] = lambda place, n, calls=calls: run_mlflow(
                mlflow, flat, place, n, calls
            )
    rounds: dict[str, dict[int, list[dict]]] = {name: {1: [], 8: []} for name in sides}
    for number in range(3):
        for name, side in sides.items():
            for writers in (1, 8):
                place = Path(tempfile.mkdtemp(dir=folder, prefix=f"{number}-"))
                rounds[name][writers].append(side(place, writers))
    middle = {
        name: {
            writers: sorted(tries, key=lambda one: one["per_second"])[1]
            for writers, tries in of_side.items()
        }
        for name, of_side in rounds.items()
    }
    floor = middle["plain sqlite3 table"]
    print(
        "| side | 1 writer, records/s | 8 writers, records/s | × floor (1, 8) "
        "| all read as runs, records/s | bytes/record |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, of_side in middle.items():
        one, eight = of_side[1]["per_second"], of_side[8]["per_second"]
        share = [of_side[n]["per_second"] / floor[n]["per_second"] for n in (1, 8)]
        size, read = of_side[1]["bytes_per_record"], of_side[1]["read_per_second"]
        print(
            f"| {name} | {one:.0f} | {eight:.0f} | {share[0]:.2f}, {share[1]:.2f} "
            f"| {read:.0f} | {size:.0f} |"
        )
    print()
    return {name: {str(n): tries for n, tries in of.items()} for name, of in rounds.items()}


def query_table(folder: Path, sizes: Sequence[int]) -> dict:
    """Seconds to read one paper's events and project its runs, among other papers' events."""
    place = folder / "query"
    place.mkdir()
    url = f"sqlite:///{place / 'ledger.sqlite'}"
    ledger = SqlLedger(url)
    for number in range(OWN):
        ledger.append("own", payload(number), actor=ACTOR)
    print(
        f"| events of other papers | one paper's {OWN} events read and projected, ms | head, ms |"
    )
    print("| ---: | ---: | ---: |")
    result, others = {}, 0
    for size in sizes:
        fill(place / "ledger.sqlite", others, size)
        others = size
        state = [timed(lambda: runs(ledger.events("own"))) for _ in range(15)]
        head = [timed(lambda: ledger.head("own")) for _ in range(15)]
        result[size] = {"state": median(state), "head": median(head)}
        print(f"| {size:,} | {median(state) * 1e3:.1f} | {median(head) * 1e3:.2f} |")
    chains = timed(ledger.chains)
    print(f"\nAll {len(ledger.chains()):,} chains are named in {chains * 1e3:.1f} ms.\n")
    ledger.close()
    return result


def read_table(folder: Path, count: int) -> dict:
    """Events per second verified, projected from nothing, and projected further."""
    place = folder / "read"
    place.mkdir()
    SqlLedger(f"sqlite:///{place / 'ledger.sqlite'}").close()
    fill(place / "ledger.sqlite", 0, count, per_chain=count)
    ledger = SqlLedger(f"sqlite:///{place / 'ledger.sqlite'}")
    verify = timed(lambda: verify_chain("other-0", ledger.stored("other-0")))
    rebuild = timed(lambda: runs(ledger.events("other-0")))
    state = advance(State(), ledger.events("other-0"))
    further = timed(lambda: advance(state, ledger.events("other-0", after=count - 10)))
    print(f"Of a chain of {count:,} events, per second: verified {count / verify:,.0f}, ", end="")
    print(f"projected {count / rebuild:,.0f}. The last 10 are added to a projection in ", end="")
    print(f"{further * 1e3:.1f} ms.")
    ledger.close()
    return {"verify": count / verify, "rebuild": count / rebuild, "further": further}


def payload(number: int) -> AttemptFinished:
    """A finished run, different for every number."""
    attempt = Attempt(
        run_key=digest(["run", number]),
        number=1,
        experiment=f"experiment-{number % 40}",
        kind="baseline",
        purpose="eval",
        seed=number,
        status="ok",
        exit_code=0,
        values={"twonorm-selection": 3.0 + number % 17 / 10, "twonorm-one-tree": 20.5},
        value_source="self_reported",
        started_at=datetime(2024, 5, 1, tzinfo=UTC),
        seconds=12.5,
        cpu_seconds=12.25,
        peak_memory_bytes=200_000_000,
        log=digest(["log", number]),
        outputs={"metrics.json": digest(["metrics", number])},
        limits={"network": "hard", "memory": "hard", "wall_clock": "watched"},
    )
    return AttemptFinished(attempt=attempt)


def measured(write: Callable, read: Callable, records: list, place: Path, writers: int) -> dict:
    """Writers start together; the time runs until the last has ended. Then all is read as runs."""
    path = place / "ledger.sqlite"
    write(path, [], 0)
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(writers + 1)

    def work(number: int) -> None:
        write(path, records[number::writers], number, barrier.wait)

    pool = [context.Process(target=work, args=(number,)) for number in range(writers)]
    for process in pool:
        process.start()
    barrier.wait()
    seconds = timed(lambda: [process.join() for process in pool])
    assert all(process.exitcode == 0 for process in pool)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (stored,) = connection.execute("SELECT COUNT(*) FROM events").fetchone()
    assert stored == len(records)
    reading = timed(lambda: read(path, len(records)))
    return {
        "per_second": len(records) / seconds,
        "read_per_second": len(records) / reading,
        "bytes_per_record": path.stat().st_size / len(records),
    }


def write_ledger(
    path: Path, records: list, number: int, ready: Callable = lambda: None, chain: str = "paper"
) -> None:
    ledger = SqlLedger(f"sqlite:///{path}")
    ledger.head(chain)
    ready()
    for record in records:
        ledger.append(chain, record, actor=ACTOR)
    ledger.close()


def write_chains(path: Path, records: list, number: int, ready: Callable = lambda: None) -> None:
    write_ledger(path, records, number, ready, f"paper-{number}")


def write_plain(path: Path, records: list, number: int, ready: Callable = lambda: None) -> None:
    """The floor: the record as JSON in a table with a key, no chain, no idempotency."""
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, record TEXT)")
    ready()
    for record in records:
        text = canonical_json(record.model_dump(mode="json")).decode()
        connection.execute("INSERT INTO events (record) VALUES (?)", (text,))
    connection.close()


def read_plain(path: Path, count: int) -> None:
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT record FROM events").fetchall()
    assert len([json.loads(record) for (record,) in found]) == count


def read_ledger(path: Path, count: int) -> None:
    ledger = SqlLedger(f"sqlite:///{path}")
    assert sum(len(runs(ledger.events(chain))) for chain in ledger.chains()) == count
    ledger.close()


def run_mlflow(python: Path, records: list, place: Path, writers: int, calls: str) -> dict:
    file = place / "records.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    script = Path(__file__).with_name("ledger_mlflow.py")
    command = [str(python), str(script), str(file), str(place), str(writers), calls]
    environment = os.environ | {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        sys.exit(f"MLflow failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def fill(path: Path, first: int, last: int, per_chain: int = 1000) -> None:
    """Events first to last of other papers, in one transaction: the reading is what is measured."""
    columns = [column.name for column in EVENTS.columns]
    marks = ", ".join("?" for _ in columns)
    with sqlite3.connect(path) as connection:
        head = None
        for number in range(first, last):
            chain = f"other-{number // per_chain}"
            if head is None or head.chain != chain:
                head = start(chain)
            event = link(head, payload(number), at=datetime.now(UTC), actor=ACTOR)
            head = head_of(event)
            row = event.model_dump() | {
                "at": time_text(event.at),
                "payload": canonical_json(event.payload).decode(),
            }
            values = [row[name] for name in columns]
            connection.execute(
                f"INSERT INTO events ({', '.join(columns)}) VALUES ({marks})", values
            )


def timed(work: Callable) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def machine() -> str:
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}, {platform.system()} {platform.release()}"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="100,000 records, up to 1M events")
    parser.add_argument("--records", type=int, help="records per side")
    parser.add_argument("--events", type=int, nargs="+", help="numbers of other papers' events")
    parser.add_argument("--mlflow", type=Path, help="the Python that has MLflow")
    parser.add_argument("--folder", type=Path, help="where the databases are made (a real disk)")
    parser.add_argument("--json", type=Path, help="write the numbers there")
    options = parser.parse_args()
    options.records = options.records or (100_000 if options.full else 400)
    sizes = [1000, 10_000, 100_000, 1_000_000] if options.full else [1000, 10_000]
    options.events = options.events or sizes
    return options


if __name__ == "__main__":
    main()
