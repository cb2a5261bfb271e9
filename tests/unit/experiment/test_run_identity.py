"""A run is the same run if and only if all that could change its outcome is the same."""

import pytest
from experiment_cases import CONFIG, task
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from repro_pipeline.experiment.runs import plan_runs
from repro_pipeline.experiment.spec import Experiment, RunIdentity
from repro_pipeline.ledger.runs import Purpose

IDENTITY = RunIdentity(
    code_tree="a" * 64,
    command=("python", "run.py"),
    config=CONFIG,
    seed=1,
    environment="b" * 64,
    data_manifest="c" * 64,
    reads="e" * 64,
    purpose=Purpose.EVAL,
)
CHANGES = {
    "code_tree": "d" * 64,
    "command": ("python", "run.py", "-v"),
    "config": {**CONFIG, "n_trees": 99},
    "seed": 2,
    "environment": "d" * 64,
    "data_manifest": "d" * 64,
    "reads": "d" * 64,
    "purpose": Purpose.PARITY,
    "repeat": 1,
}


def changed(**change):
    return IDENTITY.model_copy(update=change).run_key


def test_every_field_is_a_part_of_the_run_key():
    assert set(CHANGES) == set(RunIdentity.model_fields)
    keys = [changed(**{name: value}) for name, value in CHANGES.items()]
    assert len({IDENTITY.run_key, *keys}) == len(CHANGES) + 1


@pytest.mark.parametrize(
    "change",
    [
        {"seed": None},
        {"seed": 0},
        {"command": ("run.py", "python")},
        {"command": ("python run.py",)},
        {"config": {**CONFIG, "bootstrap": 1}},
        {"config": {**CONFIG, "n_trees": "100"}},
        {"config": {**CONFIG, "optimiser": {"name": "sgd", "rate": {"start": 0.1, "decay": 0.25}}}},
        {"config": {key: value for key, value in CONFIG.items() if key != "max_depth"}},
        {"purpose": Purpose.SWEEP},
    ],
)
def test_a_small_change_counts(change):
    assert changed(**change) != IDENTITY.run_key


def test_an_absent_seed_is_not_seed_zero():
    assert changed(seed=None) != changed(seed=0)


def test_the_order_of_settings_does_not_count():
    backwards = dict(reversed(CONFIG.items()))
    assert list(backwards) != list(CONFIG)
    assert changed(config=backwards) == IDENTITY.run_key
    again = RunIdentity.model_validate_json(IDENTITY.model_dump_json())
    assert again.run_key == IDENTITY.run_key


def test_the_run_key_is_this_one_for_ever():
    """What the ledger holds is found again: a new way of making keys would run everything anew."""
    identity = RunIdentity(
        code_tree="0" * 64,
        command=("python",),
        config={"b": [1, 2.5], "a": None},
        seed=3,
        environment="1" * 64,
        data_manifest="2" * 64,
        reads="3" * 64,
        purpose=Purpose.EVAL,
    )
    assert identity.run_key == RUN_KEY


RUN_KEY = "7fbc93e7640836950a2b905dc18e39674d3ba6d79fe9de5e0d7cb896cb64ca9c"


@given(
    st.dictionaries(st.text(), st.integers() | st.text()), st.dictionaries(st.text(), st.integers())
)
def test_different_configurations_have_different_keys(one, other):
    try:
        keys = (changed(config=one), changed(config=other))
    except UnicodeEncodeError:
        return
    assert (keys[0] == keys[1]) == (one == other)


def test_a_digest_that_is_none_is_refused():
    with pytest.raises(ValidationError, match="code_tree"):
        RunIdentity(**{**IDENTITY.model_dump(), "code_tree": "x"})


# --- planning -----------------------------------------------------------------------------------

MAPPED = (
    "outputs:\n  - {claim: a, file: stdout, regex: x}\n  - {claim: b, file: stdout, regex: y}\n"
)


def planned(experiments, *, outputs="", seeds=(1, 2), purpose=Purpose.EVAL):
    return plan_runs(
        experiments,
        seeds,
        purpose,
        code_tree="a" * 64,
        command=("python", "run.py"),
        environment="b" * 64,
        data_manifest="c" * 64,
        outputs=task(outputs).outputs,
    )


def experiment(name, *claims, **config):
    return Experiment(id=name, kind="baseline", claims=claims, config=config, timeout=60)


def keys(runs):
    return [run.identity.run_key for run in runs]


def test_every_experiment_is_planned_with_every_seed():
    runs = planned([experiment("x", "a"), experiment("y", "b", n=2)])
    assert [(run.experiment.id, run.identity.seed) for run in runs] == [
        ("x", 1),
        ("x", 2),
        ("y", 1),
        ("y", 2),
    ]
    assert runs[2].identity.config == {"n": 2}
    assert len(set(keys(runs))) == 4


def test_experiments_of_one_configuration_for_different_claims_are_different_runs():
    """As baselines that differ only in what the small first run makes equal."""
    runs = planned([experiment("x", "a"), experiment("y", "b")], seeds=(1,))
    assert len(set(keys(runs))) == 2


def test_a_mended_mapping_makes_the_run_a_new_one_and_an_unrelated_mapping_does_not():
    first = keys(planned([experiment("x", "a")], outputs=MAPPED))
    assert (
        keys(planned([experiment("x", "a")], outputs=MAPPED.replace("regex: x", "regex: z")))
        != first
    )
    assert (
        keys(planned([experiment("x", "a")], outputs=MAPPED.replace("regex: y", "regex: z")))
        == first
    )


def test_the_name_and_the_limit_of_an_experiment_do_not_count():
    one = experiment("x", "a", n=1)
    other = one.model_copy(update={"id": "y", "timeout": 5.0})
    assert keys(planned([one])) == keys(planned([other]))
