"""Which Python code needs: by its metadata, its syntax, the modules it imports, and a date."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from repro_pipeline.environment.make import _python, resolution_date
from repro_pipeline.environment.model import Requirements
from repro_pipeline.environment.python_evidence import RELEASED, python_as_of, python_of
from repro_pipeline.errors import BuildError


def code(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text)
    return folder


def test_metadata_demands_first(tmp_path: Path):
    setup = "from setuptools import setup\nsetup(python_requires='>=3.7', classifiers=[])"
    found = python_of(code(tmp_path, setup_dot_py=setup, a_dot_py="x = (y := 1)"))
    assert found.wanted == ">=3.7" and found.said and "setup.py" in found.why
    project = '[project]\nname = "a"\nrequires-python = ">=3.9"\n'
    assert python_of(code(tmp_path, pyproject_dot_toml=project)).wanted == ">=3.9"


def test_classifiers_name_versions(tmp_path: Path):
    lines = "".join(
        f"    Programming Language :: Python :: {v}\n" for v in ("3", "3.6", "3.8", "3.7")
    )
    found = python_of(code(tmp_path, setup_dot_cfg=f"[metadata]\nclassifiers =\n{lines}"))
    assert found.wanted == ">=3.6,<3.9" and found.said


HEDGE = "try:\n    from collections.abc import Mapping\nexcept (ImportError, AttributeError):\n    "


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = 1", None),
        ("if (n := 1): pass", ">=3.8"),
        ("def f(a, /): pass", ">=3.8"),
        ("match x:\n    case 1: pass", ">=3.10"),
        ("try: pass\nexcept* ValueError: pass", ">=3.11"),
        ("import imp", "<3.12"),
        ("import cgi, imp", "<3.12"),
        ("from collections import Mapping", "<3.10"),
        ("if (n := 1): import telnetlib", ">=3.8,<3.13"),
        ("try:\n    import imp\nexcept ImportError: pass", None),
        ("from collections.abc import Mapping", None),
        ("from collections import OrderedDict, Iterator", "<3.10"),
        ("import collections\nx = isinstance(y, collections.Iterable)", "<3.10"),
        ("import collections\nx = collections.abc.Iterable, collections.Counter", None),
        (f"{HEDGE}from collections import Mapping", None),
        (f"{HEDGE}import collections\n    Mapping = collections.Mapping", None),
        ("import sys\nif sys.version_info[0] < 3: import imp", None),
        ("import six\nif six.PY2:\n    from collections import Mapping", None),
        ("from distutils.util import strtobool", "<3.12"),
        ("match x:\n    case 1: pass\nfrom collections import Mapping", ">=3.10"),
        ("x = " + "-" * 100_000 + "1", None),
        ("x = a" + ".a" * 200_000, None),
        ("x = " + "-" * 300 + "1\nimport imp", "<3.12"),
    ],
)
def test_syntax_and_imports_bound_it(tmp_path: Path, text: str, wanted: str | None):
    found = python_of(code(tmp_path, a_dot_py=text, b_dot_py="y = 2"))
    assert (found and found.wanted) == wanted
    assert found is None or (not found.said and "a.py" in found.why)


def test_a_module_of_the_codes_own_is_not_that_of_the_standard_library(tmp_path: Path):
    text = "import chunk\nfrom pipes import all_of_it\n"
    assert python_of(code(tmp_path, a_dot_py=text)).wanted == "<3.13"
    (tmp_path / "pipes").mkdir()
    assert python_of(code(tmp_path, chunk_dot_py="x = 1")) is None


@pytest.mark.parametrize("text", ["setup(python_requires=%s1)", "setup(classifiers=[%s1])"])
def test_a_setup_that_is_nested_too_deep_says_nothing(tmp_path: Path, text: str):
    assert python_of(code(tmp_path, setup_dot_py=text % ("-" * 100_000))) is None


def test_code_of_python_2_is_refused_and_a_stray_file_is_not(tmp_path: Path):
    old = "import os\nprint 'hello'\n"
    with pytest.raises(BuildError, match=r"main\.py:2: the code is written for Python 2"):
        python_of(code(tmp_path, main_dot_py=old))
    assert python_of(code(tmp_path, new_dot_py="x = 1")) is None


@pytest.mark.parametrize(
    ("day", "wanted"),
    [
        ("2020-06-30", "<3.9"),
        ("2020-01-01", "<3.8"),
        ("2021-03-01", "<3.9"),
        ("2010-01-01", "<3.7"),
    ],
)
def test_a_date_admits_pythons_that_had_wheels(day: str, wanted: str):
    assert python_as_of(date.fromisoformat(day)).wanted == wanted


def test_of_a_day_before_all_of_them_nothing_untrue_is_said():
    assert "3.6 was yet to come" in python_as_of(date(2010, 1, 1)).why
    assert "3.6 was the newest" in python_as_of(date(2018, 1, 1)).why


def test_releases_are_in_order():
    assert list(RELEASED.values()) == sorted(RELEASED.values())


def wish(
    folder: Path, python: str | None = None, named: str | None = None, day: date | None = None
):
    return _python(
        folder, Requirements(kind="requirements", file="r.txt", python=python), named, day
    )


def test_who_names_a_python_is_heard_before_the_date(tmp_path: Path):
    day = date(2020, 6, 30)
    assert wish(tmp_path, named="3.11", day=day).wanted == "3.11"
    assert wish(tmp_path, python="3.7.9", day=day).wanted == "3.7.9"
    assert wish(tmp_path, python=">=3.6", day=day).wanted == ">=3.6,<3.9"
    against = wish(tmp_path, python=">=3.10", day=day)
    assert against.wanted == ">=3.10" and "against the date" in against.why
    for patched in (">=3.7.1", "~=3.6.5", ">=3.8.2,!=3.8.3"):
        assert wish(tmp_path, python=patched, day=day).wanted == f"{patched},<3.9"
    assert wish(tmp_path, day=day).wanted == "<3.9"
    with pytest.raises(BuildError, match="is no Python version"):
        wish(tmp_path, python="any", day=day)
    assert wish(tmp_path).wanted == "" and not wish(tmp_path).said


def test_the_papers_date_is_the_end_of_its_year():
    assert resolution_date("paper", 2019) == date(2019, 12, 31)
    assert resolution_date(date(2020, 1, 2), None) == date(2020, 1, 2)
    assert resolution_date(None, 2019) is None
    with pytest.raises(BuildError, match="names no year"):
        resolution_date("paper", None)
