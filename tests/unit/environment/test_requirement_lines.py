"""Whatever a requirement file holds, only plain requirements come out of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement

from repro_pipeline.environment.lock import resolve
from repro_pipeline.environment.model import Requirements
from repro_pipeline.environment.requirement_lines import parse_entries, read_entries
from repro_pipeline.errors import BuildError

unhurried = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

names = st.from_regex(r"[A-Za-z]([A-Za-z0-9._-]{0,8}[A-Za-z0-9])?", fullmatch=True)
versions = st.from_regex(r"[0-9]{1,2}(\.[0-9]{1,2}){0,2}", fullmatch=True)
hashes = st.lists(st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True), max_size=3)
operators = st.sampled_from(["==", ">=", "<", "~=", "!="])
noise = st.sampled_from(["", "# comment", "   ", "   # six", "\t"])


@st.composite
def entries(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    operator, version = draw(operators), draw(versions)
    if operator == "~=" and "." not in version:
        version += ".0"
    return f"{draw(names)}{operator}{version}", tuple(draw(hashes))


@unhurried
@given(st.lists(st.tuples(entries(), noise, st.booleans()), max_size=8))
def test_entries_come_back_with_their_lines(cases: list) -> None:
    lines, expected = [], []
    for (requirement, found), before, continued in cases:
        lines.append(before)
        expected.append((len(lines) + 1, requirement, found))
        parts = [requirement, *(f"--hash={one}" for one in found)]
        lines += (" \\\n    " if continued else " ").join(parts).split("\n")
        lines[-1] += "  # via something" if before else ""
    read = parse_entries("\n".join(lines), "r.txt")
    assert [(one.line, str(one.requirement), one.hashes) for one in read] == [
        (line, str(Requirement(requirement)), found) for line, requirement, found in expected
    ]


fragments = st.sampled_from(
    [
        *(
            "six",
            "==",
            "1.0",
            " ",
            "\n",
            "\\\n",
            "#",
            ";",
            "@",
            "-e",
            "-r",
            "--index-url",
            "=",
            "'",
        ),
        *("--hash=sha256:", "a" * 64, "git+https://x", "file:", "./", "x\\"),
        *("\t", "\r", "\x0c", "\u2028"),
    ]
)
tricky = st.lists(fragments, max_size=14).map("".join)


@st.composite
def disturbed_locks(draw: st.DrawFn) -> str:
    """A lock with fragments at places of it."""
    text = f"six==1.0 \\\n    --hash=sha256:{'a' * 64} # via x\n# y\nsix==1.1 --hash=sha256:{'b' * 64}\n"
    for piece in draw(st.lists(fragments, max_size=3)):
        places = [0, 8, 10, text.find("#"), text.find("# y") + 1, len(text) - 1, len(text)]
        at = draw(st.sampled_from(places))
        text = text[:at] + piece + text[at:]
    return text


@settings(unhurried, max_examples=300)
@given(st.one_of(st.text(max_size=60), tricky))
def test_any_text_gives_plain_requirements_or_an_error_with_its_line(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "r.txt").write_text(text, encoding="utf-8", errors="replace")
    try:
        read = read_entries(tmp_path / "r.txt", tmp_path)
    except BuildError as error:
        assert str(error).startswith("r.txt")
        return
    for one in read:
        line = str(one.requirement)
        assert one.requirement.url is None
        assert Requirement(line) == one.requirement and line.splitlines() == [line]
        assert not line.startswith(("-", ".", "/")) and "://" not in line


@unhurried
@given(disturbed_locks())
def test_a_given_lock_holds_nothing_but_locked_entries(text: str) -> None:
    """The text goes to uv as it is: each of its lines, however split, must have been read."""
    given_lock = Requirements(kind="given_lock", file="r.lock", lines=tuple(text.splitlines()))
    try:
        lock = resolve(given_lock, python="3.11", cache=Path("unused"))
    except BuildError:
        return
    for line in lock.splitlines():
        plain = re.sub(r"(^|\s)#.*", "", line)
        assert not re.search(r"(^|\s)-(?!-hash=)|@|://|git\+|file:|\./", plain), lock


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("six==1.0", "no sha256 hash"),
        ("six --hash=sha256:" + "a" * 64, "not pinned"),
        ("six>=1.0 --hash=sha256:" + "a" * 64, "not pinned"),
        ("six==1.* --hash=sha256:" + "a" * 64, "not pinned"),
        ("six==1.0,!=1.1 --hash=sha256:" + "a" * 64, "not pinned"),
        ("six==1.0 --hash=md5:" + "a" * 32, "no sha256 hash"),
        ("six==1.0 --hash=sha256:" + "a" * 63, "no sha256 hash"),
    ],
)
def test_a_given_lock_names_its_first_loose_entry(entry: str, fault: str) -> None:
    good = "numpy==1.0 --hash=sha256:" + "b" * 64
    given_lock = Requirements(kind="given_lock", file="r.lock", lines=(good, entry, "six"))
    with pytest.raises(BuildError, match=fault) as error:
        resolve(given_lock, python="3.11", cache=Path("unused"))
    assert error.value.where == "r.lock:2"
