"""A model proposes cells: what does not stand in the paper is thrown away, and no value is believed."""

from __future__ import annotations

import pytest
from test_extract_claims import PAPER

from repro_pipeline.bundle.task import Task
from repro_pipeline.claims.extract import extract_claims
from repro_pipeline.claims.model import PairKind
from repro_pipeline.claims.proposal import (
    MOST,
    MOST_KEY,
    Proposal,
    accept,
    as_task,
    fault_of,
    tables_listed,
)


def claim(claim_id: str, row="Twonorm", column="Forest", **more) -> dict:
    base = {"id": claim_id, "metric": "error", "table": 1, "row": [row], "column": [column]}
    return {**base, **more}


def proposal(*claims: dict, **more) -> Proposal:
    return Proposal.model_validate({"claims": claims, **more})


def rejected(*claims: dict, **more) -> str:
    return "\n".join(accept(PAPER, proposal(*claims, **more)).rejected)


def test_a_value_is_read_from_the_cell_and_there_is_no_place_for_one():
    accepted = accept(PAPER, proposal(claim("a"), claim("b", column="Tree", key=True)))
    made = extract_claims(PAPER, accepted.task)
    assert [(one.id, one.value, one.key) for one in made.claims] == [
        ("a", 3.9, False),
        ("b", 24.7, True),
    ]
    assert str(made.claims[0].provenance) == "paper.tex:12" and made.main == "b"
    for key in ("value", "reported", "uncertainty"):
        with pytest.raises(ValueError, match=key):
            proposal(claim("a", **{key: 99.9}))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"row": ["Fournorm"]}, "there is no row 'Fournorm'"),
        ({"column": ["Woods"]}, "there is no column 'Woods'"),
        ({"table": 7}, "there is no table number 7"),
        ({"column": ["Note"]}, "a bound or an estimate"),
        ({"row": ["Waveform"], "column": ["Note"]}, "not a number"),
        ({"part": 1}, "has no part 1"),
        ({"row": ["Threenorm"], "column": ["Tree"], "unit": "seconds"}, "in percent"),
        ({"id": "kept"}, "an id that stands twice"),
        ({"row": ["Waveform"]}, "names the same number as kept"),
    ],
)
def test_what_is_not_in_the_paper_is_thrown_away_with_a_reason(changes, why):
    kept = claim("kept", row="Waveform")
    accepted = accept(PAPER, proposal(kept, claim("bad") | changes))
    assert [one.id for one in accepted.claims] == ["kept"]
    assert why in accepted.rejected[0]


def test_a_pair_needs_two_kept_claims_of_one_metric():
    claims = (claim("a"), claim("b", column="Tree"), claim("c", column="Single", metric="loss"))
    pairs = [
        {"id": "good", "full": "a", "variant": "b"},
        {"id": "gone", "full": "a", "variant": "nowhere"},
        {"id": "self", "full": "a", "variant": "a"},
        {"id": "mixed", "full": "a", "variant": "c"},
        {"id": "good", "full": "b", "variant": "a"},
    ]
    accepted = accept(PAPER, proposal(*claims, ablations=pairs))
    (pair,) = extract_claims(PAPER, accepted.task).pairs
    assert (pair.id, pair.kind, pair.expected_sign) == ("good", PairKind.ABLATION, 1)
    assert len(accepted.rejected) == 4


def test_claims_and_key_claims_beyond_the_most_are_not_kept():
    cells = [
        (row, column)
        for row in ("Waveform", "Twonorm", "Threenorm")
        for column in ("Forest", "Single", "Tree")
    ]
    claims = [claim(f"c{n}", row, column, key=True) for n, (row, column) in enumerate(cells)]
    accepted = accept(PAPER, proposal(*claims))
    assert sum(one.key for one in accepted.claims) == MOST_KEY < len(accepted.claims) == len(cells)
    many = [claim(f"c{n}", part=n) for n in range(MOST + 5)]
    assert len(accept(PAPER, proposal(*claims, *many)).claims) <= MOST


def test_a_model_is_told_what_to_mend_only_where_most_is_wrong():
    good, bad = claim("good"), claim("bad", row="Fournorm")
    assert fault_of(PAPER, proposal(good, bad)) is None
    fault = fault_of(PAPER, proposal(good, bad, claim("worse", row="Sixnorm")))
    assert fault.startswith("1 of 3 claims name a number") and "Fournorm" in fault


def test_the_listing_names_every_place_as_an_address_takes_it():
    text, left = tables_listed(PAPER)
    assert left == () and "row 3: Twonorm | 3.9" in text and "column 2: Forest" in text
    place = claim("a", row="row 3", column="column 2")
    assert extract_claims(PAPER, accept(PAPER, proposal(place)).task).claims[0].value == 3.9
    assert tables_listed(PAPER, most=50) == ("", ("Table 2",))


def test_claims_as_a_task_give_the_same_claims_again():
    pairs = {
        "ablations": [{"id": "p", "full": "a", "variant": "b"}],
        "comparisons": [{"id": "q", "full": "b", "variant": "c"}],
    }
    claims = [claim("a"), claim("b", column="Tree", key=True), claim("c", column="Single")]
    task = Task.model_validate(
        {"claims": [accept(PAPER, proposal(one)).claims[0].model_dump() for one in claims], **pairs}
    )
    made = extract_claims(PAPER, task)
    assert extract_claims(PAPER, as_task(made)) == made
