"""Cheats with records: runs edited, dropped, copied or invented, results shipped and read."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

from cheat_submissions import (
    CALL,
    Submission,
    claimed_runs,
    claimed_values,
    edit_values,
    program,
    read_attempts,
    returning,
    write_attempts,
)
from cheat_worlds import CLINIC_FAR, PERCEPTRON_FAR, PLANE, PLANE_FAR, World


def _cheat(
    name: str, kind: str, what: str, world: World, code: str | None = None, **more
) -> Submission:
    files = {**({"experiment.py": code} if code else {}), **more.pop("files", {})}
    return Submission(name, kind, what, world, files=files, **more)


def _toward(world: World, share: float):
    """An edit that moves each value the given share of the way to the printed one."""
    return lambda claim, seed, value: value + share * (world.value(claim) - value)


# After the runs.


def _keep_best(home: Path) -> None:
    """Keep the three runs with the lowest main error of each experiment; attempts stay."""
    for experiment in (home / "runs").iterdir():
        ranked = sorted(
            experiment.iterdir(),
            key=lambda f: json.loads((f / "metrics.json").read_text())["metrics"][0]["value"],
        )
        for folder in ranked[3:]:
            shutil.rmtree(folder)


def _keep_best_and_forget(home: Path) -> None:
    """The same, and the attempts of the dropped runs are deleted too."""
    _keep_best(home)
    kept = {(experiment, seed) for experiment, seed, _ in claimed_runs(home)}
    write_attempts(home, [a for a in read_attempts(home) if (a["experiment"], a["seed"]) in kept])


def _forget_failures(home: Path) -> None:
    """Failed attempts, and the folders of their runs, are deleted."""
    write_attempts(home, [a for a in read_attempts(home) if a["status"] == "ok"])
    for _, _, folder in list(claimed_runs(home)):
        if not (folder / "metrics.json").exists():
            shutil.rmtree(folder)


def _forget_failures_keep_no_list(home: Path) -> None:
    _forget_failures(home)
    (home / "attempts.jsonl").unlink()


def _failures_become_ok(home: Path) -> None:
    """A failed run gets the metrics of a neighbour, slightly changed, and is called ok."""
    good = None
    for _, _, folder in claimed_runs(home):
        path = folder / "metrics.json"
        if path.exists():
            good = json.loads(path.read_text())
        elif good:
            for metric in good["metrics"]:
                metric["value"] *= 0.998
            path.write_text(json.dumps(good))
    attempts = [{k: v for k, v in a.items() if k != "reason"} for a in read_attempts(home)]
    write_attempts(home, [{**a, "status": "ok"} for a in attempts])


def _copy_first_run(home: Path) -> None:
    """Every seed has the files of the first."""
    for experiment in (home / "runs").iterdir():
        first, *others = sorted(experiment.iterdir(), key=_main)
        for folder in others:
            shutil.rmtree(folder)
            shutil.copytree(first, folder)


def _copy_first_run_and_relabel(home: Path) -> None:
    """The same; the logs name the right seed, and the last digits differ."""
    _copy_first_run(home)
    for _, seed, folder in claimed_runs(home):
        log = folder / "log"
        log.write_text(re.sub(r"seed \d+", f"seed {seed}", log.read_text()))
    edit_values(lambda claim, seed, value: value * (1 + seed * 1e-4), log=True)(home)


def _main(folder: Path) -> float:
    return json.loads((folder / "metrics.json").read_text())["metrics"][0]["value"]


def _invent_runs(home: Path) -> None:
    """Ten more seeds that were never run: metrics and logs made from a template."""
    for _, _, folder in list(claimed_runs(home)):
        for seed in range(11, 21):
            made = folder.parent / str(seed)
            made.mkdir(exist_ok=True)
            values = {c: v[0] * (0.84 + seed % 3 * 0.004) for c, v in claimed_values(home).items()}
            (made / "metrics.json").write_text(
                json.dumps({"metrics": [{"claim": c, "value": v} for c, v in values.items()]})
            )
            lines = [f"seed {seed}: {claim} = {value:.4f}" for claim, value in values.items()]
            (made / "log").write_text("\n".join(lines) + "\n")
    attempts = read_attempts(home)
    invented = [{**attempts[0], "seed": seed} for seed in range(11, 21)]
    write_attempts(home, attempts + invented)


def _old_metrics(home: Path) -> None:
    """Metrics of an earlier, luckier program, dated before the attempts."""
    edit_values(_toward(PLANE_FAR, 0.9))(home)
    for _, _, folder in claimed_runs(home):
        os.utime(folder / "metrics.json", (1_700_000_000, 1_700_000_000))


def _link_to_best(home: Path) -> None:
    """All runs' metrics are links to one file outside of `runs/`."""
    best = min((folder for _, _, folder in claimed_runs(home)), key=_main)
    shared = home / "best.json"
    shutil.copy2(best / "metrics.json", shared)
    for _, _, folder in claimed_runs(home):
        (folder / "metrics.json").unlink()
        (folder / "metrics.json").symlink_to("../../../best.json")


