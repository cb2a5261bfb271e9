"""`repro init`, `add`, `status`, `report`, `log`: a project and its papers."""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path
from typing import IO, TYPE_CHECKING

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import UserError
from repro_pipeline.places import resolved

if TYPE_CHECKING:
    from repro_pipeline.imports.record import Taken
    from repro_pipeline.paper.fetch import ArxivPaper, PaperUrl
    from repro_pipeline.project import Project


def add_to(commands) -> None:
    """Add these to the parser."""
    command(commands, init, "init").add_argument("folder", nargs="?", default=".")
    one = command(commands, add, "add")
    one.add_argument(
        "path",
        metavar="PAPER",
        help="a folder with paper.{tex,md,pdf,…} and, optionally, task.yaml, code/, …; a PaperBench or "
        "ReScience C folder; or arxiv:ID, an arXiv DOI, or the address of a PDF, to be fetched",
    )
    one.add_argument(
        "--id", help="the paper's id; by default the folder's name, or from the address"
    )
    one.add_argument(
        "--code",
        metavar="URL@COMMIT",
        help="the authors' code: a Git repository (https, ssh or a path) at a commit, branch or tag",
    )
    one.add_argument(
        "--command",
        dest="pick",
        type=int,
        metavar="N",
        help="run the code by the Nth command that its README proposes (shown by an add without it)",
    )
    command(commands, status, "status").add_argument("papers", nargs="*", metavar="ID")
    command(commands, report, "report").add_argument("paper", metavar="ID")
    one = command(commands, log, "log")
    one.add_argument("paper", metavar="ID")
    one.add_argument("--experiment", help="only runs of this experiment")
    one.add_argument("--seed", type=int, help="only the run with this seed")
    one.add_argument("--lines", type=int, default=40, help="how many lines (default 40)")
    which = one.add_mutually_exclusive_group()
    which.add_argument("--first", action="store_true", help="its beginning, not its end")
    which.add_argument("--search", metavar="TEXT", help="its first lines that hold the text")
    which.add_argument("--follow", action="store_true", help="what runs print now, line by line")


def init(options: argparse.Namespace) -> int:
    """Make a project."""
    from importlib.resources import as_file, files

    root = resolved(options.folder)
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
    """Copy a bundle into the project, import or fetch a paper, and make it a partition."""
    from assets.watch import register_papers
    from repro_pipeline.bundle.folder import open_bundle, paper_id_of
    from repro_pipeline.commands import adding
    from repro_pipeline.imports.layouts import id_of, import_folder, layout_of
    from repro_pipeline.imports.record import GRADING, ImportRecord, write_record
    from repro_pipeline.paper.fetch import parse_target

    project = opening.project_here()
    target = None if Path(options.path).exists() else parse_target(options.path)
    source = resolved(options.path)
    layout = "fetched" if target else layout_of(source)
    paper = paper_id_of(options.id or (target.paper_id if target else id_of(source, layout)))
    folder, grading = project.bundle(paper), project.root / GRADING / paper
    for taken in (folder, grading):
        if taken.exists():
            raise UserError(
                f"the project has a paper '{paper}' already.",
                where=str(taken),
                hint="Give another id with --id, or edit that folder.",
            )
    fresh, hidden = (place.with_name(f".{paper}.new") for place in (folder, grading))
    record = ImportRecord(layout=layout, asked=options.path)
    try:
        for left in (fresh, hidden):
            shutil.rmtree(left, ignore_errors=True)
        if target:
            files = _fetch(project, target, fresh, asked=options.path)
            record = record.model_copy(update={"files": files})
        elif layout == "bundle":
            _copy(source, fresh, paper=paper, has_code=not options.code)
        else:
            record = import_folder(source, layout, fresh, hidden, asked=options.path)
        if options.code:
            record = adding.with_code(record, fresh, options.code)
        if options.pick is not None:
            adding.pick_command(fresh, options.pick)
        foreign = layout != "bundle" or bool(options.code)
        if foreign:
            write_record(record, fresh)
        open_bundle(fresh, paper=paper)
        if hidden.exists():
            hidden.rename(grading)
        fresh.rename(folder)
    finally:
        for left in (fresh, hidden):
            shutil.rmtree(left, ignore_errors=True)
    if foreign:
        adding.keep_import(project, paper, record)
    register_papers(opening.instance_of(project), project)
    adding.tell_import(record, paper)
    adding.tell_code(folder)
    came, where = "fetched" if target else "copied", Path(project.config.papers) / paper
    print(f"Added {paper}: {came} to {where}; edit it there. {adding.next_step(folder)}")
    return OK


