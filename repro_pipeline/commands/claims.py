"""`repro claims`: the numbers of a paper that are to be reproduced; confirm them, or choose others."""

from __future__ import annotations

import argparse
import getpass
import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import BundleError, FileFormatError, UserError

if TYPE_CHECKING:
    from repro_pipeline.bundle.task import Task
    from repro_pipeline.claims.model import ReportedClaims
    from repro_pipeline.project import Project

_HEAD = """# The claims of {paper}, proposed by {by}. Edit, save, and leave the editor.
# What stands here replaces them as a whole. Values are read from the paper by address.
# Only `claims`, `ablations` and `comparisons` belong here; the keys are those of task.yaml.
"""


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, claims, "claims")
    one.add_argument("paper", metavar="ID")
    how = one.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="as JSON, by `repro schema claims`")
    how.add_argument("--confirm", action="store_true", help="say that these are the claims")
    how.add_argument("--edit", action="store_true", help="choose others, in $VISUAL or $EDITOR")
    how.add_argument(
        "--from", dest="file", type=Path, metavar="FILE", help="choose those of a file"
    )
    one.add_argument("--by", metavar="NAME", help="who says so; by default your user name")
    one.add_argument("--reason", default="", metavar="TEXT", help="why")


def claims(options: argparse.Namespace) -> int:
    """The claims of a paper with their cells and values; confirm them, or choose others."""
    project = opening.project_here()
    if options.file is not None:
        text = _text_of(options.file)
        return _choose(project, options, _parsed(text, str(options.file)))
    reported = _standing(project, options.paper)
    if options.confirm:
        return _confirm(project, options, reported)
    if options.edit:
        return _edit(project, options, reported)
    if options.json:
        print(reported.model_dump_json(indent=1))
        return OK
    _show(project, options.paper, reported)
    return OK


def _standing(project: Project, paper: str) -> ReportedClaims:
    """The claims as they were read last. Raises BundleError where there are none."""
    from repro_pipeline.claims.model import ReportedClaims
    from repro_pipeline.commands.paper import stored
    from repro_pipeline.stages import latest, output_of

    stored(project, paper)
    row = latest(project, paper, "reported_claims")
    if row is None or row.output is None:
        why = f": {row.reason.sentence}" if row and row.reason else "."
        raise BundleError(
            f"'{paper}' has no claims yet{why}",
            hint=f"`repro run {paper} --stage reported_claims` reads them; "
            f"`repro claims {paper} --from FILE` chooses them.",
        )
    return output_of(project, row, ReportedClaims)


def _show(project: Project, paper: str, reported: ReportedClaims) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid
    from rich.text import Text

    from repro_pipeline.report import words
    from repro_pipeline.terminal import wide_console

    console = wide_console()
    grid = Grid(box=SIMPLE_HEAD)
    for name in ("claim", "reported", "metric", "better", "where it stands", "read at"):
        grid.add_column(name, overflow="fold")
    for claim in reported.claims:
        star = " ★" if claim.key else ""
        sign = words.unit(claim)
        grid.add_row(
            *map(
                Text,
                (
                    f"{claim.id}{star}",
                    f"{claim.text or '(no number)'}{f' {sign}' if sign else ''}",
                    claim.metric,
                    str(claim.direction),
                    str(claim.address),
                    str(claim.provenance or ""),
                ),
            )
        )
    console.print(grid)
    for pair in reported.pairs:
        sign = {1: "higher", -1: "lower", None: pair.excluded or "undecided"}[pair.expected_sign]
        console.print(Text(f"{pair.kind} {pair.id}: {pair.variant} against {pair.full}: {sign}"))
    console.print(Text(f"Proposed by {reported.proposed_by}; {_said(project, paper)}. ★ is key."))


def _said(project: Project, paper: str) -> str:
    """Whether a person said that these are the claims."""
    from repro_pipeline.claims.chosen import last_choice

    choice = last_choice(project.ledger.events(paper, kinds={"claims_chosen"}))
    return f"{choice.content.how} by {choice.actor}" if choice else "confirmed by nobody"


