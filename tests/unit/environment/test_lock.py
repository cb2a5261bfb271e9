"""A lock fixes everything, or its fault is said in one sentence."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

import pytest
from wanted import wanting

from repro_pipeline.environment.interpreter import OWN
from repro_pipeline.environment.lock import lock_info, resolve
from repro_pipeline.environment.model import EnvironmentLock, Requirements
from repro_pipeline.environment.requirement_lines import parse_entries
from repro_pipeline.environment.uv_command import explain, network_variables, run_uv
from repro_pipeline.errors import BuildError


def test_every_package_is_pinned_with_hashes(downloads: Path) -> None:
    text = resolve(wanting("python-dateutil==2.9.0"), python=OWN, cache=downloads)
    entries = parse_entries(text, "lock")
    assert {entry.requirement.name for entry in entries} == {"python-dateutil", "six"}
    assert not any(entry.fault for entry in entries)
    assert "://" not in text, "no index host stands in a lock"
    lock = lock_info(text, requirements=wanting("python-dateutil"), python=OWN)
    assert (lock.packages, lock.hashed, lock.source) == (2, True, "resolved")
    assert lock.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert not lock.python_named


def test_the_lock_is_the_same_twice(downloads: Path, six: tuple[str, EnvironmentLock]) -> None:
    assert resolve(wanting("six==1.17.0"), python=OWN, cache=downloads) == six[0]


def test_a_date_leaves_out_what_came_later(downloads: Path) -> None:
    text = resolve(wanting("six"), python=OWN, cache=downloads, as_of=date(2021, 1, 1))
    assert text.startswith("six==1.15.0")
    lock = lock_info(text, requirements=wanting("six"), python=OWN, as_of=date(2021, 1, 1))
    assert lock.as_of == date(2021, 1, 1)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["six==99.0"], ["no version of six==99.0"]),
        (["six<1.10", "six>1.12"], ["six", "unsatisfiable"]),
        (["antlr4-python3-runtime==4.8"], ["no usable wheels", "UV_FIND_LINKS"]),
    ],
)
def test_what_cannot_be_resolved_is_said_in_a_sentence(
    lines: list[str], words: list[str], downloads: Path
) -> None:
    with pytest.raises(BuildError) as error:
        resolve(wanting(*lines), python=OWN, cache=downloads)
    said = str(error.value)
    assert all(word in said for word in words), said
    assert "\n" not in said and "Traceback" not in said and "://" not in said


def test_an_unreached_index_is_named_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    with pytest.raises(BuildError, match="package index cannot be reached"):
        resolve(wanting("six"), python=OWN, cache=tmp_path)


def test_a_lock_is_made_for_a_python_that_is_not_here(downloads: Path) -> None:
    text = resolve(wanting("six", "typing; python_version < '3.5'"), python="3.4", cache=downloads)
    assert "typing==" in text


def test_a_given_lock_is_used_as_it_is() -> None:
    text = "# made elsewhere\nsix==1.0 --hash=sha256:" + "a" * 64 + "  # via x\n"
    given = Requirements(kind="given_lock", file="r.lock", lines=tuple(text.splitlines()))
    assert resolve(given, python=OWN, cache=Path("unused")) == text
    lock = lock_info(text, requirements=given, python=OWN, named=True)
    assert (lock.source, lock.requirements, lock.python_named) == ("given", "r.lock", True)


def test_a_text_that_is_no_lock_has_no_description() -> None:
    with pytest.raises(BuildError, match="not pinned"):
        lock_info("six\n", requirements=wanting("six"), python=OWN)


def test_only_network_settings_reach_uv() -> None:
    passed = {
        "HTTPS_PROXY": "a",
        "no_proxy": "b",
        "SSL_CERT_FILE": "c",
        "UV_DEFAULT_INDEX": "d",
        "UV_INDEX_LAB_PASSWORD": "e",
    }
    others = {
        "HOME": "x",
        "PYTHONPATH": "x",
        "UV_LINK_MODE": "x",
        "UV_CONFIG_FILE": "x",
        "KEY": "x",
    }
    assert network_variables(passed | others) == passed


def test_settings_beside_the_code_are_not_read(
    tmp_path: Path, downloads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = '[[index]]\nurl = "http://127.0.0.1:9/simple"\ndefault = true\n'
    (tmp_path / "uv.toml").write_text(settings)
    monkeypatch.chdir(tmp_path)
    assert resolve(wanting("six==1.17.0"), python=OWN, cache=downloads).startswith("six==1.17.0")


@pytest.mark.parametrize(
    ("stderr", "sentence"),
    [
        (
            "error: No solution found when resolving dependencies\n"
            "  cause: Because a==1 depends on\n      b>2 and you require b<2, it fails.\n",
            "No solution found when resolving dependencies. "
            "Because a==1 depends on b>2 and you require b<2, it fails.",
        ),
        (
            "  × No solution found when resolving dependencies:\n"
            "  ╰─▶ Because there is no version of six==99\n      you require, it fails.\n",
            "No solution found when resolving dependencies. "
            "Because there is no version of six==99 you require, it fails.",
        ),
        ("", "uv failed with exit status 2 and said nothing."),
        (
            "thread panicked\nat line 1\n",
            "uv failed with exit status 2: thread panicked at line 1.",
        ),
    ],
)
def test_what_uv_says_becomes_one_line(stderr: str, sentence: str) -> None:
    assert str(explain(stderr, 2)) == sentence


def test_urls_and_their_secrets_are_not_repeated() -> None:
    stderr = "error: Failed to fetch: `https://user:secret@example.org/simple/six/`\n  cause: 403\n"
    assert "secret" not in str(explain(stderr, 2)) and "example" not in str(explain(stderr, 2))


def test_an_unknown_command_is_an_error_not_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="unrecognized"):
        run_uv(["no-such-command"], cache=tmp_path)
