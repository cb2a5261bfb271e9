"""Edits that match exactly once, helpful errors, and nothing outside of the folder."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.agent import workspace as module
from repro_pipeline.agent.workspace import EditError, Workspace

CODE = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x + 1\n"


@pytest.fixture
def work(tmp_path):
    work = Workspace(tmp_path / "work")
    work.write("a.py", CODE)
    return work


def test_a_text_that_stands_once_is_replaced_and_the_patch_says_how(work, tmp_path):
    change = work.replace("a.py", "def g(x):\n    return x + 1", "def g(x):\n    return x + 2")
    assert work.read("a.py").endswith("def g(x):\n    return x + 2\n")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a.py").write_text(CODE)
    subprocess.run(
        ["patch", "-p1"], input=change.patch, text=True, cwd=tmp_path / "old", check=True
    )
    assert (tmp_path / "old" / "a.py").read_text() == work.read("a.py")


def test_a_text_that_stands_twice_is_refused_with_its_lines(work):
    with pytest.raises(EditError, match=r"stands 2 times, on lines 2, 6\."):
        work.replace("a.py", "return x + 1", "return x")
    assert work.read("a.py") == CODE


def test_a_text_that_does_not_stand_there_names_what_comes_nearest(work):
    with pytest.raises(EditError, match="Line 1 comes nearest: 'def f\\(x\\):'"):
        work.replace("a.py", "def f(y):\n", "")
    with pytest.raises(EditError, match="what follows or the white space differs"):
        work.replace("a.py", "def f(x):\n        return x + 1", "")
    with pytest.raises(EditError, match="There are: a\\.py"):
        work.replace("b.py", "x", "y")


@pytest.mark.parametrize(
    "path",
    [
        "../b",
        "/etc/passwd",
        "a/../../b",
        "",
        ".",
        ".git/config",
        "x/\0",
        "__pycache__/a",
        "n" * 300,
    ],
)
def test_paths_that_leave_the_folder_are_refused(work, path):
    for do in (lambda: work.write(path, "x"), lambda: work.read(path), lambda: work.delete(path)):
        with pytest.raises(EditError):
            do()


def test_links_are_not_followed(work, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (work.folder / "link").symlink_to(tmp_path / "secret")
    (work.folder / "folder").symlink_to(tmp_path)
    for path in ("link", "folder/secret"):
        with pytest.raises(EditError, match="a link"):
            work.read(path)
        with pytest.raises(EditError, match="a link"):
            work.write(path, "x")
    assert (tmp_path / "secret").read_text() == "secret"


def test_data_in_place_of_code_and_too_many_files_are_refused(work, monkeypatch):
    with pytest.raises(EditError, match="Code that makes the data is wanted"):
        work.write("b.py", "x" * (module.LARGEST + 1))
    monkeypatch.setattr(module, "FILES", 1)
    with pytest.raises(EditError, match="one file more"):
        work.write("b.py", "")


def test_a_long_file_is_shown_in_pieces_that_say_where_to_go_on(work):
    work.write("long.py", "".join(f"line {n}\n" for n in range(1, 5001)))
    shown = work.read("long.py")
    assert len(shown) < module.SHOWN + 100
    number = int(shown.rpartition("cut at line ")[2].split()[0])
    assert work.read("long.py", number).startswith(f"line {number}\n")


_text = st.text("ab\n ", max_size=12)


@given(before=_text, middle=st.text("xyz", min_size=1, max_size=5), after=_text, new=_text)
def test_what_is_replaced_is_the_one_place_and_nothing_else(
    tmp_path_factory, before, middle, after, new
):
    work = Workspace(tmp_path_factory.mktemp("work"))
    work.write("f", before + middle + after)
    work.replace("f", middle, new)
    assert (work.folder / "f").read_text() == before + new + after
