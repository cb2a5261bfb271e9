"""`repro corebench`: a capsule run in the sandbox, its questions answered from what the run wrote."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from repro_pipeline.cli import main
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/unit/imports"))
from foreign import write

from tests.scripted import ScriptedModel

MEASURE = """import json
rows = [float(line) for line in open("../data/values.txt")]
mean = sum(rows) / len(rows)
print("mean of the values:", mean)
json.dump({"mean": mean, "best": "Forest"}, open("../results/out.json", "w"))
"""
RUNS = [{"the mean": mean, "fig the best": "forest"} for mean in (1.74, 1.75, 1.76)]
ANSWERS = """answers:
  - {question: the mean, file: out.json, json: $.mean}
  - {question: fig the best, file: out.json, json: $.best}
"""


@pytest.fixture
def capsule(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tasks = [{"capsule_id": "capsule-1", "task_prompt": "Run it.", "results": RUNS}]
    write(tmp_path, {"tasks.json": json.dumps(tasks), "answers.yaml": ANSWERS})
    files = {
        "code/run": "set -ex\npython -u measure.py\n",
        "code/measure.py": MEASURE,
        "data/values.txt": "1.0\n2.5\n",
        "results/out.json": '{"mean": 99, "best": "an old one"}',
    }
    return write(tmp_path / "capsule-1", files)


def corebench(capsule: Path, *more: str, answers: bool = True) -> list[str]:
    place = capsule.parent
    words = [
        "corebench",
        "run",
        "--capsule",
        str(capsule),
        "--tasks",
        str(place / "tasks.json"),
        "--json",
    ]
    return [*words, *(["--answers", str(place / "answers.yaml")] if answers else []), *more]


def test_a_capsule_is_run_answered_and_scored(project, capsule, capsys, tmp_path):
    out = tmp_path / "kept"
    assert main(corebench(capsule, "--out", str(out))) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["solved"] and told["run"]["status"] == "ok"
    assert [one["answer"]["value"] for one in told["questions"]] == [1.75, "Forest"]
    assert json.loads((out / "results/out.json").read_text())["mean"] == 1.75
    assert "mean of the values: 1.75" in (out / "log.txt").read_text()
    assert json.loads((capsule / "results/out.json").read_text())["mean"] == 99  # untouched


def test_a_run_cannot_have_other_files_taken_for_its_results(project, capsule, capsys, tmp_path):
    write(tmp_path / "secret", {"out.json": '{"mean": 1.75, "best": "Forest"}'})
    code = f"import os\nos.rmdir('../results')\nos.symlink('{tmp_path}/secret', '../results')\n"
    write(capsule, {"code/measure.py": code})
    assert main(corebench(capsule)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["answered"] == 0 and told["run"]["files"] == {}


def test_what_is_right_does_not_lie_where_code_or_reader_look(project, capsule, capsys):
    shutil.copy(capsule.parent / "tasks.json", capsule / "results/tasks.json")
    words = ["corebench", "run", "--capsule", str(capsule), "--difficulty", "easy"]
    assert main([*words, "--tasks", str(capsule / "results/tasks.json")]) == 2
    assert "could see what is right" in capsys.readouterr().err


def test_results_that_lay_there_answer_nothing_after_a_run(project, capsule, capsys):
    write(capsule, {"code/measure.py": "raise SystemExit('nothing done')"})
    assert main(corebench(capsule)) == 0
    told = json.loads(capsys.readouterr().out)
    assert not told["solved"] and told["answered"] == 0 and told["run"]["status"] == "failed"
    assert any("did not end well" in note for note in told["notes"])
    assert main(corebench(capsule, "--difficulty", "easy")) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["answered"] == 2 and told["run"] is None and "Nothing was run" in told["notes"][0]


def test_without_a_mapping_or_a_model_questions_stay_unanswered(project, capsule, capsys):
    command = ["--difficulty", "hard", "--command", "python measure.py"]
    assert main(corebench(capsule, *command, answers=False)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["run"]["status"] == "ok" and told["answered"] == 0
    assert main(corebench(capsule, *command, "--reader", answers=False)) == 2
    assert "no reader model" in capsys.readouterr().err


def test_a_capsule_of_r_is_told_with_its_script(project, capsule, capsys):
    if shutil.which("Rscript", path="/usr/local/bin:/usr/bin:/bin"):
        pytest.skip("this host has R")
    write(capsule, {"code/run": "cd ../code\nRscript main.R\n", "code/main.R": "library(lme4)\n"})
    assert main(corebench(capsule)) == 2
    assert "run:2: is R, and runs here have no Rscript" in capsys.readouterr().err


def test_a_report_of_another_is_scored(project, capsule, capsys):
    place = capsule.parent
    write(place, {"report.json": json.dumps({"the mean": "1.75", "fig the best": "x", "more": 1})})
    words = [
        "corebench",
        "score",
        "--tasks",
        str(place / "tasks.json"),
        "--report",
        str(place / "report.json"),
    ]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["correct"] for one in told["questions"]] == [True, False] and len(
        told["notes"]
    ) == 1
    assert main(words) == 0
    assert "right: 1 of 1 written, 0 of 1 vision" in capsys.readouterr().out


def test_a_reader_answers_what_it_can_quote(project, opened, capsule, capsys, monkeypatch):
    """Through the real prompt, check and ledger: one good answer, one that stands nowhere."""
    with (project / "repro.yaml").open("a") as config:
        config.write("\nmodels: {reader: {model: scripted/one}}\n")
    at = {"file": "stdout", "first": 1, "last": 9, "quote": "mean of the values: 1.75"}

    def said(request):
        if "fig the best" in str(request.messages):
            return {"evidence": [at], "answer": "Forest"}
        return {"evidence": [at], "answer": 1.75}

    model = ScriptedModel(said)
    monkeypatch.setattr("resources.chat_litellm.LiteLlmChat", lambda roles: model)
    assert main(corebench(capsule, "--reader", answers=False)) == 0
    mean, best = json.loads(capsys.readouterr().out)["questions"]
    assert mean["correct"] and mean["answer"]["by"] == "reader"
    assert mean["answer"]["place"] == "stdout:1-9"
    assert (
        best["answer"]["value"] is None and "does not stand in the quoted" in best["answer"]["why"]
    )
    assert len(model.asked) == 3  # the bad answer was given one chance to be mended
    assert not any("1.74" in str(request.messages) for request in model.asked)
    calls = [one for one in opened.ledger.events("_project") if one.kind == "model_called"]
    assert len(calls) == 3
