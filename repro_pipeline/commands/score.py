"""`repro score`: the grader as a product of its own, for submissions of somebody else."""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command
from repro_pipeline.commands.runner import add_execution, execution
from repro_pipeline.commands.seeds import add_seeds
from repro_pipeline.errors import UserError
from repro_pipeline.places import resolved

if TYPE_CHECKING:
    from repro_pipeline.project import Project


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, score, "score")
    one.add_argument(
        "--bundle", required=True, metavar="DIR", help="the paper: a folder as in papers/"
    )
    one.add_argument("--submission", required=True, metavar="DIR", help="the folder to be scored")
    one.add_argument("--json", action="store_true", help="print one JSON object")
    add_seeds(one, "fresh seeds")
    one.add_argument("--rubric", metavar="FILE", help="another rubric than the standard one")
    one.add_argument("--keep", metavar="DIR", help="leave the grader's project there, as evidence")
    add_execution(one)


def score(options: argparse.Namespace) -> int:
    """Score a submission that some other agent or person produced.

    Nothing of it is believed: its code is run in the sandbox with seeds that are drawn now.
    """
    from repro_pipeline.submission.grade import grade
    from repro_pipeline.submission.result import as_json, as_text

    bundle = resolved(options.bundle, where="--bundle")
    submission = resolved(options.submission, where="--submission")
    with _project(options, {"bundle": bundle, "submission": submission}) as project:
        graded = grade(project, _paper_of(bundle), bundle, submission)
    print(json.dumps(as_json(graded), indent=2) if options.json else as_text(graded))
    return OK


@contextmanager
def _project(options: argparse.Namespace, given: Mapping[str, Path]) -> Iterator[Project]:
    """A project of the grader's own, gone afterwards unless it is to be kept: outside of what is given."""
    if options.keep is None:
        with tempfile.TemporaryDirectory(prefix="repro-score-") as folder:
            yield _made(Path(folder), options)
        return
    folder = resolved(options.keep, where="--keep")
    for name, place in given.items():
        if folder.is_relative_to(place):
            raise UserError(
                f"lies in the {name}, which is copied into it.",
                where=f"--keep {folder}",
                hint="Name a folder elsewhere.",
            )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(
            "is there already, and would be overwritten.",
            where=str(folder),
            hint="Name a folder that does not exist.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    yield _made(folder, options)


def _made(root: Path, options: argparse.Namespace) -> Project:
    from repro_pipeline.scoring.rubric import Rubric
    from repro_pipeline.submission.place import make_folder
    from repro_pipeline.yamlfile import load_model
    from resources.opening import open_project
    from resources.user_cache import cache_folder

    rubric = None
    if options.rubric:
        load_model(Path(options.rubric), Rubric)  # raises where it is none
        rubric = Path(options.rubric).read_text(encoding="utf-8")
    config = execution(options).model_copy(update={"seeds": options.seeds})
    make_folder(root, config, cache_folder() / "environments", rubric)
    return open_project(root)


def _paper_of(bundle: Path) -> str:
    """A name for the paper in the project: the folder's, as far as it can be one."""
    slug = re.sub(r"[^a-z0-9._-]+", "-", bundle.name.lower()).strip("-._")
    return slug[:100] or "paper"
