"""Claims without task.yaml: a scripted reader proposes them, a person confirms or chooses others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.cli import main
from repro_pipeline.ledger.runs import RunSet
from repro_pipeline.stages import latest, output_of
from tests.bundles import make_bundle
from tests.scripted import ScriptedModel

STAGE = ("--stage", "reported_claims")


def proposed(claim_id: str, column: str, **more) -> dict:
    return {
        "id": claim_id,
        "metric": "error",
        "unit": "percent",
        "direction": "lower",
        "table": 1,
        "row": ["Noisy"],
        "column": [column],
        **more,
    }


PROPOSAL = {
    "claims": [
        proposed("noisy-plain", "Plain", key=True),
        proposed("noisy-shrunk", "Shrunk"),
        proposed("made-up", "Boosted"),
    ],
    "ablations": [{"id": "shrinking-hurts", "full": "noisy-plain", "variant": "noisy-shrunk"}],
}


@pytest.fixture
def run_with(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs the tiny paper, whose task names no claims, with a scripted reader."""
    make_bundle(project / "papers" / "tiny", claims=None, ablations=None)
    (project / "repro.yaml").write_text("schema: 1\nmodels:\n  reader: {model: scripted/one}\n")

    def run(script, *options: str) -> ScriptedModel:
        from resources import project as resource

        resource._open.cache_clear()
        model = ScriptedModel(script)
        monkeypatch.setattr("resources.chat_litellm.LiteLlmChat", lambda roles: model)
        assert main(["run", "tiny", *options]) == 0
        return model

    return run


def claims_of(opened) -> ReportedClaims:
    return output_of(opened, latest(opened, "tiny", "reported_claims"), ReportedClaims)


def test_a_reader_proposes_and_what_is_not_in_the_paper_is_recorded_as_rejected(run_with, opened):
    run_with([PROPOSAL], *STAGE)
    made = claims_of(opened)
    assert {one.id: one.value for one in made.claims} == {"noisy-plain": 10.0, "noisy-shrunk": 20.0}
    assert (made.main, made.proposed_by) == ("noisy-plain", "model:scripted")
    assert [(pair.id, pair.expected_sign) for pair in made.pairs] == [("shrinking-hurts", 1)]
    warned = [e.content for e in opened.ledger.events("tiny", kinds={"warning_recorded"})]
    assert ["made-up" in one.sentence for one in warned if one.code == "claim_rejected"] == [True]
    assert len(run_with([], *STAGE).asked) == 0


def test_without_claims_and_reader_a_sentence_says_what_to_do(project, opened, capsys):
    make_bundle(project / "papers" / "tiny", claims=None, ablations=None)
    main(["run", "tiny", *STAGE])
    reason = latest(opened, "tiny", "reported_claims").reason
    assert "names no claims" in reason.sentence and "reader" in reason.sentence
    (project / "papers" / "tiny" / "task.yaml").unlink()
    main(["run", "tiny", *STAGE])
    reason = latest(opened, "tiny", "reported_claims").reason
    assert "task.yaml: there is no such file" in reason.sentence


def test_confirmed_claims_win_over_another_proposal_and_change_nothing(
    run_with, project, opened, capsys
):
    run_with([PROPOSAL], *STAGE)
    before = claims_of(opened)
    assert main(["claims", "tiny", "--confirm", "--by", "ada"]) == 0
    (event,) = opened.ledger.events("tiny", kinds={"claims_chosen"})
    assert (event.actor, event.content.how) == ("human:ada", "confirmed")
    paper = project / "papers" / "tiny" / "paper.md"
    paper.write_text(paper.read_text().replace("noisy source", "very noisy source"))
    assert len(run_with([], *STAGE).asked) == 0
    assert claims_of(opened) == before
    capsys.readouterr()
    main(["claims", "tiny"])
    shown = capsys.readouterr().out
    assert "noisy-plain ★" in shown and "10.0" in shown and "confirmed by human:ada" in shown
    assert "Table 1" in shown or "table number 1" in shown
    main(["claims", "tiny", "--json"])
    assert ReportedClaims.model_validate(json.loads(capsys.readouterr().out)) == before


def test_edited_claims_take_effect_and_runs_that_they_do_not_touch_stand(
    run_with, opened, monkeypatch, tmp_path, capsys
):
    run_with([PROPOSAL, {"answers": []}])
    ran = output_of(opened, latest(opened, "tiny", "baseline"), RunSet).runs
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i "s/direction: lower/direction: higher/" "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    assert main(["claims", "tiny", "--edit", "--by", "ada"]) == 0
    assert "2 claims of tiny chosen by human:ada" in capsys.readouterr().out
    run_with([])
    made = claims_of(opened)
    assert {str(one.direction) for one in made.claims} == {"higher"}
    assert made.proposed_by == "human:ada"
    attempts = [
        e.content.attempt
        for e in opened.ledger.events("tiny", kinds={"attempt_finished"})
        if e.content.attempt.purpose == "eval"
    ]
    assert len(attempts) == len(ran)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"claims": []}, "names no claims"),
        ({"seeds": [1]}, "says nothing of claims"),
        ({"claims": [{"id": "a", "metric": "error"}]}, "reported"),
        (
            {
                "claims": [
                    {
                        "id": "a",
                        "metric": "error",
                        "reported": {"table": "Table 1", "row": ["Loud"], "column": ["Plain"]},
                    }
                ]
            },
            "there is no row 'Loud'",
        ),
    ],
)
def test_a_faulty_file_is_refused_with_a_sentence(
    run_with, opened, tmp_path, capsys, change, sentence
):
    run_with([PROPOSAL], *STAGE)
    file = tmp_path / "claims.yaml"
    file.write_text(yaml.safe_dump({"schema": 1, **change}))
    assert main(["claims", "tiny", "--from", str(file)]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(opened.ledger.events("tiny", kinds={"claims_chosen"}))


def test_a_choice_gives_way_to_a_later_task(run_with, project, opened, tmp_path):
    run_with([PROPOSAL], *STAGE)
    main(["claims", "tiny", "--confirm"])
    from tests.bundles import task

    said = task(ablations=None)
    said["claims"] = said["claims"][:1]
    (project / "papers" / "tiny" / "task.yaml").write_text(yaml.safe_dump(said))
    run_with([], *STAGE)
    assert [one.id for one in claims_of(opened).claims] == ["noisy-plain"]
    warned = [e.content.code for e in opened.ledger.events("tiny", kinds={"warning_recorded"})]
    assert "choice_out_of_date" in warned
