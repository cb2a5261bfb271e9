"""`repro run`: the stages of papers, on the instance that the UI shows."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro_pipeline.commands import launches, opening
from repro_pipeline.commands.exits import FAULT, MENDABLE
from repro_pipeline.commands.interrupts import interruptible
from repro_pipeline.commands.parser import command
from repro_pipeline.commands.runner import add_runner
from repro_pipeline.errors import UserError
from repro_pipeline.stage_names import STAGES

if TYPE_CHECKING:
    from repro_pipeline.project import Project


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, run, "run")
    one.add_argument("papers", nargs="*", metavar="ID")
    one.add_argument("--all", action="store_true", help="every paper of the project")
    one.add_argument("--stage", choices=STAGES, metavar="STAGE", help="run up to this stage")
    add_runner(one)
    one.add_argument(
        "--agent",
        action="store_true",
        help="let models write the code, even where there is some (which they start from)",
    )
    launches.add_detach(one, several=True)
    session = one.add_mutually_exclusive_group()
    session.add_argument(
        "--record",
        metavar="FILE",
        type=Path,
        help="write all answers of models, earlier ones included, to a session file",
    )
    session.add_argument(
        "--replay",
        metavar="FILE",
        type=Path,
        help="let a recorded session answer in place of models; implies --agent",
    )


def run(options: argparse.Namespace) -> int:
    """Materialise the stages of papers, show the progress, sum up."""
    from repro_pipeline.background import Work

    how = {
        "runner": options.runner,
        "agent": options.agent,
        "replay": str(options.replay.absolute()) if options.replay else None,
    }
    project = opening.project_here(**how)
    papers = opening.papers_of(project) if options.all else options.papers
    if not papers:
        raise UserError(
            "no paper to run.",
            hint="Name one (`repro run ID`), take `--all`, or add one with `repro add PATH`.",
        )
    if len(papers) > 1 and (options.record or options.replay):
        raise UserError("a session is of one paper.", hint="Run one paper at a time with it.")
    if _runs_code(options.stage):
        project.runner.enforcement()
    papers = list(dict.fromkeys(name.rstrip("/") for name in papers))
    found = [paper for paper in papers if _opens(project, paper)]
    codes = [MENDABLE] if len(found) < len(papers) else []
    if options.detach and found:
        works = [Work(command=("run", paper, *_flags(options)), papers=(paper,)) for paper in found]
        return max([launches.detach(project, works, options.at_once), *codes])
    interruptible()
    for paper in found:
        try:
            codes.append(_run_one(project, paper, options.stage, how))
        finally:
            if options.record:
                _keep_session(project, paper, options.record)
    return FAULT if FAULT in codes else max(codes)


def _flags(options: argparse.Namespace) -> list[str]:
    """The flags of this command, for the process that does the work."""
    flags = ["--runner", options.runner] if options.runner else []
    flags += ["--agent"] if options.agent else []
    for name in ("stage", "record", "replay"):
        if value := getattr(options, name):
            flags += [f"--{name}", str(value.absolute() if name != "stage" else value)]
    return flags


def _opens(project: Project, paper: str) -> bool:
    """Whether a paper's folder is in order; says why where it is not."""
    from repro_pipeline.bundle.folder import open_bundle, paper_id_of

    try:
        open_bundle(project.bundle(paper_id_of(paper)))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return False
    return True


def _run_one(project: Project, paper: str, stage: str | None, how: Mapping[str, Any]) -> int:
    """Launch one paper in this process, with the ledger's news on the terminal."""
    import dagster as dg

    from assets.rubric import observe_if_changed
    from assets.watch import register_papers
    from repro_pipeline.background import Work, at_work
    from repro_pipeline.definitions import build_definitions
    from repro_pipeline.terminal import Progress, note_in_report, print_outcome, was_interrupted
    from resources.launches import BY_COMMAND, end_dead_launches, launch_lock
    from resources.project import ProjectResource

    instance = opening.instance_of(project)
    end_dead_launches(instance, project)
    register_papers(instance, project)
    observe_if_changed(instance, project)
    resource = ProjectResource(root=str(project.root), **how)
    job = build_definitions(project.root, {"project": resource}).resolve_job_def("reproduce_paper")
    try:
        with (
            opening.alone(project, launch_lock(paper), paper),
            at_work(project.state, Work(command=("run", paper), papers=(paper,))),
            Progress(project, paper),
        ):
            result = job.execute_in_process(
                instance=instance,
                partition_key=paper,
                tags=BY_COMMAND,
                asset_selection=[dg.AssetKey(name) for name in _upto(stage)],
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
                raise_on_error=False,
            )
    except dg.DagsterExecutionInterruptedError:
        note_in_report(project, paper)
        raise KeyboardInterrupt from None
    if was_interrupted(project, paper, launch=result.run_id):
        note_in_report(project, paper)
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


def _keep_session(project: Project, paper: str, path: Path) -> None:
    """Write all answers that the ledger holds of a paper's questions into a session's file."""
    from repro_pipeline.asking.session import recorded, write_session

    events = project.ledger.events(paper, kinds={"model_called"})
    write_session(recorded(events, project.store), path)
    print(f"session: {path}")


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
