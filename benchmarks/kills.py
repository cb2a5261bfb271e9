"""Whole pipeline runs, killed with signal 9 at random moments and gone on with.

    python benchmarks/kills.py --runs 300            # some 2 s each on two cores
    python benchmarks/kills.py --runs 20 --seed 7    # the draws of an earlier one

`repro run` reproduces a tiny paper in a process of its own. It is killed some random number of events
after its start (with 0, even before its first) and some random time later, and started again, until it
comes to its end; then a new project begins. After each kill, and at each end: every event whose append
had returned is in the ledger, once; chains are whole; artifacts are whole and there; no run that had
finished was started again; and at the end the values are those of a project that
nobody disturbed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from repro_pipeline.cli import main as repro  # noqa: E402
from repro_pipeline.ledger.chain import verify_chain  # noqa: E402
from repro_pipeline.project import Project  # noqa: E402
from repro_pipeline.scoring.model import Scores  # noqa: E402
from repro_pipeline.stages import latest, output_of  # noqa: E402
from repro_pipeline.status import Status  # noqa: E402
from repro_pipeline.tree import missing_from  # noqa: E402
from resources.ledger_sql import SqlLedger  # noqa: E402
from resources.opening import open_project  # noqa: E402
from tests.bundles import make_bundle  # noqa: E402

PAPER = "tiny"
WORKERS = 2
EVENTS = 12
"""A kill waits for fewer events than this."""
SECONDS = 0.3
"""And at most for so long after the last of them."""

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        *("repro_pipeline.definitions", "repro_pipeline.terminal", "repro_pipeline.cli"),
        *("resources.ledger_sql", "resources.artifact_store", "sqlalchemy.dialects.sqlite"),
        *("pandas", "matplotlib.figure", "alembic.command", "dagster._daemon.daemon"),
    ]
)
"""Each command is a process of its own, forked from one that has loaded the libraries and no more."""


class Lost(AssertionError):
    """What must not happen did."""


@dataclass
class Tally:
    """What was done, and where the kills fell."""

    kills: int = 0
    projects: int = 0
    events: int = 0
    during: Counter[str] = field(default_factory=Counter)
    """Kills by the kind of the last event before."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300, help="how many kills")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"{options.runs} kills, seed {options.seed}", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tally = kill_and_go_on(Path(folder), options.runs, options.seed)
    seconds = time.monotonic() - started
    print(
        f"{tally.kills} kills in {tally.projects} projects and {seconds:.0f} s: {tally.events} events, "
        "none lost, none twice, every chain whole, no finished run started again."
    )
    for kind, count in tally.during.most_common():
        print(f"  {count:>4} after {kind}")


def kill_and_go_on(folder: Path, kills: int, seed: int) -> Tally:
    """Kill that many times, and bring every project to its end. Raises Lost."""
    chance = random.Random(seed)
    undisturbed = _values(_finished(_project(folder / "undisturbed")))
    tally = Tally()
    while tally.kills < kills:
        project = _project(folder / f"project-{tally.projects}")
        tally.projects += 1
        own = 0
        while tally.kills < kills and _killed(project, chance):
            tally.kills += 1
            own += 1
            last = list(project.ledger.events(PAPER))[-1:]
            tally.during[last[0].kind if last else "nothing"] += 1
            check(project, own)
        check(_finished(project), own)
        if _values(project) != undisturbed:
            raise Lost(f"{project.root}: other values than without a kill")
        tally.events += sum(1 for _ in project.ledger.events(PAPER))
    return tally


def check(project: Project, kills: int) -> None:
    """That nothing was lost, doubled, altered or done again. Raises Lost."""
    witness = project.root / "said"
    said = witness.read_text().splitlines() if witness.exists() else []
    chains = {chain: list(project.ledger.stored(chain)) for chain in project.ledger.chains()}
    kept = {f"{e.chain} {e.seq} {e.hash}" for events in chains.values() for e in events}
    if lost := set(said) - kept:
        raise Lost(f"{project.root}: acknowledged and not there: {sorted(lost)}")
    # What was written and not said: at most what each thread was at when it was killed.
    if kills and len(kept) - len(set(said)) > kills * (WORKERS + 1):
        raise Lost(f"{project.root}: {len(kept) - len(set(said))} events that nobody appended")
    for chain, events in chains.items():
        if len({event.key for event in events}) != len(events):
            raise Lost(f"{project.root}: an event stands twice in {chain}")
        if breaks := verify_chain(chain, events):
            raise Lost(f"{project.root}: {breaks}")
    if damaged := project.store.verify():
        raise Lost(f"{project.root}: damaged artifacts {damaged}")
    if missing := missing_from(project.ledger, project.store):
        raise Lost(f"{project.root}: missing artifacts {missing}")
    done: set[str] = set()
    for event in chains.get(PAPER, []):
        if event.kind == "attempt_started" and event.payload["run_key"] in done:
            raise Lost(f"{project.root}: event {event.seq} starts a run that had finished")
        if event.kind == "attempt_finished" and event.payload["attempt"]["status"] == Status.OK:
            done.add(event.payload["attempt"]["run_key"])


def _project(root: Path) -> Project:
    repro(["init", str(root)])
    seeds = list(range(1, 6))
    make_bundle(root / "papers" / PAPER, seeds=seeds, behaviour="slow", settings={"sleep": 0.1})
    with (root / "repro.yaml").open("a") as file:
        file.write(f"workers: {WORKERS}\n")
    return open_project(root)


def _killed(project: Project, chance: random.Random) -> bool:
    """Start the command and kill it at a random moment; False where it ended before."""
    head = project.ledger.head(PAPER)
    target = (head.seq if head else 0) + chance.randrange(EVENTS)
    delay = chance.uniform(0, SECONDS)
    process = _started(project)
    while process.is_alive():
        head = project.ledger.head(PAPER)
        if (head.seq if head else 0) >= target:
            process.join(delay)
            process.kill()
            break
        time.sleep(0.005)
    process.join()
    if process.exitcode != -signal.SIGKILL:
        _ended_well(project, process)
    return process.exitcode == -signal.SIGKILL


def _finished(project: Project) -> Project:
    process = _started(project)
    process.join()
    _ended_well(project, process)
    return project


def _ended_well(project: Project, process: BaseProcess) -> None:
    if process.exitcode:
        path = project.root / "output"
        output = path.read_text() if path.exists() else ""
        raise Lost(f"`repro run` ended with {process.exitcode}: {output[-3000:]}")


def _started(project: Project) -> BaseProcess:
    process = CONTEXT.Process(target=_command, args=(project.root,))
    process.start()
    return process


def _command(root: Path) -> None:
    """The command, saying of each event that its append returned: by one write, which no kill tears."""
    output = os.open(root / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    said = os.open(root / "said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    append = SqlLedger.append

    def witnessed(self, chain, payload, *, actor):
        event = append(self, chain, payload, actor=actor)
        os.write(said, f"{event.chain} {event.seq} {event.hash}\n".encode())
        return event

    SqlLedger.append = witnessed
    os.chdir(root)
    os.environ["REPRO_PROJECT"] = str(root)
    os.environ.pop("DAGSTER_HOME", None)
    sys.exit(repro(["run", PAPER]))


def _values(project: Project) -> dict[str, dict[str, float]]:
    scores = output_of(project, latest(project, PAPER, "scores"), Scores)
    return {verdict.claim: verdict.values for verdict in scores.verdicts}


if __name__ == "__main__":
    main()
