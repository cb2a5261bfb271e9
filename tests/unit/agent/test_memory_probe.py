"""The memory probe: what a model knows by heart is counted, and nothing is told to it."""

from __future__ import annotations

import re

import pytest

from repro_pipeline.agent.memory_probe import asked_of, judged, probe_memory
from repro_pipeline.bundle.task import Budget
from repro_pipeline.chat import Unavailable
from repro_pipeline.claims.blind_check import guard_for
from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.model import Cell, Paper, Source, SourceFormat, Table
from repro_pipeline.paper.numbers import parse_numbers
from tests.scripted import ScriptedModel

VALUES = {"one": 93.2, "two": 90.1, "three": 71.4, "four": 55.5}


def _cell(text: str) -> Cell:
    return Cell(text=text, numbers=parse_numbers(text))


PAPER = Paper(
    source=Source(file="p.tex", format=SourceFormat.LATEX, sha256="0" * 64, reader="t 1"),
    title="A method that reaches 93.2 %",
    abstract="Nobody is told of 90.1.",
    tables=(
        Table(
            index=1,
            number="Table 1",
            grid=(
                (Cell(text="Method"), Cell(text="Accuracy")),
                *((Cell(text=name), _cell(str(value))) for name, value in VALUES.items()),
            ),
        ),
    ),
)
CLAIMS = ReportedClaims(
    claims=tuple(
        Claim(
            id=name,
            metric="accuracy",
            unit="percent",
            value=value,
            quantum=0.1,
            address=CellAddress(table="Table 1", row=(name,), column=("Accuracy",)),
        )
        for name, value in VALUES.items()
    ),
    main="one",
    proposed_by="test",
)


def said(**values) -> dict:
    return {"values": [{"claim": name, "value": value} for name, value in values.items()]}


def probe(make_desk, script, **more):
    desk = make_desk(ScriptedModel(script), guard=guard_for(PAPER, CLAIMS), **more)
    return probe_memory(desk, PAPER, CLAIMS, ("planner", "coder")), desk


def test_a_model_that_remembers_is_found_and_asked_once_whatever_roles_it_plays(make_desk):
    (found,), desk = probe(make_desk, [said(one=93.2, two=90.14, three=None, four=12.0)])
    assert found.claims == ("one", "two")
    assert found.evidence["asked"] == 4 and found.evidence["answered"] == 3
    assert (found.evidence["hits"], found.evidence["model"]) == (2, "scripted")
    assert found.evidence["chance"] == pytest.approx(2 / 3)
    assert "2 right to the printed digits" in found.sentence
    (again,), _ = probe(make_desk, [])
    assert again == found
    assert len(list(desk.ledger.events("tiny", kinds={"model_called"}))) == 1


def test_no_value_and_nothing_but_title_and_headers_is_sent(make_desk):
    _, desk = probe(make_desk, [said()])
    sent = "\n".join(message.content for message in desk.chat.asked[0].messages)
    assert "one: accuracy, in percent (Table 1, row 'one', column 'Accuracy')" in sent
    assert "A method that reaches [masked] %" in sent
    assert not re.search(r"93\.2|90\.1|71\.4|55\.5|Nobody", sent)
    assert "93.2" not in asked_of(PAPER, CLAIMS)


def test_a_guesser_is_told_apart_from_one_who_knows():
    """One value for all claims is right once, and was to be right once by chance."""
    guesses = judged("m", CLAIMS.claims, dict.fromkeys(VALUES, 90.1))
    knows = judged("m", CLAIMS.claims, VALUES)
    assert (guesses.evidence["hits"], guesses.evidence["chance"]) == (1, 1.0)
    assert (knows.evidence["hits"], knows.evidence["chance"]) == (4, 1.0)
    assert judged("m", CLAIMS.claims, {"one": 93.2}).evidence["chance"] is None
    assert judged("m", CLAIMS.claims, {"stranger": 93.2}).evidence["answered"] == 0


@pytest.mark.parametrize("value", [93.26, 93.1, 0.932, -93.2])
def test_only_what_rounds_to_the_printed_digits_is_a_hit(value):
    assert judged("m", CLAIMS.claims, {"one": value}).claims == ()


def test_a_model_that_cannot_be_asked_leaves_a_sentence(make_desk):
    (found,), _ = probe(make_desk, [Unavailable("the provider is down.")] * 9)
    assert not found.applies and "was not asked" in found.sentence
    (found,), _ = probe(make_desk, [said()], budget=Budget(tokens=1))
    assert not found.applies and "budget of tokens" in found.sentence
