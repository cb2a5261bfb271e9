"""`repro add` of what is foreign: what it takes, records, refuses, and keeps from an agent."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest
import yaml

from repro_pipeline.claims.extract import no_claims
from repro_pipeline.cli import main
from repro_pipeline.config import SendToModels
from repro_pipeline.frozen import digest
from repro_pipeline.stages import latest, output_of
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/unit/imports"))
from foreign import JUDGE_WORDS, PAPER, RUBRIC_WORDS, paperbench, repository, rescience, write

README = "# Code\n```\npip install numpy\npython measure.py --seed 1\n```\n"
MEASURE = "import sys\nprint('error', 10.0 + int(sys.argv[2]) % 3 / 100)\n"
TASK = """schema: 1
exclude: [github.com/ada]
claims:
  - {id: noisy-plain, metric: error, unit: percent, direction: lower, key: true,
     reported: {table: "Table 1", row: [Noisy], column: [Plain]}}
"""


def events(opened, paper: str) -> list:
    return [
        one.content.record for one in opened.ledger.events(paper) if one.kind == "paper_imported"
    ]


def test_a_paperbench_folder(project, opened, tmp_path, capsys):
    assert main(["add", str(paperbench(tmp_path / "x"))]) == 0
    said = capsys.readouterr().out
    assert "Left out: paper.tex.bak" in said and "repro run tiny-study" in said
    (record,) = events(opened, "tiny-study")
    kept = json.loads((project / "papers/tiny-study/import.json").read_text())
    assert record.model_dump(mode="json") == kept and len(record.grading) == 2
    rubric = project / "grading/tiny-study/rubric.json"
    assert main(["paperbench", "show", str(rubric)]) == 0
    assert RUBRIC_WORDS[:40] in capsys.readouterr().out
    assert main(["add", str(tmp_path / "x")]) == 2
    assert "already" in capsys.readouterr().err


def test_an_agent_sees_the_addendum_and_nothing_of_the_grading(project, opened, tmp_path):
    """Through the stages, and in the store: all that prompts, runs and exports are made of."""
    from repro_pipeline.agent.material import material_of
    from repro_pipeline.bundle.folder import Bundle
    from repro_pipeline.claims.model import ReportedClaims
    from repro_pipeline.lineage.model import AssumptionLedger
    from repro_pipeline.paper.model import Paper

    assert main(["add", str(paperbench(tmp_path / "x", task__yaml=TASK))]) == 0
    main(["run", "tiny-study", "--stage", "assumption_ledger"])
    stages = {
        "paper_bundle": Bundle,
        "parsed_paper": Paper,
        "reported_claims": ReportedClaims,
        "assumption_ledger": AssumptionLedger,
    }
    bundle, paper, claims, assumptions = (
        output_of(opened, latest(opened, "tiny-study", stage), model)
        for stage, model in stages.items()
    )
    folder = project / "papers/tiny-study"
    seen = material_of(bundle, folder, paper, claims, assumptions, SendToModels())
    assert "thousand rows" in seen.references["addendum.md"]
    assert not any(words in repr(seen) for words in (RUBRIC_WORDS, JUDGE_WORDS))
    for one in events(opened, "tiny-study")[0].grading:
        assert one.sha256 not in opened.store
    assert bundle.files["references/addendum.md"] in opened.store


def test_a_rescience_folder_reads_and_proposes(project, opened, tmp_path, capsys):
    assert main(["add", str(rescience(tmp_path / "again"))]) == 0
    said = capsys.readouterr().out
    assert "--code https://example.org/ada/again@COMMIT" in said
    assert "It is about: A. Author. A tiny study. 1999" in said
    assert events(opened, "again")[0].authors == ("Ada Author", "Ben {B}uilder")
    assert main(["run", "again", "--stage", "parsed_paper"]) == 0
    assert main(["paper", "show", "again", "--table", "1"]) == 0
    assert "10.2" in capsys.readouterr().out


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    return write(tmp_path / "study", {"paper.md": PAPER})


def test_code_of_a_repository_is_pinned_recorded_and_proposed(
    project, opened, paper, tmp_path, capsys
):
    commit = repository(tmp_path / "repo", {"README.md": README, "measure.py": MEASURE})
    assert main(["add", str(paper), "--code", f"{tmp_path}/repo@main"]) == 0
    said = capsys.readouterr().out
    assert commit in said and "1  README.md:4: python measure.py --seed 1" in said
    (record,) = events(opened, "study")
    assert (record.code.commit, record.code.asked, record.layout) == (commit, "main", "bundle")
    assert (project / "papers/study/code/measure.py").read_text() == MEASURE
    assert not (project / "papers/study/task.yaml").exists()


def test_a_picked_command_is_written_into_the_task(project, paper, tmp_path, capsys):
    repository(tmp_path / "repo", {"README.md": README, "measure.py": MEASURE})
    write(paper, {"task.yaml": "# mine\nschema: 1\nseeds: [1]\n"})
    code = ["--code", f"{tmp_path}/repo"]
    assert main(["add", str(paper), *code, "--command", "2"]) == 2
    assert "READMEs propose 1" in capsys.readouterr().err
    assert main(["add", str(paper), *code, "--command", "1"]) == 0
    text = (project / "papers/study/task.yaml").read_text()
    assert text.startswith("# mine\n")
    assert yaml.safe_load(text)["code"]["command"] == ["python", "measure.py", "--seed", "1"]
    assert main(["add", str(project / "papers/study"), "--id", "two", "--command", "1"]) == 2
    assert "already" in capsys.readouterr().err


@pytest.mark.parametrize("task", ["{schema: 1}\n", "schema: 1\n...\n", '"code": {path: code}\n'])
def test_a_task_that_takes_no_lines_at_its_end_is_told(project, tmp_path, capsys, task):
    paper = write(tmp_path / "it", {"paper.md": PAPER, "task.yaml": task})
    write(paper / "code", {"README.md": README, "measure.py": MEASURE})
    assert main(["add", str(paper), "--command", "1"]) == 2
    told = capsys.readouterr().err
    assert 'code: {command: ["python", "measure.py", "--seed", "1"]}' in told
    assert ".new" not in told and (paper / "task.yaml").read_text() == task


def test_names_of_others_do_not_steer_the_terminal(project, tmp_path, capsys):
    source = paperbench(tmp_path / "x")
    readme = README.replace("measure.py", "\x1b[2Jmeasure.py")
    write(source, {"\x1b]0;evil\x07": "", "code/README.md": readme, "code/a.py": ""})
    assert main(["add", str(source)]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said and "\\x1b]0;evil" in said and "measure.py --seed" in said


@pytest.mark.parametrize("remote", [False, True])
def test_an_excluded_repository_is_refused(project, opened, tmp_path, capsys, remote):
    from foreign import git

    address = "https://github.com/ada/tiny@main"
    if remote:  # a clone of it on this machine
        repository(tmp_path / "repo", {"a.py": "1"})
        git(tmp_path / "repo", "remote", "add", "origin", "git@github.com:Ada/tiny.git")
        address = str(tmp_path / "repo")
    assert main(["add", str(paperbench(tmp_path / "x")), "--code", address]) == 2
    assert "is excluded" in capsys.readouterr().err
    assert list((project / "papers").iterdir()) == [] and events(opened, "tiny-study") == []
    assert not (project / "grading/tiny-study").exists()


def test_code_does_not_replace_code(project, paper, tmp_path, capsys):
    repository(tmp_path / "repo", {"a.py": "1"})
    write(paper, {"code/b.py": "2"})
    assert main(["add", str(paper), "--code", f"{tmp_path}/repo"]) == 2
    assert "has code already" in capsys.readouterr().err


def test_the_same_import_gives_the_same_record(project, opened, tmp_path):
    source = str(paperbench(tmp_path / "x"))
    assert main(["add", source, "--id", "one"]) == main(["add", source, "--id", "two"]) == 0
    assert digest(events(opened, "one")[0]) == digest(events(opened, "two")[0])


def test_the_corpus_folders_are_known_and_lack_their_papers(project, corpus, tmp_path, capsys):
    """The benchmark's own rubrics and blacklists; with a paper beside them they are taken."""
    import shutil

    from repro_pipeline.imports.layouts import layout_of

    folders = sorted(path for path in (corpus / "paperbench").iterdir() if path.is_dir())
    assert len(folders) > 10
    for folder in folders:
        assert layout_of(folder) == "paperbench"
        assert main(["add", str(folder)]) == 2
        assert "without its paper" in capsys.readouterr().err
        copy = tmp_path / folder.name
        shutil.copytree(folder, copy)
        write(copy, {"paper.md": PAPER})
        assert main(["add", str(copy)]) == 0
        paper = yaml.safe_load((folder / "config.yaml").read_text())["id"]
        task = yaml.safe_load((project / "papers" / paper / "task.yaml").read_text())
        said = (folder / "blacklist.txt").read_text().strip()
        assert task.get("exclude", []) == ([] if said == "none" else said.split())
        capsys.readouterr()


