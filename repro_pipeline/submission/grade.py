"""Score a submission: the stages of a paper, with the submission as its code and fresh seeds.

The stages do what they do for any paper; what differs is named here. The code is the submission's;
the seeds are drawn now, whatever the task says; and the submission's own runs are repeated.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from repro_pipeline.agent.given_code import freeze_code
from repro_pipeline.bundle.folder import Bundle, open_bundle
from repro_pipeline.bundle.task import TaskCode
from repro_pipeline.claims.extract import extract_claims
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.environment.make import make_environment
from repro_pipeline.environment.manifest import make_manifest
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.errors import BundleError, UserError
from repro_pipeline.evidence.gather import gather_evidence
from repro_pipeline.evidence.model import Evidence, IntegrityEvidence
from repro_pipeline.experiment.campaign import Setting, run_kind
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.experiment.sealed import check_sealed
from repro_pipeline.experiment.seeds import submission_seeds
from repro_pipeline.forensics.submitted import Submission
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import ImplementationFrozen
from repro_pipeline.ledger.runs import ExperimentKind, RunSet
from repro_pipeline.probing.gather import gather_integrity
from repro_pipeline.project import Project
from repro_pipeline.reading.sources import read_agreeing
from repro_pipeline.scoring.model import Scores
from repro_pipeline.scoring.record import score_and_record
from repro_pipeline.stages import Ended, Row, Stage, Work, output_of, run_stage
from repro_pipeline.submission.folder import copy_code, open_submission

CODE = "submission"
"""The folder of the submitted code in the grader's copy of the bundle."""
_VERSION = "1"
_MAIN = {ExperimentKind.BASELINE, ExperimentKind.COMPARISON}
Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True)
class Graded:
    """What scoring a submission leaves."""

    submission: Submission
    scores: Scores
    evidence: Evidence


@dataclass(frozen=True)
class _Given:
    """What was read before anything ran."""

    bundle: Bundle
    claims: ReportedClaims
    data: DataManifest
    implementation: Implementation


def grade(
    project: Project, paper: str, bundle: Path, submission: Path, *, probe: bool = True
) -> Graded:
    """Score the submission in one folder against the bundle in another.

    `project` is a fresh one of the grader, whose secret nobody has seen; `paper` its name there. Code
    that is trusted already needs no `probe`: then integrity is what it is without evidence.
    Raises UserError where bundle or submission cannot be read, or there is no sandbox.
    """
    said = open_submission(submission)
    project.runner.enforcement()
    folder = project.bundle(paper)
    _assemble(bundle, submission, folder)
    with _named_as_given(bundle, folder):
        given = _read(project, paper, folder, project.config.seeds, said)
    desk = _Desk(project, paper)
    desk.keep(given)
    evidence = desk.run(given, said, probe=probe)
    scores = desk.judge(evidence)
    return Graded(said, scores, evidence)


def _assemble(bundle: Path, submission: Path, folder: Path) -> None:
    """The bundle with the submission as its code; nothing is written to what was given."""
    if not bundle.is_dir():
        raise BundleError("no such bundle.", where=str(bundle))
    if (bundle / CODE).exists():
        raise BundleError(
            f"holds a folder '{CODE}', which is where the submission is put.",
            where=str(bundle),
            hint="Give it another name.",
        )
    shutil.copytree(bundle, folder, symlinks=True)
    copy_code(submission, folder / CODE)


@contextmanager
def _named_as_given(bundle: Path, copy: Path) -> Iterator[None]:
    """Let errors name the files that were given, those of a submission by their places in it: the copy
    is the grader's, and may be gone when someone looks."""
    try:
        yield
    except UserError as error:
        parts = error.what, error.where, error.hint
        for here, there in ((f"{copy / CODE}/", ""), (str(copy), str(bundle))):
            parts = tuple(part.replace(here, there) for part in parts)
        error.what, error.where, error.hint = parts
        raise


