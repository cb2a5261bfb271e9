"""A grade is as good as the weakest thing that it rests on."""

from __future__ import annotations

from datetime import date

import pytest

from repro_pipeline.environment.model import BuiltEnvironment, EnvironmentLock, Fingerprint
from repro_pipeline.environment.parity import grade_environment

VARIABLES = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}


def built(*, runs_on: str = "3.11.7", variables: dict | None = None, **lock: object):
    given = {
        "sha256": "a" * 64,
        "python": "3.11",
        "packages": 2,
        "hashed": True,
        "source": "given",
        "requirements": "requirements.lock",
        "kind": "given_lock",
        "python_named": True,
    }
    return BuiltEnvironment(
        lock=EnvironmentLock.model_validate(given | lock),
        path="x",
        fingerprint=Fingerprint(
            python=runs_on,
            implementation="CPython",
            platform="Linux",
            libc="glibc 2.36",
            cpu="x",
            cpu_flags="b" * 64,
            packages={"six": "1.0"},
            variables=VARIABLES if variables is None else variables,
        ),
    )


def test_a_given_lock_with_its_python_is_strong() -> None:
    grade = grade_environment(built())
    assert (grade.grade, grade.lacks) == ("strong", ())
    assert len(grade.holds) == 6


@pytest.mark.parametrize(
    ("grade", "word", "change"),
    [
        ("weak", "hash", {"hashed": False}),
        ("weak", "runs on 3.12.1", {"runs_on": "3.12.1"}),
        ("weak", "runs on 3.110.1", {"runs_on": "3.110.1"}),
        ("weak", "imports", {"kind": "imports"}),
        ("medium", "resolved here", {"source": "resolved", "kind": "requirements"}),
        ("medium", "as of 2020-01-01", {"source": "resolved", "as_of": date(2020, 1, 1)}),
        ("medium", "Nobody names", {"python_named": False}),
        ("medium", "OMP_NUM_THREADS", {"variables": {"PYTHONHASHSEED": "0"}}),
    ],
)
def test_each_lack_lowers_the_grade_and_is_said(grade: str, word: str, change: dict) -> None:
    found = grade_environment(built(**change))
    assert found.grade == grade
    assert len(found.lacks) == 1 and word in found.lacks[0]
    assert len(found.holds) == 5


def test_the_weakest_lack_decides() -> None:
    assert grade_environment(built(hashed=False, python_named=False)).grade == "weak"


def test_without_packages_there_are_no_versions_to_resolve() -> None:
    bare = built(source="resolved", kind="none", packages=0, requirements="(none)")
    assert grade_environment(bare).grade == "strong"


def test_what_was_left_out_is_said() -> None:
    grade = grade_environment(built(notes=("uv.lock was not read.",)))
    assert grade.lacks == ("uv.lock was not read.",)
