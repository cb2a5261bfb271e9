"""`repro corebench`: run a CORE-Bench capsule, answer its questions from the output, and score them."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import repro_pipeline
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command, family
from repro_pipeline.errors import UserError
from repro_pipeline.places import resolved

if TYPE_CHECKING:
    from repro_pipeline.corebench.run import CapsuleRun
    from repro_pipeline.corebench.score import AnswerGiven, TaskScore
    from repro_pipeline.imports.capsule import CoreTask

_DIFFICULTIES = ("easy", "medium", "hard")


def add_to(commands) -> None:
    """Add these to the parser."""
    corebench = family(commands, "corebench", "run a CORE-Bench capsule; score answers by its rule")
    one = command(corebench, run, "run")
    one.add_argument("--capsule", type=Path, required=True, metavar="DIR", help="with code/, data/")
    _task_options(one)
    one.add_argument(
        "--difficulty",
        choices=_DIFFICULTIES,
        default="medium",
        help="easy: answer from its results as they are; medium: run its run script; hard: run --command",
    )
    one.add_argument("--command", dest="typed", metavar="TEXT", help="what is typed in code/")
    one.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="where answers stand (`repro schema answers.yaml`)",
    )
    one.add_argument(
        "--reader",
        action="store_true",
        help="ask this project's reader model about questions without a mapping; it must quote",
    )
    one.add_argument("--timeout", default="1h", metavar="TIME", help="of the run (default 1h)")
    one.add_argument("--out", type=Path, metavar="DIR", help="keep results and log in a new folder")
    one = command(corebench, score, "score")
    _task_options(one)
    one.add_argument(
        "--report", type=Path, required=True, metavar="FILE", help="JSON: question → answer"
    )


def _task_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tasks", type=Path, required=True, metavar="FILE", help="core_tasks.json")
    parser.add_argument("--id", metavar="CAPSULE", help="by default the capsule's folder name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Run a capsule's code in the sandbox, answer its task's questions, and score the answers.

    A question is answered by a mapping, or by a reader model that quotes the output; any other stays
    unanswered, which is said and counts as not right.
    """
    from repro_pipeline.corebench.answers import AnswersFile, by_mapping
    from repro_pipeline.corebench.score import score_task
    from repro_pipeline.imports.capsule import check_capsule, read_tasks, task_for
    from repro_pipeline.yamlfile import load_model

    task = task_for(read_tasks(options.tasks), options.id, options.capsule)
    check_capsule(options.capsule)
    if resolved(options.tasks).is_relative_to(resolved(options.capsule)):
        raise UserError(
            "lies in the capsule, so what is run, and who reads its results, could see what is right.",
            where=f"--tasks {options.tasks}",
            hint="Put it elsewhere.",
        )
    mappings = load_model(options.answers, AnswersFile).answers if options.answers else ()
    if options.out and options.out.exists():
        raise UserError("is there already.", where=f"--out {options.out}", hint="Name a new one.")
    questions = list(task.results[0])
    by_mapping(mappings, questions, {})  # a fault of theirs is told before the run
    ended, texts, notes = _outputs(options)
    answers = by_mapping(mappings, questions, texts)
    if options.reader:
        left = [one for one in questions if one not in answers or answers[one].value is None]
        read, told = _read(left, task, texts)
        answers |= read
        notes += told
    scored = score_task(task.capsule_id, task.results, answers)
    _print(options, task, scored, ended, notes)
    return OK


def score(options: argparse.Namespace) -> int:
    """Score a report of answers that something else wrote."""
    from repro_pipeline.corebench.score import AnswerGiven, score_task
    from repro_pipeline.imports.capsule import read_tasks, task_for
    from repro_pipeline.jsonfile import read_json

    task = task_for(read_tasks(options.tasks), options.id, None)
    try:
        text = options.report.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}.", where=str(options.report)) from None
    report = read_json(text, str(options.report))
    if not isinstance(report, dict):
        raise UserError("is no mapping of question to answer.", where=str(options.report))
    answers, notes = {}, []
    for question, value in report.items():
        if question not in task.results[0]:
            notes.append(f"The report answers what is not asked: {question}")
            continue
        try:
            answers[question] = AnswerGiven(value=value, by="report")
        except ValueError:
            answers[question] = AnswerGiven(by="nobody", why="It is no number, text or list.")
    _print(options, task, score_task(task.capsule_id, task.results, answers), None, notes)
    return OK


def _outputs(
    options: argparse.Namespace,
) -> tuple[CapsuleRun | None, dict[str, str], list[str]]:
    """How the run ended (None: nothing was run), the texts it left, and what must be said."""
    from repro_pipeline.corebench.run import collect, run_capsule
    from repro_pipeline.imports.capsule import absolute_results, run_command
    from resources.artifact_store import FsspecArtifactStore
    from resources.runners import make_runner

    with tempfile.TemporaryDirectory(prefix="repro-corebench-") as place:
        store = FsspecArtifactStore(place)
        if options.difficulty == "easy":
            results = options.capsule / "results"
            if not results.is_dir() or results.is_symlink():
                raise UserError("has no folder results/.", where=str(options.capsule))
            texts, _ = collect(results, store)
            return None, texts, ["Nothing was run: the answers are of results as they were given."]
        words = run_command(options.capsule, options.typed, options.difficulty)
        runner = make_runner("bubblewrap")
        runner.enforcement()
        python, mounts, notes = _environment(options, words, store)
        ended, texts = run_capsule(
            options.capsule,
            words,
            runner,
            seconds=_seconds(options.timeout),
            python=python,
            mounts=mounts,
            store=store,
            keep=options.out,
        )
    if ended.status != "ok":
        notes.append("The run did not end well: what it left before that is all there is.")
    places = absolute_results(options.capsule)
    if places:
        notes.append(
            f"{', '.join(places[:5])} names /results, which a run here does not have: it is ../results."
        )
    return ended, texts, notes


