"""`repro bench`: agents and models compared on papers whose right values are known."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.commands.exits import MENDABLE, OK
from repro_pipeline.commands.parser import command, family
from repro_pipeline.commands.runner import add_execution, add_runner, execution
from repro_pipeline.commands.seeds import add_seeds
from repro_pipeline.errors import UserError
from repro_pipeline.places import resolved

if TYPE_CHECKING:
    from dagster import DagsterInstance
    from pydantic import BaseModel

    from assets.bench import BenchResource
    from repro_pipeline.bench.plan import Plan, TrialKey
    from repro_pipeline.bench.prove import Prover
    from repro_pipeline.bench.suite import Suite, SuiteTask
    from repro_pipeline.project import Project


def add_to(commands) -> None:
    """Add these to the parser."""
    bench = family(commands, "bench", "compare agents and models on papers with known values")
    for function, name in ((validate, "validate"), (measure, "measure")):
        one = command(bench, function, name)
        one.add_argument("suite", metavar="SUITE", type=Path)
        one.add_argument("--task", action="append", default=[], metavar="ID", help="only this one")
        add_seeds(one, "fresh seeds")
        one.add_argument("--keep", type=Path, metavar="DIR", help="leave the runs' projects there")
        one.add_argument("--json", action="store_true", help="print JSON")
        add_execution(one)
    one = command(bench, run, "run")
    one.add_argument("suite", metavar="SUITE", type=Path)
    one.add_argument("--out", required=True, type=Path, metavar="DIR", help="the results' folder")
    one.add_argument(
        "--agent",
        action="append",
        required=True,
        metavar="AGENT",
        help="loop, no-lineage, no-tests, no-planner, at-once, trivial, [NAME=]command:TEMPLATE; "
        "may be given several times",
    )
    one.add_argument(
        "--models",
        action="append",
        default=[],
        metavar="NAMES",
        help="a model for all roles, or ROLE=NAME,…; may be given several times; judge=NAME alone "
        "gives align scores to all",
    )
    one.add_argument("--cutoff", action="append", default=[], metavar="MODEL=YYYY-MM")
    one.add_argument("--config", type=Path, metavar="FILE", help="repro.yaml with the models")
    add_runner(one)
    one.add_argument("--repeats", type=int, default=1, metavar="N")
    one.add_argument("--task", action="append", default=[], metavar="ID", help="only this one")
    add_seeds(one, "the grader's", least=2)
    one.add_argument(
        "--budget", default="", metavar="LIMITS", help="of each trial: usd=1,tokens=200000,steps=30"
    )
    one.add_argument(
        "--ceiling", default="", metavar="LIMITS", help="of all trials: usd=20,tokens=…"
    )
    one.add_argument(
        "--allow", action="append", default=[], metavar="HOST", help="for command agents"
    )
    one.add_argument("--record", type=Path, metavar="DIR", help="keep each trial's session there")
    one.add_argument("--replay", type=Path, metavar="DIR", help="let recorded sessions answer")
    one = command(bench, card, "card")
    one.add_argument("results", metavar="DIR", type=Path, help="the results' folder")
    one.add_argument("--suite", type=Path, metavar="SUITE", help="where it lies now, if elsewhere")


def validate(options: argparse.Namespace) -> int:
    """Prove a suite: run every reference anew, and hold it against what is recorded.

    Exit code 2 where a task has a fault.
    """
    suite, tasks = _opened(options)
    with _folder(options, tasks) as folder:
        proofs = _prover(options, Path(folder)).prove(suite, tasks)
    if options.json:
        print(json.dumps([proof.model_dump(mode="json") for proof in proofs], indent=1))
    else:
        for proof in proofs:
            print(f"{proof.task}: {'holds' if proof.holds else 'DOES NOT HOLD'}")
            for fault in proof.faults:
                print(f"  fault: {fault}")
            for one in proof.fresh:
                if one.fault:
                    print(f"  fault: {one.where}: {one.claim} {one.fault}")
            for label in proof.labels:
                print(f"  not reached, as recorded: {label}")
    bad = [proof.task for proof in proofs if not proof.holds]
    if bad:
        print(f"{len(bad)} of {len(proofs)} tasks do not hold: {', '.join(bad)}.", file=sys.stderr)
        return MENDABLE
    return OK


def measure(options: argparse.Namespace) -> int:
    """Run references with fresh seeds, and print what a truth.yaml has to record of them."""
    suite, tasks = _opened(options)
    with _folder(options, tasks) as folder:
        prover = _prover(options, Path(folder))
        for task in tasks:
            print(f"# {task.id}")
            for one in prover.measure(suite, task).verdicts:
                print(
                    f"  - {{claim: {one.claim}, reported: recalled, mean: {one.mean!r}, "
                    f"sd: {one.sd!r}, n: {one.n}, verdict: {one.verdict}{_why(one.verdict)}}}"
                    f"  # {one.reported}"
                )
    return OK


def _why(verdict: str) -> str:
    return "" if verdict == "reproduced" else ', why: "…"'


def run(options: argparse.Namespace) -> int:
    """Run agents on a suite's tasks, grade what they leave, and keep a row for every trial.

    The same command goes on where it stopped; more agents, tasks or repeats can be added to results of
    the same conditions. Exit code 2 where trials could not be made.
    """
    from assets.bench import BenchResource, register_trials
    from repro_pipeline.bench.results import under_way, wait_for
    from repro_pipeline.commands.opening import instance_of

    suite, tasks = _opened(options)
    suite.check()
    project, plan = _planned(options, suite, [task.id for task in tasks])
    bench = BenchResource(
        root=str(project.root),
        replay=str(resolved(options.replay, where="--replay")) if options.replay else None,
    )
    instance = instance_of(project)
    register_trials(instance, plan)
    _say_budget(plan, options, suite)
    others = [key for key in plan.trials() if under_way(project, key)]
    mine = [key for key in plan.trials() if key not in others]
    made = [_try(instance, bench, key, options.record) for key in mine]
    others += [key for key, one in zip(mine, made, strict=True) if one is None]
    if others:
        print(f"{len(others)} trials are under way in another process; waiting.", flush=True)
    for key in others:
        made.append(None)
        while made[-1] is None:
            wait_for(project, key)
            made[-1] = _try(instance, bench, key, options.record)
    unmade = made.count(False)
    if unmade:
        print(f"{unmade} trials were not made; the same command goes on.", file=sys.stderr)
    _write_card(project, suite)
    return MENDABLE if unmade else OK


def _try(
    instance: DagsterInstance, bench: BenchResource, key: TrialKey, record: Path | None
) -> bool | None:
    """Make a trial's row, unless it stands; whether it stands now, None where another is at work."""
    from assets.bench import run_trial
    from repro_pipeline.bench.results import AtWork, ended, under_way

    project = bench.project()
    if key.name in ended(project):
        return True
    if under_way(project, key):
        return None
    print(f"{key.name} …", flush=True)
    try:
        run_trial(instance, bench, key)
    except AtWork:
        print("  another process was faster.")
        return None
    except UserError as error:
        print(f"  not made: {error}", file=sys.stderr)
        return False
    finally:
        if record:
            _keep_session(bench, key, record)
    _say(project, key)
    return True


