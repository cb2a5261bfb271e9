"""What the agent is given: nothing that holds a reported value, and nothing that may not be sent."""

from __future__ import annotations

import pytest
import yaml

from repro_pipeline.agent.material import NotSent, material_of
from repro_pipeline.agent.state import claims_text
from repro_pipeline.bundle.folder import open_bundle
from repro_pipeline.bundle.terms import AssumptionSource
from repro_pipeline.claims.blind_check import Leak, guard_for
from repro_pipeline.claims.extract import extract_claims
from repro_pipeline.config import SendToModels
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.paper.read import read_paper

PAPER = """# A study

## Experiments

We train for 300 steps with a rate of 0.05. Our method reaches an error of 12.34 % on Noisy data.

Table 1: Error (%) of each method.

| Source | Plain | Shrunk |
|--------|-------|--------|
| Noisy  | 45.67 | 12.34  |
"""
CELL = {"table": "Table 1", "row": ["Noisy"]}
TASK = {
    "schema": 1,
    "claims": [
        {
            "id": "plain",
            "metric": "error",
            "unit": "percent",
            "reported": {**CELL, "column": ["Plain"]},
        },
        {
            "id": "shrunk",
            "metric": "error",
            "unit": "percent",
            "reported": {"quote": "an error of 12.34 %"},
        },
    ],
    "ablations": [{"id": "shrinking-helps", "full": "shrunk", "variant": "plain"}],
}
NOTE = Assumption(
    id="rate",
    topic="training",
    statement="Others report 45.67 with a rate of 0.05.",
    value=0.05,
    source=AssumptionSource(kind="human"),
    proposed_by="human:ada",
)
HIDDEN = ("45.67", "12.34")


@pytest.fixture
def bundle(tmp_path):
    def make(**changes):
        folder = tmp_path / "bundle"
        (folder / "references").mkdir(parents=True)
        (folder / "paper.md").write_text(PAPER)
        (folder / "task.yaml").write_text(yaml.safe_dump({**TASK, **changes}, sort_keys=False))
        (folder / "references" / "old.md").write_text("An error of 45.67 was found before.\n")
        return folder

    return make


def given(folder, send: SendToModels | None = None):
    opened, paper = open_bundle(folder), read_paper(folder / "paper.md")
    claims = extract_claims(paper, opened.task)
    ledger = AssumptionLedger(assumptions=(NOTE,))
    return material_of(opened, folder, paper, claims, ledger, send or SendToModels()), paper, claims


def test_no_part_of_it_holds_a_reported_value_and_settings_stay(bundle):
    material, _, _ = given(bundle())
    everything = "\n".join(
        [
            material.paper.text,
            claims_text(material, 8000),
            *material.assumptions,
            *material.references.values(),
        ]
    )
    assert not any(value in everything for value in HIDDEN)
    assert "300 steps" in everything and "0.05" in everything
    assert "shrinking-helps" not in everything  # a pair's name tells its sign
    assert "ablation: plain against shrunk" in everything


def test_a_claim_s_own_words_are_masked_too(bundle):
    first, second = TASK["claims"]
    told = {**first, "dataset": "Noisy, where others reach an error of 12.34 %"}
    material, paper, claims = given(bundle(claims=[told, second]))
    text = claims_text(material, 8000)
    assert "12.34" not in text and "Noisy" in text
    guard_for(paper, claims)(text)


def test_what_can_be_looked_up_is_masked_and_found_by_its_words(bundle):
    material, _, _ = given(bundle())
    assert "[masked]" in material.reference("old.md", "error")
    assert "300 steps" in material.section("experiments", "steps")
    assert material.section("no such thing") is None


def test_given_code_is_shown_masked_and_what_is_no_text_is_named(bundle):
    folder = bundle()
    (folder / "code").mkdir()
    (folder / "code" / "run.py").write_text("# gives 45.67\nsteps = 300\n")
    (folder / "code" / "model.bin").write_bytes(b"\0\1")
    material, _, _ = given(folder)
    assert "steps = 300" in material.code["run.py"] and "45.67" not in material.code["run.py"]
    assert material.left_out == ("model.bin",)


def test_what_may_not_be_sent_is_not_used(bundle):
    folder = bundle()
    with pytest.raises(NotSent, match=r"send_to_models\.paper"):
        given(folder, SendToModels(paper=False))
    (folder / "code").mkdir()
    (folder / "code" / "run.py").write_text("x = 1\n")
    with pytest.raises(NotSent, match=r"send_to_models\.code"):
        given(folder, SendToModels(code=False))
    assert not given(folder, SendToModels(logs=False))[0].logs


def test_the_guard_names_the_claim_and_never_the_value(bundle):
    _, paper, claims = given(bundle())
    guard = guard_for(paper, claims)
    guard("We train for 300 steps with a rate of 0.05.")
    with pytest.raises(Leak) as leak:
        guard("An error of 45.67 was reached.")
    assert "plain" in str(leak.value) and "45.67" not in str(leak.value)
