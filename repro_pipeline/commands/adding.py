"""How `repro add` takes what is foreign: a folder of another layout, code of a repository, a command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import repro_pipeline
from repro_pipeline.errors import UserError

if TYPE_CHECKING:
    from repro_pipeline.bundle.folder import Bundle
    from repro_pipeline.bundle.task import TaskCode
    from repro_pipeline.imports.record import ImportRecord
    from repro_pipeline.project import Project

_SHOWN = 20


def with_code(record: ImportRecord, bundle: Path, address: str) -> ImportRecord:
    """Fetch a repository's commit into the bundle's code. Raises ImportFault where it may not be."""
    from repro_pipeline.bundle.folder import TASK_NAME
    from repro_pipeline.bundle.task import Task
    from repro_pipeline.imports.code_address import parse_code
    from repro_pipeline.imports.record import ImportFault
    from repro_pipeline.paper.literature import excluded_by_task
    from repro_pipeline.yamlfile import load_model
    from resources.code_remotes import remotes_of
    from resources.code_source import fetch_code_at

    target = parse_code(address)
    task = load_model(bundle / TASK_NAME, Task) if (bundle / TASK_NAME).exists() else Task()
    addresses = [target.address, *(remotes_of(Path(target.url)) if target.is_local else ())]
    hits = [hit for one in addresses if (hit := excluded_by_task(one, task.exclude))]
    if hits:
        raise ImportFault(
            f"is excluded ({hits[0].rule} names {hits[0].what}): it may never be looked at.",
            where=target.url,
            hint="An excluded repository is the paper's own code, kept from whoever reproduces it.",
        )
    folder = bundle / (task.code.path if task.code else "code")
    if folder.exists():
        raise ImportFault(
            "the paper's folder has code already.",
            where=folder.relative_to(bundle).as_posix(),
            hint="Take it away, or leave out --code.",
        )
    origin = fetch_code_at(target, folder)
    return record.model_copy(update={"code": origin})


def pick_command(bundle: Path, number: int) -> None:
    """Write a README's command into `task.yaml`. Raises UserError where it cannot stand there."""
    from repro_pipeline.bundle.folder import TASK_NAME
    from repro_pipeline.bundle.task import Task
    from repro_pipeline.imports.readme import commands_proposed
    from repro_pipeline.imports.task import task_text
    from repro_pipeline.yamlfile import load_model

    code, _ = _code_of(bundle)
    found = commands_proposed(code) if code else ()
    if not 1 <= number <= len(found):
        said = f"its READMEs propose {len(found)}" if found else "its READMEs propose none"
        raise UserError(f"there is no command {number}: {said}.", where="--command")
    task = bundle / TASK_NAME
    text = task.read_text(encoding="utf-8") if task.exists() else "schema: 1\n"
    if re.search(r"^code\s*:", text, re.M):
        raise UserError(
            "says how the code is run already.",
            where=f"{TASK_NAME}: code",
            hint="Leave out --command, or write the command there.",
        )
    lines = task_text(title=None, command=found[number - 1].command).split("\n", 1)[1]
    task.write_text(f"{text.rstrip()}\n{lines}", encoding="utf-8")
    try:
        load_model(task, Task)
    except UserError:
        raise UserError(
            "is written so that no lines can be put at its end.",
            where=TASK_NAME,
            hint="Leave out --command, and write into it: "
            f"code: {{command: {json.dumps(found[number - 1].command)}}}",
        ) from None


def keep_import(project: Project, paper: str, record: ImportRecord) -> None:
    """Record in the ledger what was taken from where, and what must be known of it."""
    from repro_pipeline.ledger.events import PaperImported

    actor = f"code:repro-pipeline/{repro_pipeline.__version__}"
    project.ledger.append(paper, PaperImported(record=record), actor=actor)


