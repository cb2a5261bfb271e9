"""What a run left is compared without its own seed, and with all else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.experiment.seedless import seedless_digest, without_seed


def left(folder, seed, **texts):
    folder = folder / str(seed)
    folder.mkdir(exist_ok=True)
    files = {name: folder / name for name in texts}
    for name, path in files.items():
        path.write_text(texts[name])
    return seedless_digest(files, seed)


NOTE = "The seed ({}) has no influence."


def test_a_note_of_the_seed_is_no_difference(tmp_path):
    assert left(tmp_path, 348, notes=NOTE.format(348)) == left(
        tmp_path, 808731, notes=NOTE.format(808731)
    )


@pytest.mark.parametrize(
    "note", ["seed {}", '{{"seed": {}}}', "--seed={} --out x", "Seeds: [{}]", "numpy_seed={}\n"]
)
def test_however_it_is_called(tmp_path, note):
    assert left(tmp_path, 1, a=note.format(1)) == left(tmp_path, 3, a=note.format(3))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loss 348", "loss 77"),  # a number that happens to be the seed's
        ("final loss 1e-348", "final loss 1e-77"),
        ("seed 348.5", "seed 77.5"),
        ("seed 3480", "seed 770"),
        ("seed\n348", "seed\n77"),
        ("seed 348", "seed 349"),  # another number than its own seed
        ("class 348 of 348", "class 77 of 77"),
    ],
)
def test_any_other_difference_is_one(tmp_path, one, other):
    assert left(tmp_path, 348, notes=one) != left(tmp_path, 77, notes=other)


def test_names_of_files_count_and_nothing_left_is_nothing(tmp_path):
    assert left(tmp_path, 1, a="x") != left(tmp_path, 2, b="x")
    assert seedless_digest({}, 1) is None


def test_a_large_file_is_taken_as_it_is(tmp_path):
    text = "x" * (1 << 20) + " seed {}"
    assert left(tmp_path, 348, a=text.format(348)) != left(tmp_path, 77, a=text.format(77))


def test_small_seeds_touch_no_other_number(tmp_path):
    note = "seed {}; k = 3 folds"
    first = left(tmp_path, 1, a=note.format(1))
    assert first == left(tmp_path, 2, a=note.format(2)) == left(tmp_path, 3, a=note.format(3))


@given(st.lists(st.integers(0, 40)), st.integers(0, 40))
def test_of_many_numbers_none_is_taken_out(numbers, seed):
    content = ", ".join(map(str, numbers)).encode()
    assert without_seed(content, seed) == without_seed(content, None) == content
    named = content + b" seed: %d, " % seed
    assert without_seed(named + content, seed) == content + b" seed: , " + content
