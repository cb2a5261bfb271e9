"""What orchestration costs, as ratios within one run.

    python benchmarks/operations.py overhead [--repeat N]
    python benchmarks/operations.py papers [--papers N]
    python benchmarks/operations.py partitions [--count N]
    python benchmarks/operations.py launches [--count N]

`overhead`: the stages of a paper for which everything stands, so that next to nothing is done: called one
after the other without Dagster; materialised in memory; as a launch in one process; as a launch with a
process for each stage. `papers`: N papers by `repro run` at once, against one after another. `partitions`:
the webserver's answers with N papers registered and one stage of each materialised, against one paper.
`launches`: the memory of Dagster's standing processes while its queue takes N launches from the page,
eight papers in turn, each a stage that stands already.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

warnings.simplefilter("ignore")

from repro_pipeline.cli import main as repro  # noqa: E402
from tests.bundles import make_bundle  # noqa: E402

QUERIES = {
    "partitions of a stage": """{ assetNodeOrError(assetKey: {path: ["scores"]}) { ... on AssetNode {
        partitionStats { numMaterialized numPartitions } } } }""",
    "all keys": """{ assetNodeOrError(assetKey: {path: ["scores"]}) { ... on AssetNode {
        partitionKeysByDimension { partitionKeys } } } }""",
    "the graph": "{ assetNodes { assetKey { path } staleStatus assetMaterializations(limit: 1) { runId } } }",
    "latest launches": "{ runsOrError(limit: 25) { ... on Runs { results { runId status } } } }",
}

LAUNCH = """mutation Launch($params: ExecutionParams!) { launchRun(executionParams: $params) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on Error { message } } }"""
COUNT = "{ runsOrError(filter: {statuses: [%s]}) { ... on Runs { count } } }"
STANDING = {"daemon": "dagster._daemon", "webserver": "dagster_webserver", "code": "api grpc"}
"""What names each of Dagster's processes in its command line."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for function, option, default in (
        (overhead, "--repeat", 3),
        (papers, "--papers", 8),
        (partitions, "--count", 10_000),
        (launches, "--count", 200),
    ):
        one = commands.add_parser(function.__name__)
        one.add_argument(option, type=int, default=default, dest="number")
        one.set_defaults(function=function)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        quietly(lambda: repro(["init", str(root)]))
        os.chdir(root)
        os.environ["REPRO_PROJECT"] = str(root)
        options.function(root, options.number)


def overhead(root: Path, repeat: int) -> None:
    """Bare stages against three ways to launch them."""
    import dagster as dg

    from assets.stage import RECIPES
    from repro_pipeline.commands.opening import instance_of
    from repro_pipeline.definitions import STAGE_ASSETS, build_definitions
    from repro_pipeline.stage_names import STAGES
    from repro_pipeline.stages import Stage
    from resources.opening import open_project

    make_bundle(root / "papers" / "tiny")
    quietly(lambda: repro(["run", "tiny"]))
    project = open_project(root)
    instance = instance_of(project)
    resources = build_definitions(root).resources
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}

    def bare() -> None:
        for name in STAGES:
            RECIPES[name].run(Stage(name, "tiny", project, launch="bench"))

    def in_memory() -> None:
        with dg.DagsterInstance.ephemeral() as ephemeral:
            ephemeral.add_dynamic_partitions("papers", ["tiny"])
            result = dg.materialize(
                STAGE_ASSETS,
                partition_key="tiny",
                instance=ephemeral,
                resources=resources,
                run_config=quiet,
            )
            assert result.success

    def launched(job: Callable) -> None:
        with dg.execute_job(
            dg.reconstructable(job),
            instance=instance,
            tags={"dagster/partition": "tiny"},
            run_config=quiet,
        ) as result:
            assert result.success

    ways = {
        "bare stages": bare,
        "in memory": in_memory,
        "launch, one process": lambda: launched(one_process),
        "launch, a process each": lambda: launched(many_processes),
    }
    times = {name: [] for name in ways}
    for _ in range(repeat):  # in turn, so that a busy moment meets all
        for name, work in ways.items():
            times[name].append(timed(lambda work=work: quietly(work)))
    floor = statistics.median(times["bare stages"])
    print(f"{len(STAGES)} stages, {repeat} times each; medians")
    for name, found in times.items():
        taken = statistics.median(found)
        each = (taken - floor) / len(STAGES)
        print(f"{name:24}{taken:8.2f} s {taken / floor:8.1f} x bare   + {each:.2f} s a stage")


def one_process():
    """The job in one process."""
    return _job("one_process")


def many_processes():
    """The job with a process for each stage."""
    return _job("many_processes")


def _job(name: str):
    import dagster as dg

    from repro_pipeline.definitions import STAGE_ASSETS, build_definitions

    executor = dg.in_process_executor if name == "one_process" else dg.multiprocess_executor
    job = dg.define_asset_job(
        name, selection=dg.AssetSelection.assets(*STAGE_ASSETS), executor_def=executor
    )
    given = build_definitions()
    made = dg.Definitions(assets=given.assets, resources=given.resources, jobs=[job])
    return made.resolve_job_def(name)


