"""Splits by a seed: disjoint, whole, the same everywhere, and fixed as files that are verified."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.bundle.task import DataFile
from repro_pipeline.environment.manifest import make_manifest, verify_manifest
from repro_pipeline.environment.splits import split_rows, write_split
from repro_pipeline.errors import BundleError, IntegrityError


@given(st.integers(10, 300), st.integers(0, 2**31), st.floats(0.2, 0.8))
def test_roles_are_disjoint_and_take_their_shares(rows: int, seed: int, share: float):
    parts = split_rows(rows, seed, {"train": share, "test": 1 - share})
    assert sorted(parts["train"] + parts["test"]) == list(range(rows))
    assert abs(len(parts["train"]) - share * rows) <= 0.5 + 1e-6
    assert parts == split_rows(rows, seed, {"train": share, "test": 1 - share})


def test_the_order_is_the_one_that_is_written_down():
    assert split_rows(10, 7, {"train": 0.7, "test": 0.3}) == {
        "train": [1, 2, 3, 4, 7, 8, 9],
        "test": [0, 5, 6],
    }
    assert split_rows(10, 8, {"train": 0.7, "test": 0.3})["test"] != [0, 5, 6]


@pytest.mark.parametrize(
    "shares",
    [
        {"train": 0.9, "test": 0.2},
        {"train": 0},
        {"train": 0.01},
        {"train": -0.1},
        {"train": math.nan, "test": 0.2},
        {"train": math.inf},
    ],
)
def test_shares_that_are_none_are_refused(shares: dict[str, float]):
    with pytest.raises(BundleError):
        split_rows(10, 7, shares)


def test_a_split_is_part_of_the_manifest_and_a_changed_number_stops(tmp_path: Path):
    data = tmp_path / "points.csv"
    data.write_text("x\n" + "1\n" * 10)
    files = write_split(data, 7, split_rows(10, 7, {"train": 0.7, "test": 0.3}))
    roles = {role: path.name for role, path in files.items()}
    item = DataFile(name="points", path="points.csv", roles=roles, source="made here")
    manifest = make_manifest((item,), tmp_path, tmp_path / "cache")
    entry = manifest.entries[0]
    assert set(entry.roles) == {"train", "test"} and not entry.shared_rows
    assert entry.source == "made here"
    verify_manifest(manifest, tmp_path)
    files["test"].write_text("4\n6\n8\n")
    with pytest.raises(IntegrityError, match=r"points\.csv\.test-seed7\.idx: the row numbers"):
        verify_manifest(manifest, tmp_path)
    with pytest.raises(BundleError, match="another split"):
        write_split(data, 7, split_rows(10, 7, {"test": 0.3}))


@pytest.mark.parametrize("other", [b"4\n6\n", b"\xff\xfe", None])
def test_of_a_split_that_cannot_be_written_whole_nothing_is_written(tmp_path: Path, other):
    there = tmp_path / "points.csv.test-seed7.idx"
    there.mkdir() if other is None else there.write_bytes(other)
    splits = split_rows(10, 7, {"train": 0.7, "test": 0.3})
    with pytest.raises(BundleError, match="another split"):
        write_split(tmp_path / "points.csv", 7, splits)
    assert list(tmp_path.iterdir()) == [there]
