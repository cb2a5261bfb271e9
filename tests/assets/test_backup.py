"""A project as one file and back, while others write; what is no evidence may go."""

from __future__ import annotations

import tarfile
import threading
from pathlib import Path

import pytest

from repro_pipeline.cli import main
from repro_pipeline.errors import StoreError
from repro_pipeline.ledger.chain import verify_chain
from repro_pipeline.ledger.events import PROJECT_CHAIN, WarningRecorded
from repro_pipeline.project import Project
from repro_pipeline.stages import latest
from resources.backup import restore_backup, write_backup
from resources.ledger_sql import SqlLedger
from resources.opening import open_project
from tests.bundles import make_bundle


@pytest.fixture
def done(project: Path) -> Project:
    """A project with a reproduced paper."""
    make_bundle(project / "papers" / "tiny")
    assert main(["run", "tiny"]) == 0
    return open_project(project)


def events(ledger: SqlLedger, chain: str = "tiny") -> list:
    return list(ledger.stored(chain))


def pages(root: Path) -> dict[str, bytes]:
    folder = root / "reports" / "tiny"
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_restored_elsewhere_it_is_the_same_project(done, tmp_path, monkeypatch, capsys):
    backup, elsewhere = tmp_path / "backup.tar.gz", tmp_path / "elsewhere"
    assert main(["backup", str(backup)]) == 0
    assert backup.stat().st_mode & 0o077 == 0
    before = pages(done.root)
    capsys.readouterr()
    assert main(["restore", str(backup), str(elsewhere)]) == 0
    assert "all whole" in capsys.readouterr().out

    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("REPRO_PROJECT", str(elsewhere))
    restored = open_project(elsewhere)
    assert events(restored.ledger) == events(done.ledger)
    assert restored.secret == done.secret
    assert main(["ledger", "verify"]) == 0
    assert main(["store", "verify"]) == 0
    assert pages(elsewhere) == before
    for page in (elsewhere / "reports" / "tiny").iterdir():
        page.unlink() if page.is_file() else None
    assert main(["report", "tiny"]) == 0
    written = pages(elsewhere)
    assert written["report.html"] == before["report.html"]
    tried = sum(event.kind == "attempt_started" for event in events(restored.ledger))
    assert main(["run", "tiny"]) == 0  # the environment is built again; nothing is run again
    assert sum(event.kind == "attempt_started" for event in events(restored.ledger)) == tried


def test_a_copy_is_consistent_while_others_write(done, tmp_path):
    stop = threading.Event()

    def write(number: int) -> None:
        ledger, turn = SqlLedger(done.config.ledger, folder=done.root), 0
        while not stop.is_set():
            turn += 1
            warning = WarningRecorded(code=f"w{number}", sentence=str(turn), stage="report")
            ledger.append("tiny", warning, actor="test")
            ledger.append(f"chain-{number}", warning, actor="test")
        ledger.close()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    try:
        copies = []
        for number in range(3):
            file = tmp_path / f"{number}.tar.gz"
            write_backup(done, file)
            copies.append(file)
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    now = events(done.ledger)
    for number, file in enumerate(copies):
        root = tmp_path / f"restored-{number}"
        restore_backup(file, root)
        copied = events(open_project(root).ledger)
        assert verify_chain("tiny", copied) == ()
        assert copied == now[: len(copied)]
    assert len(copied) > 50


def test_a_backup_never_writes_over_anything_nor_without_an_artifact(done, tmp_path):
    (tmp_path / "there").write_text("mine")
    with pytest.raises(StoreError, match="overwritten"):
        write_backup(done, tmp_path / "there")
    digest = latest(done, "tiny", "scores").output
    next(done.root.glob(f".repro/store/*/{digest}*")).unlink()
    with pytest.raises(StoreError, match="missing"):
        write_backup(done, tmp_path / "fresh")
    assert not (tmp_path / "fresh").exists()
    assert list(tmp_path.glob(".backup-*")) == []


def test_what_was_altered_in_the_file_is_found(done, tmp_path):
    whole, altered = tmp_path / "whole", tmp_path / "altered"
    write_backup(done, whole)
    digest = latest(done, "tiny", "scores").output
    with tarfile.open(whole, "r:gz") as source, tarfile.open(altered, "w:gz") as target:
        for entry in source:
            content = source.extractfile(entry) if entry.isfile() else None
            if entry.name.endswith(digest):
                content.seek(1)
                entry.size -= 1
            target.addfile(entry, content)
    with pytest.raises(Exception, match="other bytes"):
        restore_backup(altered, tmp_path / "out")


@pytest.mark.parametrize("content", [b"", b"no archive at all", b"\x1f\x8b\x08\x00broken"])
def test_what_is_no_backup_is_said(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(StoreError, match="backup"):
        restore_backup(tmp_path / "file", tmp_path / "out")
    with pytest.raises(StoreError, match="no such file"):
        restore_backup(tmp_path / "absent", tmp_path / "out2")


def test_a_restored_project_never_writes_where_the_original_does(done, tmp_path):
    file = done.root / "repro.yaml"
    text = file.read_text().replace(
        "ledger: sqlite:///.repro/ledger.sqlite",
        f"ledger: sqlite:///{done.root}/.repro/ledger.sqlite",
    )
    file.write_text(text)
    moved = open_project(done.root)
    write_backup(moved, tmp_path / "file")
    restore_backup(tmp_path / "file", tmp_path / "out")
    open_project(tmp_path / "out").ledger.append(
        PROJECT_CHAIN, WarningRecorded(code="new", sentence="", stage="report"), actor="test"
    )
    assert all(e.payload.get("code") != "new" for e in moved.ledger.stored(PROJECT_CHAIN))
