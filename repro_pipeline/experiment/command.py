"""The command of a run: its words with the places filled in, as the code sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def fill_command(
    command: Sequence[str], places: Mapping[str, Any], *, contract: bool = True
) -> list[str]:
    """The command of a run, from its words and the places as the code sees them.

    A command that holds `{config}`, `{seed}`, `{out}` or `{data.NAME}` is a template, in which
    `{data}` is the only input file; any other command is given `--config FILE --seed N --out DIR`,
    unless it is of code that knows no such `contract`, and is run as it is. A leading `python`
    stands for the environment's interpreter.
    """
    first, *rest = command
    words = [places["python"] if first in {"python", "python3"} else first, *rest]
    data = places["data"]
    names = {
        "{config}": places["config"],
        "{seed}": places["seed"],
        "{out}": places["out"],
        **{f"{{data.{name}}}": path for name, path in data.items()},
        **({"{data}": next(iter(data.values()))} if len(data) == 1 else {}),
    }
    if contract and not any(name in word for word in words for name in names):
        return [
            *words,
            "--config",
            places["config"],
            "--seed",
            places["seed"],
            "--out",
            places["out"],
        ]
    for name, value in names.items():
        words = [word.replace(name, value) for word in words]
    return words
