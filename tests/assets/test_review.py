"""`repro review`: what a reviewer sees and does not see, and where the decision arrives."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from repro_pipeline.cli import main
from repro_pipeline.frozen import canonical_json
from repro_pipeline.ledger.projections import decisions, reviews
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import latest, output_of
from tests.bundles import make_bundle

TELLING = re.compile(
    r"not reproduced|inconclusive|verdict|integrity|mode '|suspect|unverified|agent|phase|odd", re.I
)
"""What would tell a blind reviewer of the outcome, or of who made it."""


@pytest.fixture
def reviewed(project, opened):
    """A paper that misses its values by a fifth, every claim of it drawn for review."""
    rubric = project / "rubric.yaml"
    rubric.write_text(rubric.read_text().replace("early: 0.25", "early: 1.0"))
    make_bundle(project / "papers" / "tiny", scale=1.2)
    assert main(["run", "tiny"]) == 0
    return opened


def review(*options: str, who: str = "ada") -> int:
    return main(["review", "tiny", "noisy-plain", "--reviewer", who, *options])


def test_a_blind_review_from_the_draw_to_the_report(reviewed, project, capsys, monkeypatch):
    report = project / "reports" / "tiny" / "report.html"
    assert "by review" not in report.read_text()
    capsys.readouterr()
    assert main(["review"]) == 0
    listed = capsys.readouterr().out
    assert "noisy-plain" in listed and "noisy-shrunk" in listed
    assert not TELLING.search(listed.partition("Agreement")[0])

    # Nothing but the evidence is shown before the decision, and without one nothing is recorded.
    monkeypatch.setattr("builtins.input", raise_eof)
    assert review() == 2
    sheet = capsys.readouterr().out
    assert not TELLING.search(sheet)
    for part in (
        "reports 10.0 %",
        "row 'Noisy', column 'Plain'",
        "seed 1, eval: 12.",
        "| seed 2 well",
    ):
        assert part in sheet, part
    assert decisions(reviewed.ledger.events("tiny")) == ()

    answers = iter(["perhaps", "confirmed", "within my tolerance"])
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    assert review() == 0
    before, _, after = capsys.readouterr().out.partition("Recorded as event")
    assert not TELLING.search(before) and "not reproduced" in after
    assert review("--decision", "overturned", "--reason", "second thoughts") == 2
    assert "already" in capsys.readouterr().err

    # A second reviewer sees nothing of the first one.
    assert main(["review", "tiny", "--reviewer", "emil"]) == 0
    monkeypatch.setattr("builtins.input", raise_eof)
    assert review(who="emil") == 2
    seen = capsys.readouterr().out
    assert "ada" not in seen.replace("standard", "") and "my tolerance" not in seen
    assert "confirmed" not in seen.partition("Do these runs")[0]

    made = decisions(reviewed.ledger.events("tiny"))
    assert [(d.claim, d.decision, d.reviewer, d.blind, d.actor) for d in made] == [
        ("noisy-plain", "confirmed", "ada", True, "human:ada")
    ]
    rows = {name: latest(reviewed, "tiny", name) for name in STAGES}
    assert main(["rescore", "tiny"]) == 0
    changed = {name for name in STAGES if latest(reviewed, "tiny", name) != rows[name]}
    assert changed - {"paper_bundle"} == {"review_queue", "report"}
    page = report.read_text()
    sentence = "1 of 2 claims reproduced; overruled: noisy-plain from not reproduced to reproduced"
    assert sentence in page
    capsys.readouterr()
    assert main(["run", "tiny"]) == 0  # which finds all standing
    assert sentence in " ".join(capsys.readouterr().out.split())
    assert "within my tolerance" in page
    assert "2 not reproduced" in page, "the rubric's own headline stays"
    assert sentence in (project / "reports" / "scoreboard.html").read_text()


def raise_eof(_: str) -> str:
    raise EOFError


def test_an_open_review_shows_all_and_is_marked_so(reviewed, project, capsys):
    assert review("--open", "--decision", "overturned", "--reason", "12 is not 10") == 0
    before, _, _ = capsys.readouterr().out.partition("Recorded as event")
    assert "The rubric's verdict: not reproduced" in before
    assert not decisions(reviewed.ledger.events("tiny"))[0].blind
    rubric = project / "rubric.yaml"
    rubric.write_text(rubric.read_text().replace("double_blind: true", "double_blind: false"))
    assert main(["review", "--reviewer", "emil"]) == 0
    assert "overturned" in capsys.readouterr().out


def test_a_draw_that_took_none_is_not_said_to_be_still_to_come(project, capsys):
    rubric = project / "rubric.yaml"
    rates = "{early: 0.25, stable: 0.12, anomaly: 0.5}"
    assert rates in rubric.read_text()
    none = "{early: 0.0, stable: 0.0, anomaly: 0.0}"
    rubric.write_text(rubric.read_text().replace(rates, none))
    make_bundle(project / "papers" / "tiny")
    assert main(["review", "tiny"]) == 0
    assert "drawn by `repro run`" in capsys.readouterr().out
    assert main(["run", "tiny"]) == 0
    capsys.readouterr()
    said = "None of its 2 claims was drawn (rate 0 %; `review.rates` in rubric.yaml)."
    assert main(["review", "tiny"]) == 0
    assert capsys.readouterr().out == f"{said}\n"
    assert main(["review", "tiny", "noisy-plain"]) == 2
    assert said in capsys.readouterr().err


def test_a_review_that_cannot_be_recorded_is_said(reviewed, capsys):
    no_reason = ["tiny", "noisy-plain", "--decision", "confirmed", "--reason", "  "]
    for arguments, said in (
        (["tiny", "no-such"], "has no claim 'no-such'"),
        (["nobody", "no-such"], "no paper 'nobody'"),
        (["nobody"], "no paper 'nobody'"),
        (["tiny", "noisy-plain", "--reviewer", " "], "needs the name"),
        (["--decision", "confirmed"], "one claim"),
        (no_reason, "needs a reason"),
    ):
        assert main(["review", *arguments]) == 2
        assert said in capsys.readouterr().err
    assert decisions(reviewed.ledger.events("tiny")) == ()


def test_scores_are_bound_to_the_evidence_as_stored_whatever_fields_models_gained_since(reviewed):
    """An earlier program's evidence, without a field that has a default today."""
    row = latest(reviewed, "tiny", "experiment_ledger")
    plain = json.loads(reviewed.store.get(row.output))
    assert plain.pop("failures") == []
    earlier = reviewed.store.put(canonical_json(plain))
    written = row.model_copy(update={"output": earlier})
    reviewed.ledger.append("tiny", written, actor="code:earlier")
    assert main(["run", "tiny"]) == 0
    assert latest(reviewed, "tiny", "experiment_ledger").output == earlier
    scored = latest(reviewed, "tiny", "scores")
    assert output_of(reviewed, scored, Scores).evidence == earlier


