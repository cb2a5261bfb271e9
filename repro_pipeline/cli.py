"""The `repro` command: thin; what it runs are the assets, on the instance that the UI shows.

Exit codes: 0 done; 1 a fault of the pipeline itself; 2 something that its user can mend (a sentence
says what); 3 no sandbox on this host; 130 interrupted, to be gone on with.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.schemas import FILES
from repro_pipeline.stage_names import STAGES

if TYPE_CHECKING:
    from repro_pipeline.project import Project

OK, FAULT, MENDABLE, NO_SANDBOX, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return options.command(options)
    except SandboxUnavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return NO_SANDBOX
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return MENDABLE
    except KeyboardInterrupt:
        print("Interrupted. The same command goes on where this one stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def init(options: argparse.Namespace) -> int:
    """Make a project."""
    from importlib.resources import as_file, files

    root = Path(options.folder).resolve()
    if (root / "repro.yaml").exists():
        raise UserError("there is a project already.", where=str(root))
    instance = root / ".repro" / "dagster"
    places = {
        "repro.yaml": root,
        "rubric.yaml": root,
        "workspace.yaml": root,
        "dagster.yaml": instance,
    }
    taken = [name for name, place in places.items() if (place / name).exists()]
    if taken:
        raise UserError(
            f"there is a {taken[0]} already, and it would be overwritten.",
            where=str(root),
            hint="Make the project in a folder of its own: `repro init FOLDER`.",
        )
    for folder in (root / "papers", instance):
        folder.mkdir(parents=True, exist_ok=True)
    with as_file(files("repro_pipeline") / "templates") as templates:
        for name, place in places.items():
            shutil.copyfile(templates / name, place / name)
    with (root / ".gitignore").open("a", encoding="utf-8") as ignored:
        ignored.write(".repro/\nreports/\n")
    print(f"Made a project in {root}. Add a paper with `repro add PATH`.")
    return OK


def add(options: argparse.Namespace) -> int:
    """Copy a bundle into the project, and make it a partition."""
    from assets.watch import register_papers
    from repro_pipeline.bundle.folder import open_bundle, paper_id_of

    project = _project()
    source = Path(options.path).resolve()
    paper = paper_id_of(options.id or source.name)
    target = project.bundle(paper)
    if target.exists():
        raise UserError(
            f"the project has a paper '{paper}' already.",
            where=str(target),
            hint="Give another id with --id, or edit that folder.",
        )
    if target.is_relative_to(source):
        raise UserError("a bundle cannot hold the project.", where=str(source))
    open_bundle(source, paper=paper)
    fresh = target.with_name(f".{paper}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(source, fresh, symlinks=True)
    fresh.rename(target)
    register_papers(_instance(project), project)
    print(f"Added {paper}. Reproduce it with `repro run {paper}`.")
    return OK


def run(options: argparse.Namespace) -> int:
    """Materialise the stages of papers, show the progress, sum up."""
    from repro_pipeline.bundle.folder import open_bundle, paper_id_of

    runner = "unsafe_local" if options.unsafe_local else None
    project = _project(runner)
    papers = _papers(project) if options.all else options.papers
    if not papers:
        raise UserError(
            "no paper to run.",
            hint="Name one (`repro run ID`), take `--all`, or add one with `repro add PATH`.",
        )
    if _runs_code(options.stage):
        project.runner.enforcement()
    codes = []
    for name in papers:
        paper = name.rstrip("/")
        try:
            open_bundle(project.bundle(paper_id_of(paper)))
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            codes.append(MENDABLE)
            continue
        codes.append(_run_one(project, paper, options.stage, runner))
    return FAULT if FAULT in codes else max(codes)


def status(options: argparse.Namespace) -> int:
    """How each paper stands."""
    from repro_pipeline.terminal import print_status

    project = _project()
    return print_status(project, options.papers or _papers(project))


def report(options: argparse.Namespace) -> int:
    """Print the claims and the path of the report, written anew from the store if it is gone."""
    from repro_pipeline.terminal import print_report

    return print_report(_project(), options.paper)


def log(options: argparse.Namespace) -> int:
    """The end of a run's log: of the latest run that failed, else of the latest."""
    from repro_pipeline.terminal import print_log

    return print_log(
        _project(),
        options.paper,
        experiment=options.experiment,
        seed=options.seed,
        lines=options.lines,
    )


def ui(options: argparse.Namespace) -> int:
    """Dagster's webserver and daemon for this project, until interrupted."""
    from assets.rubric import observe_if_changed
    from assets.watch import register_papers

    project = _project()
    instance = _instance(project)
    register_papers(instance, project)
    observe_if_changed(instance, project)
    command = [sys.executable, "-m", "dagster", "dev", "-w", str(project.root / "workspace.yaml")]
    command += ["-h", options.host, "-p", str(options.port)]
    print(f"starting http://{options.host}:{options.port}, ready in about 15 s (stop with Ctrl-C)")
    server = subprocess.Popen(command, env=_dagster_environment(project), start_new_session=True)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        return server.wait()
    except KeyboardInterrupt:
        return _end(server)


def ledger_show(options: argparse.Namespace) -> int:
    """The events of a paper."""
    from repro_pipeline.terminal import print_events

    return print_events(_project(), options.paper, kinds=options.kind, as_json=options.json)


def ledger_verify(options: argparse.Namespace) -> int:
    """Check every chain, against anchors where given."""
    from repro_pipeline.terminal import print_verification

    return print_verification(_project(), Path(options.anchor) if options.anchor else None)


def ledger_anchor(options: argparse.Namespace) -> int:
    """Print the head of every chain: kept elsewhere, it makes a rewritten chain evident."""
    project = _project()
    for chain in project.ledger.chains():
        print(project.ledger.head(chain).model_dump_json())
    return OK


