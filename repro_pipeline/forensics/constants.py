"""The value of expressions that are made of constants alone, however they are dressed up.

`39 / 10`, `float("3" + ".9")`, `int("27", 16) / 10`, `json.loads(b64decode("My45"))`, `TABLE["x"]`:
none of them computes anything from data. What cannot be evaluated here is simply not a constant.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import json
import math
import operator
import struct
from collections.abc import Callable, Mapping
from typing import Any

from repro_pipeline.forensics.archives import inflated

_LONGEST = 100_000
_LARGEST = 1e100
_OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitXor: operator.xor,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.RShift: operator.rshift,
}
_FUNCTIONS: dict[str, Callable] = {
    "float": float,
    "int": int,
    "str": str,
    "abs": abs,
    "round": round,
    "sum": sum,
    "min": min,
    "max": max,
    "len": len,
    "chr": chr,
    "ord": ord,
    "bytes": bytes,
    "bytearray": bytes,
    "list": list,
    "tuple": tuple,
    "dict": dict,
    "sorted": sorted,
    "Decimal": float,
    "Fraction": lambda a, b=1: float(a) / float(b),
    "float64": float,
    "array": lambda values, **_: values,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "b64decode": lambda text, **_: base64.b64decode(text),
    "b32decode": base64.b32decode,
    "b16decode": base64.b16decode,
    "b85decode": base64.b85decode,
    "a85decode": base64.a85decode,
    "urlsafe_b64decode": base64.urlsafe_b64decode,
    "decodebytes": base64.decodebytes,
    "unhexlify": binascii.unhexlify,
    "fromhex": lambda text: float.fromhex(text) if "0x" in text.lower() else bytes.fromhex(text),
    "decompress": lambda content, *_, **__: inflated(content),
    "loads": json.loads,
    "literal_eval": ast.literal_eval,
    "eval": ast.literal_eval,
    "unpack": struct.unpack,
    "from_bytes": int.from_bytes,
}
"""By the last part of their name: whose module they are of does not matter for what they give."""
_METHODS = {
    "decode",
    "encode",
    "strip",
    "split",
    "replace",
    "join",
    "lower",
    "upper",
    "get",
    "hex",
    "format",
    "index",
    "count",
    "removeprefix",
    "removesuffix",
    "translate",
    "zfill",
}
_PLAIN = (int, float, str, bytes, list, tuple, dict, bool, type(None))


class NotConstant(Exception):
    """The expression depends on something else than constants."""


def evaluate(node: ast.AST, names: Mapping[str, Any], depth: int = 40) -> Any:
    """The value of an expression, with the constants that `names` stand for.

    Raises NotConstant.
    """
    if depth <= 0:
        raise NotConstant
    try:
        value = _evaluate(node, names, depth - 1)
    except NotConstant:
        raise
    except Exception:
        raise NotConstant from None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST:
        raise NotConstant
    if isinstance(value, str | bytes | list | tuple | dict) and len(value) > _LONGEST:
        raise NotConstant
    if not isinstance(value, _PLAIN):
        raise NotConstant
    return value


def _evaluate(node: ast.AST, names: Mapping[str, Any], depth: int) -> Any:  # noqa: PLR0911 - a case a node
    def of(part: ast.AST) -> Any:
        return evaluate(part, names, depth)

    match node:
        case ast.Constant():
            return node.value
        case ast.Name() if node.id in names:
            return names[node.id]
        case ast.UnaryOp(op=ast.USub()):
            return -of(node.operand)
        case ast.UnaryOp(op=ast.UAdd()):
            return of(node.operand)
        case ast.BinOp(op=ast.Pow()):
            return _power(of(node.left), of(node.right))
        case ast.BinOp(op=ast.LShift()):
            return _shifted(of(node.left), of(node.right))
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _binary(_OPERATORS[type(node.op)], of(node.left), of(node.right))
        case ast.List() | ast.Tuple():
            return [of(part) for part in node.elts]
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return {_key(of(key)): of(value) for key, value in pairs if key is not None}
        case ast.Subscript():
            return of(node.value)[_index(node.slice, of)]
        case ast.JoinedStr():
            return "".join(str(of(part)) for part in node.values)
        case ast.FormattedValue():
            return of(node.value)
        case ast.Call():
            return _call(node, of)
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() if len(node.generators) == 1:
            return _comprehension(node, names, depth)
    raise NotConstant


def _call(node: ast.Call, of: Callable[[ast.AST], Any]) -> Any:
    mapped = isinstance(node.func, ast.Name) and node.func.id == "map"
    arguments = [] if mapped else [of(argument) for argument in node.args]
    options = {option.arg: of(option.value) for option in node.keywords if option.arg}
    if isinstance(node.func, ast.Name):
        if node.func.id == "map" and isinstance(node.args[0], ast.Name):
            return [_known(node.args[0].id)(item) for item in of(node.args[1])]
        if node.func.id == "reversed":
            return list(reversed(arguments[0]))
        return _known(node.func.id)(*arguments, **options)
    if isinstance(node.func, ast.Attribute):
        name = node.func.attr
        if name in _METHODS:
            try:
                receiver = of(node.func.value)
            except NotConstant:
                receiver = None
            if isinstance(receiver, str | bytes | dict | list):
                return getattr(receiver, name)(*arguments, **options)
            if name == "decode" and isinstance(node.func.value, ast.Name):
                return codecs.decode(*arguments)  # codecs.decode
        return _known(name)(*arguments, **options)
    raise NotConstant


def _known(name: str) -> Callable:
    if name not in _FUNCTIONS:
        raise NotConstant
    return _FUNCTIONS[name]


def _comprehension(node: Any, names: Mapping[str, Any], depth: int) -> list:
    loop = node.generators[0]
    if loop.ifs or not isinstance(loop.target, ast.Name):
        raise NotConstant
    items = evaluate(loop.iter, names, depth)
    if len(items) > 1000:
        raise NotConstant
    return [evaluate(node.elt, {**names, loop.target.id: item}, depth) for item in items]


def _index(node: ast.AST, of: Callable[[ast.AST], Any]) -> Any:
    if isinstance(node, ast.Slice):
        parts = (node.lower, node.upper, node.step)
        return slice(*(of(part) if part is not None else None for part in parts))
    return of(node)


def _key(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _binary(function: Callable, left: Any, right: Any) -> Any:
    repeats = isinstance(left, str | bytes | list) and isinstance(right, int)
    if repeats and len(left) * max(right, 0) > _LONGEST:
        raise NotConstant
    if function is operator.mod and isinstance(left, str | bytes):
        raise NotConstant
    return function(left, right)


def _power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > 64 or abs(base) > 1e6:
        raise NotConstant
    return base**exponent


def _shifted(value: int, by: int) -> int:
    if by > 64 or abs(value) > 2**64:
        raise NotConstant
    return value << by


def numbers_in(value: Any, depth: int = 4) -> list[float]:
    """The numbers that a constant holds: itself, in a container, or written in a text."""
    if isinstance(value, bool) or depth <= 0:
        return []
    if isinstance(value, int | float):
        return [float(value)] if abs(value) < _LARGEST else []  # nan is not below either
    if isinstance(value, bytes):
        try:
            value = value.decode("ascii")
        except UnicodeDecodeError:
            return []
    if isinstance(value, str):
        try:
            return numbers_in(float(value), depth - 1) if len(value) < 40 else []
        except ValueError:
            return []
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [number for part in value[:500] for number in numbers_in(part, depth - 1)]
    return []
