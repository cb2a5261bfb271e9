"""`repro run` on a tiny bundle: what is reused, what runs again, what each failure says."""

from __future__ import annotations

import os
import re
import threading
import time
from pathlib import Path

import pytest
import yaml

from repro_pipeline.cli import main
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.project import Project
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import latest, output_of
from repro_pipeline.status import Status, Verdict
from tests.bundles import PAPER, make_bundle, task


def executed(project: Project, paper: str = "tiny", purpose: str = "eval") -> list:
    """All attempts of a purpose, in order."""
    found = attempts(project.ledger.events(paper))
    return [attempt for attempt in found if attempt.purpose == purpose]


def statuses(project: Project, paper: str = "tiny") -> dict[str, str]:
    rows = {name: latest(project, paper, name) for name in STAGES}
    return {name: str(row.status) if row else "absent" for name, row in rows.items()}


def scores_of(project: Project, paper: str = "tiny") -> Scores:
    return output_of(project, latest(project, paper, "scores"), Scores)


def test_a_good_paper_is_reproduced_with_a_row_for_every_stage(project, opened, capsys):
    make_bundle(project / "papers" / "tiny")
    assert main(["run", "tiny"]) == 0
    assert statuses(opened) == {
        **dict.fromkeys(STAGES, "ok"),
        "ablations": "not_applicable",
        "sensitivity": "not_applicable",
    }
    scores = scores_of(opened)
    assert {v.claim: v.verdict for v in scores.verdicts} == {
        "noisy-plain": Verdict.REPRODUCED,
        "noisy-shrunk": Verdict.REPRODUCED,
    }
    plain = next(v for v in scores.verdicts if v.claim == "noisy-plain")
    recorded = {str(a.seed): a.values["noisy-plain"] for a in executed(opened)}
    assert plain.values == recorded and plain.n == 3
    out = capsys.readouterr().out
    assert str(project / "reports" / "tiny" / "report.html") in out
    assert (project / "reports" / "tiny" / "report.html").stat().st_size > 5000


def test_a_wrong_result_is_not_reproduced_and_still_reported(project, opened, capsys):
    make_bundle(project / "papers" / "tiny", scale=1.2)
    assert main(["run", "tiny"]) == 0
    assert {v.verdict for v in scores_of(opened).verdicts} == {Verdict.NOT_REPRODUCED}
    assert "20" in capsys.readouterr().out


def test_nothing_changed_runs_nothing(project, opened):
    make_bundle(project / "papers" / "tiny")
    main(["run", "tiny"])
    before = len(executed(opened)), len(executed(opened, purpose="parity"))
    report = (project / "reports" / "tiny" / "report.html").read_bytes()
    assert main(["run", "tiny"]) == 0
    assert before == (len(executed(opened)), len(executed(opened, purpose="parity"))) == (3, 1)
    assert (project / "reports" / "tiny" / "report.html").read_bytes() == report


def test_a_changed_rubric_only_scores_again(project, opened):
    make_bundle(project / "papers" / "tiny", scale=1.03)
    main(["run", "tiny"])
    first = {name: latest(opened, "tiny", name) for name in STAGES}
    assert scores_of(opened).verdicts[0].verdict is Verdict.REPRODUCED
    rubric = yaml.safe_load((project / "rubric.yaml").read_text())
    rubric["dimensions"]["metric_parity"]["threshold"] = 0.01
    (project / "rubric.yaml").write_text(yaml.safe_dump(rubric))
    assert main(["run", "tiny"]) == 0
    assert scores_of(opened).verdicts[0].verdict is Verdict.NOT_REPRODUCED
    changed = {name for name in STAGES if latest(opened, "tiny", name) != first[name]}
    assert changed - {"paper_bundle"} == {"scores", "attribution", "review_queue", "report"}
    assert len(executed(opened)) == 3


