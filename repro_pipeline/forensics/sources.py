"""Where the values of metrics.json come from, read from the code: constants, tests, choices.

Everything here is a reading of what may flow. It accuses by itself only where nothing honest looks
like it: a value that was hidden from a reader, or one that is chosen by its distance to the
reported one. Otherwise it says where to look, and runs with a changed constant decide.
"""

from __future__ import annotations

import ast
import base64
import binascii
import contextlib
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence

from repro_pipeline.claims.model import Claim
from repro_pipeline.findings import Finding
from repro_pipeline.forensics.constants import NotConstant, evaluate, numbers_in
from repro_pipeline.forensics.declarations import single_constants
from repro_pipeline.forensics.graph import Graph, Node, Sink
from repro_pipeline.forensics.literals import telling_digits
from repro_pipeline.forensics.matching import complements, exact, exactly_reported, near
from repro_pipeline.forensics.seeding import by_seed, is_seed
from repro_pipeline.forensics.units import is_round_value

_HIDING = re.compile(
    r"\bmap\(chr|b(?:16|32|64|85)decode|a85decode|fromhex|unhexlify|decompress|unpack|\bchr\(|\bord\(|\[::-1\]"
    r"|from_bytes|bytes\(|bytearray\(|rot_?13|int\('[0-9a-zA-Z]+', "
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_BLOB = re.compile(r"[A-Za-z0-9+/_\-=]{8,}")
_AROUND, _TIGHT = 0.25, 0.1
_GRAVITY = ("info", "unverified", "suspect", "violation")


def path_kinds(graph: Graph) -> tuple[set[Node], set[Node]]:
    """The nodes whose values pass into a metric, and those that only decide it by a test."""
    start = {node for sink in graph.metric_sinks for node in sink.nodes}
    direct = graph.behind(start, "direct")
    tests = {test for node in direct for test in graph.control.get(node, ())}
    deciding = graph.behind(tests, "direct", "derived")
    return direct, deciding


def findings(graph: Graph, claims: Sequence[Claim]) -> tuple[Finding, ...]:
    """What the code says of the sources of its values: per kind and claims the gravest finding."""
    found: dict[tuple, Finding] = {}
    for one in _findings(graph, claims):
        known = found.get((one.kind, one.claims))
        if known is None or _GRAVITY.index(one.severity) > _GRAVITY.index(known.severity):
            found[one.kind, one.claims] = one
    return tuple(found.values())


def _findings(graph: Graph, claims: Sequence[Claim]) -> Iterator[Finding]:
    direct, _ = path_kinds(graph)
    yield from _hidden(graph, claims, direct)
    yield from _blobs(graph, claims)
    yield from _clipped(graph, claims, direct)
    yield from _chosen_by_target(graph, claims)
    yield from _stops_at_target(graph, claims)
    yield from by_seed(graph, direct)
    yield from _by_settings(graph, direct)
    yield from _constants_alone(graph, claims, direct)
    yield from _formulas(graph, claims, direct)


def _hidden(graph: Graph, claims: Sequence[Claim], direct: set[Node]) -> Iterator[Finding]:
    """Reported values that stand in the code so that nobody reads them."""
    for constant in graph.constants.values():
        if constant.plain or not _HIDING.search(constant.text):
            continue
        hit = exactly_reported(constant.values, claims, 2)
        if hit:
            reaches = constant.node in direct
            yield Finding(
                kind="hidden_value",
                evidence=f"{constant.file}:{constant.line}: `{constant.text}` is a reported "
                "value in "
                f"disguise{', and reaches a metric' if reaches else ''}.",
                severity="violation" if reaches else "suspect",
                claims=tuple(claim.id for claim in hit),
            )


def _blobs(graph: Graph, claims: Sequence[Claim]) -> Iterator[Finding]:
    """Texts that hold reported values once they are decoded."""
    for file, tree in graph.trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str | bytes):
                continue
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            numbers = [number for part in _decoded(text) for number in _numbers(part)]
            hit = exactly_reported(numbers, claims, 2)
            if (
                len({claim.value for claim in hit}) >= min(2, len({c.value for c in claims}))
                and hit
            ):
                yield Finding(
                    kind="hidden_value",
                    evidence=f"{file}:{node.lineno}: an encoded text holds reported values.",
                    severity="suspect"
                    if len(hit) > 1 or telling_digits(hit[0]) > 2
                    else "unverified",
                    claims=tuple(claim.id for claim in hit),
                )


def _decoded(text: str) -> Iterator[bytes]:
    """What a text may be the encoding of, where that is readable or compressed text."""
    for blob in _BLOB.findall(text)[:50]:
        for decode in (
            lambda t: base64.b64decode(t + "=" * (-len(t) % 4), altchars=None, validate=True),
            lambda t: base64.urlsafe_b64decode(t + "=" * (-len(t) % 4)),
            bytes.fromhex,
            base64.b32decode,
            base64.b85decode,
        ):
            try:
                content = decode(blob)
            except (ValueError, binascii.Error):
                continue
            with contextlib.suppress(zlib.error):
                content = zlib.decompress(content)
            if content and all(32 <= byte < 127 or byte in (9, 10, 13) for byte in content):
                yield content


