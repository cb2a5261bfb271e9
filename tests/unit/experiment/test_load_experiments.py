"""`experiment.yaml` becomes experiments with whole configurations, or a sentence that says why not."""

import copy
import json

import pytest
from experiment_cases import CONFIG, claims, task, write_code
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.errors import FileFormatError
from repro_pipeline.experiment.load import (
    change_config,
    experiment_of_command,
    load_experiments,
    sample_config,
)
from repro_pipeline.ledger.runs import ExperimentKind

BASE = "  - {id: base, claims: [a], config: config.json}\n"
ABLATION = "  - {id: less, kind: ablation, of: base, claims: [b], change: {n_trees: 50}}\n"


def refused(code):
    with pytest.raises(FileFormatError) as error:
        load_experiments(code, claims("a", "b"))
    return str(error.value).replace(str(code), "CODE")


def test_an_ablation_is_the_base_with_one_setting_changed(tmp_path):
    spec, (base, less) = load_experiments(write_code(tmp_path, BASE + ABLATION), claims("a", "b"))
    assert spec.entry == ("python", "run.py")
    assert (base.kind, base.config, base.change) == (ExperimentKind.BASELINE, CONFIG, None)
    assert less.config == {**CONFIG, "n_trees": 50}
    assert (less.kind, less.of, less.change) == (ExperimentKind.ABLATION, "base", {"n_trees": 50})
    assert (base.claims, less.claims, less.timeout) == (("a",), ("b",), 3600)


def test_an_ablation_may_also_name_a_file_of_what_its_change_makes(tmp_path):
    code = write_code(tmp_path, BASE + ABLATION.replace("of: base", "of: base, config: less.json"))
    beside = code / "less.json"
    beside.write_text(json.dumps({**CONFIG, "n_trees": 50}))
    _, (_, less) = load_experiments(code, claims("a", "b"))
    assert less.config == {**CONFIG, "n_trees": 50}

    for other in ({**CONFIG, "n_trees": 51}, {**CONFIG, "n_trees": 50, "depth": 3}):
        beside.write_text(json.dumps(other))
        named = "depth" if "depth" in other else "n_trees"
        assert refused(code) == (
            "CODE/experiment.yaml: experiment less: 'less.json' and the change of 'base' differ in: "
            f"{named}. Leave `config` away, or make the file what the change makes."
        )
    beside.write_text(json.dumps({**CONFIG, "n_trees": 50.0}))  # another value to Python's json
    assert "n_trees" in refused(code)
    beside.write_text(json.dumps({"n_trees": 50}))  # all else is missing
    assert "optimiser" in refused(code)