def test_a_longer_seed_list_runs_only_the_missing_seeds(project, opened):
    folder = make_bundle(project / "papers" / "tiny")
    main(["run", "tiny"])
    (folder / "task.yaml").write_text(yaml.safe_dump(task(seeds=[1, 2, 3, 4, 5])))
    assert main(["run", "tiny"]) == 0
    assert sorted(attempt.seed for attempt in executed(opened)) == [1, 2, 3, 4, 5]
    assert scores_of(opened).verdicts[0].n == 5


def test_changed_code_runs_again_under_another_hash(project, opened):
    folder = make_bundle(project / "papers" / "tiny")
    main(["run", "tiny"])
    code = folder / "code" / "experiment.py"
    code.write_text(code.read_text() + "\n# another version\n")
    main(["run", "tiny"])
    assert len(executed(opened)) == 6
    assert len({attempt.run_key for attempt in executed(opened)}) == 6
    assert scores_of(opened).verdicts[0].n == 3


def test_derived_seeds_differ_between_projects_and_stand_within_one(project, opened):
    make_bundle(project / "papers" / "tiny", seeds=None)
    main(["run", "tiny"])
    seeds = [attempt.seed for attempt in executed(opened)]
    assert len(set(seeds)) == 5 == opened.config.seeds
    main(["run", "tiny"])
    assert [attempt.seed for attempt in executed(opened)] == seeds


def test_an_ablation_run_supplies_its_claim(project, opened):
    extra = {
        "id": "noisy-doubled",
        "kind": "ablation",
        "of": "noisy",
        "change": {"scale": 2.0},
        "claims": ["noisy-shrunk"],
    }
    make_bundle(
        project / "papers" / "tiny",
        experiments=[extra],
        covers=["noisy-plain"],
        settings={"one_method": True},
    )
    assert main(["run", "tiny"]) == 0
    pair = scores_of(opened).pairs[0]
    assert pair.sign == "agree" and pair.n == 3
    assert pair.difference == pytest.approx(30, abs=0.2)


def test_a_main_claim_that_only_an_ablation_measures_is_repeated(project, opened):
    extra = {
        "id": "noisy-doubled",
        "kind": "ablation",
        "of": "noisy",
        "change": {"scale": 2.0},
        "claims": ["noisy-shrunk"],
    }
    plain, shrunk = task()["claims"]
    make_bundle(
        project / "papers" / "tiny",
        task_text=yaml.safe_dump(task(claims=[plain, {**shrunk, "main": True}])),
        experiments=[extra],
        covers=["noisy-plain"],
        settings={"one_method": True},
    )
    assert main(["run", "tiny", "--stage", "scores"]) == 0
    parity = next(one for one in scores_of(opened).dimensions if one.id == "environment_parity")
    assert "differ by 0 (relative) on noisy-shrunk" in parity.sentence


RUN_FAULTS = {
    "exit": ("failed", r"ValueError: the estimator diverged"),
    "hang": ("timed_out", r"2(\.0)? s|wall"),
    "nan": ("failed", r"NaN|nan"),
    "silent": ("failed", r"metrics\.json.*did not write"),
    "text": ("failed", r"metrics\.json.*empty"),
    "stale": ("failed", r"older than the run"),
    "stranger": ("failed", r"no-such-claim"),
    "half": ("failed", r"noisy-shrunk"),
}


@pytest.mark.parametrize("behaviour", RUN_FAULTS)
def test_a_bad_run_is_named_counted_and_kept(project, opened, capsys, behaviour):
    status, sentence = RUN_FAULTS[behaviour]
    make_bundle(
        project / "papers" / "tiny",
        behaviour=behaviour,
        timeout=2 if behaviour == "hang" else 30,
        seeds=[1, 2],  # a third is not run where two failed alike, see below
    )
    assert main(["run", "tiny"]) == 2
    out = capsys.readouterr().out
    assert re.search(sentence, re.sub(r"\s+", " ", out)), out
    assert [str(attempt.status) for attempt in executed(opened)] == [status] * 2
    assert {v.verdict for v in scores_of(opened).verdicts} == {Verdict.NOT_RUN}
    assert "Traceback" not in out
    assert (project / "reports" / "tiny" / "report.html").exists()


