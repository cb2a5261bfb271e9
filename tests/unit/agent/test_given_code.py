"""Given code is frozen with what it offers; code that does not say how it is run is refused."""

from pathlib import Path

import pytest

from repro_pipeline.agent.given_code import (
    NoImplementer,
    check_sensitivity,
    code_folder,
    freeze_code,
)
from repro_pipeline.bundle.folder import open_bundle
from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.errors import BundleError, FileFormatError
from repro_pipeline.paper.address import StatedValue
from resources.artifact_store import FsspecArtifactStore

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "random-forests-2001"
TASK = """\
claims:
  - {id: a, metric: error, reported: {value: 1, quantum: 0.1, source: x}}
  - {id: b, metric: error, reported: {value: 2, quantum: 0.1, source: x}}
"""
SPEC = """\
entry: [python, run.py]
experiments:
  - {id: base, claims: [a], config: config.json}
"""
SENSITIVITY = """\
  - id: other
    kind: sensitivity
    of: base
    assumption: rate
    claims: [a]
    change: {rate: 0.2}
"""
ASSUMPTION = """\
assumptions:
  - {id: rate, topic: training, statement: s, source: {kind: human}, sensitivity: other}
"""
OUTPUTS = "outputs:\n  - {claim: a, file: stdout, regex: 'error (.*)'}\n"


@pytest.fixture
def store(tmp_path):
    return FsspecArtifactStore(str(tmp_path / "store"))


def claims_of(task):
    stated = StatedValue(value=1, quantum=0.1, source="x")
    claims = tuple(
        Claim(id=c.id, metric="error", value=1, quantum=0.1, address=stated) for c in task.claims
    )
    return ReportedClaims(claims=claims, main=claims[0].id, proposed_by="task.yaml")


def write(folder, *, task=TASK, spec=SPEC):
    code = folder / "code"
    code.mkdir(parents=True, exist_ok=True)
    (folder / "paper.md").write_text("# x\n")
    (folder / "task.yaml").write_text(task)
    (code / "run.py").write_text("print('error 1.0')\n")
    (code / "config.json").write_text('{"rate": 0.1}')
    if spec:
        (code / "experiment.yaml").write_text(spec)
    return folder


def freeze(folder, store):
    bundle = open_bundle(folder)
    code = code_folder(bundle, folder)
    made = freeze_code(bundle, code, claims_of(bundle.task), store)
    check_sensitivity(bundle.task, made.experiments)
    return made


def refused(folder, store, kind=BundleError):
    with pytest.raises(kind) as error:
        freeze(folder, store)
    return str(error.value).replace(str(folder), "BUNDLE")


def test_the_example_is_frozen_with_all_its_experiments(store):
    made = freeze(EXAMPLE, store)
    assert (made.mode, made.seeded, made.uncovered, made.outputs) == ("code", True, (), ())
    assert made.command == ("python", "experiment.py")
    assert len(made.experiments) == 7
    assert made.sample["n_draws"] == 1


def test_the_code_is_kept_whole_and_its_hash_is_its_content(tmp_path, store):
    folder = write(tmp_path / "x")
    made = freeze(folder, store)
    store.get_tree(made.code_tree, tmp_path / "again")
    assert (tmp_path / "again" / "run.py").read_text() == "print('error 1.0')\n"
    assert freeze(folder, store) == made
    (folder / "code" / "run.py").write_text("print('error 2.0')\n")
    assert freeze(folder, store).code_tree != made.code_tree


def test_a_sensitivity_experiment_measures_the_claims_of_its_base(tmp_path, store):
    named = freeze(write(tmp_path / "x", task=TASK + ASSUMPTION, spec=SPEC + SENSITIVITY), store)
    lines = SENSITIVITY.splitlines(keepends=True)
    silent = SPEC + "".join(line for line in lines if "claims:" not in line)
    assert silent != SPEC + SENSITIVITY
    made = freeze(write(tmp_path / "y", task=TASK + ASSUMPTION, spec=silent), store)
    base, other = made.experiments[0], made.experiments[-1]
    assert other.claims == base.claims == named.experiments[0].claims


def test_claims_that_only_a_sensitivity_experiment_covers_are_uncovered(tmp_path, store):
    made = freeze(write(tmp_path / "x"), store)
    assert made.uncovered == ("b",)
    spec = SPEC + SENSITIVITY.replace("[a]", "[a, b]")
    made = freeze(write(tmp_path / "x", task=TASK + ASSUMPTION, spec=spec), store)
    assert made.uncovered == ("b",)


@pytest.mark.parametrize(
    ("entry", "script"),
    [
        ("[python, rnu.py]", "rnu.py"),
        ("[python3.11, -u, sub/run.py]", "sub/run.py"),
        ("[bash, run.sh]", "run.sh"),
        ("[python, -m, run.py]", None),
        ("[python, -c, print()]", None),
        ("[python, run.py, other.py]", None),
        ("[tool, other.py]", None),
        ("[python, '" + "x" * 300 + ".py']", "x" * 300 + ".py"),
    ],
)
def test_a_script_that_is_not_there_is_told_before_any_run(tmp_path, store, entry, script):
    folder = write(tmp_path / "x", spec=SPEC.replace("[python, run.py]", entry))
    if script is None:
        freeze(folder, store)
        return
    told = refused(folder, store, FileFormatError)
    where = f"BUNDLE/code/experiment.yaml: entry: starts '{script}', which the code folder does not"
    assert told.startswith(where) and ("Did you mean 'run.py'?" in told) is (
        len(script) < 12 and "py" in script
    )


