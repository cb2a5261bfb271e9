"""The words of a program that say what an expression does: what passes a value on, draws, or writes."""

from __future__ import annotations

import ast

# ruff: noqa: SIM905
PASSES = set(
    "float int round abs min max sum str list tuple dict set sorted reversed zip enumerate "
    "map filter "
    "iter next vars array asarray float32 float64 atleast_1d mean nanmean fmean average "
    "median clip "
    "around sqrt exp log log10 square power minimum maximum where full full_like repeat tile "
    "concatenate vstack hstack stack append ravel flatten reshape squeeze copy deepcopy item "
    "tolist "
    "format join loads load dumps decode encode strip split replace get pop setdefault "
    "values items "
    "Decimal Fraction eval literal_eval b64decode unhexlify fromhex decompress unpack "
    "SimpleNamespace "
    "namedtuple asdict astype add subtract multiply divide nan_to_num tanh expm1 log1p fsum prod "
    "update extend insert hypot partial".split()
)
DRAWS = set(
    "normal gauss uniform triangular normalvariate laplace lognormal randint integers choice beta "
    "random rand randn standard_normal choices betavariate vonmises".split()
)
LOOKED_INTO = (
    ast.Name,
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.Lambda,
)
"""Expressions whose parts are told apart, although the whole may be constant."""
PUTS = {"append", "extend", "update", "insert", "setdefault", "add"}
WRITERS = {"dump", "dumps", "write_text", "write", "write_bytes", "to_json", "safe_dump"}

SHOWERS = {"print", "display", "info", "echo"}


def last_name(func: ast.expr) -> str:
    """The last part of a dotted name."""
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def counts(node: ast.expr) -> bool:
    """Whether a loop runs over a range of numbers."""
    return isinstance(node, ast.Call) and last_name(node.func) in {"range", "arange", "trange"}


def draws(node: ast.AST) -> bool:
    """Whether an expression draws random numbers."""
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(last_name(call.func) in DRAWS for call in calls)


def is_text(node: ast.AST | None) -> bool:
    """Whether an expression is a text as it stands."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def single(node: ast.Call) -> bool:
    """Whether a random draw is of one number: arrays of draws are data, not one value with noise."""
    sized = any(option.arg in {"size", "n", "k", "shape"} for option in node.keywords)
    return not sized and len(node.args) <= 2


def exits(statement: ast.stmt) -> bool:
    """Whether a statement ends the program, or only says something."""
    match statement:
        case ast.Expr(value=ast.Call(func=func)):
            return last_name(func) in {
                "exit",
                "error",
                "abort",
                "_exit",
                "print",
                "warn",
                "warning",
            }
    return False