@pytest.mark.parametrize("behaviour", ["silent", "text"])
def test_runs_of_an_experiment_that_failed_alike_are_left_out_and_counted(
    project, opened, capsys, behaviour
):
    folder = make_bundle(project / "papers" / "tiny", behaviour=behaviour, seeds=[1, 2, 3, 4, 5])
    config = project / "repro.yaml"
    config.write_text(config.read_text() + "workers: 1\n")
    assert main(["run", "tiny"]) == 2
    said = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "2 of 5 runs failed: noisy with seed 1" in said
    assert "3 of 5 runs were not started" in said
    made = executed(opened)
    assert [str(attempt.status) for attempt in made] == ["failed"] * 2 + ["cancelled"] * 3
    assert [attempt.seed for attempt in made] == [1, 2, 3, 4, 5]
    verdict = scores_of(opened).verdicts[0]
    assert (verdict.verdict, verdict.n, verdict.planned) == (Verdict.NOT_RUN, 0, 5)
    why_not = made[0].reason.sentence.rstrip(".")
    report = (project / "reports" / "tiny" / "report.md").read_text()
    assert report.count(f"ended the same way: {why_not}") >= 3
    assert main(["why", "tiny", "noisy-plain"]) == 0
    said = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "rests on 5 runs, 0 with a value" in said and said.count("Not run: the first 2") >= 3
    assert main(["log", "tiny"]) == 0  # of a run that was made
    assert f"seed 2 {behaviour}" in capsys.readouterr().out
    settings = folder / "code" / "config.json"
    settings.write_text(settings.read_text().replace(behaviour, "well"))
    assert main(["run", "tiny"]) == 0
    assert scores_of(opened).verdicts[0].n == 5


def test_failed_runs_are_tried_again_and_both_attempts_stay(project, opened):
    folder = make_bundle(project / "papers" / "tiny", behaviour="exit")
    assert main(["run", "tiny"]) == 2
    assert main(["run", "tiny"]) == 2
    assert [a.number for a in executed(opened)] == [1, 1, 1, 2, 2, 2]
    assert len({a.reason.signature for a in executed(opened)}) == 1
    assert folder.exists()


BAD_PAPERS = {
    "no such table": (
        {"table": "Table 7", "row": ["Noisy"], "column": ["Plain"]},
        r"Table 7.*Table 1",
        {},
    ),
    "no such row": (
        {"table": "Table 1", "row": ["Noisi"], "column": ["Plain"]},
        r"Noisi.*Noisy",
        {},
    ),
    "no such column": (
        {"table": "Table 1", "row": ["Noisy"], "column": ["Bent"]},
        r"Bent.*Plain",
        {},
    ),
    "ambiguous row": (
        {"table": "Table 1", "row": ["Noisy"], "column": ["Plain"]},
        r"Noisy",
        {"paper": PAPER.replace("| Calm ", "| Noisy")},
    ),
    "no number": ({"table": "Table 1", "row": ["Calm"], "column": ["Shrunk"]}, r"n/a", {}),
}


@pytest.mark.parametrize("case", BAD_PAPERS)
def test_a_bad_address_is_answered_with_what_exists(project, opened, capsys, case):
    address, sentence, more = BAD_PAPERS[case]
    bad = task()
    bad["claims"][0]["reported"] = address
    make_bundle(project / "papers" / "tiny", task_text=yaml.safe_dump(bad), **more)
    assert main(["run", "tiny"]) == 2
    out = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "noisy-plain" in out and re.search(sentence, out), out
    found = statuses(opened)
    assert found["reported_claims"] == "failed"
    assert found["baseline"] == found["scores"] == found["report"] == "blocked"
    assert executed(opened) == []


