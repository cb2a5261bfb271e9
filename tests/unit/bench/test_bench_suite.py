"""A suite's files: what is refused, and where the error points."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from repro_pipeline.bench.given import found_in, read_task, write_given
from repro_pipeline.bench.suite import open_suite
from repro_pipeline.errors import BundleError, FileFormatError
from tests.bench_suites import REFERENCE, claim, make_suite, truth


def opened(folder: Path, **changes):
    return open_suite(make_suite(folder, {"one": truth(**changes)})).task("one")


def test_a_whole_suite_opens(tmp_path):
    suite = open_suite(make_suite(tmp_path))
    assert [task.id for task in suite.tasks] == ["seen", "unseen"]
    assert suite.task("unseen").truth.split == "held_out"
    assert suite.task("seen").truth.of("noisy-plain").mean == 10.0


def test_its_content_changes_with_any_file(tmp_path):
    suite = open_suite(make_suite(tmp_path))
    before = suite.content
    (tmp_path / "tasks/seen/reference/config.json").write_text("{}")
    assert open_suite(tmp_path).content != before


def test_a_fault_of_truth_yaml_is_told_with_its_line(tmp_path):
    task = opened(tmp_path, kind="stochastical")
    with pytest.raises(FileFormatError, match=r"truth\.yaml:2: kind: "):
        _ = task.truth


def test_what_is_not_there_is_told_with_what_should_be(tmp_path):
    with pytest.raises(
        BundleError, match=r"nowhere/suite.yaml: no such file. .*repro schema suite.yaml"
    ):
        open_suite(tmp_path / "nowhere")
    suite = open_suite(make_suite(tmp_path / "suite"))
    suite.check()
    (suite.task("unseen").folder / "truth.yaml").unlink()
    with pytest.raises(BundleError, match=r"truth.yaml: no such file. .*repro schema truth.yaml"):
        open_suite(suite.folder).check()


def test_a_verdict_that_is_not_reached_says_why(tmp_path):
    unsaid = [claim("noisy-plain", 10.0), claim("noisy-shrunk", 20.0, verdict="not_reproduced")]
    with pytest.raises(FileFormatError, match=r"claims\[1\]\.why"):
        _ = opened(tmp_path, claims=unsaid).truth


def test_claims_of_truth_and_bundle_must_be_the_same(tmp_path):
    with pytest.raises(BundleError, match=r"truth.yaml:\d+: claims: 'noisy-shrunk' of"):
        _ = opened(tmp_path, claims=[claim("noisy-plain", 10.0)]).truth


def test_an_unknown_ablation_is_refused(tmp_path):
    with pytest.raises(BundleError, match=r"truth.yaml:\d+: ablations: 'other' is not in b"):
        _ = opened(
            tmp_path,
            ablations=[{"pair": "shrinking-hurts", "sign": 1}, {"pair": "other", "sign": 1}],
        ).truth


def test_a_task_without_reference_is_refused(tmp_path):
    make_suite(tmp_path)
    (tmp_path / "tasks/seen/reference").rename(tmp_path / "elsewhere")
    with pytest.raises(BundleError, match=r"suite.yaml:\d+: the task 'seen' lacks the folder"):
        open_suite(tmp_path)


def given_of(task, target: Path) -> list[str]:
    read = read_task(task.bundle, task.bundle_folder)
    write_given(read, ("numpy",), target)
    return list(found_in(target, read, task))


def test_what_an_agent_is_given_holds_no_value_and_no_code(tmp_path):
    task = opened(tmp_path / "suite")
    assert given_of(task, tmp_path / "given") == []
    shown = (tmp_path / "given/paper.md").read_text()
    assert "[masked: noisy-plain]" in shown
    assert "10.0" not in shown
    names = {path.name for path in (tmp_path / "given").rglob("*") if path.is_file()}
    assert names == {"README.md", "paper.md", "claims.json"}


def test_reference_code_in_the_given_folder_is_found(tmp_path):
    task = opened(tmp_path / "suite")
    copied = task.bundle_folder / "references" / "appendix.md"
    copied.parent.mkdir()
    copied.write_text(REFERENCE)
    found = given_of(opened_again(task), tmp_path / "given")
    assert any(
        re.match(r"references/appendix.md:\d+ of what is given has \d+ lines of the ref", one)
        for one in found
    )


def test_a_detail_that_is_said_is_not_missing(tmp_path):
    task = opened(tmp_path / "suite")
    paper = task.bundle_folder / "paper.md"
    said = paper.read_text().replace(
        "We estimate", "Of 60000 cases the share is taken. We estimate"
    )
    paper.write_text(said)
    found = given_of(opened_again(task), tmp_path / "given")
    assert any(re.match(r"paper.md:\d+ of what is given says what `cases`", one) for one in found)


def test_a_cited_work_may_say_what_the_paper_does_not(tmp_path):
    task = opened(tmp_path / "suite")
    cited = task.bundle_folder / "references" / "author-1999.md"
    cited.parent.mkdir()
    cited.write_text("# A method of estimation\n\nAs usual, 60000 cases are drawn.\n")
    assert given_of(opened_again(task), tmp_path / "given") == []
    assert "60000" in (tmp_path / "given/references/author-1999.md").read_text()


def opened_again(task):
    return open_suite(task.folder.parents[1]).task(task.id)
