"""Code that no parser can take: told as unread, by whoever reads it, and never with a traceback."""

from __future__ import annotations

import ast

import pytest

from repro_pipeline.agent.judge import _asserts
from repro_pipeline.environment.fingerprint import blas_of
from repro_pipeline.forensics.literals import _numbers
from repro_pipeline.forensics.mutate import mutate
from repro_pipeline.lineage.mine_code import settings_of
from repro_pipeline.pysource import LONGEST, depth, parsed

HOSTILE = {
    "brackets": "v = " + "(" * 5_000 + "1" + ")" * 5_000,
    "signs": "v = " + "-" * 100_000 + "1",
    "null byte": "v = 76.3\0",
    "half of a pair": "v = '\ud800'",
    "sum": "v = " + " + ".join(["a"] * 20_000),
    "calls": "v = a" + "()" * 5_000,
    "long line": "v = [" + "1," * 10_000_000 + "]",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_read_is_a_syntax_error(text):
    with pytest.raises(SyntaxError):
        parsed(text)


@pytest.mark.parametrize("text", [t for t in HOSTILE.values() if len(t) < LONGEST])
def test_readers_go_on_without_it(text):
    assert settings_of("a.py", text) == ()
    assert _asserts(text) == 0
    assert blas_of(text) == "unknown"
    list(_numbers("a.py", text))
    mutate({"a.py": text}, {}, (), 1.1)


def test_depth_is_counted_without_recursion():
    assert depth(ast.parse("a")) == 4  # module, statement, name, its context
    tree = ast.Constant(1)
    for _ in range(50_000):
        tree = ast.UnaryOp(ast.USub(), tree)
    assert depth(tree) == 50_001
    while isinstance(tree, ast.UnaryOp):  # or the end of the tree is a recursion in C
        tree = tree.operand