@pytest.mark.parametrize(
    ("experiments", "sentence"),
    [
        (
            "  - {id: x, claims: [c], config: config.json}\n",
            "CODE/experiment.yaml: experiment x covers the claim 'c', which the task does not name. "
            "Claims: a, b.",
        ),
        (
            BASE + "  - {id: y, claims: [b, a], config: config.json}\n",
            "CODE/experiment.yaml: the claim 'a' is covered by base and by y. One experiment must "
            "supply each claim, so that no value can be chosen.",
        ),
        (
            BASE + ABLATION.replace("[b]", "[a]"),
            "CODE/experiment.yaml: the claim 'a' is covered by base and by less. One experiment "
            "must supply each claim, so that no value can be chosen.",
        ),
        (
            BASE + ABLATION.replace("n_trees: 50", "n_tree: 50"),
            "CODE/experiment.yaml: experiment less: changes 'n_tree', which its base configuration "
            "does not hold. Did you mean 'n_trees'?",
        ),
        (
            BASE + ABLATION.replace("n_trees: 50", "optimiser.rate.strat: 5"),
            "CODE/experiment.yaml: experiment less: changes 'optimiser.rate.strat', which its base "
            "configuration does not hold. Did you mean 'start'?",
        ),
        (
            BASE + ABLATION.replace("n_trees: 50", "optimiser.rate.xyz: 5"),
            "CODE/experiment.yaml: experiment less: changes 'optimiser.rate.xyz', which its base "
            "configuration does not hold. It holds there: decay, start.",
        ),
        (
            BASE + ABLATION.replace("n_trees: 50", "n_trees.x: 5"),
            "CODE/experiment.yaml: experiment less: changes 'n_trees.x', which its base "
            "configuration does not hold. It holds there: nothing.",
        ),
        (
            BASE + ABLATION.replace("n_trees: 50", "n_trees: 100"),
            "CODE/experiment.yaml: experiment less: changes 'n_trees' to 100, which it already is. "
            "An experiment of this kind must differ from its base.",
        ),
        (
            BASE + ABLATION.replace("n_trees: 50", "optimiser: {name: adam}"),
            "CODE/experiment.yaml: experiment less: changes 'optimiser', which is a group of "
            "settings. Name one of them, as optimiser.name.",
        ),
        (
            BASE + ABLATION.replace("n_trees: 50", "n_trees: 50, criterion: x"),
            "CODE/experiment.yaml:5: experiments[1].change: less: `kind: ablation` changes one "
            "factor, not n_trees, criterion.",
        ),
        (
            BASE + ABLATION.replace("n_trees: 50", ""),
            "CODE/experiment.yaml:5: experiments[1].change: must not be empty.",
        ),
        (
            BASE + ABLATION.replace("of: base", "of: bass"),
            "CODE/experiment.yaml:5: experiments[1].of: 'bass' is not among: base, less.",
        ),
        (
            BASE + ABLATION + ABLATION.replace("less", "lesser").replace("of: base", "of: less"),
            "CODE/experiment.yaml:6: experiments[2].of: 'less' is itself a change of 'base'.",
        ),
        (
            BASE + "  - {id: base, claims: [b], config: config.json}\n",
            "CODE/experiment.yaml:5: experiments[1].id: 'base' stands twice.",
        ),
        (
            "  - {id: x, claims: [a]}\n",
            "CODE/experiment.yaml:4: experiments[0]: x: needs `config`, or `of` with `change`.",
        ),
        (
            BASE + "  - {id: x, claims: [b], of: base}\n",
            "CODE/experiment.yaml:5: experiments[1]: x: `of` and `change` go together.",
        ),
        (
            BASE + "  - {id: x, kind: ablation, claims: [b], config: config.json}\n",
            "CODE/experiment.yaml:5: experiments[1]: x: `kind: ablation` needs `of` and `change`.",
        ),
        (
            BASE.replace("claims: [a]", "claims: [a], assumption: z"),
            "CODE/experiment.yaml:4: experiments[0].assumption: base: `assumption` belongs to "
            "`kind: sensitivity`.",
        ),
        (
            BASE.replace("config.json", "../config.json"),
            "CODE/experiment.yaml: the configuration '../config.json' leaves the code folder.",
        ),
        (
            BASE.replace("config.json", "/etc/hostname"),
            "CODE/experiment.yaml: the configuration '/etc/hostname' leaves the code folder.",
        ),
        (
            BASE.replace("config.json", '"a\\0b"'),
            "CODE/experiment.yaml: the configuration 'a\0b' leaves the code folder.",
        ),
        (
            BASE.replace("config.json", "conf.json"),
            "CODE/experiment.yaml: the configuration 'conf.json' does not exist.",
        ),
        (BASE.replace("config.json", "."), "CODE: cannot be read: Is a directory."),
    ],
)
def test_an_experiment_that_cannot_be_meant_is_refused(tmp_path, experiments, sentence):
    assert refused(write_code(tmp_path, experiments)) == sentence


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ('{"a": NaN}', "CODE/config.json: holds NaN, which is no finite number."),
        ('{"a": -Infinity}', "CODE/config.json: holds -Infinity, which is no finite number."),
        ('{"a": 1e400}', "CODE/config.json: holds 1e400, which is no finite number."),
        (
            '{\n"a": 1\n"b": 2}',
            "CODE/config.json:3: is no valid JSON: Expecting ',' delimiter.",
        ),
        ('{"a": 1, "a": 2}', "CODE/config.json: is no usable JSON: the key 'a' stands twice."),
        ("[1]", "CODE/config.json: must be a mapping of settings."),
        ("", "CODE/config.json:1: is no valid JSON: Expecting value."),
        ("[" * 100_000, "CODE/config.json: is no usable JSON: it is nested too deeply."),
    ],
)
def test_a_configuration_that_is_no_sound_json_is_refused(tmp_path, config, sentence):
    assert refused(write_code(tmp_path, BASE, config=config)) == sentence


def test_a_configuration_that_is_not_utf8_or_a_link_out_is_refused(tmp_path):
    code = write_code(tmp_path / "code", BASE)
    (code / "config.json").write_bytes(b'{"a": "\xff"}')
    assert refused(code) == "CODE/config.json: is not UTF-8."
    (code / "config.json").unlink()
    (tmp_path / "other.json").write_text("{}")
    (code / "config.json").symlink_to("../other.json")
    assert "leaves the code folder" in refused(code)


def test_a_change_of_nan_never_becomes_a_setting(tmp_path):
    code = write_code(tmp_path, BASE + ABLATION.replace("50", ".nan"))
    assert refused(code) == (
        "CODE/experiment.yaml:5: .nan is no finite number. If it is a text, put it in quotes."
    )


def test_a_change_to_no_is_not_guessed_at(tmp_path):
    """A text 'no' would be true in most programs: the ablation would silently be its base."""
    change = ABLATION.replace("n_trees: 50", "bootstrap: no")
    assert "the bare word no may mean" in refused(write_code(tmp_path, BASE + change))
    code = write_code(tmp_path, BASE + change.replace(": no}", ": false}"))
    assert load_experiments(code, claims("a", "b"))[1][1].config["bootstrap"] is False