def papers(root: Path, count: int) -> None:
    """Papers at once, against one after another."""
    names = [f"paper-{number}" for number in range(2 * count)]
    for name in names:
        make_bundle(root / "papers" / name, seeds=[1, 2, 3, 4, 5])
    make_bundle(root / "papers" / "first")
    quietly(lambda: repro(["run", "first"]))  # builds the environment that all share

    def start(paper: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "repro_pipeline.cli", "run", paper]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def one_by_one() -> None:
        assert all(start(name).wait() == 0 for name in names[:count])

    def at_once() -> None:
        running = [start(name) for name in names[count:]]
        assert all([process.wait() == 0 for process in running])

    after, together = timed(one_by_one), timed(at_once)
    print(f"{count} papers on {len(os.sched_getaffinity(0))} processors")
    print(f"one after another {after:7.1f} s")
    print(f"at once           {together:7.1f} s   {together / after:.2f} x")


def partitions(root: Path, count: int) -> None:
    """The webserver's answers with one paper and with many."""
    import dagster as dg

    from repro_pipeline.commands.opening import instance_of
    from resources.opening import open_project

    make_bundle(root / "papers" / "tiny")
    quietly(lambda: repro(["run", "tiny"]))
    instance = instance_of(open_project(root))

    def size() -> int:
        files = (root / ".repro" / "dagster").rglob("*")
        return sum(path.stat().st_size for path in files if path.is_file())

    with webserver("--read-only") as ask:
        before = {name: measured(ask, query) for name, query in QUERIES.items()}
        small = size()
        keys = [f"paper-{number}" for number in range(count)]
        registering = timed(lambda: instance.add_dynamic_partitions("papers", keys))
        reporting = timed(
            lambda: [
                instance.report_runless_asset_event(
                    dg.AssetMaterialization("scores", partition=key)
                )
                for key in keys
            ]
        )
        after = {name: measured(ask, query) for name, query in QUERIES.items()}
    print(f"{count} papers: registered in {registering:.1f} s, materialised in {reporting:.0f} s,")
    print(f"Dagster's tables grew by {(size() - small) / 1e6:.1f} MB")
    for name in QUERIES:
        print(
            f"{name:24}{before[name]:7.3f} s   {after[name]:7.3f} s   {after[name] / before[name]:.1f} x"
        )


def launches(root: Path, count: int) -> None:
    """The memory of Dagster's standing processes, launch by launch."""
    names = [f"paper-{number}" for number in range(8)]
    for name in names:
        make_bundle(root / "papers" / name)
        quietly(lambda name=name: repro(["run", name, "--stage", "paper_bundle"]))
    selector = {
        "repositoryName": "__repository__",
        "repositoryLocationName": "repro_pipeline",
        "pipelineName": "__ASSET_JOB",
        "assetSelection": [{"path": ["paper_bundle"]}],
    }
    with webserver() as ask:
        for number in range(count + 1):
            if number % max(count // 10, 1) == 0:
                while counted(ask, "QUEUED, NOT_STARTED, STARTING, STARTED"):
                    time.sleep(1)
                print(f"{number:6} launches", *standing(root), sep="   ", flush=True)
            if number < count:
                tags = [{"key": "dagster/partition", "value": names[number % len(names)]}]
                params = {
                    "selector": selector,
                    "mode": "default",
                    "executionMetadata": {"tags": tags},
                }
                made = ask(LAUNCH, params=params)["data"]["launchRun"]
                assert made.get("run"), made
        assert counted(ask, "SUCCESS") >= count


def counted(ask: Callable[..., dict], statuses: str) -> int:
    """How many launches there are with one of these statuses."""
    return ask(COUNT % statuses)["data"]["runsOrError"]["count"]


def standing(root: Path) -> list[str]:
    """The resident memory of each kind of Dagster's processes that stand for this project."""
    found = dict.fromkeys(STANDING, 0)
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(root).encode() not in (place / "environ").read_bytes():
                continue
            pages = int((place / "statm").read_text().split()[1])
            for name, mark in STANDING.items():
                if mark in line:
                    found[name] += pages * os.sysconf("SC_PAGE_SIZE")
    return [f"{name} {size / 2**20:6.1f} MiB" for name, size in found.items()]


@contextlib.contextmanager
def webserver(*options: str) -> Iterator[Callable[..., dict]]:
    """`repro ui` for the project here; what is yielded asks it by GraphQL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "repro_pipeline.cli", "ui", *options, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(query: str, **variables: object) -> dict:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/graphql",
            json.dumps({"query": query, "variables": variables}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            found = json.load(answer)
        assert "errors" not in found, found
        return found

    try:
        while True:
            try:
                ask("{ assetNodes { id } }")
                break
            except OSError:
                time.sleep(1)
        yield ask
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def measured(ask: Callable[[str], dict], query: str) -> float:
    """The median of five answers, in seconds, after one that fills caches."""
    ask(query)
    return statistics.median(timed(lambda: ask(query)) for _ in range(5))


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def quietly(work: Callable[[], object]) -> None:
    with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
        work()


if __name__ == "__main__":
    main()
