"""What a pickle would call when it is loaded, read from its instructions; nothing is loaded."""

from __future__ import annotations

import pickletools
import re
import struct
from collections.abc import Iterator

# ruff: noqa: SIM905
_START = re.compile(rb"\x80[\x02-\x05]|\(?[ci][\w.]+\n\w+\n")
_MODULES = set(
    "builtins __builtin__ os posix nt subprocess marshal types importlib runpy code codeop pty "
    "cloudpickle cloudpickle.cloudpickle dill dill._dill joblib.externals.cloudpickle".split()
)
_RUNNERS = set(
    "exec eval compile __import__ CodeType FunctionType _make_function _builtin_type _create_function "
    "_create_code loads run_path run_module system popen Popen call import_module".split()
)


def is_pickle(content: bytes) -> bool:
    """Whether a file begins as pickles do, of the text protocol too."""
    return bool(_START.match(content))


def named_runner(content: bytes) -> str | None:
    """The first thing that a pickle names which makes or runs code, as `module.name`; None for none."""
    named = (one for one in _globals(content) if one[0] in _MODULES and one[1] in _RUNNERS)
    return next((".".join(one) for one in named), None)


def _globals(content: bytes) -> Iterator[tuple[str, str]]:
    """Module and name of each thing that is looked up. Texts are followed through the memo."""
    texts: list[str] = ["", ""]
    memo: dict[int, str] = {}
    try:
        for code, argument, _ in pickletools.genops(content):
            if code.name in {"GLOBAL", "INST"}:
                module, _, name = argument.partition(" ")
                yield module, name
            elif code.name == "STACK_GLOBAL":
                yield texts[-2], texts[-1]
            elif code.name == "MEMOIZE":
                memo[len(memo)] = texts[-1]
            elif "PUT" in code.name:
                memo[argument] = texts[-1]
            elif "GET" in code.name:
                texts.append(memo.get(argument, ""))
            elif isinstance(argument, str):
                texts.append(argument)
    except (
        ValueError,
        IndexError,
        KeyError,
        struct.error,
    ):  # arrays between the parts, as joblib has
        return