def test_decisions_hold_under_another_rubric_where_the_verdict_is_the_same(
    reviewed, project, capsys, monkeypatch
):
    monkeypatch.setattr("builtins.input", raise_eof)
    assert review("--decision", "confirmed", "--reason", "near enough") == 0
    assert review("--open", who="emil") == 2, "shown, and no decision"
    rubric = project / "rubric.yaml"
    before = latest(reviewed, "tiny", "scores")
    text = rubric.read_text()
    rubric.write_text(text + "# another sample, please\n")
    assert main(["rescore", "tiny"]) == 0
    assert "1 stood already" in capsys.readouterr().out
    assert latest(reviewed, "tiny", "scores") == before

    page = project / "reports" / "tiny" / "report.html"
    rubric.write_text(with_threshold(text, 0.06))
    assert main(["rescore", "tiny"]) == 0
    assert "no longer count" not in capsys.readouterr().out
    assert "overruled: noisy-plain" in page.read_text()
    decided = ["--decision", "unclear", "--reason", "hard to say"]
    assert review(*decided) == 2, "one decision a person, whatever the rubric"
    assert review(*decided, who="emil") == 2, "was shown the verdict under the rubric before"
    assert review(*decided, who="grace") == 0
    rubric.write_text(text)
    assert main(["rescore", "tiny"]) == 0
    drawn = next(r for r in _drawn(reviewed) if r.claim == "noisy-plain")
    assert [d.reviewer for d in drawn.decisions] == ["ada", "grace"]

    capsys.readouterr()
    rubric.write_text(with_threshold(text, 0.9))
    assert main(["rescore", "tiny"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2 decisions were of the scores before and no longer count." in said
    assert "overruled: noisy-plain" not in page.read_text()


def with_threshold(text: str, threshold: float) -> str:
    rubric = yaml.safe_load(text)
    rubric["dimensions"]["metric_parity"]["threshold"] = threshold
    return yaml.safe_dump(rubric)


def _drawn(opened):
    scored = latest(opened, "tiny", "scores").output
    return [row for row in reviews(opened.ledger.events("tiny")) if row.scores == scored]


@pytest.mark.parametrize("how", [["review", "tiny"], ["review", "tiny", "noisy-plain"]])
def test_who_was_shown_the_verdict_and_stopped_cannot_decide_blindly_later(
    reviewed, capsys, monkeypatch, how
):
    monkeypatch.setattr("builtins.input", raise_eof)
    decided = ["--decision", "overturned", "--reason", "12 is not 10"]
    main([*how, "--open", "--reviewer", "ada"])
    assert "not reproduced" in capsys.readouterr().out
    assert review(*decided) == 2
    assert "shown the verdict" in capsys.readouterr().err
    assert review(*decided, who=" ada  ") == 2, "the same name in another spelling"
    assert review(*decided, who="emil") == 0
    assert review(*decided, "--open") == 0
    made = decisions(reviewed.ledger.events("tiny"))
    assert [(d.reviewer, d.blind) for d in made] == [("emil", True), ("ada", False)]


def test_of_two_decisions_at_once_the_one_that_stands_is_told(reviewed, capsys, monkeypatch):
    def slow(_: str) -> str:
        assert review("--decision", "confirmed", "--reason", "faster") == 0
        return "too late"

    monkeypatch.setattr("builtins.input", slow)
    assert review("--decision", "overturned") == 2
    assert "meanwhile: confirmed" in capsys.readouterr().err
    assert [d.reason for d in decisions(reviewed.ledger.events("tiny"))] == ["faster"]
