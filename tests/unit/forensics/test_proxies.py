"""A column that was written down after the outcome."""

from __future__ import annotations

import random

import pytest
from forensic_cases import kinds, program

from repro_pipeline.forensics.proxies import area, findings
from repro_pipeline.forensics.reader import build


@pytest.fixture
def table(tmp_path):
    rng = random.Random(2)
    rows = [(rng.gauss(y, 1), y + rng.gauss(0, 0.3), y) for y in (0, 1) * 100]
    text = "dose,revised,outcome\n" + "".join(f"{a:.3f},{b:.3f},{y}\n" for a, b, y in rows)
    (tmp_path / "a.csv").write_text(text)
    return tmp_path / "a.csv"


def judged(table, columns, paper="We use the dose and the rest to tell the outcome."):
    graph = build(program(f"INPUTS = {columns}\nv = work(INPUTS)"))
    return kinds(findings(graph, [table], paper))


def test_a_column_that_tells_the_label(table):
    assert judged(table, ["dose", "revised"]) == {"target_among_features": "unverified"}
    assert judged(table, ["dose"]) == {}
    assert judged(table, ["dose", "revised"], "the dose and the revised state") == {}
    assert judged(table, ["dose", "revised"], "") == {}


def test_area():
    assert area([1, 2, 3, 4], "aabb") == 1
    assert area([1, 1, 1, 1], "aabb") == 0.5
