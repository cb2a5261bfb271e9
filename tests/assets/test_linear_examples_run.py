"""The bundled linear models really run: what the notes say comes out is what comes out."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from repro_pipeline.cli import main
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import latest, output_of
from repro_pipeline.status import Verdict
from resources.opening import open_project

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def scores_after(project: Path, name: str) -> Scores:
    shutil.copytree(EXAMPLES / name, project / "papers" / name)
    assert main(["run", name]) == 0
    opened = open_project(project)
    return output_of(opened, latest(opened, name, "scores"), Scores)


def noted_means(name: str) -> dict[str, float]:
    """Claim → mean, from the table of the example's notes: `| claim | reported | mean ± sd | …`."""
    notes = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| [^|]+ \| ([\d.]+) ±", notes, re.M)
    return {claim: float(mean) for claim, mean in rows}


def test_the_deterministic_example_reproduces_to_the_printed_digits(project):
    scores = scores_after(project, "lars-2004")
    assert len(scores.verdicts) == 24
    assert {v.verdict for v in scores.verdicts} == {Verdict.REPRODUCED}
    assert all(v.deterministic and v.agrees_at_printed_precision for v in scores.verdicts)
    ablation = next(d for d in scores.dimensions if d.id == "ablation_faithful")
    assert ablation.outcome == "pass"
    assert scores.overall != "pass", "nothing was held out, so leakage cannot be judged"


@pytest.mark.slow
def test_the_simulation_gives_the_values_of_its_notes(project):
    scores = scores_after(project, "elastic-net-2005")
    noted = noted_means("elastic-net-2005")
    assert len(noted) == len(scores.verdicts) == 16
    for verdict in scores.verdicts:
        assert verdict.value == pytest.approx(noted[verdict.claim], rel=0.005), verdict.claim
