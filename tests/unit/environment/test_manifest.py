"""A changed byte, a foreign path and a row of two splits are seen and named."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repro_pipeline.bundle.task import DataFile
from repro_pipeline.environment import manifest as module
from repro_pipeline.environment.manifest import make_manifest, role_rows, verify_manifest
from repro_pipeline.environment.model import DataManifest
from repro_pipeline.errors import BundleError, IntegrityError
from repro_pipeline.frozen import digest

TABLE = "a,b\n1,2\n3,4\n5,6\n7,8\n"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "t.csv").write_text(TABLE)
    (folder / "train.idx").write_text("2\n0\n")
    (folder / "test.idx").write_text("1\n3\n\n")
    (folder / "labels.csv").write_text("y\n1\n0\n")
    return folder


def item(**given: object) -> DataFile:
    return DataFile.model_validate({"name": "t", "path": "data/t.csv", **given})


def made(bundle: Path, *items: DataFile) -> DataManifest:
    return make_manifest(items or (item(),), bundle, bundle.parent / "cache")


def refused(bundle: Path, **given: object) -> BundleError:
    with pytest.raises(BundleError) as error:
        made(bundle, item(**given))
    return error.value


def test_each_file_has_its_digest_size_and_rows(bundle: Path) -> None:
    sha256 = hashlib.sha256(TABLE.encode()).hexdigest()
    (entry,) = made(bundle, item(sha256=sha256, licence="CC0", private=True)).entries
    assert (entry.sha256, entry.size, entry.rows) == (sha256, len(TABLE), 4)
    assert (entry.licence, entry.private, entry.sealed) == ("CC0", True, False)
    assert made(bundle, *()) and make_manifest((), bundle, bundle) == DataManifest()


def test_splits_are_hashed_as_numbers_in_their_order(bundle: Path) -> None:
    roles = {"train": "train.idx", "test": "test.idx"}
    (entry,) = made(bundle, item(roles=roles)).entries
    assert entry.roles == {"train": digest([2, 0]), "test": digest([1, 3])}
    assert entry.role_files == roles
    assert entry.shared_rows == {}
    (bundle / "test.idx").write_text("1\n3")
    assert made(bundle, item(roles=roles)).entries == (entry,), "only the numbers count"
    (entry,) = made(bundle, item(roles={"test": "all"})).entries
    assert (entry.roles, entry.role_files) == ({"test": digest([0, 1, 2, 3])}, {})


def test_the_rows_of_a_role_are_none_all_or_those_of_its_file(bundle: Path) -> None:
    (bundle / "test.idx").write_bytes(b"\xef\xbb\xbf1\r\n\r\n3\n")
    (entry,) = made(bundle, item(roles={"train": "all", "test": "test.idx"})).entries
    assert role_rows(entry, "train", bundle) is None
    assert role_rows(entry, "test", bundle) == [1, 3]
    assert role_rows(entry, "validation", bundle) == []


def test_rows_of_two_splits_are_counted(bundle: Path) -> None:
    (bundle / "test.idx").write_text("2\n3\n0\n")
    (entry,) = made(bundle, item(roles={"train": "train.idx", "test": "test.idx"})).entries
    assert entry.shared_rows == {"test & train": 2}
    (entry,) = made(bundle, item(roles={"train": "all", "test": "test.idx"})).entries
    assert entry.shared_rows == {"test & train": 3}
    (bundle / "images.bin").write_bytes(b"1234")
    roles = {"train": "all", "test": "test.idx", "validation": "all"}
    (entry,) = made(bundle, item(path="images.bin", roles=roles)).entries
    assert entry.rows is None
    assert entry.shared_rows == {
        "test & train": 3,
        "test & validation": 3,
        "train & validation": None,
    }


indices = st.lists(st.integers(0, 49), max_size=30)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(indices, indices)
def test_shared_rows_are_those_of_both_sets(tmp_path: Path, train: list, test: list) -> None:
    (tmp_path / "t.csv").write_text("x\n" + "1\n" * 50)
    for role, numbers in (("train", train), ("test", test)):
        (tmp_path / role).write_text("".join(f"{one}\n" for one in numbers))
    data = item(path="t.csv", roles={"train": "train", "test": "test"})
    (entry,) = make_manifest((data,), tmp_path, tmp_path / "cache").entries
    common = {one for one in train if one in test}
    assert entry.shared_rows == ({"test & train": len(common)} if common else {})
    assert (entry.roles["train"] == entry.roles["test"]) == (train == test)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("0\n4\n", "train.idx"),
        ("0\n-1\n", "train.idx:2"),
        ("0\n1.5\n", "train.idx:2"),
        ("a\n", "train.idx:1"),
        ("0 1\n", "train.idx:1"),
        ("²\n", "train.idx:1"),
        ("1\n" + "9" * 5000, "train.idx:2"),
    ],
)
def test_what_is_no_row_of_the_file_is_refused(text: str, place: str, bundle: Path) -> None:
    (bundle / "train.idx").write_text(text)
    assert refused(bundle, roles={"train": "train.idx"}).where == place


def test_sealed_labels_are_entries_of_their_own(bundle: Path) -> None:
    first, labels = made(bundle, item(sealed_labels="labels.csv")).entries
    assert (first.sealed, labels.sealed) == (False, True)
    assert (labels.name, labels.file, labels.rows) == ("t", "labels.csv", 2)
    assert "that runs are given" in str(refused(bundle, sealed_labels="data/t.csv"))
    assert "does not exist" in str(refused(bundle, sealed_labels="gone.csv"))


def test_another_digest_than_the_tasks_names_both(bundle: Path) -> None:
    said = str(refused(bundle, sha256="0" * 64))
    assert "data/t.csv" in said and "0" * 64 in said
    assert hashlib.sha256(TABLE.encode()).hexdigest() in said


@pytest.mark.parametrize("path", ["../other.csv", "/etc/passwd", "link.csv", "a\0b"])
def test_a_path_out_of_the_bundle_is_refused(path: str, bundle: Path) -> None:
    (bundle.parent / "other.csv").write_text(TABLE)
    (bundle / "link.csv").symlink_to(bundle.parent / "other.csv")
    assert "outside the bundle" in str(refused(bundle, path=path))


def test_missing_files_folders_and_addresses_are_refused(bundle: Path) -> None:
    assert refused(bundle, path="data/gone.csv").where == "data/gone.csv"
    assert "are a folder" in str(refused(bundle, path="data"))
    assert "is not fetched" in str(refused(bundle, path=None, uri="https://example.org/t.csv"))
    assert refused(bundle, roles={"test": "gone.idx"}).where == "gone.idx"


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("t.csv", '"a\nb",c\n1,"x\ny"\n\n2,3\n', 2),
        ("t.csv", "1,2\n3,4\n", 2),
        ("t.csv", "", 0),
        ("t.csv", "\ufeff1,2\n3,4\n", 2),
        pytest.param("t.csv", f"text\n{'word ' * 50_000}\n1\n", 2, id="a document in a cell"),
        ("t.tsv", "a\tb\n1\t2\n", 1),
        ("t.jsonl", '{"a": 1}\n\n{"a": 2}', 2),
        ("t.txt", "1\n2\n", None),
    ],
)
def test_rows_are_counted_as_readers_count_them(
    name: str, content: str, rows: int | None, bundle: Path
) -> None:
    (bundle / name).write_text(content)
    assert made(bundle, item(path=name)).entries[0].rows == rows


def test_rows_of_parquet_come_from_its_metadata(bundle: Path) -> None:
    import pandas as pd

    pd.DataFrame({"a": range(7)}).to_parquet(bundle / "t.parquet")
    assert made(bundle, item(path="t.parquet")).entries[0].rows == 7
    (bundle / "t.parquet").write_bytes(b"no parquet")
    assert "no Parquet file" in str(refused(bundle, path="t.parquet"))


@pytest.mark.parametrize("file", ["data/t.csv", "labels.csv", "train.idx"])
@pytest.mark.parametrize("change", ["byte", "gone"])
def test_a_change_is_found_and_named(file: str, change: str, bundle: Path) -> None:
    manifest = made(bundle, item(roles={"train": "train.idx"}, sealed_labels="labels.csv"))
    verify_manifest(manifest, bundle)
    path, state = bundle / file, (bundle / file).stat()
    if change == "gone":
        path.unlink()
    else:
        content = bytearray(path.read_bytes())
        content[-2] ^= 1
        path.write_bytes(bytes(content))
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(IntegrityError) as error:
        verify_manifest(manifest, bundle)
    assert error.value.where == file


def test_an_unchanged_file_is_read_once(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Path] = []
    real = module.file_digest
    monkeypatch.setattr(module, "file_digest", lambda path: reads.append(path) or real(path))
    monkeypatch.setattr(module, "_SETTLED_SECONDS", -1.0)
    first = made(bundle)
    assert made(bundle) == first and len(reads) == 1
    state = (bundle / "data" / "t.csv").stat()
    (bundle / "data" / "t.csv").write_text(TABLE.replace("1,2", "1,9"))
    os.utime(bundle / "data" / "t.csv", ns=(state.st_atime_ns, state.st_mtime_ns))
    assert made(bundle) != first, "a change with a mended time was missed"
    assert len(reads) == 2


@pytest.mark.parametrize("content", ["", "{", "[]", '{"rows": 2}', "\xff"])
def test_what_is_broken_in_the_cache_is_read_anew(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr(module, "_SETTLED_SECONDS", -1.0)
    first = made(bundle)
    (kept,) = (bundle.parent / "cache").glob("*.json")
    kept.write_text(content, encoding="latin-1")
    assert made(bundle) == first


def test_a_file_that_was_just_written_is_read_again(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SETTLED_SECONDS", 3600.0)
    made(bundle)
    assert not list((bundle.parent / "cache").glob("*"))