def _read(project: Project, paper: str, folder: Path, count: int, said: Submission) -> _Given:
    opened = open_bundle(folder, paper=paper)
    claims = extract_claims(read_agreeing([folder / name for name in opened.sources]), opened.task)
    tree = project.store.put_tree(folder / CODE)
    known = {run.seed for run in said.runs} | {a.seed for a in said.attempts or ()}
    seeds = submission_seeds(project.secret, tree, count=count, known=known)
    task = opened.task.model_copy(
        update={"code": TaskCode(path=CODE), "outputs": (), "seeds": seeds}
    )
    bundle = opened.model_copy(update={"task": task, "has_code": True})
    data = make_manifest(task.data, folder, project.state / "data")
    check_sealed(task, data, folder)
    implementation = freeze_code(bundle, folder / CODE, claims, project.store)
    return _Given(bundle, claims, data, implementation)


@dataclass(frozen=True)
class _Desk:
    """Where one submission is scored, stage by stage."""

    project: Project
    paper: str

    def stage(self, name: str) -> Stage:
        return Stage(name, self.paper, self.project, launch="score")

    def do(self, name: str, work: Callable[[Stage], BaseModel | Ended]) -> Row:
        """Run a stage and leave its row in the ledger, whatever its end."""
        stage = self.stage(name)
        made = Work(depends_on=None, do=lambda: work(stage), blocked_by={})
        return run_stage(stage, version=_VERSION, prepare=lambda: made, reuse=False)

    def value(self, row: Row, model: type[Output]) -> Output | None:
        """What a stage left; None where it left nothing."""
        return output_of(self.project, row.event, model) if row.usable else None

    def keep(self, given: _Given) -> None:
        """Leave rows for what was read already."""
        self.do("paper_bundle", lambda stage: given.bundle)
        self.do("reported_claims", lambda stage: given.claims)
        self.do("data_manifest", lambda stage: given.data)
        self.do("implementation", lambda stage: given.implementation)
        self.stage("implementation").record(
            ImplementationFrozen(
                code_tree=given.implementation.code_tree,
                mode=given.implementation.mode,
                claims=digest(given.claims),
            )
        )

    def run(self, given: _Given, said: Submission, *, probe: bool) -> Evidence:
        """Everything that costs runs, and the evidence of it."""
        environment = self.value(self.do("environment", self._environment), BuiltEnvironment)
        sets: list[RunSet | None] = []
        integrity = None
        if environment is not None:
            setting = Setting(given.bundle, given.implementation, environment, given.data)
            kinds = {
                "baseline": _MAIN,
                "ablations": {ExperimentKind.ABLATION},
                "sensitivity": {ExperimentKind.SENSITIVITY},
            }
            for name, kind in kinds.items():
                row = self.do(name, lambda stage, kind=kind: run_kind(stage, kind, setting))
                sets.append(self.value(row, RunSet))
            if probe:
                row = self.do(
                    "integrity", lambda stage: _integrity(stage, setting, given, sets, said)
                )
                integrity = self.value(row, IntegrityEvidence)
        row = self.do(
            "experiment_ledger",
            lambda stage: gather_evidence(
                stage,
                given.bundle,
                given.claims,
                given.data,
                environment,
                given.implementation,
                sets,
                integrity,
            ),
        )
        return self.value(row, Evidence)

    def judge(self, evidence: Evidence) -> Scores:
        """The scores under the project's rubric."""
        scores = score_and_record(self.stage("scores"), evidence)
        self.do("scores", lambda stage: scores)
        return scores

    def _environment(self, stage: Stage) -> BuiltEnvironment:
        project = self.project
        return make_environment(
            stage.bundle_folder / CODE,
            None,
            store=project.store,
            cache=project.state / "environments",
            images=project.images,
        )


def _integrity(
    stage: Stage, setting: Setting, given: _Given, sets: Sequence[RunSet | None], said: Submission
) -> IntegrityEvidence | Ended:
    baseline, *varied = sets
    return gather_integrity(
        stage,
        setting,
        given.claims,
        baseline or RunSet(),
        [runs for runs in varied if runs],
        said,
    )
