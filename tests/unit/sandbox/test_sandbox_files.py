"""Writable folders are measured and taken back whole; only harmless files are collected."""

from __future__ import annotations

import mmap
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.errors import UserError
from repro_pipeline.sandbox import folders, watch
from repro_pipeline.sandbox.launch import check_folders
from repro_pipeline.sandbox.outputs import printable, refused_outputs, safe_outputs


def test_only_regular_files_within_the_limit_are_collected(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("12345")
    (tmp_path / "sub" / "b.txt").write_text("123")
    (tmp_path / "z.txt").write_text("1234567")
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    (tmp_path / "folder-link").symlink_to("/etc")
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "holes").open("wb") as stream:
        stream.truncate(1 << 40)
    assert safe_outputs(tmp_path, 10) == (tmp_path / "a.txt", tmp_path / "sub" / "b.txt")
    why = {entry.path.name: entry.why for entry in refused_outputs(tmp_path, 10)}
    assert set(why) == {"link", "folder-link", "fifo", "holes", "z.txt"}
    assert "room" in why["z.txt"] and "room" in why["holes"] and "regular" in why["link"]


def test_every_file_is_either_collected_or_refused(tmp_path: Path):
    (tmp_path / "twice").write_text("x")
    (tmp_path / "again").hardlink_to(tmp_path / "twice")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_text("x")
    (tmp_path / "bad\nfolder").mkdir()
    (tmp_path / "bad\nfolder" / "good").write_text("x")
    assert safe_outputs(tmp_path, 100) == ()
    assert len(refused_outputs(tmp_path, 100)) == 5


def test_a_folder_is_measured_with_its_entries_and_without_holes(tmp_path: Path):
    empty = folders.size(tmp_path)
    (tmp_path / "data").write_bytes(os.urandom(100_000))
    assert empty + 100_000 <= folders.size(tmp_path) < empty + 120_000
    for number in range(100):
        (tmp_path / str(number)).touch()
    assert folders.size(tmp_path) >= empty + 200_000
    with (tmp_path / "holes").open("wb") as stream:
        stream.truncate(1 << 40)
    assert folders.size(tmp_path) < empty + 300_000
    assert folders.size(tmp_path, most=10_000) < 50_000


def test_measuring_does_not_follow_links_out(tmp_path: Path):
    (tmp_path / "away").symlink_to("/usr")
    assert len(list(folders.walk(tmp_path))) == 2


@pytest.mark.parametrize(("name", "levels"), [("d", folders.DEEPEST + 1), ("n" * 250, 20)])
def test_what_lies_too_deep_is_not_measured_as_nothing_and_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, levels: int
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept").mkdir()
    for _ in range(levels):
        os.mkdir(name)  # noqa: PTH102
        os.chdir(name)
    Path("file").write_bytes(bytes(100_000))
    os.chdir(tmp_path)
    with pytest.raises(folders.Unmeasured):
        folders.size(tmp_path)
    folders.take_back(tmp_path)
    assert folders.size(tmp_path) < 400_000
    assert (tmp_path / "kept").is_dir()
    shutil.rmtree(tmp_path / name)


def test_deleted_files_that_are_held_are_counted_once(tmp_path: Path):
    def held() -> int:
        return watch.unlinked([os.getpid()], [tmp_path])

    before = held()
    handle = os.open(tmp_path, os.O_TMPFILE | os.O_RDWR)
    os.write(handle, bytes(200_000))
    twice = os.dup(handle)
    assert before + 200_000 <= held() < before + 220_000
    view = mmap.mmap(handle, 200_000)
    assert before + 200_000 <= held() < before + 220_000
    os.close(handle)
    os.close(twice)
    assert before + 200_000 <= held() < before + 220_000, "it is mapped still"
    view.close()
    assert held() == before
    (tmp_path / "there").write_bytes(bytes(200_000))
    with (tmp_path / "there").open("rb"):
        assert held() == before, "a folder shows it"


def test_a_slow_look_is_repeated_late_unless_the_disk_loses_what_may_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    clock = 100.0
    monkeypatch.setattr(watch.time, "monotonic", lambda: clock)
    wide, narrow = (watch.Turn([tmp_path], most) for most in (1 << 60, 1 << 20))
    assert wide.due() and narrow.due()
    for turn in (wide, narrow):
        turn.looked(98.0, 0)  # it took two seconds
    with (tmp_path / "large").open("wb") as file:
        file.write(os.urandom(64 << 20))
        os.fsync(file.fileno())
    clock = 101.0
    assert not wide.due() and not narrow.due(), "half of the time is the run's"
    clock = 103.0
    assert narrow.due() and not wide.due()
    clock = 121.0
    assert wide.due()


def test_taking_back_makes_all_readable_and_drops_set_user_bits(tmp_path: Path):
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "file").write_text("x")
    (closed / "file").chmod(0o6000)
    (closed / "link").symlink_to("/etc/passwd")
    closed.chmod(0)
    before = Path("/etc/passwd").stat()
    folders.take_back(tmp_path)
    assert (closed / "file").stat().st_mode & 0o7777 == 0o600
    assert closed.stat().st_mode & 0o777 == 0o700
    assert Path("/etc/passwd").stat() == before


def test_what_is_nested_too_deep_is_removed(tmp_path: Path):
    deep = tmp_path.joinpath(*["d"] * (folders.DEEPEST + 20))
    deep.mkdir(parents=True)
    folders.take_back(tmp_path)
    assert tmp_path.joinpath(*["d"] * (folders.DEEPEST - 1)).exists()
    assert not tmp_path.joinpath(*["d"] * (folders.DEEPEST + 1)).exists()
    shutil.rmtree(tmp_path / "d")


@given(st.binary(max_size=200))
def test_printable_text_cannot_steer_a_terminal(raw: bytes):
    text = printable(raw)
    assert all(character in "\n\t" or not _steers(character) for character in text)


def _steers(character: str) -> bool:
    return ord(character) < 32 or 127 <= ord(character) < 160


def test_printable_keeps_ordinary_text():
    assert printable("Genauigkeit: 0.93 ± 0.01\r\n\tü 数\n".encode()) == (
        "Genauigkeit: 0.93 ± 0.01\n\tü 数\n"
    )
    assert printable(b"\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m"
    assert printable("safe\u202etxt.exe".encode()) == "safe\\u202etxt.exe"


def folders_of(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "work").mkdir()
    (tmp_path / "out").mkdir()
    return {"workdir": tmp_path / "work", "out": tmp_path / "out", "log": tmp_path / "log"}


def test_fit_folders_are_taken(tmp_path: Path):
    check_folders(**folders_of(tmp_path))


def test_unfit_folders_are_refused(tmp_path: Path):
    fit = folders_of(tmp_path)
    with pytest.raises(UserError, match="is none"):
        check_folders(**{**fit, "out": tmp_path / "missing"})
    (tmp_path / "link").symlink_to(tmp_path / "out")
    with pytest.raises(UserError, match="is none"):
        check_folders(**{**fit, "out": tmp_path / "link"})
    with pytest.raises(UserError, match="which the run can write"):
        check_folders(**{**fit, "log": tmp_path / "out" / "log"})
    with pytest.raises(UserError, match="one in the other"):
        check_folders(**{**fit, "out": tmp_path / "work"})


def test_a_working_copy_that_shares_files_is_refused(tmp_path: Path):
    fit = folders_of(tmp_path)
    (tmp_path / "original.py").write_text("x")
    (tmp_path / "work" / "copy.py").hardlink_to(tmp_path / "original.py")
    with pytest.raises(UserError, match="hard-linked"):
        check_folders(**fit)
