"""What the UI shows of a stage: numbers of few digits, lists as tables, nothing that its page cuts off."""

from __future__ import annotations

import pytest
from bundles import make_bundle

from assets.assumption_ledger import describe as describe_assumptions
from assets.runs import describe_runs
from assets.scores import describe as describe_scores
from repro_pipeline.cli import main
from repro_pipeline.ledger.runs import RunSet
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import latest, output_of


def rows_of(metadata: dict, name: str) -> list[dict]:
    return [dict(record.data) for record in metadata[name].records]


@pytest.fixture
def shown(opened, tmp_path):
    """The metadata of three stages of a finished paper."""
    make_bundle(tmp_path / "tiny")
    assert main(["add", str(tmp_path / "tiny")]) == 0
    assert main(["run", "tiny"]) == 0
    return {
        stage: describe(output_of(opened, latest(opened, "tiny", stage), model))
        for stage, describe, model in (
            ("assumption_ledger", describe_assumptions, AssumptionLedger),
            ("baseline", describe_runs, RunSet),
            ("scores", describe_scores, Scores),
        )
    }


def test_the_metadata_of_a_finished_paper_can_be_read(shown):
    gaps = rows_of(shown["assumption_ledger"], "gaps")
    assert len(gaps) == shown["assumption_ledger"]["open gaps"] > 10
    assert all(gap["question"].endswith("?") for gap in gaps)
    values = rows_of(shown["baseline"], "values")
    assert [row["n"] for row in values] == [3, 3]
    numbers = [row[name] for row in values for name in ("mean", "sd")]
    numbers += [value for value in shown["scores"].values() if isinstance(value, float)]
    assert len(numbers) > 6 and all(number == float(f"{number:.6g}") for number in numbers)
    assert [row["seeds"] for row in rows_of(shown["scores"], "verdicts")] == ["3/3", "3/3"]