# --- a command as it is -------------------------------------------------------------------------


def command(words, more=""):
    return f"{TASK}{OUTPUTS}code: {{path: code, command: {words}}}\n{more}"


def test_a_command_with_a_place_for_the_seed_is_seeded(tmp_path, store):
    task = command("[python, run.py, '--seed={seed}']")
    made = freeze(write(tmp_path / "x", task=task, spec=""), store)
    assert (made.seeded, made.command) == (True, ("python", "run.py", "--seed={seed}"))
    assert [experiment.claims for experiment in made.experiments] == [("a",)]
    assert (made.uncovered, len(made.outputs)) == (("b",), 1)


def test_a_command_without_one_is_not(tmp_path, store):
    task = command("[python, run.py]")
    assert freeze(write(tmp_path / "x", task=task, spec=""), store).seeded is False


@pytest.mark.parametrize(
    ("words", "data", "told"),
    [
        (
            "[python, run.py, '{sede}']",
            0,
            "task.yaml: code.command: names the place '{sede}', and the task has 0 input files. "
            "The places are: {config}, {seed}, {out}.",
        ),
        (
            "[python, run.py, '--o={ouput}']",
            0,
            "task.yaml: code.command: names the place '{ouput}', and the task has 0 input files. "
            "The places are: {config}, {seed}, {out}.",
        ),
        (
            "[python, run.py, '{data}']",
            0,
            "task.yaml: code.command: names the place '{data}', and the task has 0 input files. "
            "The places are: {config}, {seed}, {out}.",
        ),
        (
            "[python, run.py, '{data}']",
            2,
            "task.yaml: code.command: names the place '{data}', and the task has 2 input files. "
            "The places are: {config}, {seed}, {out}, {data.d0}, {data.d1}.",
        ),
        (
            "[python, run.py, '{data.d7}']",
            1,
            "task.yaml: code.command: names the place '{data.d7}', and the task has 1 input files. "
            "The places are: {config}, {seed}, {out}, {data.d0}, {data}.",
        ),
    ],
)
def test_a_place_that_no_run_would_fill_in_is_refused(tmp_path, store, words, data, told):
    given = "data:\n" + "".join(f"  - {{name: d{n}, path: d{n}.csv}}\n" for n in range(data))
    task = command(words, given if data else "")
    assert refused(write(tmp_path / "x", task=task, spec=""), store) == told


@pytest.mark.parametrize(
    ("words", "data"),
    [
        ("[python, run.py, '{data}', '{seed}']", 1),
        ("[python, run.py, '{data.d0}', '{data.d1}']", 2),
        ("[awk, '{print}']", 0),
        ("[python, run.py, '{\"a\": 1}']", 0),
    ],
)
def test_places_and_other_words_in_braces_are_left_alone(tmp_path, store, words, data):
    given = "data:\n" + "".join(f"  - {{name: d{n}, path: d{n}.csv}}\n" for n in range(data))
    task = command(words, given if data else "")
    freeze(write(tmp_path / "x", task=task, spec=""), store)


@pytest.mark.parametrize(
    ("task", "spec", "told"),
    [
        (
            TASK,
            "",
            "BUNDLE/code: the code has no experiment.yaml, and task.yaml gives no "
            "`code: {command: [...]}`. Say how one run is started.",
        ),
        (
            command("[python, run.py]"),
            SPEC,
            "task.yaml: code.command, outputs: says how the code is run and read, but the code "
            "has an experiment.yaml that does. Take one of them away.",
        ),
        (
            TASK + OUTPUTS,
            SPEC,
            "task.yaml: code.command, outputs: says how the code is run and read, but the code "
            "has an experiment.yaml that does. Take one of them away.",
        ),
        (
            TASK,
            SPEC + SENSITIVITY,
            "experiment.yaml: experiment other: tests the assumption 'rate', which task.yaml does "
            "not name. It names: none.",
        ),
        (
            TASK + ASSUMPTION,
            SPEC,
            "task.yaml: assumption rate: names the experiment 'other', which is no sensitivity "
            "experiment of the code. There are: none.",
        ),
        (
            TASK + ASSUMPTION.replace("sensitivity: other", "sensitivity: base"),
            SPEC + SENSITIVITY,
            "task.yaml: assumption rate: names the experiment 'base', which is no sensitivity "
            "experiment of the code. There are: other.",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path, store, task, spec, told):
    assert refused(write(tmp_path / "x", task=task, spec=spec), store) == told


def test_a_command_whose_output_is_not_mapped_is_refused(tmp_path, store):
    task = command("[python, run.py]").replace(OUTPUTS, "")
    told = refused(write(tmp_path / "x", task=task, spec=""), store, FileFormatError)
    assert "no `outputs` that map its output to claims" in told


# --- no code ------------------------------------------------------------------------------------


def test_without_code_it_is_said_what_would_write_it(tmp_path):
    folder = write(tmp_path / "x")
    for path in (folder / "code").iterdir():
        path.unlink()
    (folder / "code").rmdir()
    with pytest.raises(NoImplementer) as error:
        code_folder(open_bundle(folder), folder)
    assert "holds no code, and no coder model is configured." in str(error.value)
    assert "models: {coder: {model: …}}" in str(error.value)


def test_the_code_may_stand_elsewhere_in_the_bundle(tmp_path):
    folder = write(tmp_path / "x", task=TASK + "code: {path: src}\n")
    (folder / "code").rename(folder / "src")
    assert code_folder(open_bundle(folder), folder) == folder / "src"
