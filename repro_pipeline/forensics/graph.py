"""Which values of a program come from which: a graph over all Python files of a submission.

Insensitive to the order of statements, to the fields of objects of one name, and to which call of
a function is meant: so it says what may flow, not what does. Three kinds of edges:

- direct: the value itself passes, by assignment, arithmetic, containers, rounding, clipping,
  formatting, a function's return, a single random draw around it;
- derived: a result of a call that is not looked into, such as `fit` or `mean_squared_error`;
- control: what is assigned, under which test.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Node = tuple[str, ...]
"""("var", module, scope, name), ("attr", name), ("key", name), ("ret", module, function),
("const", file, line, column), ("call", file, line, column, name), ("draw", …), ("handler", …)."""


@dataclass(frozen=True)
class Constant:
    """An expression of constants alone, as it stands in a file."""

    node: Node
    file: str
    line: int
    values: tuple[float, ...]
    text: str
    span: tuple[int, int, int, int]
    """First line, column, last line, column; lines from 1, columns in UTF-8 bytes from 0."""
    plain: bool
    """Whether it is a number written as a number."""


@dataclass(frozen=True)
class Test:
    """A condition, and what it decides."""

    file: str
    line: int
    nodes: frozenset[Node]
    constants: tuple[Constant, ...]
    expression: ast.expr
    node: Node
    raises: bool
    """Whether it only leads to an error or an exit."""


@dataclass(frozen=True)
class Sink:
    """An expression that is written as a value of metrics.json."""

    claim: str | None
    nodes: frozenset[Node]
    file: str
    line: int
    of_claim: bool = False
    """Whether it stands beside the key `claim`."""
    printed: bool = False
    """Whether it is only printed or shown, from where a value may be read."""


@dataclass
class Graph:
    """The edges, each from a node to what it comes from."""

    direct: dict[Node, set[Node]] = field(default_factory=lambda: defaultdict(set))
    derived: dict[Node, set[Node]] = field(default_factory=lambda: defaultdict(set))
    control: dict[Node, set[Node]] = field(default_factory=lambda: defaultdict(set))
    constants: dict[Node, Constant] = field(default_factory=dict)
    tests: dict[Node, Test] = field(default_factory=dict)
    sinks: list[Sink] = field(default_factory=list)
    calls: dict[Node, ast.Call] = field(default_factory=dict)
    reads: dict[Node, tuple[frozenset[Node], ...]] = field(default_factory=dict)
    """Per call, what each argument is made of; the receiver first."""
    handlers: dict[Node, ast.ExceptHandler] = field(default_factory=dict)
    trees: dict[str, ast.Module] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    """The Python files that could not be read, and why."""

    @property
    def metric_sinks(self) -> list[Sink]:
        """The sinks that are values of claims; where none is known, all that is written."""
        known = [sink for sink in self.sinks if sink.of_claim]
        return known or self.sinks

    def behind(self, start: Iterable[Node], *kinds: str) -> set[Node]:
        """All nodes that can be reached over edges of these kinds, the start included."""
        edges = [getattr(self, kind) for kind in kinds]
        seen, waiting = set(start), list(start)
        while waiting:
            node = waiting.pop()
            for table in edges:
                for source in table.get(node, ()):
                    if source not in seen:
                        seen.add(source)
                        waiting.append(source)
        return seen

    def deciding(self, nodes: Iterable[Node]) -> Iterator[Test]:
        """The tests under which nodes are assigned."""
        marks = {mark for node in nodes for mark in self.control.get(node, ())}
        yield from (self.tests[mark] for mark in sorted(marks) if mark in self.tests)