def schema(options: argparse.Namespace) -> int:
    """Print the JSON schema of a file."""
    from repro_pipeline.schemas import json_schema

    print(json.dumps(json_schema(options.file), indent=2))
    return OK


def _run_one(project: Project, paper: str, stage: str | None, runner: str | None) -> int:
    """Launch one paper in this process, with the ledger's news on the terminal."""
    import dagster as dg

    from assets.rubric import observe_if_changed
    from assets.watch import register_papers
    from repro_pipeline.definitions import build_definitions
    from repro_pipeline.terminal import Progress, print_outcome, was_interrupted
    from resources.project import ProjectResource

    instance = _instance(project)
    register_papers(instance, project)
    observe_if_changed(instance, project)
    resource = ProjectResource(root=str(project.root), runner=runner)
    job = build_definitions(project.root, {"project": resource}).resolve_job_def("reproduce_paper")
    try:
        with Progress(project, paper):
            result = job.execute_in_process(
                instance=instance,
                partition_key=paper,
                asset_selection=[dg.AssetKey(name) for name in _upto(stage)],
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
                raise_on_error=False,
            )
    except dg.DagsterExecutionInterruptedError:
        raise KeyboardInterrupt from None
    if was_interrupted(project, paper, launch=result.run_id):
        raise KeyboardInterrupt
    return print_outcome(
        project,
        paper,
        launch=result.run_id,
        stages=_upto(stage),
        reused=_reused(result),
        faults={
            event.step_key: _innermost(event.step_failure_data.error).message
            for event in result.all_events
            if event.is_step_failure
        },
    )


def _innermost(error):
    """The error at the root of a chain of causes."""
    return _innermost(error.cause) if error.cause else error


def _reused(result) -> set[str]:
    """The stages of a launch that stood already, by the metadata of their materialisations."""
    made = [
        e.step_materialization_data.materialization
        for e in result.all_events
        if e.is_step_materialization
    ]
    return {
        one.asset_key.path[-1]
        for one in made
        if "reused" in one.metadata and one.metadata["reused"].value
    }


def _upto(stage: str | None) -> list[str]:
    """The stages up to and with `stage`; all, and the scoreboard, by default."""
    if stage is None:
        return [*STAGES, "scoreboard"]
    return list(STAGES[: STAGES.index(stage) + 1])


def _runs_code(stage: str | None) -> bool:
    return "implementation" in _upto(stage)


def _project(runner: str | None = None) -> Project:
    from resources.opening import locate_project, open_project

    start = os.environ.get("REPRO_PROJECT") or Path.cwd()
    return open_project(locate_project(Path(start)), runner=runner)


def _papers(project: Project) -> list[str]:
    folders = project.papers.iterdir() if project.papers.is_dir() else ()
    return sorted(path.name for path in folders if path.is_dir() and not path.name.startswith("."))


def _instance(project: Project):
    os.environ.update(_dagster_environment(project))
    import dagster as dg

    return dg.DagsterInstance.get()


def _dagster_environment(project: Project) -> dict[str, str]:
    home = project.state / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    return {
        **os.environ,
        "DAGSTER_HOME": str(home),
        "DAGSTER_DISABLE_TELEMETRY": "1",
        "REPRO_PROJECT": str(project.root),
    }


def _end(server: subprocess.Popen) -> int:
    """End the whole process group: politely, then not."""
    for sign, patience in ((signal.SIGINT, 15), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(server.pid, sign)
            server.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            break
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="repro", description="Reproduce the numbers of machine-learning papers."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(function, name: str, into=commands) -> argparse.ArgumentParser:
        text = function.__doc__
        made = into.add_parser(name, help=text.splitlines()[0].rstrip("."), description=text)
        made.set_defaults(command=function)
        return made

    command(init, "init").add_argument("folder", nargs="?", default=".")
    one = command(add, "add")
    one.add_argument(
        "path", help="a folder with paper.{tex,md,pdf,…} and, optionally, task.yaml, code/, …"
    )
    one.add_argument("--id", help="the paper's id; by default the folder's name")
    one = command(run, "run")
    one.add_argument("papers", nargs="*", metavar="ID")
    one.add_argument("--all", action="store_true", help="every paper of the project")
    one.add_argument("--stage", choices=STAGES, metavar="STAGE", help="run up to this stage")
    one.add_argument(
        "--unsafe-local",
        action="store_true",
        help="run the code WITHOUT a sandbox; it is recorded, and shown in the report",
    )
    command(status, "status").add_argument("papers", nargs="*", metavar="ID")
    command(report, "report").add_argument("paper", metavar="ID")
    one = command(log, "log")
    one.add_argument("paper", metavar="ID")
    one.add_argument("--experiment", help="only runs of this experiment")
    one.add_argument("--seed", type=int, help="only the run with this seed")
    one.add_argument("--lines", type=int, default=40, help="how many lines (default 40)")
    one = command(ui, "ui")
    one.add_argument("--port", type=int, default=3000)
    one.add_argument("--host", default="127.0.0.1")
    ledger = commands.add_parser("ledger", help="read and verify the ledger")
    parts = ledger.add_subparsers(required=True, metavar="COMMAND")
    one = command(ledger_show, "show", parts)
    one.add_argument("paper", metavar="ID")
    one.add_argument("--kind", action="append", default=[], help="only events of this kind")
    one.add_argument("--json", action="store_true", help="one JSON object per line")
    command(ledger_verify, "verify", parts).add_argument("--anchor", help="a file of chain heads")
    command(ledger_anchor, "anchor", parts)
    command(schema, "schema").add_argument("file", choices=FILES)
    return parser


if __name__ == "__main__":
    sys.exit(main())