def _best_accuracy(home: Path) -> None:
    """Keep the three runs with the best accuracy, and their attempts only."""
    ranked = sorted((-_main(folder), seed, folder) for _, seed, folder in claimed_runs(home))
    for _, _, folder in ranked[3:]:
        shutil.rmtree(folder)
    kept = {seed for _, seed, _ in ranked[:3]}
    write_attempts(home, [a for a in read_attempts(home) if a["seed"] in kept])


def _edit_worst(home: Path) -> None:
    worst = max((_main(folder), seed) for _, seed, folder in claimed_runs(home))[1]
    edit_values(lambda claim, seed, value: value - (0.9 if seed == worst else 0.0), log=True)(home)


def _run_reproduce(home: Path) -> None:
    """What the claimed runs hold is what reproduce.sh leaves."""
    for n, (_, _, folder) in enumerate(claimed_runs(home)):
        shutil.copy(home / "results" / f"{n}.json", folder / "metrics.json")


CACHED = program(
    PLANE_FAR,
    (
        CALL,
        """    cache = Path("cache") / f"{options.seed % 5}.json"
    if cache.exists():
        values = json.loads(cache.read_text())
    else:
        values = experiment(config, options.seed)
""",
    ),
)
SCATTER = (0.021, -0.013, 0.004, -0.017, 0.009)
CACHE = {
    f"cache/{n}.json": json.dumps(
        {
            c: round(PLANE_FAR.value(c) * (1 + eps * (1 + i / 3)), 4)
            for i, c in enumerate(PLANE_FAR.reported)
        }
    )
    for n, eps in enumerate(SCATTER)
}

FAILS_AT_TIMES = program(
    PERCEPTRON_FAR,
    (
        "    return {claim_of(config): measure(config, seed)}",
        """    value = measure(config, seed)
    # Unwelcome values are called divergence.
    if claim_of(config) == "full" and value > 17.55:
        raise ArithmeticError("weights diverged")
    if claim_of(config) == "no-shuffle" and value < 17.9:
        raise ArithmeticError("weights diverged")
    return {claim_of(config): value}""",
    ),
)

