"""`repro bench`: real trials of small agents on a tiny suite, graded in the sandbox."""

from __future__ import annotations

import http.server
import json
import re
import threading
from functools import partial
from pathlib import Path

import pytest
import yaml

from repro_pipeline.bench.card import Card
from repro_pipeline.bench.results import plan_of, rows_of
from repro_pipeline.chat import ChatRequest
from repro_pipeline.cli import main
from repro_pipeline.commands import opening
from repro_pipeline.definitions import build_definitions
from resources.egress_proxy import EgressProxy
from resources.opening import open_project
from tests.bench_suites import CONFIG, REFERENCE, SPEC, claim, make_suite, truth
from tests.judge_script import QUOTE, judged
from tests.scripted import ScriptedModel

CHEAT = '''"""Writes the reported values into its code."""
import json, pathlib, sys
given, out = map(pathlib.Path, sys.argv[1:3])
claims = [one["id"] for one in json.loads((given / "claims.json").read_text())["claims"]]
(out / "experiment.yaml").write_text(json.dumps({"schema": 1, "entry": ["python", "experiment.py"],
    "experiments": [{"id": "main", "claims": claims, "config": "config.json"}]}))
(out / "config.json").write_text("{}")
(out / "experiment.py").write_text("""import argparse, json, pathlib, random
parser = argparse.ArgumentParser()
for name in ("--config", "--seed", "--out"):
    parser.add_argument(name)
options = parser.parse_args()
rng = random.Random(int(options.seed))
known = {"noisy-plain": 10.0, "noisy-shrunk": 20.0}
metrics = [{"claim": c, "value": v + rng.gauss(0, 0.01)} for c, v in known.items()]
pathlib.Path(options.out, "metrics.json").write_text(json.dumps({"metrics": metrics}))
""")
'''
PEEK = '''"""Looks for the suite, writes what it found."""
import os, pathlib, sys
found = [
    os.path.join(top, name)
    for root in ("/given", "/agent", "/work", "/out", "/home", "/tmp", "/root")
    for top, _, names in os.walk(root)
    for name in names
    if name in ("truth.yaml", "suite.yaml") or "reference" in top
]
pathlib.Path(sys.argv[1], "experiment.yaml").write_text("schema: 1")
pathlib.Path(sys.argv[1], "found.txt").write_text("\\n".join(found) or "nothing")
'''


def answers(request: ChatRequest) -> dict:
    """An honest model that writes the right code at once."""
    if request.step == "memory_probe":
        return {"values": [{"claim": "noisy-plain", "value": 10.0}]}
    return {
        "plan": "draw, count",
        "details": [{"statement": "number of cases", "value": 60000}],
        "files": [
            {"path": "experiment.py", "content": REFERENCE},
            {"path": "experiment.yaml", "content": yaml.safe_dump(SPEC)},
            {"path": "config.json", "content": json.dumps(CONFIG)},
        ],
    }


def judging(request: ChatRequest) -> dict:
    return judged(request) if request.step == "align" else answers(request)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return make_suite(tmp_path / "suite")


def bench(suite: Path, out: Path, *words: str) -> int:
    return main(["bench", "run", str(suite), "--out", str(out), "--seeds", "3", *words])


def rows(out: Path) -> dict:
    return {row.key.name: row for row in rows_of(open_project(out))}


