"""Imports name packages only where the package is known."""

from __future__ import annotations

from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from repro_pipeline.environment.imports import name_table, package_names
from repro_pipeline.environment.model import Requirements
from repro_pipeline.environment.requirements import find_requirements
from repro_pipeline.errors import BuildError


def requirements_of(folder: Path, **files: str) -> Requirements:
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return find_requirements(folder)


def test_code_of_the_standard_library_needs_nothing(tmp_path: Path) -> None:
    found = requirements_of(
        tmp_path, main="import json, os.path\nfrom math import pi\nimport imp\n"
    )
    assert (found.kind, found.lines, found.notes) == ("none", (), ())


def test_a_folder_without_code_is_not_taken_for_one_that_needs_nothing(tmp_path: Path) -> None:
    assert find_requirements(tmp_path).notes == ("The folder holds no Python file.",)
    with pytest.raises(BuildError, match="no such folder"):
        find_requirements(tmp_path / "gone")


def test_modules_get_the_names_of_their_packages(tmp_path: Path) -> None:
    found = requirements_of(
        tmp_path,
        main="import sklearn.ensemble as e\nfrom PIL import Image\n",
        sub__deep="def f():\n    import cv2, yaml\n    from mpl_toolkits.mplot3d import Axes3D\n",
    )
    assert found.kind == "imports"
    assert found.lines == (
        "matplotlib",
        "opencv-python-headless",
        "pillow",
        "PyYAML",
        "scikit-learn",
    )
    assert "without versions" in found.notes[-1]


def test_the_codes_own_modules_are_no_packages(tmp_path: Path) -> None:
    found = requirements_of(
        tmp_path,
        main="import models, helper, wandb\nfrom . import six\nfrom .six import a\n",
        helper="import utils\nimport other\n",
        models__net="import layers\nfrom helper import f\n",
        models__layers="import numpy\n",
        src__utils="",
        hidden__other="",
        wandb="",
    )
    assert found.lines == ("numpy",)


def test_an_unknown_module_is_refused_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="'reqeusts' is of no package") as error:
        requirements_of(tmp_path, main="import json\nimport reqeusts\n")
    assert error.value.where == "main.py:2"


def test_optional_imports_are_left_out_and_said(tmp_path: Path) -> None:
    found = requirements_of(
        tmp_path,
        main="try:\n    import cupy as xp\nexcept ImportError:\n    import numpy_fallback as xp\n"
        "import typing\nif typing.TYPE_CHECKING:\n    import pandas\n"
        "try:\n    import scipy\nexcept ValueError:\n    pass\n",
    )
    assert found.lines == ("scipy",)
    assert [note.split(":")[1] for note in found.notes[:3]] == ["2", "4", "7"]


def test_what_is_no_python_is_said(tmp_path: Path) -> None:
    found = requirements_of(tmp_path, old="import numpy\nprint 'x'\n", main="import six\n")
    assert found.lines == ("six",)
    assert found.notes[0].startswith("old.py:2: ")


def test_environments_and_hidden_folders_are_not_code(tmp_path: Path) -> None:
    found = requirements_of(
        tmp_path, main="import six\n", venv__lib__a="import zzz\n", _dot_git__b="import six\n"
    )
    assert found.lines == ("six",)


def test_known_names_are_those_of_installed_packages() -> None:
    """Every module that is installed here and known has one of the packages that bring it."""
    known = package_names()
    checked = {
        module: (known[module], names)
        for module, names in packages_distributions().items()
        if module in known
    }
    assert {"yaml", "numpy", "dateutil", "sqlalchemy"} <= set(checked)
    for module, (package, names) in checked.items():
        assert canonicalize_name(package) in {canonicalize_name(one) for one in names}, module


def test_no_module_is_listed_in_two_ways() -> None:
    table = name_table()
    assert len(set(table["same"])) == len(table["same"])
    assert not set(table["same"]) & set(table["imports"])
