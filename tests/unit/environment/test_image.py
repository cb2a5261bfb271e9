"""The Dockerfile of an environment: from the lock alone, and from nothing else."""

from __future__ import annotations

import pytest

from repro_pipeline.environment.image import dockerfile
from repro_pipeline.errors import BuildError

HASH = "--hash=sha256:" + "0" * 64
LOCK = f"six==1.17.0 \\\n    {HASH}\n"


def test_packages_are_installed_with_hashes_from_wheels_alone():
    text = dockerfile(LOCK, base="python:3.11-slim", python="3.11")
    assert text.count("FROM python:3.11-slim") == 2
    [install] = [line for line in text.splitlines() if "pip install" in line]
    for option in ("--require-hashes", "--only-binary :all:", "--no-deps"):
        assert option in install
    assert "-r /build/requirements.lock" in install
    assert "pip uninstall --yes --quiet pip setuptools wheel" in text


def test_what_the_lock_names_stays():
    text = dockerfile(f"{LOCK}Setuptools==80.0 {HASH}\n", base="b", python="3.11")
    assert "uninstall --yes --quiet pip wheel" in text


def test_the_final_stage_has_nothing_of_the_build():
    text = dockerfile(LOCK, base="b", python="3.11", certificates=True)
    first, _, last = text.partition("\n\n")
    assert "certificates.pem" in first and "ARG PIP_INDEX_URL" in first
    assert (
        last
        == "FROM b\nCOPY --from=build /env /env\nENV PATH=/env/bin:/usr/local/bin:/usr/bin:/bin\n"
    )


def test_an_empty_lock_needs_no_pip():
    text = dockerfile("", base="b", python="3.11")
    assert "pip install" not in text and "COPY requirements" not in text
    assert "venv --without-pip /env" in text


@pytest.mark.parametrize(("python", "parts"), [("3.11", 2), ("3.11.7", 3)])
def test_the_base_images_python_must_be_the_locks(python: str, parts: int):
    text = dockerfile("", base="b", python=python)
    assert f'version_info[:{parts}])); sys.exit(0 if have == "{python}"' in text


def test_what_is_no_lock_is_refused():
    with pytest.raises(BuildError):
        dockerfile("six @ \n", base="b", python="3.11")


@pytest.mark.parametrize("base", ["b\nRUN id", "b AS c", "--platform=x b", "", "$(id)", "b\n"])
def test_an_image_name_that_holds_instructions_is_refused(base):
    with pytest.raises(BuildError, match="no name of an image"):
        dockerfile(LOCK, base=base, python="3.11")


@pytest.mark.parametrize("base", ["b", "localhost:5000/a/b_c:3.11-slim", "a@sha256:" + "0" * 64])
def test_names_of_images_are_taken_as_they_stand(base):
    made = dockerfile(LOCK, base=base, python="3.11")
    assert made.startswith(f"FROM {base} AS build\nUSER root\n")  # whoever the base runs as
    assert "USER" not in made.split(f"FROM {base}\n")[1]  # and its user is the image's


@pytest.mark.parametrize("python", ["3.11\nRUN id", "3.11'; id; '", ""])
def test_a_version_that_holds_a_command_is_refused(python):
    with pytest.raises(BuildError, match="no version of Python"):
        dockerfile(LOCK, base="b", python=python)


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\r"])
def test_a_lock_hides_no_line_from_all_but_pip(end):
    with pytest.raises(BuildError, match=r"requirements\.lock:3: .*begins a line for pip"):
        dockerfile(f"{LOCK}# note{end}other==2.0 {HASH}\n", base="b", python="3.11")
    assert "FROM b" in dockerfile(LOCK.replace("\n", "\r\n"), base="b", python="3.11")