def _numbers(content: bytes) -> list[float]:
    return [float(match) for match in _NUMBER.findall(content)[:1000] if len(match) < 40]


def _clipped(graph: Graph, claims: Sequence[Claim], direct: set[Node]) -> Iterator[Finding]:
    """A value held between bounds that close in on the reported one."""
    for mark, call in graph.calls.items():
        if mark[4] not in {"min", "max", "clip", "minimum", "maximum"}:
            continue
        bounds = [
            graph.constants[n] for part in graph.reads[mark] for n in part if n in graph.constants
        ]
        inner = graph.behind({n for part in graph.reads[mark] for n in part}, "direct")
        bounds += [
            graph.constants[n]
            for n in inner
            if n in graph.constants and n[1] == mark[1] and abs(int(n[2]) - int(mark[2])) <= 3
        ]
        numbers = sorted({value for bound in bounds for value in bound.values})
        for claim in claims:
            for scale in (1.0, 0.01, 100.0):
                around = [n * scale for n in numbers if _around(n * scale, claim)]
                low = [n for n in around if n < claim.value]
                high = [n for n in around if n > claim.value]
                if low and high and mark in direct:
                    yield Finding(
                        kind="clipped_to_target",
                        evidence=f"{mark[1]}:{mark[2]}: `{ast.unparse(call)[:80]}` holds a value "
                        f"between {low[-1]:g} and {high[0]:g}, around the reported "
                        f"{claim.value:g}.",
                        severity="suspect"
                        if max(high[0], -low[-1] + 2 * claim.value) - claim.value
                        <= _TIGHT * abs(claim.value)
                        else "unverified",
                        claims=(claim.id,),
                    )
                    break


def _around(number: float, claim: Claim) -> bool:
    return bool(claim.value) and 0 < abs(number - claim.value) <= _AROUND * abs(claim.value)


def _chosen_by_target(graph: Graph, claims: Sequence[Claim]) -> Iterator[Finding]:
    """A test or a choice by the distance to a number that is the reported value."""
    start = {node for sink in graph.metric_sinks for node in sink.nodes}
    behind = graph.behind(start, "direct", "derived")
    marks = {mark[1:4] for node in behind for mark in graph.control.get(node, ())}
    marks |= {node[1:4] for node in behind if node[0] == "call"}
    for file, tree in graph.trees.items():
        names = _file_constants(graph, file)
        for place, difference, decides in _decisive_differences(tree):
            if (file, str(decides.lineno), str(decides.col_offset)) not in marks:
                continue  # it decides what is said, not what is measured
            numbers = []
            for side in (difference.left, difference.right):
                try:
                    numbers += numbers_in(evaluate(side, names))
                except NotConstant:
                    numbers += _known_of(side, graph, file)
            hit = [
                claim
                for claim in claims
                if telling_digits(claim) >= 2 and any(exact(n, claim) for n in numbers)
            ]
            if hit:
                yield Finding(
                    kind="chosen_by_target",
                    evidence=f"{file}:{place.lineno}: `{ast.unparse(place)[:80]}` decides by the "
                    "distance to a reported value.",
                    severity="suspect",
                    claims=tuple(claim.id for claim in hit),
                )


def _stops_at_target(graph: Graph, claims: Sequence[Claim]) -> Iterator[Finding]:
    """A loop that ends, or a value that is kept, once it passes a number that is the reported one."""
    for test in graph.tests.values():
        compared = any(isinstance(part, ast.Compare) for part in ast.walk(test.expression))
        numbers = [value for constant in test.constants for value in constant.values]
        hit = exactly_reported(numbers, claims, 3)
        if compared and hit and not test.raises:
            yield Finding(
                kind="stops_at_target",
                evidence=f"{test.file}:{test.line}: `{ast.unparse(test.expression)[:80]}` "
                "compares with a "
                "reported value.",
                severity="unverified",
                claims=tuple(claim.id for claim in hit),
            )


def _known_of(side: ast.expr, graph: Graph, file: str) -> list[float]:
    """The constants that a name or field of that name holds anywhere in the code."""
    name = getattr(side, "id", None) or getattr(side, "attr", None)
    if isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Constant):
        name = side.slice.value
    if isinstance(side, ast.Subscript) and name is None:
        name = getattr(side.value, "id", None)
    start = [
        node for node in graph.direct if node[-1] == name and node[0] in {"var", "attr", "key"}
    ]
    return [
        value
        for node in graph.behind(start, "direct")
        if node in graph.constants
        for value in graph.constants[node].values
    ]