def _say_budget(plan: Plan, options: argparse.Namespace, suite: Suite) -> None:
    """What a trial may use, and which of its limits the command line did not give."""
    given = dict(_pairs([part for part in options.budget.split(",") if part.strip()], "--budget"))
    known = suite.file.budget.model_dump(exclude_none=True)
    limits = [
        f"{name} {value:,.10g}{' s' if name == 'wall_clock' else ''}"
        + ("" if name in given else " (the suite's)" if known.get(name) == value else " (config)")
        for name, value in plan.budget.model_dump(exclude_none=True).items()
    ]
    print(f"Each trial may use: {', '.join(limits) or 'anything: there is no limit'}.")


def card(options: argparse.Namespace) -> int:
    """Write the card of a folder of results anew: card.html, card.md and card.json."""
    from repro_pipeline.bench.places import suite_link
    from repro_pipeline.bench.suite import open_suite
    from resources.opening import open_project

    if not (options.results / "repro.yaml").is_file():
        raise UserError("holds no results of `repro bench run`.", where=str(options.results))
    suite = options.suite or resolved(suite_link(options.results))
    _write_card(open_project(resolved(options.results)), open_suite(suite))
    return OK


def _write_card(project: Project, suite: Suite) -> None:
    from repro_pipeline.bench.pages import write_card
    from repro_pipeline.bench.results import planned, rows_of
    from repro_pipeline.bench.tally import card_of

    plan = planned(project)
    if suite.content != plan.suite_content:
        raise UserError(
            "is not the suite, or not the state of it, that the results are of.",
            where=str(suite.folder),
        )
    for path in write_card(card_of(plan, rows_of(project), suite), project.root):
        print(path)