def test_an_r_script_is_told_before_anything_is_built(project, opened, tmp_path):
    import shutil

    if shutil.which("Rscript", path="/usr/local/bin:/usr/bin:/bin"):
        pytest.skip("this host has R")
    task = TASK.replace("exclude: [github.com/ada]", "code: {command: [Rscript, fit.R]}")
    outputs = "outputs:\n  - {claim: noisy-plain, file: stdout, regex: '(.*)'}\n"
    files = {"paper.md": PAPER, "task.yaml": task + outputs, "code/fit.R": "library(lme4)\n"}
    assert main(["add", str(write(tmp_path / "study", files))]) == 0
    main(["run", "study", "--stage", "environment"])
    reason = latest(opened, "study", "environment").reason
    assert "fit.R: is R, and runs here have no Rscript" in reason.sentence
    assert "lme4" in reason.sentence and "runner: docker" in reason.sentence


def test_a_bundle_that_says_how_it_is_run_is_told_nothing_more(project, paper, capsys):
    from notebooks import notebook

    write(paper, {"code/README.md": README, "code/a.py": "1", "code/n.ipynb": notebook("1")})
    assert main(["add", str(paper), "--id", "one"]) == 0
    said = capsys.readouterr().out
    assert "python measure.py" in said and "notebook: n.ipynb" in said
    write(paper, {"task.yaml": "code: {command: [python, a.py]}\n"})
    assert main(["add", str(paper), "--id", "two"]) == 0
    assert capsys.readouterr().out == (
        "Added two: copied to papers/two; edit it there. Before `repro run two`, say in "
        "papers/two/task.yaml in the command `{seed}` and `{out}` where the code takes them, and under "
        "`outputs` where it leaves its values (docs/import.md).\n"
        f"Warning: {no_claims()}\n"
    )
    task = TASK.replace("exclude: [github.com/ada]", "code: {command: [python, a.py]}")
    outputs = "outputs:\n  - {claim: noisy-plain, file: stdout, regex: '(.*)'}\n"
    write(paper, {"task.yaml": task + outputs})
    assert main(["add", str(paper), "--id", "three"]) == 0
    assert capsys.readouterr().out == (
        "Added three: copied to papers/three; edit it there. Reproduce it with `repro run three`.\n"
    )


