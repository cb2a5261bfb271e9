"""Assumptions from task.yaml, mined from references, and changed by a person: what runs again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repro_pipeline.cli import main
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.stages import latest, output_of
from tests.bundles import make_bundle

STAGE = ("--stage", "assumption_ledger")
NOTE = "Data of rank zero were removed. Outliers were discarded.\n"


@pytest.fixture
def tiny(project: Path) -> Path:
    bundle = project / "papers" / "tiny"
    make_bundle(bundle)
    (bundle / "references").mkdir()
    (bundle / "references" / "note.md").write_text(NOTE)
    assert main(["run", "tiny", *STAGE]) == 0
    return bundle


def ledger_of(opened) -> AssumptionLedger:
    row = latest(opened, "tiny", "assumption_ledger")
    return output_of(opened, row, AssumptionLedger)


def test_a_person_changes_a_mined_assumption_and_fills_a_gap(tiny, opened, capsys):
    mined = {one.id: one for one in ledger_of(opened).assumptions}["anomalous-samples"]
    assert mined.source.file == "references/note.md"
    assert "library" in {gap.item for gap in ledger_of(opened).gaps}
    change = ["assumptions", "tiny", "set"]
    assert main([*change, "anomalous-samples", "kept", "--reason", "e-mail", "--by", "ada"]) == 0
    assert main([*change, "library", "NumPy 2.1", "--reason", "the logs", "--by", "ada"]) == 0
    capsys.readouterr()
    assert main(["assumptions", "tiny", "--json"]) == 0
    shown = {one["id"]: one for one in json.loads(capsys.readouterr().out)["assumptions"]}
    assert shown["anomalous-samples"]["value"] == "kept"
    assert main(["run", "tiny", *STAGE]) == 0
    after = {one.id: one for one in ledger_of(opened).assumptions}
    assert after["anomalous-samples"].alternatives[0] == mined.value
    assert (after["library"].value, after["library"].proposed_by) == ("NumPy 2.1", "human:ada")
    events = list(opened.ledger.events("tiny", kinds={"assumption_recorded"}))
    assert [event.actor for event in events if event.actor.startswith("human:")] == [
        "human:ada"
    ] * 2
    said = main(["assumptions", "tiny"]), capsys.readouterr().out
    assert "assumed: NumPy" in said[1]
    assert "gap (" in said[1]
    said = main(["assumptions", "tiny", "--plan"]), capsys.readouterr().out
    assert "anomalous-samples" in said[1]
    assert "guessed, as nothing was run" in said[1]


def worked(opened) -> list[str]:
    """The stages that did something, in order, but for the one that looks at the folder each time."""
    rows = opened.ledger.events("tiny", kinds={"stage_finished"})
    return [row.payload["stage"] for row in rows if row.payload["stage"] != "paper_bundle"]


def test_what_does_not_rest_on_a_change_stands(tiny, opened):
    before = worked(opened)
    assert main(["run", "tiny", *STAGE]) == 0
    assert worked(opened) == before
    assert main(["assumptions", "tiny", "set", "library", "JAX", "--reason", "r"]) == 0
    assert main(["run", "tiny", *STAGE]) == 0
    assert worked(opened) == [*before, "assumption_ledger"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["set", "library", "JAX"], "a change needs a reason"),
        (["set", "library", "JAX", "--reason", "  "], "a change needs a reason"),
        (["set", "librari", "JAX", "--reason", "r"], "neither an assumption nor a gap"),
        (["put", "library", "JAX", "--reason", "r"], "three words"),
        (["set", "library", "--reason", "r"], "three words"),
    ],
)
def test_a_change_that_cannot_be_made_is_told(tiny, opened, capsys, words, told):
    assert main(["assumptions", "tiny", *words]) == 2
    assert told in capsys.readouterr().err
    assert not [e for e in opened.ledger.events("tiny") if e.actor.startswith("human:")]


def test_without_a_run_a_sentence_says_what_to_do(project, capsys):
    make_bundle(project / "papers" / "tiny")
    assert main(["assumptions", "tiny"]) == 2
    assert "repro run tiny" in capsys.readouterr().err


def test_a_reader_fills_what_rules_leave_and_one_that_fails_changes_nothing(
    project, opened, monkeypatch
):
    from resources import project as resource
    from tests.scripted import ScriptedModel

    make_bundle(project / "papers" / "tiny")
    (project / "repro.yaml").write_text("schema: 1\nmodels:\n  reader: {model: scripted/one}\n")
    quote = "We estimate the mean of a noisy source"
    answers = [{"item": "data-source", "quote": quote}, {"item": "library", "quote": "We use JAX."}]
    for script, filled in (([{"answers": answers}], True), (["nonsense", "nonsense"], False)):
        resource._open.cache_clear()
        model = ScriptedModel(script)
        monkeypatch.setattr("resources.chat_litellm.LiteLlmChat", lambda roles, made=model: made)
        if not filled:
            (project / "papers" / "tiny" / "paper.md").write_text(
                (project / "papers" / "tiny" / "paper.md").read_text().replace("noisy", "loud", 1)
            )
        assert main(["run", "tiny", *STAGE]) == 0
        gaps = {gap.item for gap in ledger_of(opened).gaps}
        assert ("data-source" not in gaps) is filled
        assert "library" in gaps
    told = [e.content.code for e in opened.ledger.events("tiny", kinds={"warning_recorded"})]
    assert {"answer_refused", "gaps_not_read"} <= set(told)


def test_the_reader_of_gaps_is_shown_no_result(project, opened, monkeypatch):
    from resources import project as resource
    from tests.scripted import ScriptedModel

    bundle = make_bundle(project / "papers" / "tiny")
    paper = bundle / "paper.md"
    said = "\n\nThe error of the plain method is 10.0 % after 30 draws.\n\n## References"
    paper.write_text(paper.read_text().replace("\n\n## References", said))
    (project / "repro.yaml").write_text("schema: 1\nmodels:\n  reader: {model: scripted/one}\n")
    resource._open.cache_clear()
    model = ScriptedModel([{"answers": []}])
    monkeypatch.setattr("resources.chat_litellm.LiteLlmChat", lambda roles: model)
    assert main(["run", "tiny", *STAGE]) == 0
    shown = model.asked[0].messages[1].content
    assert "plain method is [masked] % after 30 draws" in shown
    assert "10.0" not in shown and "20.0" not in shown


@pytest.mark.slow
def test_what_a_sensitivity_experiment_measured_stands_beside_its_assumption(
    project, opened, capsys
):
    assumed = {
        "id": "the-scale",
        "topic": "data",
        "statement": "The source has scale one.",
        "value": 1,
        "alternatives": [2],
        "influence": "high",
        "source": {"kind": "human"},
        "sensitivity": "other-scale",
    }
    other = {
        "id": "other-scale",
        "kind": "sensitivity",
        "of": "noisy",
        "change": {"scale": 2},
        "claims": ["noisy-plain", "noisy-shrunk"],
        "assumption": "the-scale",
    }
    make_bundle(project / "papers" / "tiny", experiments=[other], assumptions=[assumed])
    assert main(["run", "tiny"]) == 0
    capsys.readouterr()
    assert main(["assumptions", "tiny", "--plan"]) == 0
    assert "the-scale" not in capsys.readouterr().out
    assert main(["assumptions", "tiny"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "noisy-plain:" in shown
    assert "seed noise" in shown