def _confirm(project: Project, options: argparse.Namespace, reported: ReportedClaims) -> int:
    from repro_pipeline.claims.proposal import as_task

    _record(project, options, as_task(reported), how="confirmed", by=reported.proposed_by)
    print(f"Confirmed {len(reported.claims)} claims of {options.paper}; no model proposes others.")
    return OK


def _edit(project: Project, options: argparse.Namespace, reported: ReportedClaims) -> int:
    """Let a person edit the claims in an editor; a faulty file stays, to be mended."""
    from repro_pipeline.claims.proposal import as_task

    head = _HEAD.format(paper=options.paper, by=reported.proposed_by)
    before = head + _written(as_task(reported))
    folder = Path(tempfile.mkdtemp(prefix="repro-claims-"))
    file = folder / f"{options.paper}.yaml"
    file.write_text(before, encoding="utf-8")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UserError(
            "no editor is set.",
            where="$EDITOR",
            hint=f"Set it, or edit {file} and give it with --from.",
        )
    try:
        subprocess.run([*shlex.split(editor), str(file)], check=True)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise UserError(f"the editor failed: {error}.", where="$EDITOR") from None
    after = _text_of(file)
    if after == before:
        print("Nothing was changed.")
        return OK
    try:
        return _choose(project, options, _parsed(after, str(file)))
    except UserError as error:
        mend = f"Mend {file}, and give it with `repro claims {options.paper} --from {file}`."
        raise UserError(f"{error}\n{mend}") from None


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"cannot be read: {error}.", where=str(file)) from None


def _parsed(text: str, name: str) -> Task:
    """The claims of a file like task.yaml. Raises FileFormatError for any other key of it."""
    from repro_pipeline.bundle.task import Task
    from repro_pipeline.yamlfile import parse_model

    task = parse_model(text, Task, name=name)
    others = task.model_fields_set - {"schema_", "claims", "ablations", "comparisons"}
    if others:
        raise FileFormatError(
            f"holds '{min(others)}', which says nothing of claims.",
            where=name,
            hint="Write it in the paper's task.yaml.",
        )
    return task


def _choose(project: Project, options: argparse.Namespace, task: Task) -> int:
    """Record other claims, once each of them is found in the paper."""
    from repro_pipeline.claims.extract import extract_claims
    from repro_pipeline.commands.paper import stored

    made = extract_claims(stored(project, options.paper), task)
    who = _who(options)
    _record(project, options, task, how="edited", by=who)
    print(f"{len(made.claims)} claims of {options.paper} chosen by {who}.")
    print(f"`repro run {options.paper}` takes them up; what does not rest on them stands.")
    return OK


def _who(options: argparse.Namespace) -> str:
    return f"human:{options.by or getpass.getuser()}"


def _record(
    project: Project, options: argparse.Namespace, task: Task, *, how: str, by: str
) -> None:
    from repro_pipeline.bundle.folder import open_bundle
    from repro_pipeline.claims.chosen import base_of, last_choice
    from repro_pipeline.ledger.events import ClaimsChosen

    said = open_bundle(project.bundle(options.paper)).task
    before = last_choice(project.ledger.events(options.paper, kinds={"claims_chosen"}))
    made = ClaimsChosen(
        base=base_of(said),
        how=how,
        claims=task.claims,
        ablations=task.ablations,
        comparisons=task.comparisons,
        proposed_by=by,
        reason=options.reason,
        replaces=before.event if before else None,
    )
    project.ledger.append(options.paper, made, actor=_who(options))


def _written(task: Task) -> str:
    """A task's claims and pairs as YAML; what is at its default is left out."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes each text that is not plainly words: `1e-3` is a number where it is read."""

    def text(dumper: Dumper, value: str):
        style = None if re.fullmatch(r"[A-Za-z][\w -]*", value) else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    said = task.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    return yaml.dump(
        {"schema": 1, **said}, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110
    )
