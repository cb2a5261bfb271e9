"""Python source read into its syntax, whoever wrote it: whatever cannot be read is a SyntaxError."""

from __future__ import annotations

import ast

LONGEST = 4_000_000
"""Characters (or bytes) of a file that is read as code: the syntax of one takes some hundred times that."""


def parsed(text: str | bytes) -> ast.Module:
    """The syntax of a file.

    Raises SyntaxError for what is no Python, holds what no text can, is nested too deep or too long.
    """
    if len(text) > LONGEST:
        raise SyntaxError(f"it is longer than {LONGEST:,} characters")
    try:
        return ast.parse(text)
    except SyntaxError:
        raise
    except (RecursionError, MemoryError):
        raise SyntaxError("it is nested too deep to be read") from None
    except ValueError as error:
        raise SyntaxError(str(error)) from None


def depth(tree: ast.AST) -> int:
    """How many nodes stand in one another at most, found without recursion."""
    level, found = [tree], 0
    while level:
        found += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return found
