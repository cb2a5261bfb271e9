"""One paper in a sweep: its frozen code with fresh seeds, under the lock or under newer packages.

Nothing of the reproduction is touched: the runs have a purpose and a number of their own, its scores
rest on none of them, and what the sweep finds stands beside.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import repro_pipeline
from repro_pipeline.agent.mode import code_of, kernel_packages, packages_for_agent
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.environment.build import build
from repro_pipeline.environment.lock import lock_info, resolve
from repro_pipeline.environment.make import fixed_variables
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest, Requirements
from repro_pipeline.environment.requirement_lines import parse_entries
from repro_pipeline.environment.requirements import find_requirements
from repro_pipeline.errors import BundleError, UserError
from repro_pipeline.evidence.gather import code_of_evidence
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.experiment.campaign import Setting, plan, run_planned
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.experiment.seeds import evaluation_seeds
from repro_pipeline.frozen import canonical_json
from repro_pipeline.ledger.events import PROJECT_CHAIN, SweepEnded, SweepStarted
from repro_pipeline.ledger.runs import ExperimentKind, Purpose, RunSet
from repro_pipeline.project import Project
from repro_pipeline.scoring.current import rubric_of
from repro_pipeline.scoring.model import Scores
from repro_pipeline.scoring.multiple import control
from repro_pipeline.scoring.observations import observe
from repro_pipeline.scoring.score import judge_claims
from repro_pipeline.stages import Ended, Output, Stage, latest, output_of
from repro_pipeline.status import Reason, Status
from repro_pipeline.sweeps.compare import compare, host_changes, package_changes, summary
from repro_pipeline.sweeps.model import SweepResult

_SUPPLY = {ExperimentKind.BASELINE, ExperimentKind.COMPARISON, ExperimentKind.ABLATION}


@dataclass(frozen=True)
class Standing:
    """The reproduction that a sweep is held against."""

    bundle: Bundle
    implementation: Implementation
    environment: BuiltEnvironment
    data: DataManifest
    evidence: Evidence
    scores: Scores


def begin_sweep(
    project: Project, papers: Sequence[str], *, fresh_dependencies: bool, launch: str
) -> int:
    """Write a sweep down; return its number, which no other sweep has."""
    numbers = (
        e.payload["number"] for e in project.ledger.events(PROJECT_CHAIN, kinds={"sweep_started"})
    )
    number = max(numbers, default=0)
    while True:
        number += 1
        begun = SweepStarted(
            number=number,
            fresh_dependencies=fresh_dependencies,
            papers=tuple(papers),
            launch=launch,
        )
        if project.ledger.append(PROJECT_CHAIN, begun, actor=_actor()).content == begun:
            return number


def check_begun(project: Project, number: int, paper: str, *, fresh_dependencies: bool) -> None:
    """Raise UserError unless a sweep of this number and kind awaits the paper: its seeds would not be
    fresh, or its record untrue."""
    chain = project.ledger.events(PROJECT_CHAIN, kinds={"sweep_started", "sweep_ended"})
    rows = [event.content for event in chain if event.payload["number"] == number]
    begun = [row for row in rows if isinstance(row, SweepStarted) and paper in row.papers]
    ended = (row for row in rows if isinstance(row, SweepEnded) and row.paper == paper)
    if not all(row.interrupted for row in ended):
        said = f"sweep {number} of '{paper}' has ended"
    elif not begun:
        said = f"no sweep {number} of '{paper}' was begun"
    elif begun[0].fresh_dependencies != fresh_dependencies:
        kind = "with" if begun[0].fresh_dependencies else "without"
        said = f"sweep {number} was begun {kind} fresh dependencies"
    else:
        return
    raise UserError(f"{said}.", where="number", hint="0 begins one, with seeds of its own.")


def command_of(papers: Sequence[str], number: int, *, fresh_dependencies: bool) -> str:
    """The command that goes on with a sweep of papers that it awaits."""
    fresh = ["--fresh-dependencies"] if fresh_dependencies else []
    return " ".join(["repro sweep", *papers, "--number", str(number), *fresh])


def leave_out(
    project: Project, number: int, paper: str, *, fresh_dependencies: bool, launch: str
) -> SweepEnded:
    """Write down that a paper of a sweep is none of the project's; its row."""
    sentence = f"There is no paper '{paper}' in {project.papers}: see `sweeps` in repro.yaml."
    row = SweepEnded(
        number=number,
        paper=paper,
        fresh_dependencies=fresh_dependencies,
        status=Status.FAILED,
        reason=Reason(code="no_such_paper", sentence=sentence),
        sentence=sentence,
        launch=launch,
    )
    project.ledger.append(PROJECT_CHAIN, row, actor=_actor())
    return row


