"""Two readers' labels of what papers say: both files can be compared, and the readers agree."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import gaps
import gaps_agreement as benchmark

from repro_pipeline.lineage.checklist import load_checklist

READERS = dict(zip(benchmark.FILES, benchmark.readers(), strict=True))


@pytest.mark.parametrize("file", benchmark.FILES)
def test_each_known_item_is_labelled_once_per_paper(file):
    known = {item.id for item in load_checklist().items}
    for name, entry in READERS[file].items():
        labelled = [item for item, _, _ in gaps.labels_of(entry)] + entry.get("unclear", [])
        assert len(labelled) == len(set(labelled)), name
        assert set(labelled) <= known, name


def test_second_reader_read_the_same_files():
    first, second = READERS.values()
    assert len(second) >= 9
    assert {name: entry["file"] for name, entry in second.items()} == {
        name: first[name]["file"] for name in second
    }


def test_agreement_is_counted_by_hand():
    rows = [("stated", "stated")] * 4 + [("missing", "missing")] * 4 + [("stated", "missing")] * 2
    same, kappa = benchmark.agreement(rows)
    assert same == pytest.approx(0.8)
    assert kappa == pytest.approx((0.8 - 0.48) / 0.52)
    assert benchmark.agreement([("stated", "stated")]) == (1.0, 1.0)


def test_readers_agree():
    every = [pair for _, _, pair in benchmark.pairs(*READERS.values())]
    clear = [pair for pair in every if "unclear" not in pair]
    assert len(clear) >= 300
    assert benchmark.agreement(clear)[1] >= 0.9
    assert benchmark.agreement(every)[1] >= 0.75
