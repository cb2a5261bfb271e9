"""The XHTML table model, as HTML and JATS write it."""

from __future__ import annotations

import pytest
from lxml import etree

from repro_pipeline.paper.html_tables import html_tables, read_rows
from repro_pipeline.paper.tables import make_table

JATS = """<table xmlns:mml="http://www.w3.org/1998/Math/MathML"><colgroup><col/><col/></colgroup>
<tfoot><tr><td>Mean</td><td>2.0</td></tr></tfoot>
<thead><tr><th rowspan="1">Group<xref ref-type="table-fn"><sup>a</sup></xref></th>
<th><bold>Value</bold><break/>(%)</th></tr></thead>
<tbody><tr><td><italic>R</italic><sup>2</sup></td><td>10<sup>−3</sup></td></tr>
<tr><td>CO<sub>2</sub>*</td><td><mml:math><mml:msup><mml:mn>10</mml:mn><mml:mn>-4</mml:mn></mml:msup>
</mml:math></td></tr><!-- a comment --></tbody></table>"""


def test_jats():
    found = read_rows(etree.fromstring(JATS), "a.nxml")
    table = make_table(1, found.rows, header_rows=found.header_rows)
    assert [[cell.text for cell in row] for row in table.grid] == [
        ["Group^a", "Value (%)"],
        ["R^2", "10^{−3}"],
        ["CO_2*", "10^{-4}"],
        ["Mean", "2.0"],
    ]
    assert table.header_rows == 1
    assert table.grid[0][1].bold and not table.grid[0][0].bold
    assert [row[1].numbers[0].value for row in table.grid[1:]] == [0.001, 0.0001, 2.0]
    assert table.grid[1][1].provenance.line == 5


@pytest.mark.parametrize(
    ("source", "cells"),
    [
        ("<table><tr><td rowspan=0>a<td>b<tr><td>c</table>", [["a", "b"], ["a", "c"]]),
        (
            "<table><thead><tr><th rowspan=2>a<th>b</thead><tbody><tr><td>c<td>1</tbody></table>",
            [["a", "b"], ["c", "1"]],
        ),
        ("<table><tr><td colspan='x'>a</td></tr></table>", [["a"]]),
        ("<table><tr><td>a<td>b", [["a", "b"]]),
        ("<table><tr><td>a &amp; b &lt; 5</td></tr></table>", [["a & b < 5"]]),
        ("<TABLE><TR><TD>a</TD></TR></TABLE>", [["a"]]),
    ],
)
def test_loose_html(source, cells):
    (table,) = html_tables(source)
    rows = read_rows(table, "a.html").rows
    made = make_table(1, rows)
    assert [[cell.text for cell in row] for row in made.grid] == cells


def test_a_table_in_a_table_is_doubted():
    (table,) = html_tables("<table><tr><td><table><tr><td>1</td></tr></table></td></tr></table>")
    assert read_rows(table, "a.html").doubts


def test_deep_nesting_is_bounded():
    html_tables("<table><tr><td>" + "<b>" * 5000 + "x")