def _decisive_differences(
    tree: ast.Module,
) -> Iterator[tuple[ast.AST, ast.BinOp, ast.expr]]:
    """The differences inside the tests, keys of choices, and argmins of a file: the place, the
    difference, and the test or call that decides by it.
    """
    for node in ast.walk(tree):
        places: list[ast.AST] = []
        match node:
            case ast.If() | ast.While() | ast.IfExp():
                places = [node.test]
            case ast.comprehension():
                places = list(node.ifs)
            case ast.Call(func=func):
                name = getattr(func, "attr", getattr(func, "id", ""))
                if name in {"min", "max", "sorted", "sort", "nsmallest", "nlargest"}:
                    places = [option.value for option in node.keywords if option.arg == "key"]
                elif name in {"argmin", "argsort", "argmax", "isclose", "allclose"}:
                    places = [
                        *node.args,
                        *([func.value] if isinstance(func, ast.Attribute) else []),
                    ]
        for place in places:
            for part in ast.walk(place):
                if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub):
                    yield place, part, node if isinstance(node, ast.Call) else place


def _file_constants(graph: Graph, file: str) -> Mapping[str, object]:
    tree = graph.trees[file]
    found: dict[str, object] = dict(single_constants(tree.body, {}))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found |= single_constants(node.body, found)
    return found


def _by_settings(graph: Graph, direct: set[Node]) -> Iterator[Finding]:
    """Values that are made otherwise where a setting is exactly a certain number."""
    for test in graph.deciding(direct):
        settings = [n[-1] for n in sorted(test.nodes) if n[0] in {"key", "attr"} and not is_seed(n)]
        special = [v for c in test.constants for v in c.values if v not in (-1.0, 0.0, 1.0, 2.0)]
        equal = any(
            isinstance(op, ast.Eq | ast.In)
            for part in ast.walk(test.expression)
            if isinstance(part, ast.Compare)
            for op in part.ops
        )
        if settings and special and equal and not test.raises:
            yield Finding(
                kind="decided_by_settings",
                evidence=f"{test.file}:{test.line}: `{ast.unparse(test.expression)[:80]}`: a metric is "
                "made in another way under exactly these settings.",
                severity="unverified",
            )


def _formulas(graph: Graph, claims: Sequence[Claim], direct: set[Node]) -> Iterator[Finding]:
    """Arithmetic on constants alone that gives a reported value, and passes into a metric."""
    for node in sorted(direct):
        constant = graph.constants.get(node)
        if constant is None or constant.plain:
            continue
        hit = exactly_reported(constant.values, claims, 2)
        if hit:
            yield Finding(
                kind="constant_formula",
                evidence=f"{constant.file}:{constant.line}: `{constant.text}` is a reported value, and "
                "passes into a metric.",
                severity="unverified",
                claims=tuple(claim.id for claim in hit),
            )


def _constants_alone(graph: Graph, claims: Sequence[Claim], direct: set[Node]) -> Iterator[Finding]:
    """Metrics of one claim that are nothing but a constant, the reported one."""
    for sink, own in _places(graph, claims):
        behind = graph.behind(sink.nodes, "direct")
        calls = [node for node in behind if node[0] == "call"]
        if any(node[0] in {"call", "key", "attr"} and not _harmless(node) for node in behind - own):
            continue
        used = sorted(behind & direct & graph.constants.keys())
        constants = [graph.constants[node] for node in used]
        about = [c for c in claims if sink.claim in (None, c.id)]
        for plain, severity in ((True, "violation"), (False, "unverified")):
            among = [constant for constant in constants if constant.plain == plain]
            numbers = [v for constant in among for v in constant.values]
            round_ones = among if calls or not own else []  # an entry may begin with one
            hit = [
                c
                for c in about
                if any(near(n, c) or complements(n, c) for n in numbers)
                or any(is_round_value(constant, c, graph) for constant in round_ones)
            ]
            if hit:
                place = sink if not own else among[0]
                yield Finding(
                    kind="constant_metric" if plain else "constant_formula",
                    evidence=f"{place.file}:{place.line}: the value is made of constants alone, "
                    "among them "
                    f"{'the reported one' if plain else 'a formula that gives the reported one'}.",
                    severity="unverified" if sink.printed else severity,
                    claims=tuple(claim.id for claim in hit),
                )


def _places(graph: Graph, claims: Sequence[Claim]) -> Iterator[tuple[Sink, set[Node]]]:
    """Where values are told: what is written, and the entries of containers under a claim's name, with
    the node that such an entry itself is.
    """
    for sink in graph.metric_sinks:
        yield sink, set()
    for claim in claims:
        entry = ("key", claim.id)
        if entry in graph.direct:
            yield Sink(claim.id, frozenset({entry}), "", 0), {entry}


_HARMLESS = {
    *("float", "int", "round", "str", "abs", "dict", "list", "sorted", "items", "values", "keys"),
    *("get", "zip", "enumerate", "normal", "gauss", "uniform", "random"),
    *("default_rng", "Random", "RandomState", "seed"),
}


def _harmless(node: Node) -> bool:
    """Calls that compute nothing, and generators of noise."""
    return node[0] == "call" and node[4] in _HARMLESS
