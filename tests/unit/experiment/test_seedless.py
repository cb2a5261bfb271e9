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
    ("one", "other"),
    [
        ("loss 0.348", "loss 0.77"),  # part of a number
        ("loss 348.5", "loss 77.5"),
        ("run348", "run77"),  # part of a word
        ("loss 1", "loss 2"),
        ("seed 348", "seed 349"),  # another number than its own seed
    ],
)
def test_any_other_difference_is_one(tmp_path, one, other):
    assert left(tmp_path, 348, notes=one) != left(tmp_path, 77, notes=other)


def test_names_of_files_count_and_nothing_left_is_nothing(tmp_path):
    assert left(tmp_path, 1, a="x") != left(tmp_path, 2, b="x")
    assert seedless_digest({}, 1) is None


def test_a_large_file_is_taken_as_it_is(tmp_path):
    text = "x" * (1 << 20) + " {}"
    assert left(tmp_path, 348, a=text.format(348)) != left(tmp_path, 77, a=text.format(77))


@given(st.lists(st.integers(0, 40)), st.integers(0, 40))
def test_of_many_numbers_the_seed_alone_is_taken_out(numbers, seed):
    texts = [str(number).encode() for number in numbers]
    content = b", ".join(texts)
    assert without_seed(content, None) == content
    own = str(seed).encode()
    assert without_seed(content, seed) == b", ".join(b"" if one == own else one for one in texts)