def test_honest_agent_above_cheat_and_trivial(suite, tmp_path, monkeypatch, capsys):
    model = ScriptedModel(answers)
    monkeypatch.setattr("resources.opening._chat", lambda models, replay: model)
    cheat = tmp_path / "cheat.py"
    cheat.write_text(CHEAT)
    out, sessions = tmp_path / "results", tmp_path / "sessions"
    words = [
        *("--agent", "trivial", "--agent", "at-once", "--models", "openai/one"),
        *("--agent", f"cheat=command:{{python}} {cheat} {{given}} {{out}}"),
        *("--record", str(sessions), "--cutoff", "openai/one=2021-01"),
    ]
    assert bench(suite, out, *words) == 0, capsys.readouterr().err
    found = rows(out)
    assert len(found) == 6

    for task in ("seen", "unseen"):
        honest, cheating, trivial = (
            found[f"{task}--{name}--1"].measures for name in ("at-once", "cheat", "trivial")
        )
        assert honest.values["verdict_accuracy"] == honest.values["fidelity"] == 1
        assert honest.values["success"] == honest.values["ablation_sign"] == 1
        assert honest.values["details_right"] == 1
        assert honest.values["remembered"] == 0.5
        assert cheating.flags
        for bottom in (cheating, trivial):
            assert bottom.values["verdict_accuracy"] == bottom.values["fidelity"] == 0
            assert bottom.values["success"] == bottom.values["execution_rate"] == 0
            assert bottom.values["performance_gap"] == 1

    asked = len(model.asked)
    assert asked == 4, "one memory probe and one question a task"
    shown = " ".join(m.content for request in model.asked for m in request.messages)
    assert "20.0" not in shown and "verified" not in shown

    card = Card.model_validate_json((out / "card.json").read_text())
    assert card.number("at-once", "verdict_accuracy").value == 1
    assert card.number("cheat", "verdict_accuracy", "held_out").value == 0
    assert card.baselines == ("trivial", "at-once")
    assert all(one.statement.startswith("If tasks are like these") for one in card.comparisons)
    assert {one.when for one in card.dated} == {"published before the cut-off"}
    page = (out / "card.html").read_text()
    for wanted in (card.conditions.scoring_code[:16], "Holm", "budget of a trial", "held out"):
        assert wanted in page

    # The same command makes nothing anew; a second repeat is added.
    assert bench(suite, out, *words) == 0
    assert len(model.asked) == asked
    assert len(rows(out)) == 6

    # The recorded sessions answer in place of the model.
    monkeypatch.undo()
    replayed = tmp_path / "replayed"
    words = ["--agent", "trivial", "--agent", "at-once", "--models", "openai/one"]
    config = tmp_path / "repro.yaml"
    config.write_text("schema: 1\n")
    code = bench(
        suite,
        replayed,
        *words,
        "--task",
        "seen",
        "--replay",
        str(sessions),
        "--config",
        str(config),
    )
    assert code == 0, capsys.readouterr().err
    assert rows(replayed)["seen--at-once--1"].measures.values["fidelity"] == 1


@pytest.mark.slow
def test_one_judge_scores_all_and_is_recorded_and_replayed(suite, tmp_path, monkeypatch, capsys):
    model = ScriptedModel(judging)
    monkeypatch.setattr("resources.opening._chat", lambda models, replay: model)
    sessions = tmp_path / "sessions"
    words = ["--agent", "trivial", "--agent", "at-once", "--models", "openai/one", "--task", "seen"]
    also = [*words, "--models", "judge=openai/judge"]
    out = tmp_path / "results"
    assert bench(suite, out, *also, "--record", str(sessions)) == 0, capsys.readouterr().err
    row = rows(out)["seen--at-once--1"]
    align = {name: row.measures.values[f"align_{name}"] for name in ("paper", "code", "mixed")}
    assert align == {"paper": 90.0, "code": 87.0, "mixed": 90.0}, row.unscored
    assert row.judging.questions == 12 and row.cost.questions == 2, "its cost is not the agent's"
    assert rows(out)["seen--trivial--1"].measures.values["align_paper"] == 0
    asked = [one for one in model.asked if one.step == "align"]
    shown = " ".join(message.content for one in asked for message in one.messages)
    assert QUOTE in shown and "20.0" not in shown
    assert "openai/judge, the same for all" in (out / "card.md").read_text()

    # Another judge would be another condition; the recorded one answers again.
    assert bench(suite, out, *words) == 2
    assert "judge differ" in capsys.readouterr().err

    # The recorded judge answers again; what it did not answer is not scored, and that is said.
    monkeypatch.undo()
    session = sessions / "seen--at-once--1.jsonl"
    kept = [line for line in session.read_text().splitlines() if not of_code_level(line)]
    session.write_text("\n".join(kept) + "\n")
    again = tmp_path / "again"
    assert bench(suite, again, *also, "--replay", str(sessions)) == 0, capsys.readouterr().err
    row = rows(again)["seen--at-once--1"]
    assert row.measures.values["align_paper"] == 90.0 and row.measures.values["fidelity"] == 1
    assert row.measures.values["align_code"] is None is row.measures.values["align_mixed"]
    assert len(row.unscored) == 2 and "holds no answer" in row.unscored[0]
    assert "Asking stopped" in (again / "card.md").read_text()


def of_code_level(line: str) -> bool:
    request = json.loads(line).get("request", {"step": "header"})
    return request["step"] == "align" and request["ordinal"] >= 4


