"""What a changed rubric costs: `repro rescore --stale` over many papers.

    python benchmarks/rescore.py [--papers 100 1000] [--project DIR]

`--project` holds one paper that was reproduced; by default the bundled example is, with one draw a seed.
Its chain is copied until there are as many papers: same events and artifacts, each under an id of its
own, with new hashes. Then two settings of the rubric change, and all papers are scored again by the
command, and once more with nothing to do. Prints wall-clock time, the highest memory of the process, and
how far ledger, store, Dagster's database and reports grew.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from repro_pipeline.frozen import canonical_json
from repro_pipeline.ledger.chain import head_of, link, start, time_text
from repro_pipeline.project import Project
from resources.ledger_sql import EVENTS
from resources.opening import open_project

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "random-forests-2001"
OF_A_PAPER = ("experiment_ledger", "scores")
"""Stages whose output names its paper."""
PARTS = {
    "ledger": ".repro/ledger.sqlite*",
    "store": ".repro/store",
    "dagster": ".repro/dagster",
    "reports": "reports",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--papers", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--project", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = options.project or one_paper(Path(folder) / "one")
        (paper,) = (place.name for place in (made / "papers").iterdir())
        print(
            "| papers | events each | rescore | a paper | of it CPU | nothing to do | memory | growth of |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for count in options.papers:
            root = Path(folder) / f"of-{count}"
            shutil.copytree(made, root, symlinks=True)
            print(row(root, paper, count), flush=True)
            shutil.rmtree(root)


def one_paper(root: Path) -> Path:
    """A project with the example reproduced, one draw a seed."""
    repro(root.parent, "init", str(root))
    copy = root / "papers" / EXAMPLE.name
    shutil.copytree(EXAMPLE, copy)
    for path in (copy / "code" / "configs").glob("*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "n_draws": 1}))
    repro(root, "run", EXAMPLE.name)
    return root


def row(root: Path, paper: str, count: int) -> str:
    """Copy, change the rubric, measure; one line of the table."""
    project = open_project(root)
    events = copied(project, paper, count - 1)
    project.ledger.close()
    rubric = root / "rubric.yaml"
    text = rubric.read_text().replace("threshold: 0.05", "threshold: 0.02")
    rubric.write_text(text.replace("no_leakage: {critical: true}", "no_leakage: {critical: false}"))
    before = sizes(root)
    cpu = cpu_seconds()
    seconds = timed(root, "rescore", "--stale")
    cpu = cpu_seconds() - cpu
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    after = sizes(root)
    again = timed(root, "rescore", "--stale")
    growth = ", ".join(
        f"{name} {(after[name] - before[name]) / 2**20:.0f} MiB (to {after[name] / 2**20:.0f})"
        for name in PARTS
    )
    return (
        f"| {count} | {events} | {seconds:.0f} s | {seconds / count:.2f} s | {cpu / count:.2f} s | "
        f"{again:.0f} s | {peak:.0f} MiB | {growth} |"
    )


def copied(project: Project, paper: str, count: int) -> int:
    """Copy a paper's chain under other ids, in bulk; the number of its events."""
    chain = list(project.ledger.events(paper))
    with project.ledger._engine.begin() as connection:
        for number in range(count):
            name = f"{paper}-{number:05d}"
            outputs = {
                event.payload["output"]: renamed(project, event.payload["output"], name)
                for event in chain
                if event.kind == "stage_finished" and event.payload["stage"] in OF_A_PAPER
            }
            head, rows = start(name), []
            for event in chain:
                text = json.dumps(event.payload)
                for old, new in outputs.items():
                    text = text.replace(old, new)
                payload = event.model_copy(update={"payload": json.loads(text)}).content
                new_event = link(head, payload, at=event.at, actor=event.actor)
                head = head_of(new_event)
                rows.append(
                    dict(new_event)
                    | {
                        "at": time_text(new_event.at),
                        "payload": canonical_json(new_event.payload).decode(),
                    }
                )
            connection.execute(EVENTS.insert(), rows)
    return len(chain)


def renamed(project: Project, output: str, paper: str) -> str:
    """A stored output that names its paper, under another name."""
    value = json.loads(project.store.get(output))
    return project.store.put(canonical_json({**value, "paper": paper}))


def sizes(root: Path) -> dict[str, int]:
    """Bytes of the parts of a project."""
    return {
        name: sum(
            file.stat().st_size
            for place in root.glob(pattern)
            for file in ([place] if place.is_file() else place.rglob("*"))
            if file.is_file()
        )
        for name, pattern in PARTS.items()
    }


def cpu_seconds() -> float:
    """Of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(root: Path, *arguments: str) -> float:
    """Wall-clock seconds of a command."""
    begun = time.perf_counter()
    repro(root, *arguments)
    return time.perf_counter() - begun


def repro(folder: Path, *arguments: str) -> None:
    """The command, silent unless it fails."""
    command = [sys.executable, "-m", "repro_pipeline.cli", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])


if __name__ == "__main__":
    main()
