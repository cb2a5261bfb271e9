"""An environment is what its lock says, is built once, and is built again when it was touched."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from wanted import wanting

from repro_pipeline.environment.build import (
    build,
    environment_mounts,
    host_python,
    remove_environment,
)
from repro_pipeline.environment.interpreter import OWN
from repro_pipeline.environment.lock import lock_info, resolve
from repro_pipeline.environment.model import EnvironmentLock
from repro_pipeline.errors import BuildError
from repro_pipeline.sandbox.policy import Mount

Six = tuple[str, EnvironmentLock]


def python_says(python: Path, code: str) -> str:
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, env={})
    return done.stdout.strip()


def script(body: str, *arguments: object) -> subprocess.Popen:
    """Python code in a process of its own, started in this checkout."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(body), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


@pytest.fixture
def cache(downloads: Path, tmp_path: Path) -> Path:
    """An empty cache of environments with full downloads."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "uv").symlink_to(downloads / "uv")
    return tmp_path / "cache"


def test_it_holds_what_the_lock_says_and_nothing_else(six: Six, cache: Path) -> None:
    text, lock = six
    built = build(text, lock=lock, cache=cache, variables={"PYTHONHASHSEED": "0"})
    assert built.fingerprint.packages == {"six": "1.17.0"}
    assert built.fingerprint.variables == {"PYTHONHASHSEED": "0"}
    assert built.notes == ()
    python = host_python(built, cache)
    assert python_says(python, "import six; print(six.__version__)") == "1.17.0"
    path = python_says(python, "import sys; print([p for p in sys.path if 'packages' in p])")
    assert path.count("packages") == 1, "packages of the host are seen"


def test_the_second_time_it_is_the_same_one(six: Six, cache: Path) -> None:
    text, lock = six
    first = build(text, lock=lock, cache=cache)
    marker = (cache / first.path / "environment.json").stat()
    second = build(text, lock=lock, cache=cache)
    assert second == first
    assert (cache / first.path / "environment.json").stat().st_ino == marker.st_ino


def test_without_packages_it_is_python_alone(cache: Path) -> None:
    requirements = wanting()
    text = resolve(requirements, python=OWN, cache=cache)
    lock = lock_info(text, requirements=requirements, python=OWN)
    assert (text, lock.packages, lock.hashed) == ("", 0, True)
    built = build(text, lock=lock, cache=cache)
    assert built.fingerprint.packages == {}
    assert python_says(host_python(built, cache), "import json; print(json.dumps(1))") == "1"


def test_it_is_built_from_the_cache_without_a_network(
    six: Six, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, lock = six
    build(text, lock=lock, cache=cache)
    for folder in cache.iterdir():
        if folder.name != "uv" and folder.is_dir():
            remove_environment(folder)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert build(text, lock=lock, cache=cache).fingerprint.packages == {"six": "1.17.0"}


def test_without_network_and_cache_the_error_says_so(
    six: Six, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, lock = six
    monkeypatch.setenv("UV_OFFLINE", "1")
    with pytest.raises(BuildError, match="package index cannot be reached"):
        build(text, lock=lock, cache=tmp_path)
    assert not any((folder / "environment.json").exists() for folder in tmp_path.iterdir())


def test_another_file_with_the_right_name_is_refused(six: Six, cache: Path) -> None:
    _, lock = six
    text = f"six==1.17.0 --hash=sha256:{'0' * 64}\n"
    forged = lock_info(text, requirements=wanting("six"), python=lock.python)
    with pytest.raises(BuildError, match=r"[Hh]ash mismatch"):
        build(text, lock=forged, cache=cache)


def test_a_text_other_than_the_described_one_is_refused(six: Six, cache: Path) -> None:
    text, lock = six
    with pytest.raises(BuildError, match="not the one"):
        build(text + "\n", lock=lock, cache=cache)


def test_a_source_distribution_is_not_built(cache: Path) -> None:
    text = (
        "antlr4-python3-runtime==4.8 "
        "--hash=sha256:15793f5d0512a372b4e7d2284058ad32ce7dd27126b105fb0b2245130445db33\n"
    )
    lock = lock_info(text, requirements=wanting("antlr4-python3-runtime"), python=OWN)
    with pytest.raises(BuildError, match="no usable wheels") as error:
        build(text, lock=lock, cache=cache)
    assert "UV_FIND_LINKS" in str(error.value)


def test_files_and_folders_are_read_only(six: Six, cache: Path) -> None:
    text, lock = six
    built = build(text, lock=lock, cache=cache)
    for path in (cache / built.path / "venv").rglob("*"):
        if not path.is_symlink():
            assert not path.stat().st_mode & 0o222, path


@pytest.mark.parametrize("change", ["edit", "add", "remove", "version"])
def test_a_touched_environment_is_built_again_and_says_so(
    change: str, six: Six, cache: Path
) -> None:
    text, lock = six
    built = build(text, lock=lock, cache=cache)
    packages = next((cache / built.path).glob("venv/lib/*/site-packages"))
    packages.chmod(0o755)
    if change == "edit":
        (packages / "six.py").chmod(0o644)
        with (packages / "six.py").open("a") as file:
            file.write("\n__version__ = '9'\n")
    elif change == "add":
        (packages / "sitecustomize.py").write_text("print('added')\n")
    elif change == "remove":
        (packages / "six.py").unlink()
    else:
        (packages / "six-1.17.0.dist-info").rename(packages / "six-2.0.dist-info")
        (packages / "six-2.0.dist-info").chmod(0o755)
        (packages / "six-2.0.dist-info" / "METADATA").unlink()
        (packages / "six-2.0.dist-info" / "METADATA").write_text("Name: six\nVersion: 2.0\n")
    again = build(text, lock=lock, cache=cache)
    assert len(again.notes) == 1 and "built anew" in again.notes[0]
    assert ("packages were changed (six)" in again.notes[0]) == (change == "version")
    version = python_says(host_python(again, cache), "import six; print(six.__version__)")
    assert version == "1.17.0", "the change reached the cache of downloads"
    assert build(text, lock=lock, cache=cache).notes == ()


KILLED = """
import os, signal, sys
from pathlib import Path
from repro_pipeline.environment import build as module
from repro_pipeline.environment.model import EnvironmentLock
text, lock, cache, place = sys.argv[1:]
setattr(module, place, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
module.build(text, lock=EnvironmentLock.model_validate_json(lock), cache=Path(cache))
"""


@pytest.mark.parametrize("place", ["_install", "_compile", "_make_read_only", "_listing"])
def test_a_killed_build_leaves_nothing_that_counts(place: str, six: Six, cache: Path) -> None:
    text, lock = six
    killed = script(KILLED, text, lock.model_dump_json(), cache, place)
    assert killed.wait(60) == -signal.SIGKILL
    left = [path.name for path in cache.iterdir() if path.is_dir() and path.name != "uv"]
    assert len(left) == 1 and left[0].endswith(".partial")
    built = build(text, lock=lock, cache=cache)
    python = host_python(built, cache)
    assert python_says(python, "import six; print(six.__version__)") == "1.17.0"
    assert not list(cache.glob("*.partial"))


STALLED = """
import sys
from pathlib import Path
from repro_pipeline.environment import build as module, uv_command
from repro_pipeline.environment.model import EnvironmentLock
text, lock, cache, place, stalling = sys.argv[1:]
if place == "compile":
    module._COMPILE = "import time; open(%r, 'w').close(); time.sleep(300)" % (cache + "/stalls")
elif place == "install":
    def install(*_):
        uv_command._binary = lambda: stalling
        uv_command.run_uv([], cache=Path(cache))
    module._install = install
else:
    module.find_interpreter = lambda *_, **__: module.fingerprint(Path(stalling), {})
module.build(text, lock=EnvironmentLock.model_validate_json(lock), cache=Path(cache))
"""


@pytest.mark.parametrize("place", ["interpreter", "install", "compile"])
def test_nothing_outlives_a_builder_that_is_killed(place: str, six: Six, cache: Path) -> None:
    text, lock = six
    program = cache / "stalling"
    program.write_text(f"#!/bin/sh\n: >{cache}/stalls\nexec /bin/sleep 300 # {cache}\n")
    program.chmod(0o755)
    builder = script(STALLED, text, lock.model_dump_json(), cache, place, program)
    while not (cache / "stalls").exists():
        assert builder.poll() is None, builder.stderr.read()
        time.sleep(0.02)
    children = descendants(builder.pid)
    assert children
    builder.kill()
    builder.wait()
    for path in cache.glob("*.lock"):
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    left, until = children, time.monotonic() + 20
    while left and time.monotonic() < until:
        left = {pid for pid in children if running(pid)}
        time.sleep(0.02)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left
    assert host_python(build(text, lock=lock, cache=cache), cache).exists()
    assert not list(cache.glob("*.partial"))


def descendants(pid: int) -> set[int]:
    """The processes below one, whose parents still live."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    found = {int(word) for word in text.split()}
    return found.union(*map(descendants, found))


def running(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


BUILDER = """
import sys
from pathlib import Path
from repro_pipeline.environment.build import build
from repro_pipeline.environment.model import EnvironmentLock
text, lock, cache = sys.argv[1:]
built = build(text, lock=EnvironmentLock.model_validate_json(lock), cache=Path(cache))
print((Path(cache) / built.path / "environment.json").stat().st_ino, *built.notes)
"""


def test_builders_of_the_same_environment_build_it_once(six: Six, cache: Path) -> None:
    text, lock = six
    builders = [script(BUILDER, text, lock.model_dump_json(), cache) for _ in range(4)]
    said = [builder.communicate(timeout=120) for builder in builders]
    assert all(builder.returncode == 0 for builder in builders), said
    assert len({out for out, _ in said}) == 1, said


def test_a_sandbox_is_shown_the_environment_and_its_python(six: Six, cache: Path) -> None:
    text, lock = six
    built = build(text, lock=lock, cache=cache)
    mounts = environment_mounts(built, cache)
    venv = cache.absolute() / built.path / "venv"
    assert mounts[0] == Mount(source=venv, target=Path("/env"))
    base = Path(python_says(host_python(built, cache), "import sys; print(sys.base_prefix)"))
    assert base.is_relative_to("/usr") or mounts[1:] == (Mount(source=base, target=base),)


def test_it_works_at_another_path(cache: Path, tmp_path: Path) -> None:
    requirements = wanting("cowsay==6.1")
    text = resolve(requirements, python=OWN, cache=cache)
    lock = lock_info(text, requirements=requirements, python=OWN)
    built = build(text, lock=lock, cache=cache)
    shutil.copytree(cache / built.path / "venv", tmp_path / "env", symlinks=True)
    remove_environment(cache / built.path)
    said = subprocess.run(
        [tmp_path / "env" / "bin" / "cowsay", "-t", "moved"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "moved" in said.stdout


def test_an_environment_that_is_gone_has_no_mounts(six: Six, cache: Path) -> None:
    text, lock = six
    built = build(text, lock=lock, cache=cache)
    remove_environment(cache / built.path)
    with pytest.raises(BuildError, match="not in the cache"):
        environment_mounts(built, cache)
