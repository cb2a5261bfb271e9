"""Paths that a user gives."""

from pathlib import Path

import pytest

from repro_pipeline.cli import main
from repro_pipeline.errors import UserError
from repro_pipeline.places import resolved


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    made = tmp_path / "loop"
    made.symlink_to(made)
    return made


def test_links_are_followed_and_nothing_needs_to_be_there(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert resolved(tmp_path / "link" / "x") == tmp_path.resolve() / "real" / "x"


def test_a_path_that_no_file_can_have_is_a_sentence(loop, tmp_path):
    with pytest.raises(UserError, match=r"--out .*/loop/x: cannot be followed: a link .* itself"):
        resolved(loop / "x", where="--out")
    with pytest.raises(UserError, match="a name is too long"):
        resolved(tmp_path / ("a" * 300))


@pytest.mark.parametrize(
    "words",
    [
        ["init", "LOOP"],
        ["score", "--bundle", "LOOP", "--submission", "."],
        ["score", "--bundle", ".", "--submission", "LOOP"],
        ["score", "--bundle", "b", "--submission", "s", "--keep", "LOOP"],
        ["export", "tiny", "--format", "ro-crate", "--out", "LOOP"],
    ],
    ids=" ".join,
)
def test_commands_say_it(loop, capsys, words):
    assert main([str(loop) if word == "LOOP" else word for word in words]) == 2
    assert "cannot be followed" in capsys.readouterr().err


@pytest.mark.parametrize("count", ["0", "1001", "100000000000", "x"])
@pytest.mark.parametrize(
    "words",
    [
        ["score", "--bundle", "b", "--submission", "s"],
        ["bench", "validate", "suite"],
        ["bench", "measure", "suite"],
        ["bench", "run", "suite", "--out", "o", "--agent", "trivial"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_seeds_have_limits(capsys, words, count):
    with pytest.raises(SystemExit) as ended:
        main([*words, "--seeds", count])
    assert ended.value.code == 2
    assert "to 1000: each seed is a run of every experiment" in capsys.readouterr().err
