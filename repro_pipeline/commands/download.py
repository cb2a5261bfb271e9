"""`repro download`: a paper's data, by its code's own command and through an allowlist."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import MENDABLE, OK
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import UserError


def add_to(commands) -> None:
    """Add it to the parser."""
    command(commands, download, "download").add_argument("paper", metavar="ID")


def download(options: argparse.Namespace) -> int:
    """Bring the data files that a paper's task.yaml names and its folder lacks.

    The command of `download` runs in the sandbox. It reaches the hosts that the task allows, through
    a proxy outside, and nothing else; every request is recorded. It is the only code of a paper that
    ever does.
    """
    from repro_pipeline.environment.download import download as bring
    from repro_pipeline.environment.download import missing_files
    from repro_pipeline.experiment.tail import Tail
    from repro_pipeline.stages import Stage
    from resources.egress_proxy import EgressProxy

    project = opening.project_here()
    stage = Stage("download", options.paper, project, launch="repro download")
    task = _task(stage)
    if not missing_files(task, stage.bundle_folder):
        print("All data files that task.yaml names are there; nothing was asked.")
        return OK
    scratch = project.state / "scratch" / options.paper
    scratch.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        held.enter_context(project.locked(options.paper))
        for left in scratch.glob("download-*"):  # of a command that was killed
            shutil.rmtree(left, ignore_errors=True)
        place = held.enter_context(tempfile.TemporaryDirectory(prefix="download-", dir=scratch))
        finished = bring(
            stage,
            _step(stage, task),
            Path(place),
            EgressProxy,
            on_output=Tail("download", lambda line: print(line, flush=True), pause=0.2),
        )
    for file, sha256 in finished.files.items():
        print(f"{file}  sha256 {sha256}")
    print(f"{finished.requests} requests, {finished.bytes} bytes; `repro ledger` shows each.")
    if finished.reason:
        print(f"error: {finished.reason.sentence}", file=sys.stderr)
        return MENDABLE
    return OK


def _task(stage):
    from repro_pipeline.bundle.folder import open_bundle, paper_id_of

    bundle = open_bundle(stage.project.bundle(paper_id_of(stage.paper)))
    if bundle.task.download is None:
        raise UserError(
            "the task has no `download`.",
            where=f"{stage.paper}/task.yaml",
            hint="Say there which command brings the data, and from which hosts (docs/sandbox.md).",
        )
    return bundle.task


def _step(stage, task):
    from repro_pipeline.agent.mode import code_of, packages_for_agent
    from repro_pipeline.bundle.folder import open_bundle
    from repro_pipeline.environment.download import Step
    from repro_pipeline.environment.make import keep_to, make_environment
    from repro_pipeline.paper.literature import Exclusions
    from repro_pipeline.paper.model import Paper
    from repro_pipeline.stages import latest, output_of

    row = latest(stage.project, stage.paper, "parsed_paper")
    if row is None or row.output is None:
        raise UserError(
            "the paper was not read yet, so its authors' own code is not known and not excluded.",
            hint=f"Run `repro run {stage.paper} --stage parsed_paper` first.",
        )
    bundle = open_bundle(stage.bundle_folder)
    code = code_of(stage, bundle)
    if code is None:
        raise UserError("there is no code whose command could bring data.", where=stage.paper)
    cache = stage.project.state / "environments"
    paper = output_of(stage.project, row, Paper)
    built = make_environment(
        code,
        task.code,
        store=stage.project.store,
        cache=cache,
        also=packages_for_agent(stage, bundle),
        rules=keep_to(stage.project, task, paper),
        images=stage.project.images,
    )
    excluded = (*task.exclude, *Exclusions(paper, task.exclude).addresses)
    return Step(task, code, built, cache, tuple(dict.fromkeys(excluded)))