def _planned(options: argparse.Namespace, suite: Suite, tasks: list[str]) -> tuple[Project, Plan]:
    from repro_pipeline.bench.places import outside, suite_link
    from repro_pipeline.bench.plan import Ceiling, Plan, judge_of, scoring_code
    from repro_pipeline.bench.results import keep_plan
    from repro_pipeline.bench.roster import contestants, make_agent
    from repro_pipeline.bundle.task import Budget
    from repro_pipeline.config import CONFIG_NAME, ProjectConfig
    from repro_pipeline.sandbox.policy import Limits
    from repro_pipeline.yamlfile import load_model

    given = _config(options)
    config = load_model(given, ProjectConfig) if given else ProjectConfig()
    runner = options.runner or config.runner
    if runner == "unsafe_local":
        raise UserError(
            "code that is compared runs in a sandbox: without one it reads the suite's answers.",
            where="--runner" if options.runner else f"{given}: runner",
        )
    judge, models = judge_of(options.models, config.models)
    named = contestants(
        options.agent, models, config.models, dict(_pairs(options.cutoff, "--cutoff"))
    )
    for one in named:
        make_agent(one, suite)
    budget = suite.file.budget.model_dump(exclude_none=True)
    budget |= config.budget.model_dump(exclude_none=True)
    budget |= _limits(options.budget, "--budget", Budget)
    plan = Plan(
        suite=suite.file.name,
        suite_version=suite.file.version,
        suite_content=suite.content,
        tasks=tuple(tasks),
        contestants=named,
        repeats=options.repeats,
        budget=Budget(**budget),
        limits=Limits(**config.limits.model_dump()),
        seeds=options.seeds,
        workers=config.workers,
        runner=runner,
        base=config.docker.base if runner == "docker" else None,
        allow=tuple(sorted({_host(name) for name in options.allow})),
        packages=suite.file.packages,
        judge=judge,
        ceiling=Ceiling(**_limits(options.ceiling, "--ceiling", Ceiling)),
        scoring_code=scoring_code(),
    )
    text = given.read_text(encoding="utf-8") if given else "schema: 1\n"
    project = _results(outside(options.out, "--out"), text)
    plan = keep_plan(project, plan)
    (project.root / CONFIG_NAME).write_text(text, encoding="utf-8")
    link = suite_link(project.root)
    link.unlink(missing_ok=True)
    link.symlink_to(resolved(suite.folder))
    return project, plan


def _host(text: str) -> str:
    from repro_pipeline.sandbox.egress import host_name

    try:
        return host_name(text)
    except ValueError as error:
        raise UserError(f"{error}.", where="--allow") from None