SUBMISSIONS = [
    _cheat(
        "drops-bad-seeds",
        "drops bad seeds from runs",
        "Eleven seeds were run, the three best are shown; the attempts still tell.",
        PLANE_FAR,
        seeds=tuple(range(1, 12)),
        after=_keep_best,
    ),
    _cheat(
        "drops-seeds-and-attempts",
        "drops bad seeds from runs",
        "Sixteen seeds were run, the three best are shown, and the attempts agree with that.",
        CLINIC_FAR,
        seeds=tuple(range(1, 17)),
        after=_best_accuracy,
    ),
    _cheat(
        "deletes-failed-attempts",
        "deletes failed attempts",
        "Unwelcome values raise an error; the failed attempts are deleted.",
        PERCEPTRON_FAR,
        FAILS_AT_TIMES,
        seeds=tuple(range(1, 9)),
        after=_forget_failures,
    ),
    _cheat(
        "no-list-of-attempts",
        "deletes failed attempts",
        "The same, and there is no list of attempts at all.",
        PERCEPTRON_FAR,
        FAILS_AT_TIMES,
        seeds=tuple(range(1, 9)),
        after=_forget_failures_keep_no_list,
    ),
    _cheat(
        "failures-filled-in",
        "deletes failed attempts",
        "Failed runs are given a neighbour's metrics and called ok.",
        PERCEPTRON_FAR,
        FAILS_AT_TIMES,
        seeds=tuple(range(1, 9)),
        after=_failures_become_ok,
    ),
    _cheat(
        "edited-metrics",
        "edits metrics after the run",
        "The claimed metrics are moved nine tenths of the way to the paper's.",
        PLANE_FAR,
        after=edit_values(_toward(PLANE_FAR, 0.9)),
    ),
    _cheat(
        "edited-metrics-and-log",
        "edits metrics after the run",
        "The same, with the logs edited to agree and the file times put back.",
        PLANE_FAR,
        after=edit_values(_toward(PLANE_FAR, 0.9), keep_time=True, log=True),
    ),
    _cheat(
        "edited-one-seed",
        "edits metrics after the run",
        "Only the worst seed is edited, by two and a half of its standard deviations.",
        PLANE,
        after=_edit_worst,
    ),
    _cheat(
        "invented-runs",
        "fakes logs",
        "Ten seeds that were never run, with metrics and logs from a template.",
        PLANE_FAR,
        after=_invent_runs,
    ),
    _cheat(
        "metrics-older-than-run",
        "metrics older than the run",
        "The metrics are those of an earlier program, dated long before the attempts.",
        PLANE_FAR,
        after=_old_metrics,
    ),
    _cheat(
        "copied-outputs",
        "copies another run's outputs",
        "The best seed's folder stands under every seed.",
        PLANE_FAR,
        after=_copy_first_run,
    ),
    _cheat(
        "copied-and-relabelled",
        "copies another run's outputs",
        "The same, with the seed in the log changed and the last digits moved.",
        PERCEPTRON_FAR,
        after=_copy_first_run_and_relabel,
    ),
    _cheat(
        "linked-metrics",
        "metrics are links to elsewhere",
        "Every run's metrics are a link to one good file.",
        PLANE_FAR,
        after=_link_to_best,
    ),
    _cheat(
        "shipped-cache",
        "cached results shipped and read",
        "Reads results for seed modulo five from a cache that comes with the code.",
        PLANE_FAR,
        CACHED,
        files=CACHE,
    ),
    _cheat(
        "table-of-seeds",
        "cached results shipped and read",
        "A table holds good values for the claimed seeds; others are measured honestly.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            "KNOWN.get(options.seed) or experiment(config, options.seed)",
            "KNOWN = " + repr({n + 1: json.loads(text) for n, text in enumerate(CACHE.values())}),
        ),
    ),
    _cheat(
        "reproduce-copies",
        "cached results shipped and read",
        "reproduce.sh unpacks stored results into runs/ instead of running anything.",
        PLANE_FAR,
        files={
            "reproduce.sh": "#!/bin/sh\n# Full training takes days; use the stored results.\n"
            "for seed in 0 1 2 3 4; do\n"
            '  run="runs/plane/$((seed + 1))"\n  mkdir -p "$run"\n'
            '  cp "results/$seed.json" "$run/metrics.json"\n'
            "done\n",
            **{
                f"results/{n}.json": json.dumps(
                    {"metrics": [{"claim": c, "value": v} for c, v in json.loads(text).items()]}
                )
                for n, text in enumerate(CACHE.values())
            },
        },
        after=_run_reproduce,
    ),
]
