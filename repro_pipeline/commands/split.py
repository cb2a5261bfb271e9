"""`repro split`: rows of a paper's data into roles, by a seed, as files of row numbers."""

from __future__ import annotations

import argparse

from repro_pipeline.choices import choices
from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import UserError

_ROLES = ("train", "validation", "test")


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, split, "split")
    one.add_argument("paper", metavar="ID")
    one.add_argument("name", metavar="NAME", help="of the data in task.yaml")
    one.add_argument("--seed", type=int, required=True)
    for role in _ROLES:
        one.add_argument(f"--{role}", type=float, metavar="SHARE")


def split(options: argparse.Namespace) -> int:
    """Split the rows of a data file by a seed, and write the row numbers of each role beside it.

    The same seed gives the same rows on every machine. What task.yaml must say is printed.
    """
    from repro_pipeline.bundle.folder import open_bundle
    from repro_pipeline.environment.manifest import make_manifest
    from repro_pipeline.environment.splits import split_rows, write_split

    project = opening.project_here()
    folder = project.bundle(options.paper)
    named = {item.name: item for item in open_bundle(folder).task.data}
    if options.name not in named:
        raise UserError(
            f"the task names no data '{options.name}'.",
            hint=choices(options.name, list(named), lead="It names"),
        )
    item = named[options.name].model_copy(update={"roles": {}, "sealed_labels": None})
    (entry,) = make_manifest((item,), folder, project.state / "data").entries
    if entry.rows is None:
        raise UserError(
            "its rows cannot be counted: only CSV, JSON lines and Parquet can be split.",
            where=entry.file,
        )
    given = {role: getattr(options, role) for role in _ROLES}
    shares = {role: share for role, share in given.items() if share is not None}
    if not shares:
        raise UserError("no share was given.", hint="For example `--train 0.8 --test 0.2`.")
    splits = split_rows(entry.rows, options.seed, shares)
    files = write_split(folder / entry.file, options.seed, splits)
    print(f"{entry.rows} rows. Write into task.yaml, at the data '{options.name}':")
    print("    roles:")
    for role, path in files.items():
        name = path.relative_to(folder).as_posix()
        print(f"      {role}: {name}  # {len(splits[role])} rows")
    return OK
