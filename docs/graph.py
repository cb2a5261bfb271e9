"""The picture of the stages and its words, from the program's own assets: `python docs/graph.py`.

Writes `docs/pictures/stages.svg`, and in `docs/architecture.md` what stands between the marks. Arrows that
follow from others are left out of the picture; the words name every input.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent
PICTURE, PAGE = DOCS / "pictures" / "stages.svg", DOCS / "architecture.md"
BEGIN, END = "<!-- stages: made by docs/graph.py -->", "<!-- end of stages -->"
BOX, ROW, GAP, MARGIN = (116, 34), 68, 10, 10
FILLS = {
    "sources": "#e8eaf6",
    "understand": "#e3f2fd",
    "build": "#e0f2f1",
    "experiment": "#fff8e1",
    "evidence": "#fce4ec",
    "judge": "#f3e5f5",
    "sweeps": "#eceff1",
}
Inputs = Mapping[str, tuple[str, ...]]
"""Each stage's direct inputs."""


class Stages(NamedTuple):
    """The stages of one paper."""

    inputs: Inputs
    groups: Mapping[str, str]


def stages() -> Stages:
    """The program's assets, without those that no other is joined to."""
    from dagster import load_assets_from_package_module

    import assets

    specs = [
        spec
        for one in load_assets_from_package_module(assets)
        for spec in getattr(one, "specs", [one])
    ]
    inputs = {
        spec.key.to_user_string(): tuple(
            one.asset_key.to_user_string() for one in getattr(spec, "deps", ())
        )
        for spec in specs
    }
    used = {name for names in inputs.values() for name in names}
    joined = {name: names for name, names in inputs.items() if names or name in used}
    return Stages(joined, {s.key.to_user_string(): s.group_name or "" for s in specs})


def reduced(inputs: Inputs) -> Inputs:
    """The inputs that are not inputs of another input, at any distance."""

    def all_of(name: str) -> set[str]:
        return set(inputs[name]).union(*map(all_of, inputs[name]))

    return {
        name: tuple(n for n in names if not any(n in all_of(other) for other in names))
        for name, names in inputs.items()
    }


def rows(inputs: Inputs) -> list[list[str]]:
    """The stages from first to last: each below its inputs, beginnings and ends next to what they serve."""
    level: dict[str, int] = {}

    def level_of(name: str) -> int:
        if name not in level:
            level[name] = 1 + max(map(level_of, inputs[name]), default=-1)
        return level[name]

    last = max(map(level_of, inputs))
    users = {name: [n for n, names in inputs.items() if name in names] for name in inputs}
    for name in inputs:
        if not users[name]:
            level[name] = last
        elif not inputs[name]:
            level[name] = min(level[n] for n in users[name]) - 1
    found: list[list[str]] = [[] for _ in range(last + 1)]
    for name in sorted(inputs):
        found[level[name]].append(name)
    place: dict[str, float] = {}
    for row in found:
        row.sort(key=lambda n: sum(place[i] for i in inputs[n]) / max(1, len(inputs[n])))
        place |= {name: number - len(row) / 2 for number, name in enumerate(row)}
    return found


def svg(given: Stages) -> str:
    """The picture: boxes in the colours of their groups, arrows from input to output."""
    edges = reduced(given.inputs)
    table = rows(edges)
    width = 2 * MARGIN + max(map(len, table)) * (BOX[0] + GAP) - GAP
    height = 2 * MARGIN + (len(table) - 1) * ROW + BOX[1]
    place = {
        name: (
            width / 2 + (number - (len(row) - 1) / 2) * (BOX[0] + GAP),
            MARGIN + depth * ROW + BOX[1] / 2,
        )
        for depth, row in enumerate(table)
        for number, name in enumerate(row)
    }
    arrows = [_arrow(place[one], place[name]) for name, names in edges.items() for one in names]
    boxes = [_box(name, given.groups[name], at) for name, at in place.items()]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'width="{width * 1.4:.0f}" font-family="sans-serif" text-anchor="middle">',
            f"<title>The stages of a paper</title>\n<desc>{escape(alternative(given))}</desc>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
            'markerHeight="6" orient="auto"><path d="M0 0 8 4 0 8z" fill="#455a64"/></marker></defs>',
            f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>',
            *arrows,
            *boxes,
            "</svg>\n",
        ]
    )


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x, y), (u, v) = start, end
    y, v = y + BOX[1] / 2, v - BOX[1] / 2
    below = y + ROW - BOX[1]  # from there straight down, past the rows between
    middle, down = (y + below) / 2, f"V{v:g}" if v > below else ""
    return (
        f'<path d="M{x:g} {y:g}C{x:g} {middle:g} {u:g} {middle:g} {u:g} {below:g}{down}" fill="none" '
        'stroke="#455a64" marker-end="url(#tip)"/>'
    )


def _box(name: str, group: str, at: tuple[float, float]) -> str:
    x, y = at
    return (
        f'<rect x="{x - BOX[0] / 2:g}" y="{y - BOX[1] / 2:g}" width="{BOX[0]}" height="{BOX[1]}" rx="4" '
        f'fill="{FILLS.get(group, "#eeeeee")}" stroke="#455a64"/>'
        f'<text x="{x:g}" y="{y - 2:g}" font-size="11" fill="#102027">{name}</text>'
        f'<text x="{x:g}" y="{y + 11:g}" font-size="9" fill="#37474f">{group}</text>'
    )


def alternative(given: Stages) -> str:
    """The picture in one sentence."""
    return "The stages in order: " + "; then ".join(
        ", ".join(row) for row in rows(reduced(given.inputs))
    )


def words(given: Stages) -> str:
    """Picture and table as Markdown: each stage with its group and every direct input."""
    order = [name for row in rows(reduced(given.inputs)) for name in row]
    lines = [
        f"| `{name}` | {given.groups[name]} | {', '.join(given.inputs[name]) or 'what people write'} |"
        for name in order
    ]
    parts = [
        f"{BEGIN}\n![{alternative(given)}](pictures/stages.svg)",
        "In words, with every input (the picture leaves out arrows that follow from others):",
        "\n".join(["| stage | group | made from |", "| --- | --- | --- |", *lines]),
        END,
    ]
    return "\n\n".join(parts)


def page_with(text: str, given: Stages) -> str:
    """A page with what stands between the marks made anew."""
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: words(given), text, flags=re.S)


if __name__ == "__main__":
    PICTURE.write_text(svg(stages()), encoding="utf-8")
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), stages()), encoding="utf-8")
