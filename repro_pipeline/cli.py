"""The `repro` command: thin; what it runs are the assets, on the instance that the UI shows.

Exit codes: 0 done; 1 a fault of the pipeline itself; 2 something that its user can mend (a sentence
says what); 3 no sandbox on this host; 130 interrupted, to be gone on with.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
from collections.abc import Sequence

from repro_pipeline.commands import (
    agent,
    assumptions,
    backup,
    bench,
    claims,
    corebench,
    doctor,
    download,
    export,
    gaps,
    housekeeping,
    launches,
    ledger,
    paper,
    paperbench,
    papers,
    rescore,
    review,
    run,
    sandbox,
    score,
    split,
    store,
    sweep,
    ui,
    why,
)
from repro_pipeline.commands.exits import INTERRUPTED, MENDABLE, NO_SANDBOX, OK
from repro_pipeline.commands.parser import Parser, command
from repro_pipeline.commands.unwritable import unwritable
from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.schemas import FILES


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return options.command(options)
    except SandboxUnavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return NO_SANDBOX
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return MENDABLE
    except KeyboardInterrupt:
        print("Interrupted. The same command goes on where this one stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        if (said := unwritable(error)) is None:
            raise
        print(f"error: {said} Mend that, and run this again.", file=sys.stderr)
        return MENDABLE


def schema(options: argparse.Namespace) -> int:
    """Print the JSON schema of a file."""
    from repro_pipeline.schemas import json_schema

    print(json.dumps(json_schema(options.file), indent=2))
    return OK


def _schemas_name(text: str) -> str:
    if text in FILES:
        return text
    near = difflib.get_close_matches(text, FILES, n=1)
    meant = f"Did you mean '{near[0]}'? " if near else ""
    raise argparse.ArgumentTypeError(
        f"there is no schema '{text}'. {meant}There are: {', '.join(FILES)}."
    )


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="repro", description="Reproduce the numbers of machine-learning papers.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for part in (
        papers,
        download,
        split,
        run,
        agent,
        score,
        rescore,
        sweep,
        launches,
        why,
        bench,
        paperbench,
        corebench,
        paper,
        claims,
        gaps,
        assumptions,
        ui,
        review,
        ledger,
        store,
        backup,
        housekeeping,
        export,
        sandbox,
        doctor,
    ):
        part.add_to(commands)
    command(commands, schema, "schema").add_argument(
        "file", type=_schemas_name, metavar="FILE", help=", ".join(FILES)
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