def _environment(options: argparse.Namespace, words: Sequence[str], store):
    """The interpreter, what it lies in, and what must be said of it."""
    from repro_pipeline.bundle.task import TaskCode
    from repro_pipeline.environment.build import environment_mounts, host_python
    from repro_pipeline.environment.languages import notes_on, programs_needed
    from repro_pipeline.environment.make import make_environment
    from repro_pipeline.environment.requirements import find_requirements
    from repro_pipeline.imports.capsule import container_packages
    from resources.user_cache import cache_folder

    code, cache = options.capsule / "code", cache_folder() / "environments"
    typed = [*words, *(name for name in ("run", "run.sh") if (code / name).is_file())]
    notes = notes_on(programs_needed(code, typed if not options.typed else words))
    hard = options.difficulty == "hard"  # there the capsule's environment is not used either
    packages, python, others = ([], None, []) if hard else container_packages(options.capsule)
    with tempfile.TemporaryDirectory(prefix="repro-corebench-env-") as place:
        asked = code
        if packages:
            asked = Path(place)
            (asked / "requirements.txt").write_text("\n".join(packages) + "\n", encoding="utf-8")
            notes.append("Packages are those that environment/Dockerfile installs by pip.")
        else:
            notes += find_requirements(code).notes
        if others:
            what = f"environment/Dockerfile installs by or from {', '.join(others)} as well"
            notes.append(f"{what}, which a run here does not have.")
        built = make_environment(asked, TaskCode(python=python), store=store, cache=cache)
    return host_python(built, cache), environment_mounts(built, cache), notes


def _seconds(text: str) -> float:
    from pydantic import TypeAdapter, ValidationError

    from repro_pipeline.quantities import Seconds

    try:
        return TypeAdapter(Seconds).validate_python(text)
    except ValidationError:
        raise UserError(
            f"'{text}' is no duration.", where="--timeout", hint="Write it as 90s, 10m or 2h."
        ) from None


def _read(
    questions: list[str], task: CoreTask, texts: Mapping[str, str]
) -> tuple[dict[str, AnswerGiven], list[str]]:
    """The reader's answers, and what must be said."""
    from functools import partial

    from repro_pipeline.asking.ask import Desk, ask, no_guard
    from repro_pipeline.commands import opening
    from repro_pipeline.corebench.answers import by_reader
    from repro_pipeline.ledger.events import PROJECT_CHAIN

    project = opening.project_here()
    if project.config.models.reader is None:
        raise UserError(
            "no reader model is configured.",
            where="repro.yaml: models",
            hint="Name one: `reader: {model: …}`.",
        )
    if not project.config.send_to_models.logs:
        raise UserError(
            "what runs print may not be sent to models.", where="repro.yaml: send_to_models.logs"
        )
    desk = Desk.of(
        project,
        PROJECT_CHAIN,
        project.config.budget,
        guard=no_guard,  # it is shown a run's output and the question alone
        actor=f"code:repro-pipeline/{repro_pipeline.__version__}",
    )
    asks = partial(ask, desk, step="corebench", role="reader")
    answers, stopped = by_reader(questions, task.task_prompt, texts, asks)
    return answers, [stopped] if stopped else []


def _print(
    options: argparse.Namespace,
    task: CoreTask,
    scored: TaskScore,
    ended: CapsuleRun | None,
    notes: list[str],
) -> None:
    if options.json:
        value = {
            **scored.model_dump(mode="json"),
            "title": task.capsule_title,
            "difficulty": getattr(options, "difficulty", None),
            "run": ended.model_dump(mode="json") if ended else None,
            "notes": notes,
        }
        print(json.dumps(value, indent=1))
        return
    if ended:
        print(
            f"The run: {ended.status} {ended.reason} ({ended.seconds:.1f} s, {len(ended.files)} files)"
        )
    for one in scored.questions:
        mark = (
            "right" if one.correct else ("wrong" if one.answer.value is not None else "unanswered")
        )
        print(f"{mark:<10} [{one.asked_of}] {one.question}")
        said = (
            one.answer.why
            if one.answer.value is None
            else f"{one.answer.value!r} {one.answer.place}"
        )
        print(f"{'':<10} {said.rstrip()}; right is {one.expected}")
    for note in notes:
        print(f"Note: {note}")
    parts = (("written", scored.written), ("vision", scored.vision))
    told = ", ".join(f"{right} of {of} {name}" for name, (right, of) in parts if of)
    print(
        f"{scored.capsule_id}: {'solved' if scored.solved else 'not solved'}; right: {told}; "
        f"{scored.answered} of {len(scored.questions)} questions answered."
    )
