"""`repro why`: every link of the chain from a claim to its sources."""

from __future__ import annotations

import json

import pytest

from repro_pipeline.cli import main
from tests.bundles import make_bundle


@pytest.fixture
def reproduced(project, opened, capsys):
    assumption = {
        "id": "loops",
        "topic": "training",
        "statement": "The source is measured once.",
        "value": 1,
        "source": {"kind": "paper", "quote": "following [1]"},
        "claims": ["noisy-plain"],
    }
    other = {**assumption, "id": "shrinkage", "claims": ["noisy-shrunk"]}
    make_bundle(project / "papers" / "tiny", assumptions=[assumption, other])
    assert main(["run", "tiny"]) == 0
    capsys.readouterr()
    return opened


def test_the_chain_leads_from_the_claim_to_cell_runs_artifacts_and_assumptions(reproduced, capsys):
    assert main(["why", "tiny", "noisy-plain", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["reported"]["text"] == "10.0"
    assert "row 'Noisy', column 'Plain'" in found["reported"]["address"]
    assert found["reported"]["place"].startswith("paper.md:")
    assert found["verdict"]["verdict"] == "reproduced"
    assert [run["seed"] for run in found["runs"]] == [1, 2, 3]
    for run in found["runs"]:
        (attempt,) = run["attempts"]
        kept = [attempt["log"], *attempt["outputs"].values()]
        assert kept and all(digest in reproduced.store for digest in kept)
        assert attempt["values"]["noisy-plain"] == found["verdict"]["values"][str(run["seed"])]
    named = {one["id"] for one in found["assumptions"]}
    assert "loops" in named and "shrinkage" not in named
    for digest in (found["scores"], found["rubric"], found["evidence"]):
        assert digest in reproduced.store
    assert found["rests_on"]["code_tree"] in reproduced.store

    assert main(["why", "tiny", "noisy-plain"]) == 0
    tree = " ".join(capsys.readouterr().out.split())
    for part in ("Table 1", "seed 2", "attempt 1, ok", "log ", "following [1]", "ledger head"):
        assert part in tree, part


def test_an_unknown_claim_or_paper_is_said(reproduced, capsys):
    assert main(["why", "tiny", "nothing"]) == 2
    assert "It has: noisy-plain, noisy-shrunk." in capsys.readouterr().err
    assert main(["why", "nobody", "nothing"]) == 2
    assert main(["why", "nobody"]) == 2


def test_without_a_claim_all_are_listed_with_their_verdicts(reproduced, capsys):
    assert main(["why", "tiny"]) == 0
    listed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert list(listed) == ["noisy-plain", "noisy-shrunk"]
    assert set(listed.values()) <= {"reproduced", "not reproduced", "inconclusive"}
    assert main(["why", "tiny", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["noisy-plain", "noisy-shrunk"]


def test_failed_attempts_are_part_of_the_chain(project, capsys):
    make_bundle(project / "papers" / "bad", behaviour="exit")
    main(["run", "bad"])
    capsys.readouterr()
    assert main(["why", "bad", "noisy-plain"]) == 0
    tree = " ".join(capsys.readouterr().out.split())
    assert "not run" in tree and "the estimator diverged" in tree and "0 with a value" in tree


def test_the_command_is_that_of_the_scored_code_not_of_a_later_one(project, reproduced, capsys):
    spec = project / "papers" / "tiny" / "code" / "experiment.yaml"
    spec.write_text(spec.read_text().replace("- python\n", "- python\n- -u\n"))
    assert main(["run", "tiny", "--stage", "implementation"]) == 0
    capsys.readouterr()
    assert main(["why", "tiny", "noisy-plain", "--json"]) == 0
    rests = json.loads(capsys.readouterr().out)["rests_on"]
    assert "-u" not in rests["command"] and "experiment.py" in rests["command"]