def test_a_typo_in_the_task_names_line_and_key(project, capsys):
    text = yaml.safe_dump(task(), sort_keys=False).replace("direction:", "direktion:", 1)
    make_bundle(project / "papers" / "tiny", task_text=text)
    assert main(["run", "tiny"]) == 2
    error = capsys.readouterr().err
    line = text.splitlines().index("  direktion: lower") + 1
    assert f"task.yaml:{line}:" in error and "'direction'" in error


def test_no_such_bundle_names_those_that_exist(project, capsys):
    make_bundle(project / "papers" / "tiny")
    assert main(["run", "tinny"]) == 2
    assert "tiny" in capsys.readouterr().err


def test_two_sources_that_disagree_are_refused(project, opened, capsys):
    folder = make_bundle(project / "papers" / "tiny")
    rows = r"Noisy & 11.0 & 20.0 \\ Calm & 5.0 & n/a \\"
    (folder / "paper.tex").write_text(
        "\\documentclass{article}\\begin{document}\\title{A tiny study of two estimators}\n"
        "\\begin{table}\\caption{Error (\\%)}\\label{tab:e}\n"
        "\\begin{tabular}{lcc}\\toprule Source & Plain & Shrunk \\\\ \\midrule\n"
        f"{rows}\n\\bottomrule\\end{{tabular}}\\end{{table}}\\end{{document}}\n"
    )
    assert main(["run", "tiny"]) == 2
    out = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "paper.tex" in out and "paper.md" in out and "11.0" in out
    assert statuses(opened)["parsed_paper"] == "failed"


def test_broken_latex_names_the_line(project, capsys):
    folder = make_bundle(project / "papers" / "tiny")
    (folder / "paper.md").unlink()
    (folder / "paper.tex").write_text(
        "\\documentclass{article}\n\\begin{document}\n\\begin{table}\n\\begin{tabular}{cc}\na & b"
    )
    assert main(["run", "tiny"]) == 2
    assert re.search(r"paper\.tex:\d+", capsys.readouterr().out)


def test_add_refuses_and_changes_nothing(project, tmp_path: Path, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["add", str(tmp_path / "empty")]) == 2
    assert main(["add", str(tmp_path / "absent")]) == 2
    odd = make_bundle(tmp_path / "Odd Name")
    assert main(["add", str(odd)]) == 2
    assert "odd-name" in capsys.readouterr().err
    assert list((project / "papers").iterdir()) == []
    assert main(["add", str(odd), "--id", "odd-name"]) == 0
    assert main(["add", str(odd), "--id", "odd-name"]) == 2


def test_without_code_or_a_model_the_implementation_says_so(project, opened, capsys):
    import shutil

    folder = make_bundle(project / "papers" / "tiny")
    shutil.rmtree(folder / "code")
    assert main(["run", "tiny"]) == 2
    assert "code/" in capsys.readouterr().out
    assert statuses(opened)["environment"] == "failed"
    assert Status(statuses(opened)["scores"]) is Status.OK
    assert {v.verdict for v in scores_of(opened).verdicts} == {Verdict.NOT_RUN}


def test_what_a_run_left_is_kept_and_its_links_are_not_followed(project, opened):
    folder = make_bundle(project / "papers" / "tiny")
    code = folder / "code" / "experiment.py"
    extra = '(out / "more.txt").write_text("kept")\n(out / "link").symlink_to("/etc/passwd")\n'
    code.write_text(code.read_text() + extra)
    assert main(["run", "tiny"]) == 0
    outputs = executed(opened)[0].outputs
    assert set(outputs) == {"metrics.json", "more.txt"}
    assert opened.store.get(outputs["more.txt"]) == b"kept"


