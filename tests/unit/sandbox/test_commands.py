"""`repro sandbox run` and `repro doctor`, really run."""

import json

import pytest

from repro_pipeline.cli import main


@pytest.fixture(autouse=True)
def outside_of_projects(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REPRO_PROJECT", raising=False)


def sandboxed(*arguments: str) -> int:
    return main(["sandbox", "run", *arguments])


def test_a_command_is_run_with_its_inputs_and_its_outputs_are_kept(tmp_path, capsys):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "name").write_text("world")
    (tmp_path / "input").write_text("hello")
    script = 'cat /data/input name > /out/greeting; echo "said it"; echo x > /data/input'
    code = sandboxed(
        *("--work", "code", "--mount", "input:/data/input", "--out", "made"),
        *("--", "/bin/sh", "-c", script),
    )
    captured = capsys.readouterr()
    assert code == 2  # the shell's own, for the read-only input
    assert "said it\n" in captured.out and "Read-only" in captured.out
    assert (tmp_path / "made" / "greeting").read_text() == "helloworld"
    assert (tmp_path / "input").read_text() == "hello"
    assert "files in /out" in captured.err and "greeting" in captured.err


def test_the_outcome_as_json_says_what_was_used_and_what_held(capsys):
    assert sandboxed("--json", "--", "/bin/sh", "-c", "echo made > /out/file") == 0
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["status"] == "ok" and outcome["out"] == ["file"]
    assert outcome["enforcement"]["network"] == "hard"
    assert outcome["output_bytes"] >= 5 and outcome["seconds"] > 0


def test_a_policy_limits_the_run(tmp_path, capsys):
    (tmp_path / "policy.yaml").write_text("limits: {wall_clock: 1s}\n")
    assert sandboxed("--policy", "policy.yaml", "--", "/bin/sleep", "600") == 124
    assert "timed_out" in capsys.readouterr().err


def test_steering_a_terminal_is_not_passed_on(capsys):
    sandboxed("--", "/bin/sh", "-c", "printf '\\033[2Jgone'")
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "there is no command"),
        (("--mount", "input", "--", "true"), "'input' is no SOURCE:TARGET"),
        (("--mount", "input:/usr/x", "--", "true"), "which the sandbox makes itself"),
        (("--work", "absent", "--", "true"), "is no folder"),
        (("--policy", "absent.yaml", "--", "true"), "absent.yaml"),
    ],
)
def test_what_is_wrong_is_said(arguments, says, capsys):
    assert sandboxed(*arguments) == 2
    assert says in capsys.readouterr().err


def test_a_runner_that_is_none_is_refused(capsys):
    assert sandboxed("--runner", "docker-ish", "--", "true") == 3
    assert "there is no runner 'docker-ish'" in capsys.readouterr().err


def findings(capsys) -> dict[str, dict]:
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {row["subject"]: row for row in rows}


def test_doctor_tries_the_runners_and_says_there_is_no_project(capsys):
    assert main(["doctor", "--json"]) == 0
    found = findings(capsys)
    assert found["runner bubblewrap"]["state"] == "ok"
    assert "hard: " in found["runner bubblewrap"]["sentence"]
    assert found["runner unsafe_local"]["state"] == "warning"
    assert found["project"]["state"] == "warning"


def test_doctor_names_what_is_wrong_in_a_project(project, capsys):
    (project / "rubric.yaml").write_text("dimensions: {metric_party: {}}\n")
    assert main(["doctor", "--json"]) == 2
    found = findings(capsys)
    assert found["rubric"]["state"] == "fault" and "metric_parity" in found["rubric"]["sentence"]
    assert found["ledger"]["state"] == found["store"]["state"] == "ok"