def _copy(source: Path, fresh: Path, *, paper: str, has_code: bool) -> None:
    """A copy of a bundle that is in order, but for code that is yet to come."""
    from repro_pipeline.bundle.folder import open_bundle

    if source.is_file():
        raise UserError(
            "is a file, and a paper is a folder.",
            where=str(source),
            hint="Put it into a folder as paper.pdf, paper.tex, paper.tar.gz, …, and add that.",
        )
    if not source.exists() and re.fullmatch(r"\d{4}\.\d{4,5}(v\d+)?", source.name):
        raise UserError(
            "there is no such folder.",
            where=str(source),
            hint=f"For the paper of arXiv: `repro add arxiv:{source.name}`.",
        )
    if not source.exists():
        raise UserError(
            "no such bundle.",
            where=str(source),
            hint="Give a paper's folder, arxiv:ID, or the address of a PDF.",
        )
    if fresh.is_relative_to(source):
        raise UserError("a bundle cannot hold the project.", where=str(source))
    if has_code:
        open_bundle(source, paper=paper)
    shutil.copytree(source, fresh, symlinks=True)


def _fetch(
    project: Project, target: ArxivPaper | PaperUrl, fresh: Path, *, asked: str
) -> tuple[Taken, ...]:
    """A bundle made of what a server has of a paper; its files."""
    from repro_pipeline.imports.record import Taken
    from resources.paper_source import HttpPaperSource

    fresh.mkdir(parents=True)
    record = HttpPaperSource(project.config.fetch).fetch(target, fresh, asked=asked)
    for file in record.files:
        print(f"Fetched {file.file}: {file.bytes:,} bytes from {file.url}.")
    for sentence in record.absent:
        print(f"Note: {sentence}")
    return tuple(
        Taken(file=one.file, source=one.url, sha256=one.sha256, bytes=one.bytes)
        for one in record.files
    )


def status(options: argparse.Namespace) -> int:
    """How each paper stands."""
    from repro_pipeline.commands.launches import not_started, under_way, why_not_started
    from repro_pipeline.terminal import print_status

    project = opening.project_here()
    opening.must_know(project, options.papers)
    papers = options.papers or opening.papers_of(project)
    failed = {paper: why_not_started(project, one) for paper, one in not_started(project).items()}
    return print_status(project, papers, under_way(project, opening.instance_of(project)), failed)


def report(options: argparse.Namespace) -> int:
    """Print the claims and the path of the report, written anew from the store if it is gone."""
    from repro_pipeline.terminal import print_report

    project = opening.project_here()
    opening.must_know(project, [options.paper])
    return print_report(project, options.paper)


def log(options: argparse.Namespace) -> int:
    """The end of a run's log: of the latest run that failed, else of the latest."""
    from repro_pipeline.commands.follow import follow
    from repro_pipeline.ledger.logs import head, search, tail
    from repro_pipeline.terminal import print_log

    if options.lines < 1 or options.search == "":
        raise UserError("a log is shown by lines, 1 or more, and searched for a text.")
    project = opening.project_here()
    opening.must_know(project, [options.paper])
    if options.follow:
        follow(project, options.paper)
        return OK

    def part(stream: IO[bytes]) -> list[str]:
        if options.search is None:
            return list((head if options.first else tail)(stream, options.lines))
        found = search(stream, options.search, most=options.lines)
        return [f"{line.number}: {line.text}" for line in found] or ["No line holds it."]

    return print_log(
        project,
        options.paper,
        part,
        experiment=options.experiment,
        seed=options.seed,
    )