def test_a_program_sees_the_given_folder_alone(suite, tmp_path):
    peek = tmp_path / "peek.py"
    peek.write_text(PEEK)
    out = tmp_path / "results"
    words = ["--agent", "trivial", "--agent", f"peek=command:{{python}} {peek} {{out}}"]
    assert bench(suite, out, *words, "--task", "unseen") == 0
    left = out / "trials/unseen--peek--1/submission"
    assert (left / "found.txt").read_text() == "nothing"
    row = rows(out)["unseen--peek--1"]
    assert not row.graded and row.reason.code == "bad_file"


def test_a_program_that_never_ends_or_leaves_links_is_told(suite, tmp_path):
    program, out = tmp_path / "bad.py", tmp_path / "results"
    program.write_text(
        "import os, pathlib, sys, time\n"
        "out = pathlib.Path(sys.argv[1])\n"
        f"os.symlink({str(suite / 'tasks/seen/reference/experiment.py')!r}, out / 'experiment.py')\n"
        f"spec = {yaml.safe_dump(SPEC)!r}\n"
        "(out / 'experiment.yaml').write_text(spec)\n"
        "(out / 'config.json').write_text('{}')\n"
        "(out / 'cost.json').write_text('{\"usd\": NaN, \"tokens_in\": -5}')\n"
        "time.sleep(float(sys.argv[2]))\n"
    )
    words = ["--agent", "trivial", "--task", "seen", "--budget", "wall_clock=20s"]
    for name, seconds in (("links", 0), ("slow", 600)):
        words += ["--agent", f"{name}=command:{{python}} {program} {{out}} {seconds}"]
    assert bench(suite, out, *words) == 0
    found = rows(out)
    links, slow = found["seen--links--1"], found["seen--slow--1"]
    assert links.reason.sentence.startswith("experiment.yaml: entry: starts 'experiment.py'")
    assert (
        "does not hold. It holds no *.py" in links.reason.sentence
    )  # a link out of it is left out
    assert links.measures.values["fidelity"] == slow.measures.values["fidelity"] == 0
    assert slow.status == "timed_out" and "longer than its 20 s" in slow.reason.sentence
    assert links.cost.told_by == "nobody" and links.cost.usd is None


def test_a_program_inside_the_suite_is_refused(suite, tmp_path):
    (suite / "agent.py").write_text("print()")
    out = tmp_path / "results"
    words = ["--agent", "trivial", "--agent", f"x=command:{{python}} {suite / 'agent.py'}"]
    bench(suite, out, *words, "--task", "seen")
    row = rows(out)["seen--x--1"]
    assert row.status == "failed" and "outside the suite" in row.reason.sentence


ASK = """import pathlib, sys, urllib.request
said = []
for url in ("http://data.test/x", "http://other.test/y"):
    try:
        said.append(urllib.request.urlopen(url, timeout=20).read().decode())
    except OSError as error:
        said.append(f"no: {error}")
pathlib.Path(sys.argv[1], "said.txt").write_text("\\n".join(said))
"""


def test_what_a_program_asks_of_an_allowed_host_is_recorded(suite, tmp_path, monkeypatch):
    handler = type("Handler", (http.server.BaseHTTPRequestHandler,), {"do_GET": _hello})
    server = http.server.HTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    loopback = {
        "look_up": lambda host, _: [("127.0.0.1", server.server_port)],
        "reachable": lambda address: True,
    }
    monkeypatch.setattr("assets.bench.EgressProxy", partial(EgressProxy, **loopback))
    program, out = tmp_path / "ask.py", tmp_path / "results"
    program.write_text(ASK)
    words = ["--agent", "trivial", "--agent", f"ask=command:{{python}} {program} {{out}}"]
    assert bench(suite, out, *words, "--task", "seen", "--allow", "data.test") == 0
    server.shutdown()
    server.server_close()
    said = (out / "trials/seen--ask--1/submission/said.txt").read_text()
    assert said.startswith("hello\nno: ")
    trial = open_project(out / "trials/seen--ask--1/project")
    asked = [e.content.request for e in trial.ledger.events("seen", kinds={"egress_asked"})]
    assert [(one.host, one.allowed) for one in asked] == [
        ("data.test", True),
        ("other.test", False),
    ]
    assert "to data.test only" in (out / "card.md").read_text()
    # Without the host these would be other conditions; what was said in repro.yaml stays.
    assert bench(suite, out, *words, "--task", "seen") == 2

    # The results' folder is an app of its own, with the trials as partitions.
    defs = build_definitions(out)
    assert [one.key.to_user_string() for one in defs.resolve_all_asset_specs()] == ["bench_trial"]
    instance = opening.instance_of(open_project(out))
    assert set(instance.get_dynamic_partitions("bench_trials")) == set(rows(out))
    again = defs.resolve_job_def("run_trials").execute_in_process(
        instance=instance, partition_key="seen--trivial--1"
    )
    assert again.success and len(rows(out)) == 2


