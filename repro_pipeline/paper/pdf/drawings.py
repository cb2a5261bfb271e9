"""What a PDF page draws beside its text: straight rules, and the places of pictures."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

MOST_PATHS = 30_000
"""Paths read per page: charts hold more, tables do not."""
MOST_SEGMENTS = 400
"""A path of more segments is a curve of a chart, not a rule."""
THINNEST_BAR = 3.0
"""A filled rectangle thinner than this (points) is a rule."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight horizontal or vertical line."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def horizontal(self) -> bool:
        """Whether it runs across."""
        return abs(self.x1 - self.x0) >= abs(self.y1 - self.y0)


class View:
    """From a page's user space (origin anywhere, y up, perhaps turned) to the page as seen."""

    def __init__(self, page: Any) -> None:
        self.width, self.height = page.get_size()
        self.rotation = page.get_rotation() % 360
        left, bottom, right, top = page.get_cropbox()
        media = page.get_mediabox()
        self.left, self.bottom = max(left, media[0]), max(bottom, media[1])
        self.right, self.top = min(right, media[2]), min(top, media[3])

    def point(self, x: float, y: float) -> tuple[float, float]:
        """The place on the seen page, y down."""
        match self.rotation:
            case 90:
                return y - self.bottom, x - self.left
            case 180:
                return self.right - x, y - self.bottom
            case 270:
                return self.top - y, self.right - x
            case _:
                return x - self.left, self.top - y

    def angle(self, a: float, b: float) -> float:
        """Reading direction on the seen page, degrees anticlockwise in [0, 360)."""
        return (math.degrees(math.atan2(b, a)) - self.rotation) % 360


def drawings(page: Any, view: View) -> tuple[list[Box], list[Rule]]:
    """The page's pictures, and its straight lines and thin bars."""
    from pypdfium2 import raw

    pictures: list[Box] = []
    rules: list[Rule] = []
    paths = 0
    for item, matrix in _objects(page.raw, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject):
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            pictures.append(_picture(item, matrix, view))
        elif kind == raw.FPDF_PAGEOBJ_PATH:
            paths += 1
            if paths > MOST_PATHS:
                break
            rules += _rules(item, matrix, view)
    return pictures, rules


_Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: _Matrix = (1, 0, 0, 1, 0, 0)


def _objects(
    holder: Any, count: Any, get: Any, matrix: _Matrix = _IDENTITY, depth: int = 0
) -> Iterator[tuple[Any, _Matrix]]:
    """Page objects with the matrix of the forms that hold them."""
    from pypdfium2 import raw

    for index in range(count(holder)):
        item = get(holder, index)
        if raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_FORM:
            if depth < 5:
                inner = _times(_matrix(item), matrix)
                yield from _objects(
                    item, raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, inner, depth + 1
                )
        else:
            yield item, matrix


def _matrix(item: Any) -> _Matrix:
    from pypdfium2 import raw

    m = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(item, m)
    return m.a, m.b, m.c, m.d, m.e, m.f


def _times(first: _Matrix, then: _Matrix) -> _Matrix:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return (
        a * p + b * r, a * q + b * s,
        c * p + d * r, c * q + d * s,
        e * p + f * r + t, e * q + f * s + u,
    )  # fmt: skip


def _apply(matrix: _Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _picture(item: Any, matrix: _Matrix, view: View) -> Box:
    whole = _times(_matrix(item), matrix)
    corners = [view.point(*_apply(whole, x, y)) for x in (0, 1) for y in (0, 1)]
    xs, ys = zip(*corners, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _rules(item: Any, matrix: _Matrix, view: View) -> list[Rule]:
    """The horizontal and vertical lines that a path draws, thin filled bars among them."""
    from pypdfium2 import raw

    if not 2 <= raw.FPDFPath_CountSegments(item) <= MOST_SEGMENTS:
        return []
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(item, fill, stroke)
    whole = _times(_matrix(item), matrix)
    rules = []
    for points in _subpaths(item):
        seen = [view.point(*_apply(whole, x, y)) for x, y in points]
        if stroke.value:
            rules += [
                rule
                for (x0, y0), (x1, y1) in itertools.pairwise(seen)
                if (rule := _straight(x0, y0, x1, y1))
            ]
        elif fill.value and len(seen) >= 4:
            rules += _bar(seen)
    return rules


def _subpaths(item: Any) -> list[list[tuple[float, float]]]:
    """The polygons of a path; one that holds a curve is left out."""
    from pypdfium2 import raw

    x, y = ctypes.c_float(), ctypes.c_float()
    paths: list[list[tuple[float, float]]] = []
    curved: set[int] = set()
    for index in range(raw.FPDFPath_CountSegments(item)):
        segment = raw.FPDFPath_GetPathSegment(item, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO or not paths:
            paths.append([])
        if kind == raw.FPDF_SEGMENT_BEZIERTO:
            curved.add(len(paths) - 1)
        paths[-1].append((x.value, y.value))
        if raw.FPDFPathSegment_GetClose(segment):
            paths[-1].append(paths[-1][0])
    return [path for index, path in enumerate(paths) if index not in curved and len(path) > 1]


def _straight(x0: float, y0: float, x1: float, y1: float) -> Rule | None:
    if abs(y1 - y0) < 0.3 and abs(x1 - x0) >= 2:
        return Rule(min(x0, x1), (y0 + y1) / 2, max(x0, x1), (y0 + y1) / 2)
    if abs(x1 - x0) < 0.3 and abs(y1 - y0) >= 2:
        return Rule((x0 + x1) / 2, min(y0, y1), (x0 + x1) / 2, max(y0, y1))
    return None


def _bar(points: list[tuple[float, float]]) -> list[Rule]:
    """A thin filled rectangle as a rule."""
    xs, ys = zip(*points, strict=True)
    width, height = max(xs) - min(xs), max(ys) - min(ys)
    if height < THINNEST_BAR and width > max(4, 3 * height):
        middle = (min(ys) + max(ys)) / 2
        return [Rule(min(xs), middle, max(xs), middle)]
    if width < THINNEST_BAR and height > max(4, 3 * width):
        middle = (min(xs) + max(xs)) / 2
        return [Rule(middle, min(ys), middle, max(ys))]
    return []