def test_a_budget_of_time_ends_a_launch_and_the_next_one_goes_on(
    project, opened, capsys, monkeypatch
):
    # Earlier stages may take any time on a busy machine; here only the runs are counted.
    monkeypatch.setattr("repro_pipeline.experiment.campaign.spent_before", lambda stage: 0.0)
    make_bundle(
        project / "papers" / "tiny",
        behaviour="slow",
        settings={"sleep": 1.0},
        seeds=[1, 2, 3, 4],
        budget={"wall_clock": "2s"},
    )
    config = project / "repro.yaml"
    config.write_text(config.read_text() + "workers: 1\n")
    assert main(["run", "tiny"]) == 2
    assert "budget" in capsys.readouterr().out
    first = len(executed(opened))
    assert 0 < first < 4
    assert scores_of(opened).verdicts[0].n == first
    while len(executed(opened)) < 4:
        main(["run", "tiny"])
    assert [attempt.status for attempt in executed(opened)] == [Status.OK] * 4


def test_data_that_changes_during_the_runs_makes_none_of_them_count(project, opened):
    folder = make_bundle(
        project / "papers" / "tiny",
        seeds=[1],
        data=[{"name": "numbers", "path": "data/numbers.csv"}],
    )
    (folder / "data").mkdir()
    data = folder / "data" / "numbers.csv"
    data.write_text("1.5\n")
    code = folder / "code" / "experiment.py"
    code.write_text(code.read_text() + "time.sleep(2)\n")
    before = data.stat()

    def swap() -> None:
        while not executed_or_started(opened):
            time.sleep(0.05)
        data.write_text("1.0\n")
        time.sleep(0.3)
        data.write_text("1.5\n")
        os.utime(data, ns=(before.st_atime_ns, before.st_mtime_ns))

    thread = threading.Thread(target=swap)
    thread.start()
    assert main(["run", "tiny"]) == 2
    thread.join()
    [attempt] = executed(opened)
    assert attempt.reason.code == "data_changed" and "numbers.csv" in attempt.reason.sentence
    assert main(["run", "tiny"]) == 0
    assert [attempt.status for attempt in executed(opened)] == [Status.FAILED, Status.OK]


def executed_or_started(project: Project) -> bool:
    return any(True for _ in project.ledger.events("tiny", kinds={"attempt_started"}))


def test_a_paper_in_several_files_is_read_again_when_one_of_them_changes(project, opened):
    folder = make_bundle(project / "papers" / "tiny")
    (folder / "paper.md").unlink()
    (folder / "paper.tex").write_text(
        "\\documentclass{article}\\begin{document}\\title{T}\\input{results}\\end{document}"
    )
    table = (
        "\\begin{table}\\caption{Error}\\begin{tabular}{lcc}\\toprule Source & Plain & Shrunk \\\\"
        "\\midrule Noisy & 10.0 & 20.0 \\\\ \\bottomrule\\end{tabular}\\end{table}"
    )
    (folder / "results.tex").write_text(table)
    assert main(["run", "tiny"]) == 0
    assert scores_of(opened).verdicts[0].reported == 10.0
    (folder / "results.tex").write_text(table.replace("10.0", "15.0"))
    assert main(["run", "tiny"]) == 0
    assert scores_of(opened).verdicts[0].reported == 15.0
    assert scores_of(opened).verdicts[0].verdict is Verdict.NOT_REPRODUCED