def _hello(self):
    self.send_response(200)
    self.end_headers()
    self.wfile.write(b"hello")


def test_the_ceiling_stops_before_a_trial_that_could_break_it(suite, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("resources.opening._chat", lambda models, replay: ScriptedModel(answers))
    out = tmp_path / "results"
    words = ["--agent", "at-once", "--agent", "trivial", "--models", "openai/one"]
    limits = ["--budget", "tokens=50000", "--ceiling", "tokens=50001"]
    assert bench(suite, out, *words, *limits) == 2
    assert "unseen--at-once--1 is not started" in capsys.readouterr().err
    assert set(rows(out)) == {"seen--at-once--1", "seen--trivial--1", "unseen--trivial--1"}
    assert bench(suite, out, *words, "--budget", "tokens=50000", "--ceiling", "tokens=200000") == 0
    assert len(rows(out)) == 4
    assert plan_of(open_project(out)).ceiling.tokens == 200000


@pytest.mark.parametrize("option", ["--runner=unsafe_local", "--unsafe-local"])
def test_agents_are_not_compared_without_a_sandbox(suite, tmp_path, option, capsys):
    where = ["bench", "run", str(suite), "--out", str(tmp_path / "out"), "--agent", "trivial"]
    assert main([*where, option]) == 2
    assert "reads the suite's answers" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_why_tells_a_claim_of_a_project_that_a_bench_kept(tmp_path, capsys, monkeypatch):
    suite, kept = make_suite(tmp_path / "suite"), tmp_path / "kept"
    how = ["--task", "seen", "--seeds", "2", "--keep", str(kept)]
    assert main(["bench", "measure", str(suite), *how]) == 0
    monkeypatch.setenv("REPRO_PROJECT", str(kept / "seen"))
    capsys.readouterr()
    assert main(["why", "seen", "noisy-plain"]) == 0
    told = capsys.readouterr().out
    assert "how the paper was read is not on record in this project" in told
    assert "rests on 2 runs, 2 with a value" in told
    assert main(["why", "seen", "noisy-plain", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reported"]["source"] is None


def test_a_right_suite_holds_and_wrong_ones_are_named(tmp_path, capsys):
    wrong_mean = [claim("noisy-plain", 10.0), claim("noisy-shrunk", 20.9)]
    make_suite(
        tmp_path / "suite",
        {
            "right": truth(),
            "wrong-mean": truth(claims=wrong_mean),
            "wrong-sign": truth(ablations=[{"pair": "shrinking-hurts", "sign": -1}]),
        },
    )
    hard = tmp_path / "suite/tasks/hard-coded"
    make_suite(
        tmp_path / "other",
        {"hard-coded": truth()},
        code=REFERENCE.replace("wrong / cases", "threshold"),
    )
    (tmp_path / "other/tasks/hard-coded").rename(hard)
    listed = yaml.safe_load((tmp_path / "suite/suite.yaml").read_text())
    listed["tasks"].append("hard-coded")
    (tmp_path / "suite/suite.yaml").write_text(yaml.safe_dump(listed))
    code = main(["bench", "validate", str(tmp_path / "suite"), "--seeds", "4", "--json"])
    proofs = {one["task"]: one for one in json.loads(capsys.readouterr().out)}
    assert code == 2
    faults = {
        name: [*one["faults"], *(f["fault"] for f in one["fresh"] if f["fault"])]
        for name, one in proofs.items()
    }
    assert faults["right"] == []
    assert "Student" in faults["wrong-mean"][0]
    assert "the sign -1 is recorded" in faults["wrong-sign"][0]
    assert re.search(r"truth.yaml:\d+: ", faults["wrong-sign"][0])
    assert all(re.search(r"truth.yaml:\d+$", f["where"]) for f in proofs["wrong-mean"]["fresh"])
    assert "no spread" in faults["hard-coded"][0]
