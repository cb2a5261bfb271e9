"""Which cells of a table are results, and which are settings that stand beside them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from repro_pipeline.paper.model import Cell, Table

Place = tuple[int, int, int]
"""A table's index, and row and column of its grid."""

_OF_WHAT = (
    r"(?:(?:number|no\.?|num\.?|size) of |#\s?|n_|num_|max\.? |min\.? |total )?(?:the )?"
    r"(?:(?:training|train|test|validation|val|dev|hidden|model|input|output|embedding|feature|label|"
    r"noise|initial|base|kernel|batch|image|vocab\w*|mini-?batch|weight|drop-?out|learning|decay|"
    r"warm-?up|step|random)[ _-]?)*"
)
_COUNT = re.compile(
    _OF_WHAT + r"(?:param(?:eter)?s?|samples?|examples?|instances?|cases|sizes?|dims?|dimension\w*|"
    r"units|layers?|heads?|epochs?|iterations?|iters?|steps?|batch(?:es)?|seeds?|runs?|trials|folds?|"
    r"trees|estimators|features?|class(?:es)?|inputs?|outputs?|variables|attributes|predictors|nodes|"
    r"edges|depth|width|resolution|length|year|window|stride|[nNkKTMDLHBCmdhl])",
    re.I,
)
"""Names of settings that are whole numbers."""
_SETTING = re.compile(
    _OF_WHAT
    + r"(?:(?:learning|decay|dropout|noise)[ _]rates?|lr|decay|dropout|momentum|optimi[sz]er|"
    r"temperature|threshold|hyper-?parameters?|settings?|configs?|value range|range|grid|date|version|"
    r"licen[cs]e|source|[αβγλτσρεημνθδκ](?:_\w+)?)",
    re.I,
)
_UNIT = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$|[:↑↓*†‡]+\s*$")


def result_cells(table: Table, claims: Collection[tuple[int, int]] = ()) -> set[tuple[int, int]]:
    """The body cells (row, column) that hold results: those with digits, but for settings.

    A row or a column holds settings where its header is a setting's name and none of `claims`,
    which are always results, stands in it. Cells without digits (`-`, `yes`) are no results.
    """
    rows, columns = {row for row, _ in claims}, {column for _, column in claims}
    body_rows = range(table.header_rows, len(table.grid))
    body_columns = range(table.header_columns, table.shape[1])
    down = {
        column: [table.grid[row][column] for row in body_rows]
        for column in body_columns
        if column not in columns
    }
    across = {row: table.grid[row][table.header_columns :] for row in body_rows if row not in rows}
    setting_columns = {c for c in down if _are_settings(table.column_headers(c), down[c])}
    setting_rows = {r for r in across if _are_settings(table.row_headers(r), across[r])}
    found = {
        (row, column)
        for row in body_rows
        for column in body_columns
        if row not in setting_rows and column not in setting_columns
        if is_number_like(table.grid[row][column].text)
    }
    return found | set(claims)


def is_number_like(text: str) -> bool:
    """Whether a text is mostly a number: `93.2/87.1 (a)`, not `ResNet-50` or `3 layers of 64`."""
    digits = sum(character.isdigit() for character in text)
    letters = sum(
        character.isalpha()
        for character in re.sub(
            r"\\[A-Za-z]+|\b(?:[munµ]?s|min|h|std|sd|se|e[+-]?\d+|[KMGB]|[xX])\b", "", text
        )
    )
    return digits > 0 and digits >= letters


def _are_settings(path: tuple[str, ...], cells: Sequence[Cell]) -> bool:
    """Whether the innermost header is a setting's name, which goes with the cells' numbers."""
    name = _UNIT.sub("", path[-1]).strip(" .$\\") if path else ""
    if _COUNT.fullmatch(name):
        return all(number.quantum >= 1 for cell in cells for number in cell.numbers)
    return _SETTING.fullmatch(name) is not None
