"""MLflow's side of `ledger.py`: the same experiment records into its SQLite store, by its own API.

Run by an interpreter that has MLflow, which need not have this project:
`python ledger_mlflow.py RECORDS.jsonl FOLDER WRITERS CALLS` prints one JSON object.
CALLS is `run` (a run per record: create, log, end) or `batch` (one `log_batch` per record into one
run per writer: the least that MLflow can do for a record, and no record of its own any more).
"""

import json
import multiprocessing
import sqlite3
import sys
import time
from pathlib import Path


def main(records_file: str, folder: str, writers: str, calls: str) -> None:
    from mlflow import __version__
    from mlflow.tracking import MlflowClient

    lines = Path(records_file).read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    database = Path(folder) / "mlflow.sqlite"
    uri = f"sqlite:///{database}"
    client = MlflowClient(uri)
    experiment = client.create_experiment("paper", artifact_location=str(Path(folder) / "files"))
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA journal_mode = WAL")  # synchronous = FULL is SQLite's default
    count = int(writers)
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(count + 1)
    args = [(uri, experiment, records[n::count], calls, barrier) for n in range(count)]
    pool = [context.Process(target=write, args=one) for one in args]
    for process in pool:
        process.start()
    barrier.wait()
    started = time.perf_counter()
    for process in pool:
        process.join()
    seconds = time.perf_counter() - started
    assert all(process.exitcode == 0 for process in pool)
    started = time.perf_counter()
    found = client.search_runs([experiment], max_results=1000)
    count_found, token = len(found), found.token
    while token:
        found = client.search_runs([experiment], max_results=1000, page_token=token)
        count_found, token = count_found + len(found), found.token
    reading = time.perf_counter() - started
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (metrics,) = connection.execute("SELECT COUNT(*) FROM metrics").fetchone()
    expected = sum(len(record["values"]) for record in records)
    result = {
        "version": __version__,
        "per_second": len(records) / seconds,
        "bytes_per_record": database.stat().st_size / len(records),
        "read_per_second": len(records) / reading,
        "runs_found": count_found,
        "metrics_missing": expected - metrics,
    }
    print(json.dumps(result))


def write(uri: str, experiment: str, records: list, calls: str, barrier) -> None:
    from mlflow.entities import Metric, Param
    from mlflow.tracking import MlflowClient

    client = MlflowClient(uri)
    whole = client.create_run(experiment) if calls == "batch" else None
    barrier.wait()
    for number, record in enumerate(records):
        now = int(time.time() * 1000)
        run = whole or client.create_run(experiment, run_name=record["experiment"])
        params = [
            Param(f"{name}{number}" if whole else name, str(value))
            for name, value in record.items()
            if name != "values"
        ]
        metrics = [Metric(name, value, now, number) for name, value in record["values"].items()]
        client.log_batch(run.info.run_id, metrics=metrics, params=params)
        if not whole:
            client.set_terminated(run.info.run_id)


if __name__ == "__main__":
    main(*sys.argv[1:])