def test_code_that_nothing_says_how_to_run_is_not_said_to_be_ready(project, paper, capsys):
    write(paper, {"code/a.py": "1"})
    (paper / "task.yaml").unlink(missing_ok=True)
    assert main(["add", str(paper), "--id", "bare"]) == 0
    said = capsys.readouterr().out
    assert "Reproduce it" not in said and "command or notebook of one run" in said


def test_a_folder_that_is_not_there_lists_no_other_folders(project, capsys):
    assert main(["add", "/nonexist"]) == 2
    said = capsys.readouterr().err
    assert "no such bundle" in said and "These exist" not in said and "arxiv:ID" in said


def test_what_is_no_folder_is_a_sentence(project, tmp_path, capsys):
    repository(tmp_path / "repo", {"a.py": "1"})
    for more in ([], ["--code", str(tmp_path / "repo")]):
        assert main(["add", str(tmp_path / "absent"), *more]) == 2
        assert "no such bundle" in capsys.readouterr().err
        (tmp_path / "empty").mkdir(exist_ok=True)
        assert main(["add", str(tmp_path / "empty"), *more]) == 2
        assert "holds no paper" in capsys.readouterr().err


def test_a_task_that_names_code_can_have_it_fetched(project, paper, tmp_path, capsys):
    repository(tmp_path / "repo", {"a.py": "1"})
    write(paper, {"task.yaml": "code: {path: theirs, command: [python, a.py]}\n"})
    assert main(["add", str(paper)]) == 2
    assert "is no folder of the bundle" in capsys.readouterr().err
    assert main(["add", str(paper), "--code", str(tmp_path / "repo")]) == 0
    assert (project / "papers/study/theirs/a.py").exists()


def test_a_fetched_paper_has_an_event_too_and_takes_code(project, opened, tmp_path, monkeypatch):
    sys.path.insert(0, str(ROOT / "tests/unit/fetch"))
    import loopback

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    commit = repository(tmp_path / "repo", {"a.py": "1"})
    pdf = (ROOT / "examples/random-forests-2001/paper.pdf").read_bytes()
    with loopback.serving() as server:
        server.on("/forests.pdf", loopback.Answer(pdf))
        address = f"{server.url}/forests.pdf"
        assert main(["add", address, "--code", str(tmp_path / "repo")]) == 0
    (record,) = events(opened, "forests")
    assert (record.layout, record.code.commit) == ("fetched", commit)
    (file,) = record.files
    assert (file.file, file.source) == ("paper.pdf", address)
    assert file.sha256 == hashlib.sha256(pdf).hexdigest()
