"""The fingerprint tells what can change a number, and runs nobody's code to find out."""

from __future__ import annotations

import hashlib
import platform
import subprocess
import sys
import venv
from importlib.metadata import version
from pathlib import Path

import pytest

from repro_pipeline.environment.fingerprint import (
    blas_of,
    cpu,
    fingerprint,
    installed_packages,
)
from repro_pipeline.errors import BuildError

HERE = Path(sys.executable)


def test_it_tells_the_interpreter_the_packages_and_the_host() -> None:
    seen = fingerprint(HERE, {"B": "2", "A": "1"})
    assert seen.python == platform.python_version()
    assert seen.implementation == "CPython"
    assert seen.packages["pydantic"] == version("pydantic")
    assert list(seen.variables.items()) == [("A", "1"), ("B", "2")]
    assert seen == fingerprint(HERE, {"A": "1", "B": "2"})


def test_blas_is_what_numpy_itself_says() -> None:
    code = "import numpy; print(numpy.show_config('dicts')['Build Dependencies']['blas'])"
    said = subprocess.run([HERE, "-c", code], capture_output=True, text=True, check=True).stdout
    seen = fingerprint(HERE, {}).blas
    assert seen and all(repr(word) in said for word in seen.split())


def testblas_of_older_numpy_is_read_too() -> None:
    text = "import os\nblas_opt_info={'libraries': ['openblas64_', 'm'], 'language': 'c'}\n"
    assert blas_of(text) == "openblas64_ m"
    assert blas_of("x = 1\n") == "unknown"


def test_packages_run_no_code(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    packages = next((tmp_path / "env").glob("lib/*/site-packages"))
    mark = tmp_path / "mark"
    evil = f"import pathlib; pathlib.Path({str(mark)!r}).write_text('ran')"
    (packages / "evil.pth").write_text(evil + "\n")
    (packages / "sitecustomize.py").write_text(evil + "\n")
    (packages / "platform.py").write_text(evil + "\n")
    (packages / "a-1.0.dist-info").mkdir()
    (packages / "a-1.0.dist-info" / "METADATA").write_text("Name: A_b\nVersion: 1.0\n")
    seen = fingerprint(tmp_path / "env" / "bin" / "python", {})
    assert seen.packages == {"a-b": "1.0"}
    assert seen.blas is None
    assert not mark.exists()


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="no /proc/cpuinfo on this host")
def test_cpu_flags_are_those_of_the_kernel() -> None:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    flags = next(line for line in lines if line.startswith(("flags", "Features"))).split(":")[1]
    expected = hashlib.sha256(" ".join(sorted(flags.split())).encode()).hexdigest()
    assert cpu("unknown")[1] == expected


def test_a_python_that_does_not_start_is_an_error(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(BuildError, match="broken"):
        fingerprint(program, {})


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (b"Metadata-Version: 2.1\nVersion: 1\n\n", "no name or no version"),
        (b"Name: other\n\n", "no name or no version"),
        (b"Name: \xff\xfe\nVersion: 1\n\n", "no name or no version"),
        (b"", "no name or no version"),
        (b"Name: Some_Package\nVersion: 99\n\n", "'Some_Package' is installed twice"),
    ],
)
@pytest.mark.parametrize("library", ["importlib.metadata", "importlib_metadata"])
def test_metadata_that_hide_a_package_are_refused(
    tmp_path: Path, metadata: bytes, said: str, library: str
):
    pytest.importorskip(library)  # the second takes the place of the first, for good
    for folder, text in (
        ("some_package-1", b"Name: some.package\nVersion: 1\n\n"),
        ("z-1", metadata),
    ):
        (tmp_path / f"{folder}.dist-info").mkdir()
        (tmp_path / f"{folder}.dist-info" / "METADATA").write_bytes(text)
    with pytest.raises(BuildError, match=said) as refused:
        installed_packages([tmp_path])
    assert refused.value.where == str(tmp_path)


def test_a_folder_under_two_names_is_one_and_the_first_of_two_folders_counts(tmp_path: Path):
    for folder, number in (("lib", 1), ("other", 2)):
        info = tmp_path / folder / "some-1.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Name: some\nVersion: {number}\n\n")
    (tmp_path / "lib64").symlink_to("lib")
    folders = [tmp_path / name for name in ("lib", "lib64", "other")]
    assert installed_packages(folders) == {"some": "1"}
