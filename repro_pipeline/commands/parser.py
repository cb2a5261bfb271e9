"""How a subcommand is added: its help is its docstring, its function what it runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def command(
    into, function: Callable[[argparse.Namespace], int], name: str
) -> argparse.ArgumentParser:
    """Add `name` to the subcommands `into`; the first line of the docstring is its help."""
    text = function.__doc__
    made = into.add_parser(name, help=text.splitlines()[0].rstrip("."), description=text)
    made.set_defaults(command=function)
    return made


def family(into, name: str, text: str):
    """Add a family of subcommands, `repro NAME …`; what it returns takes `command`."""
    return into.add_parser(name, help=text, description=text).add_subparsers(
        required=True, metavar="COMMAND"
    )
