"""How far an environment is fixed: a grade with the reasons for and against it."""

from __future__ import annotations

from repro_pipeline.environment.model import BuiltEnvironment, EnvironmentGrade

_FIXED_VARIABLES = ("PYTHONHASHSEED", "OMP_NUM_THREADS")


def grade_environment(built: BuiltEnvironment) -> EnvironmentGrade:
    """Grade what is known of a built environment.

    strong: another machine of the same kind builds the same, and it is what the code's authors
    fixed. medium: it builds the same, but some of it was chosen here. weak: it need not build the
    same, or nobody named the versions.
    """
    checks = _checks(built)
    lacking = [weight for held, _, _, weight in checks if not held]
    grade = "weak" if "weak" in lacking else "medium" if lacking else "strong"
    return EnvironmentGrade(
        grade=grade,
        holds=tuple(holds for held, holds, _, _ in checks if held),
        lacks=(*(lacks for held, _, lacks, _ in checks if not held), *built.lock.notes),
    )


def _checks(built: BuiltEnvironment) -> list[tuple[bool, str, str, str]]:
    """Whether each condition holds, the sentences for both cases, and the grade where it does not."""
    lock, seen = built.lock, built.fingerprint
    as_of = f" as of {lock.as_of}" if lock.as_of else ""
    variables = ", ".join(_FIXED_VARIABLES)
    release = seen.python.split(".")
    return [
        (
            lock.hashed,
            "Every package is locked with a hash.",
            "Not every package is locked with a hash.",
            "weak",
        ),
        (
            release[: len(lock.python.split("."))] == lock.python.split("."),
            f"It runs on Python {seen.python}.",
            f"The lock is for Python {lock.python}, and it runs on {seen.python}.",
            "weak",
        ),
        (
            lock.kind != "imports",
            f"The packages are named by {lock.requirements}.",
            "No file names the packages: they were read from the code's imports.",
            "weak",
        ),
        (
            lock.source == "given" or lock.packages == 0,
            "The versions came with the code.",
            f"The versions were resolved here{as_of}, and may not be those of the authors.",
            "medium",
        ),
        (
            lock.python_named,
            "The code or its user names the Python version.",
            f"Nobody names a Python version; {lock.python}: {lock.python_why or 'our own'}.",
            "medium",
        ),
        (
            all(name in seen.variables for name in _FIXED_VARIABLES),
            f"Runs are given {variables}.",
            f"Runs are not given all of {variables}.",
            "medium",
        ),
    ]