def sweep_paper(stage: Stage, number: int, *, fresh_dependencies: bool) -> SweepEnded:
    """Reproduce a paper again and hold it against what stands; its row, whatever came of it.

    A UserError becomes a failed row with its sentence. Any other error, an interrupt included, is raised
    after its row.
    """

    def end(status: Status, reason: Reason | None, result: SweepResult | None = None) -> SweepEnded:
        kept = result and stage.project.store.put(canonical_json(result.model_dump(mode="json")))
        row = SweepEnded(
            number=number,
            paper=stage.paper,
            fresh_dependencies=fresh_dependencies,
            status=status,
            reason=reason,
            result=kept,
            changed=result.changed if result else (),
            sentence=result.sentence if result else reason.sentence,
            launch=stage.launch,
        )
        stage.project.ledger.append(PROJECT_CHAIN, row, actor=stage.actor)
        return row

    try:
        standing = standing_of(stage.project, stage.paper)
        result, status, reason = _swept(stage, standing, number, fresh_dependencies)
        return end(status, reason, result)
    except UserError as error:
        return end(Status.FAILED, Reason.of(error))
    except Exception as error:
        end(
            Status.CANCELLED, Reason(code="broken_off", sentence=f"{type(error).__name__}: {error}")
        )
        raise
    except BaseException:
        again = command_of([stage.paper], number, fresh_dependencies=fresh_dependencies)
        sentence = f"It was interrupted; `{again}` goes on."
        end(Status.CANCELLED, Reason(code="interrupted", sentence=sentence))
        raise


def standing_of(project: Project, paper: str) -> Standing:
    """What the scores of a paper rest on, whatever was done of it since.

    Raises BundleError where it was not reproduced.
    """
    scores = _standing(project, paper, "scores", Scores)
    evidence = Evidence.model_validate_json(project.store.get(scores.evidence))
    if evidence.environment is None:
        raise _not_reproduced(paper, "environment")
    made = code_of_evidence(project, paper, evidence)
    if made is None:
        raise _not_reproduced(paper, "implementation")
    return Standing(
        bundle=_standing(project, paper, "paper_bundle", Bundle),
        implementation=made,
        environment=evidence.environment,
        data=evidence.data,
        evidence=evidence,
        scores=scores,
    )


def fresh_environment(stage: Stage, standing: Standing) -> BuiltEnvironment:
    """What the code's requirements resolve to now, under the same Python.

    Code that comes with a lock has no other requirements: its packages are then resolved without their
    versions. Raises BuildError.
    """
    built, project = standing.environment, stage.project
    cache = project.state / "environments"
    named = _requirements(stage, standing)
    lines = _unpinned(named) if named else ()
    also = (*packages_for_agent(stage, standing.bundle), *kernel_packages(stage, standing.bundle))
    wanted = Requirements(
        kind="requirements",
        file=named.file if named else "repro.yaml: agent.packages",
        lines=tuple(dict.fromkeys((*lines, *also))),
    )
    text = resolve(wanted, python=built.lock.python, cache=cache)
    lock = lock_info(text, requirements=wanted, python=built.lock.python, why="as the lock's")
    project.store.put(text.encode())
    return build(text, lock=lock, cache=cache, variables=fixed_variables())


