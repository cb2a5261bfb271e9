"""Where a bench may leave what it makes: never in a suite or a paper, never over what it did not make."""

from __future__ import annotations

import pytest

from repro_pipeline.bench.places import kept_in, outside
from repro_pipeline.cli import main
from repro_pipeline.config import ProjectConfig
from repro_pipeline.errors import UserError
from repro_pipeline.submission.place import make_folder
from tests.bench_suites import make_suite

INSIDE = [
    (".", "a suite"),
    ("tasks", "a suite"),
    ("tasks/seen/kept", "a suite"),
    ("tasks/seen/bundle/kept", "a paper's folder"),
]


@pytest.mark.parametrize(("place", "what"), INSIDE)
def test_nothing_is_kept_in_a_suite_or_a_paper(tmp_path, capsys, place, what):
    suite = make_suite(tmp_path / "suite")
    before = sorted(suite.rglob("*"))
    for command in ("measure", "validate"):
        assert main(["bench", command, str(suite), "--keep", str(suite / place)]) == 2
        assert f"lies in {what}, " in capsys.readouterr().err
    with pytest.raises(UserError, match="Name a folder elsewhere"):
        outside(suite / place, "--out")
    assert sorted(suite.rglob("*")) == before


def test_a_link_into_a_suite_leads_into_it(tmp_path):
    suite = make_suite(tmp_path / "suite")
    (tmp_path / "link").symlink_to(suite / "tasks")
    with pytest.raises(UserError, match="lies in a suite"):
        kept_in(tmp_path / "link", "--keep", ["seen"])


def test_what_a_bench_left_is_made_anew_and_nothing_else(tmp_path):
    keep = tmp_path / "new" / "kept"
    assert kept_in(keep, "--keep", ["seen"]) == keep and keep.is_dir()
    make_folder(keep / "seen", ProjectConfig(), tmp_path / "environments")
    assert kept_in(keep, "--keep", ["seen"]) == keep
    (keep / "unseen").mkdir()
    with pytest.raises(UserError, match="holds 'unseen' already"):
        kept_in(keep, "--keep", ["seen", "unseen"])
    assert main(["init", str(keep / "mine")]) == 0
    with pytest.raises(UserError, match="holds 'mine' already"):
        kept_in(keep, "--keep", ["mine"])
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be made"):
        kept_in(tmp_path / "file", "--keep", ["seen"])