def test_a_change_in_scientific_notation_is_a_number(tmp_path):
    change = ABLATION.replace("n_trees: 50", "optimiser.rate.start: 1e-3")
    (_, less) = load_experiments(write_code(tmp_path, BASE + change), claims("a", "b"))[1]
    assert less.config["optimiser"]["rate"] == {"start": 0.001, "decay": 0.5}


def test_a_sensitivity_experiment_may_cover_what_the_base_covers(tmp_path):
    more = "  - {id: s, kind: sensitivity, of: base, claims: [a], change: {max_depth: 3}}\n"
    (_, found) = load_experiments(write_code(tmp_path, BASE + more), claims("a", "b"))[1]
    assert found.config["max_depth"] == 3


def test_two_experiments_that_would_be_one_run_are_refused(tmp_path):
    more = "  - {id: s, kind: sensitivity, of: base, claims: [a], change: {max_depth: 3}}\n"
    assert refused(write_code(tmp_path, BASE + more + more.replace("id: s", "id: t"))) == (
        "CODE/experiment.yaml: s and t have the same configuration and claims. "
        "Take one of them away."
    )


@pytest.mark.parametrize("entry", ['[run, "{out}"]', '[run, "--s={seed}"]', '[run, "{config}"]'])
def test_an_entry_with_places_must_hold_all_of_them(tmp_path, entry):
    """Without its place a seed or a configuration would never reach the code."""
    code = write_code(tmp_path, BASE)
    path = code / "experiment.yaml"
    path.write_text(path.read_text().replace("[python, run.py]", entry))
    assert "entry: names some places, and so must name" in refused(code)
    path.write_text(path.read_text().replace(entry, '["{config}", "{seed}", "{out}"]'))
    load_experiments(code, claims("a", "b"))


# --- changing configurations --------------------------------------------------------------------


def test_a_change_leaves_the_base_as_it_is():
    base = copy.deepcopy(CONFIG)
    changed = change_config(base, {"optimiser.rate.start": 0.2, "criterion": "entropy"}, where="x")
    assert base == CONFIG
    assert changed["optimiser"]["rate"] == {"start": 0.2, "decay": 0.5}
    assert changed["optimiser"]["rate"] is not base["optimiser"]["rate"]


def test_a_whole_name_with_a_dot_wins_over_its_parts():
    assert change_config(CONFIG, {"a.b": 2}, where="x")["a.b"] == 2


@given(
    st.dictionaries(st.text("xyz", min_size=1), st.integers(), min_size=1, max_size=5),
    st.data(),
    st.lists(st.text("uvw", min_size=1, max_size=3), max_size=3),
)
def test_a_change_of_one_setting_differs_in_that_setting_alone(flat, data, parents):
    config = flat
    for parent in reversed(parents):
        config = {parent: config, "other": 0}
    key = data.draw(st.sampled_from(sorted(flat)))
    name = ".".join([*parents, key])
    changed = change_config(config, {name: "new"}, where="x")
    for parent in parents:
        assert changed["other"] == config["other"]
        changed, config = changed[parent], config[parent]
    assert changed == {**config, key: "new"}


# --- the small first run ------------------------------------------------------------------------


def test_the_sample_changes_what_a_configuration_holds_and_adds_nothing_else():
    small = sample_config(CONFIG, {"n_trees": 5, "optimiser.rate.start": 1, "n_test": 3, "q.r": 1})
    assert small == {
        **CONFIG,
        "n_trees": 5,
        "optimiser": {"name": "sgd", "rate": {"start": 1, "decay": 0.5}},
        "sample": True,
    }
    assert CONFIG["n_trees"] == 100


def test_a_sample_setting_that_no_configuration_holds_is_refused(tmp_path):
    code = write_code(tmp_path, BASE, sample="sample: {config: {n_trees: 5, n_tset: 200}}\n")
    assert refused(code).startswith(
        "CODE/experiment.yaml: sample: no configuration holds the setting 'n_tset'. They hold there:"
    )


# --- a command as it is -------------------------------------------------------------------------


def test_a_command_is_one_experiment_that_covers_what_is_mapped():
    given = task("outputs:\n  - {claim: b, file: stdout, regex: x}\ncode: {timeout: 5m}\n")
    found = experiment_of_command(given, claims("a", "b"))
    assert (found.kind, found.claims, found.config) == (ExperimentKind.BASELINE, ("b",), {})
    assert found.timeout == 300


def test_a_command_without_outputs_is_refused():
    with pytest.raises(
        FileFormatError, match=r"task\.yaml: the code has a command but no `outputs`"
    ):
        experiment_of_command(task(""), claims("a", "b"))
