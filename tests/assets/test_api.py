"""`open_project`: the examples of its page hold on a real project, and failures are rows as well."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from repro_pipeline import open_project
from repro_pipeline.cli import main
from repro_pipeline.errors import UserError
from tests.bundles import make_bundle
from tests.conftest import ROOT

NOISE = {
    "id": "noise",
    "topic": "data",
    "statement": "The noise has a standard deviation of 0.01.",
    "value": 0.01,
    "influence": "high",
    "source": {"kind": "human", "note": "The paper does not say."},
}


def test_the_examples_of_the_page_hold(project: Path):
    make_bundle(project / "papers" / "tiny", assumptions=[NOISE])
    assert main(["run", "tiny"]) == 0
    result = doctest.testfile(
        str(ROOT / "docs/api.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert result.attempted > 15 and result.failed == 0


def test_what_failed_and_what_was_not_scored_is_there(project: Path):
    make_bundle(project / "papers" / "broken", behaviour="exit")
    make_bundle(project / "papers" / "young")
    main(["run", "broken"])
    assert main(["run", "young", "--stage", "reported_claims"]) == 0
    opened = open_project(project / "papers")
    claims = opened.claims()
    assert list(claims["verdict"].fillna("none")) == ["not_run"] * 2 + ["none"] * 2
    assert claims["value"].isna().all() and list(claims["reported"]) == [10.0, 20.0] * 2
    assert opened.attempts()["failure"].tolist() == ["exception:ValueError"] * 3
    assert opened.runs("broken")[["seed", "status"]].values.tolist() == [
        [seed, "failed"] for seed in (1, 2, 3)
    ]
    assert opened.runs("young").empty and opened.assumptions().empty
    assert opened.assumptions().dtypes.equals(opened.assumptions("young").dtypes)


def test_outside_a_project_it_says_so(tmp_path: Path):
    with pytest.raises(UserError, match=r"there is no repro\.yaml here or above"):
        open_project(tmp_path)
