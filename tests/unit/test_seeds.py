"""Evaluation seeds: fixed by the secret, unknown without it, apart from the agent's seeds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from repro_pipeline.experiment import seeds
from repro_pipeline.experiment.seeds import dev_seeds, evaluation_seeds

SECRETS = st.binary(min_size=1, max_size=40)
CODES = st.text("0123456789abcdef", min_size=1, max_size=64)


@settings(max_examples=50, deadline=None)
@given(SECRETS, CODES, st.integers(0, 50), st.integers(0, 40), st.integers(0, 40))
def test_a_longer_list_begins_with_the_shorter_one(secret, code, sweep, short, more):
    found = evaluation_seeds(secret, code, sweep=sweep, count=short + more)
    assert found[:short] == evaluation_seeds(secret, code, sweep=sweep, count=short)
    assert len(found) == len(set(found)) == short + more
    assert all(0 <= seed < 2**31 for seed in found)


def test_no_evaluation_seed_is_a_dev_seed_of_any_code(monkeypatch):
    """In a world of 32,768 seeds, where chance alone would not keep the two kinds apart."""
    whole = seeds._mac
    monkeypatch.setattr(
        seeds, "_mac", lambda *given: bytes([whole(*given)[0], 0, 0, *whole(*given)[3:]])
    )
    secret = b"secret"
    evaluation = {
        seed
        for code in "ab"
        for sweep in range(2)
        for seed in evaluation_seeds(secret, code, sweep=sweep, count=2000)
    }
    dev = {seed for code in "ab" for seed in dev_seeds(secret, code, 4000)}
    assert len(evaluation) > 5000
    assert len(dev) > 5000
    assert not evaluation & dev


def test_code_cannot_tell_the_kinds_apart_by_a_bit_of_the_seed():
    for found in (
        evaluation_seeds(b"secret", "code", sweep=0, count=4000),
        dev_seeds(b"secret", "code", 4000),
    ):
        for bit in range(31):
            assert 0.45 < sum(seed >> bit & 1 for seed in found) / 4000 < 0.55


def test_secret_code_and_sweep_each_change_the_seeds():
    given = {"secret": b"a", "code_tree": "c", "sweep": 0}
    changes = [{}, {"secret": b"b"}, {"code_tree": "d"}, {"sweep": 1}]
    lists = [evaluation_seeds(**{**given, **change}, count=20) for change in changes]
    assert len({seed for one in lists for seed in one}) == 80
    assert evaluation_seeds(**given, count=20) == lists[0]