def tell_import(record: ImportRecord, paper: str) -> None:
    """Print what was taken, left out and kept from agents."""
    if record.layout in _NAMES:
        _say(f"Read as a {_NAMES[record.layout]} folder: {record.title}")
        _say(f"Taken: {len(record.files)} files.")
    for name in record.left_out[:_SHOWN]:
        _say(f"Left out: {name}")
    if len(record.left_out) > _SHOWN:
        _say(f"Left out: {len(record.left_out) - _SHOWN} more; import.json names them.")
    for note in record.notes:
        _say(f"Note: {note}")
    if any(one.source == "rubric.json" for one in record.grading):
        _say(
            "Grade a submission with `repro paperbench grade --rubric "
            f"grading/{paper}/rubric.json --submission DIR`."
        )
    if record.original and record.original.citation:
        where = record.original.url or record.original.doi or ""
        _say(f"It is about: {record.original.citation} {where}".rstrip())
    for address in record.code_named:
        _say(f"It names the code {address}: give it with `--code {address}@COMMIT`.")
    if origin := record.code:
        said = "" if origin.asked == origin.commit else f" ('{origin.asked}' at this time)"
        _say(f"Code: {origin.files} files of {origin.url} at {origin.commit}{said}.")
        _say(f"Licence: {origin.licence or 'no file of that name'}; git tree {origin.tree}.")
        for sentence in origin.left_out:
            _say(f"Not fetched: {sentence}")


_NAMES = {"paperbench": "PaperBench", "rescience": "ReScience C"}


def _say(line: str) -> None:
    """Print a line, with no character in it that steers a terminal: names and texts are others'."""
    print(_plain(line))


def _plain(line: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def tell_code(bundle: Path) -> None:
    """Print what packages code needs and how it could be run, where nothing says how; nothing is run."""
    from repro_pipeline.environment.requirements import find_requirements
    from repro_pipeline.experiment.load import SPEC_NAME
    from repro_pipeline.imports.readme import commands_proposed

    code, given = _code_of(bundle)
    if code is None or (given and (given.command or given.notebook)) or (code / SPEC_NAME).exists():
        return
    try:
        needs = find_requirements(code, given.requirements if given else None)
        count = "" if needs.kind == "given_lock" else f"{len(needs.lines)} "
        _say(f"Packages: {count}by {needs.file or 'the imports'}.")
        for note in needs.notes[:_SHOWN]:
            _say(f"Note: {note}")
    except UserError as error:
        _say(f"Note: the packages are not clear yet: {error}")
    found = commands_proposed(code)
    if found:
        _say("Its README proposes these commands; pick one with --command N, or write your own:")
    for number, one in enumerate(found[:_SHOWN], start=1):
        _say(f"  {number}  {one}")
    for notebook in sorted(code.glob("*.ipynb"))[:_SHOWN]:
        _say(f"A notebook: `code: {{notebook: {notebook.name}}}` in task.yaml runs it.")


def next_step(bundle: Path) -> str:
    """What is to be done with an added paper: run it, or first mend it or say how its code is run.

    A line for each fault that the stages would find in the files later.
    """
    from repro_pipeline.bundle.folder import open_bundle
    from repro_pipeline.commands.foreseen import faults_foreseen
    from repro_pipeline.commands.opening import project_here

    opened = open_bundle(bundle, paper="added")
    faults = faults_foreseen(project_here(), opened, bundle)
    lines = [_plain(line) for fault in faults for line in fault.splitlines()]
    run = f"`repro run {bundle.name}`"
    unsaid = _unsaid(bundle, opened)
    if unsaid:
        step = f"Before {run}, say in {unsaid} (docs/import.md)."
    elif faults:
        step = f"Before {run}, mend this:"
    else:
        step = f"Reproduce it with {run}."
    return "\n".join([step, *(f"Warning: {line}" for line in lines)])


def _unsaid(bundle: Path, opened: Bundle) -> str:
    """Where to say what of how given code is run; empty where it is said, or there is no code."""
    from repro_pipeline.bundle.folder import TASK_NAME
    from repro_pipeline.experiment.load import SPEC_NAME

    code, given = _code_of(bundle)
    if code is None or (code / SPEC_NAME).exists():
        return ""
    missing = []
    if given is None or not (given.command or given.notebook):
        missing.append("under `code` the command or notebook of one run")
    if not opened.task.outputs:
        missing.append("under `outputs` where it leaves its values")
    if not missing:
        return ""
    if given and given.command and not any("{out}" in part for part in given.command):
        missing.insert(0, "in the command `{seed}` and `{out}` where the code takes them")
    return f"papers/{bundle.name}/{TASK_NAME} {', and '.join(missing)}"


def _code_of(bundle: Path) -> tuple[Path | None, TaskCode | None]:
    """The folder of the code, None where there is none, and what the task says of it."""
    from repro_pipeline.bundle.folder import open_bundle

    opened = open_bundle(bundle, paper="added")
    given = opened.task.code
    folder = bundle / (given.path if given else "code")
    return (folder if opened.has_code else None), given