def test_damaged_evidence_is_named_and_no_old_result_is_shown(project, opened, capsys):
    make_bundle(project / "papers" / "tiny")
    main(["run", "tiny"])
    capsys.readouterr()
    digest = latest(opened, "tiny", "parsed_paper").output
    stored = next(path for path in (project / ".repro" / "store").rglob(f"{digest}*"))
    stored.chmod(0o644)
    content = bytearray(stored.read_bytes())
    content[len(content) // 2] ^= 1
    stored.write_bytes(bytes(content))
    (project / "papers" / "tiny" / "code" / "config.json").write_text('{"scale": 3, "noise": 0.01}')
    assert main(["run", "tiny"]) == 2
    out = capsys.readouterr().out
    assert digest[:8] in out and "reproduced" not in out.split("error:")[0]


def test_a_rubric_that_breaks_is_named(project, capsys):
    make_bundle(project / "papers" / "tiny")
    main(["run", "tiny"])
    capsys.readouterr()
    (project / "rubric.yaml").write_text("dimensions: {metric_pairity: {threshold: 0.05}}\n")
    assert main(["run", "tiny"]) == 2
    assert "metric_parity" in "".join(capsys.readouterr())


def test_runs_without_a_sandbox_stay_marked(project, opened):
    folder = make_bundle(project / "papers" / "tiny")
    assert main(["run", "tiny", "--unsafe-local"]) == 0
    (folder / "task.yaml").write_text(yaml.safe_dump(task(seeds=[1, 2, 3, 4])))
    assert main(["run", "tiny"]) == 0
    assert [attempt.runner for attempt in executed(opened)] == ["unsafe_local"] * 3 + ["bubblewrap"]
    assert "no_sandbox" in {finding.kind for finding in scores_of(opened).findings}


def test_given_code_that_writes_a_table_is_mapped_to_claims(project, opened):
    folder = make_bundle(
        project / "papers" / "tiny",
        code={"command": ["sh", "-c", "python main.py {seed} > {out}/table.csv"]},
        outputs=[
            {
                "claim": claim,
                "file": "table.csv",
                "csv": {"where": {"method": method}, "column": "error"},
            }
            for claim, method in (("noisy-plain", "plain"), ("noisy-shrunk", "shrunk"))
        ],
    )
    (folder / "code" / "experiment.yaml").unlink()
    (folder / "code" / "main.py").write_text(
        "import sys; print('method,error'); print('plain,10.0%s' % sys.argv[1]); print('shrunk,20.1')"
    )
    assert main(["run", "tiny"]) == 0
    values = {str(a.seed): a.values["noisy-plain"] for a in executed(opened)}
    assert values == {"1": 10.01, "2": 10.02, "3": 10.03}
    assert {a.value_source for a in executed(opened)} == {"parsed"}


def test_one_bad_folder_does_not_stop_the_others(project, opened, capsys):
    make_bundle(project / "papers" / "tiny")
    (project / "papers" / "My Paper").mkdir()
    assert main(["run", "--all"]) == 2
    assert "My Paper" in capsys.readouterr().err
    assert scores_of(opened).verdicts


def test_init_overwrites_nothing(tmp_path, capsys):
    (tmp_path / "rubric.yaml").write_text("mine")
    assert main(["init", str(tmp_path)]) == 2
    assert "rubric.yaml" in capsys.readouterr().err
    assert (tmp_path / "rubric.yaml").read_text() == "mine"


def test_no_log_is_advised_where_nothing_ran(project, capsys):
    folder = make_bundle(project / "papers" / "tiny")
    (folder / "code" / "experiment.yaml").unlink()
    assert main(["run", "tiny"]) == 2
    said = capsys.readouterr().out
    assert "error: implementation" in said and "repro log" not in said


def test_the_log_of_a_failed_run_is_shown(project, capsys):
    make_bundle(project / "papers" / "tiny", behaviour="exit")
    main(["run", "tiny"])
    assert "repro log tiny" in capsys.readouterr().out
    assert main(["log", "tiny"]) == 0
    out = capsys.readouterr().out
    assert "\n      raise ValueError" in out and "experiment.py" in out  # in its column
    assert main(["log", "tiny", "--first", "--lines", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("  seed ")
    assert main(["log", "tiny", "--search", "VALUEERROR"]) == 0
    found = capsys.readouterr().out.splitlines()[1:]
    assert found and all("ValueError" in line for line in found)
    assert main(["log", "tiny", "--search", "no such words"]) == 0
    assert "No line holds it." in capsys.readouterr().out
    for wrong in (["--lines", "-5"], ["--search", ""]):
        assert main(["log", "tiny", *wrong]) == 2
        assert "by lines" in capsys.readouterr().err
