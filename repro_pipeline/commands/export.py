"""`repro export`: a reproduction in the forms of other tools."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import UserError
from repro_pipeline.places import resolved

if TYPE_CHECKING:
    from repro_pipeline.report.export.material import Material

FORMATS = ("ro-crate", "paperbench", "capsule")


def add_to(commands) -> None:
    """Add this to the parser."""
    one = command(commands, export, "export")
    one.add_argument("paper", metavar="ID")
    one.add_argument("--format", choices=FORMATS, required=True)
    one.add_argument("--out", type=Path, required=True, metavar="DIR", help="a folder to be made")


def export(options: argparse.Namespace) -> int:
    """Write a reproduction for other tools: RO-Crate, PaperBench submission or capsule folder.

    Private inputs, sealed labels and the paper's text are never in it.
    """
    from repro_pipeline.report.export.material import check_whole, gather
    from repro_pipeline.report.export.readme import left_out

    out = resolved(options.out, where="--out")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError("exists already, and nothing is overwritten.", where=str(options.out))
    project = opening.project_here()
    opening.must_know(project, [options.paper])
    material = gather(project, options.paper)
    check_whole(material)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        fresh.chmod(0o755)
    except OSError as error:
        raise UserError(f"cannot be made ({error.strerror}).", where=str(options.out)) from None
    try:
        _write(options.format, material, fresh)
        if out.exists():
            out.rmdir()
        fresh.rename(out)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    for sentence in left_out(material):
        print(f"Note: {sentence.replace('`', '')}")
    print(out)
    return OK


def _write(form: str, material: Material, folder: Path) -> None:
    if form == "ro-crate":
        from repro_pipeline.report.export.ro_crate import write_ro_crate

        write_ro_crate(material, folder)
    elif form == "paperbench":
        from repro_pipeline.report.export.paperbench import write_paperbench

        write_paperbench(material, folder)
    else:
        from repro_pipeline.report.export.capsule import write_capsule

        write_capsule(material, folder)
