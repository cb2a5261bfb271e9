"""How a subcommand is added: its help is its docstring, its function what it runs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

from repro_pipeline.choices import meant

_NO_CHOICE = re.compile(
    r"(?P<said>.*invalid choice: '(?P<name>.*?)') \(choose from (?P<known>.*)\)"
)


class Parser(argparse.ArgumentParser):
    """A parser that asks whether the nearest choice was meant, where an argument is none of them."""

    def error(self, message: str):
        """Say what is wrong and exit."""
        if found := _NO_CHOICE.fullmatch(message):
            near = meant(found["name"], [one.strip("' ") for one in found["known"].split(",")])
            message = f"{found['said']}. {near}Choose from: {found['known']}." if near else message
        super().error(message)


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
