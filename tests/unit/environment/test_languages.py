"""Code of other languages: which program it needs is told with the script, and never left to a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro_pipeline.environment.languages import notes_on, programs_needed
from repro_pipeline.errors import UserError


def code(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


R = "library(lme4)\nrequire('dplyr')\nlibrary(lme4)\n"


@pytest.mark.parametrize(
    ("command", "where"),
    [
        (["Rscript", "fit.R", "{out}"], "fit.R"),
        (["/usr/bin/Rscript", "fit.R"], "fit.R"),
        (["bash", "run.sh"], "run.sh:3"),
        (["bash", "./run.sh"], "run.sh:3"),
        (["env", "X=1", "Rscript", "./fit.R"], "fit.R"),
        (["sh", "-c", "cd . && Rscript fit.R"], "the command"),
        (["sh", "-c", "X=1 time exec Rscript 'fit.R'; echo"], "the command"),
        ([], "fit.R"),
    ],
)
def test_the_script_and_its_packages_are_named(tmp_path, command, where):
    folder = code(tmp_path / "c", fit__R=R)
    if command[:1] == ["bash"]:
        code(folder, run__sh="set -e\n# Rscript old.R\nRscript fit.R > log\npython x.py\n")
    (found,) = programs_needed(folder, command)
    assert (found.program, found.where, found.packages) == ("Rscript", where, ("lme4", "dplyr"))


@pytest.mark.parametrize("command", [["python", "a.py"], ["sh", "-c", "python a.py"], []])
def test_python_needs_no_other_program(tmp_path, command):
    assert programs_needed(code(tmp_path / "c", a__py="1", fit__R=R), command) == ()


@pytest.mark.parametrize(
    "word",
    ["x = 1; " * 100, "a\0b", "/etc/passwd", "../c/fit.R", "Rscript /etc/passwd " + "x" * 300],
)
def test_any_word_is_a_word_and_only_files_of_the_code_are_read(tmp_path, word):
    folder = code(tmp_path / "c", fit__R=R, run__sh=f"python {word}\n")
    for command in (["python", "-c", word], ["bash", "run.sh"], ["sh", "-c", word]):
        assert all(one.packages == () for one in programs_needed(folder, command))


def test_what_runs_do_not_have_is_an_error_with_what_to_do(tmp_path):
    needed = programs_needed(code(tmp_path / "c", sim__jl="using Distributions\n"))
    with pytest.raises(UserError) as caught:
        notes_on(needed, image=False)
    said = str(caught.value)
    assert said.startswith("sim.jl: is Julia") and "container image" in said
    assert "Distributions" in said and "runner: docker" in said
    (note,) = notes_on(needed, image=True)
    assert "no lock fixes it" in note


def test_a_program_of_this_host_is_used_and_told(tmp_path):
    needed = programs_needed(code(tmp_path / "c", a__sh="perl x.pl\n"), ["sh", "a.sh"])
    if not Path("/usr/bin/perl").exists():
        pytest.skip("no perl here")
    assert notes_on(needed) == ["a.sh:1 is Perl, run by this host's perl: no lock fixes it."]