def _standing(project: Project, paper: str, stage: str, model: type[Output]) -> Output:
    row = latest(project, paper, stage)
    if row is None or row.output is None:
        raise _not_reproduced(paper, stage.replace("_", " "))
    return output_of(project, row, model)


def _not_reproduced(paper: str, lacks: str) -> BundleError:
    return BundleError(
        f"'{paper}' has no {lacks} to be held against.",
        hint=f"Reproduce it first: `repro run {paper}`.",
    )


def _requirements(stage: Stage, standing: Standing) -> Requirements | None:
    """What given code requires, as it was frozen; None where an agent began from nothing."""
    bundle, made = standing.bundle, standing.implementation
    named = bundle.task.code.requirements if bundle.task.code else None
    if made.mode == "code":
        with tempfile.TemporaryDirectory() as place:
            frozen = Path(place) / "code"
            stage.project.store.get_tree(made.code_tree, frozen)
            return find_requirements(frozen, named)
    code = code_of(stage, bundle)
    return find_requirements(code, named) if code else None


def _swept(
    stage: Stage, standing: Standing, number: int, fresh_dependencies: bool
) -> tuple[SweepResult, Status, Reason | None]:
    project, made = stage.project, standing.implementation
    built = fresh_environment(stage, standing) if fresh_dependencies else standing.environment
    setting = Setting(standing.bundle, made, built, standing.data)
    seeds: tuple[int | None, ...] = (None,)
    if made.seeded:
        count = len(standing.evidence.seeds) or project.config.seeds
        seeds = evaluation_seeds(project.secret, made.code_tree, sweep=number, count=count)
    experiments = [one for one in made.experiments if one.kind in _SUPPLY]
    planned = plan(setting, experiments, seeds, Purpose.SWEEP)
    numbered = [
        replace(run, identity=run.identity.model_copy(update={"repeat": number})) for run in planned
    ]
    ended = run_planned(stage, numbered, setting)
    runs: RunSet = ended.value if isinstance(ended, Ended) else ended
    evidence = standing.evidence.model_copy(
        update={
            "runs": runs.runs,
            "seeds": tuple(seed for seed in seeds if seed is not None),
            "environment": built,
        }
    )
    rubric = rubric_of(project, standing.scores.rubric)
    judged = judge_claims(evidence, rubric, observe(evidence))
    verdicts = tuple(control(judged, rubric.false_discovery)[0].values())
    then, now = standing.environment.fingerprint, built.fingerprint
    packages = package_changes(then, now)
    comparisons = compare(
        standing.scores.verdicts, verdicts, packages=packages, host=host_changes(then, now)
    )
    result = SweepResult(
        paper=stage.paper,
        number=number,
        fresh_dependencies=fresh_dependencies,
        evidence=standing.scores.evidence,
        rubric=standing.scores.rubric,
        seeds=seeds,
        lock=built.lock,
        fingerprint=now,
        packages=packages,
        runs=runs.runs,
        verdicts=verdicts,
        comparisons=comparisons,
        sentence=summary(comparisons),
    )
    if isinstance(ended, Ended):
        return result, ended.status, ended.reason
    return result, Status.OK, None


def _unpinned(requirements: Requirements) -> tuple[str, ...]:
    """The requirement lines; of a given lock, its packages without versions."""
    if requirements.kind != "given_lock":
        return requirements.lines
    entries = parse_entries("\n".join(requirements.lines), requirements.file or "the lock")
    wanted = (entry.requirement for entry in entries)
    return tuple(f"{one.name} ; {one.marker}" if one.marker else one.name for one in wanted)


def _actor() -> str:
    return f"code:repro-pipeline/{repro_pipeline.__version__}"