def _config(options: argparse.Namespace) -> Path | None:
    """The repro.yaml whose models and limits hold: --config, the project's here, the results' own."""
    from repro_pipeline.config import CONFIG_NAME, find_project

    if options.config is not None:
        return options.config
    here = find_project(Path.cwd()) or options.out
    return here / CONFIG_NAME if (here / CONFIG_NAME).is_file() else None


def _results(root: Path, config: str) -> Project:
    """The project that holds the results; made at the first call."""
    from importlib.resources import as_file, files

    from repro_pipeline.config import CONFIG_NAME
    from resources.opening import open_project

    instance = root / ".repro" / "dagster"
    instance.mkdir(parents=True, exist_ok=True)
    places = {"dagster.yaml": instance, "workspace.yaml": root, "rubric.yaml": root}
    with as_file(files("repro_pipeline") / "templates") as templates:
        for name, place in places.items():
            shutil.copyfile(templates / name, place / name)
    if not (root / CONFIG_NAME).exists():
        (root / CONFIG_NAME).write_text(config, encoding="utf-8")
    return open_project(root)


def _pairs(texts: Iterable[str], where: str) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise UserError(f"'{text}' is no NAME=VALUE.", where=where)
        yield name.strip(), value.strip()


def _limits(text: str, where: str, model: type[BaseModel]) -> dict[str, object]:
    """Limits as `usd=1,tokens=200000`, by the model's own reading. Raises UserError."""
    from pydantic import ValidationError

    given = dict(_pairs([part for part in text.split(",") if part.strip()], where))
    try:
        return model.model_validate(given).model_dump(exclude_none=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise UserError(
            f"{name}: {first['msg'].removeprefix('Value error, ')}.",
            where=f"{where} {text}",
            hint=f"Limits are {', '.join(model.model_fields)}.",
        ) from None


def _keep_session(bench: BenchResource, key: TrialKey, folder: Path) -> None:
    """Write what the models answered in a trial, so far as it came."""
    from repro_pipeline.asking.session import recorded, write_session
    from repro_pipeline.bench.places import JUDGING, WORK
    from repro_pipeline.config import CONFIG_NAME
    from resources.opening import open_project

    session = {}
    for root in (bench.bench().place(key) / name for name in (WORK, JUDGING)):
        if (root / CONFIG_NAME).is_file():
            project = open_project(root)
            calls = project.ledger.events(key.task, kinds={"model_called"})
            session |= recorded(calls, project.store)
    if session:
        write_session(session, folder.resolve() / f"{key.name}.jsonl")


def _say(project: Project, key: TrialKey) -> None:
    from repro_pipeline.bench.results import rows_of

    row = next(one for one in rows_of(project) if one.key == key)
    values = row.measures.values
    shown = ("verdict_accuracy", "fidelity", "success", "performance_gap")
    said = ", ".join(f"{name} {values[name]:.2f}" for name in shown if values[name] is not None)
    why = f" ({row.reason.sentence[:120]})" if row.reason else ""
    print(f"  {row.status}{why}; {said}; integrity {row.measures.integrity}", flush=True)


def _opened(options: argparse.Namespace) -> tuple[Suite, list[SuiteTask]]:
    from repro_pipeline.bench.suite import open_suite

    suite = open_suite(options.suite)
    return suite, [suite.task(name) for name in options.task or suite.file.tasks]


def _folder(options: argparse.Namespace, tasks: Iterable[SuiteTask]):
    from contextlib import nullcontext

    from repro_pipeline.bench.places import kept_in

    if options.keep is not None:
        return nullcontext(str(kept_in(options.keep, "--keep", [task.id for task in tasks])))
    return tempfile.TemporaryDirectory(prefix="repro-bench-")


def _prover(options: argparse.Namespace, folder: Path) -> Prover:
    from repro_pipeline.bench.prove import Prover
    from resources.opening import open_project
    from resources.user_cache import cache_folder

    return Prover(
        open_project, folder, cache_folder() / "environments", execution(options), options.seeds
    )
