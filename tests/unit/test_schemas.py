"""The published JSON schemas are sound, and say the same of a file as the models do."""

import copy
import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from repro_pipeline.cli import main
from repro_pipeline.schemas import FILES, json_schema

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "random-forests-2001"
TEMPLATES = ROOT / "repro_pipeline" / "templates"
SAMPLES = {
    "task.yaml": EXAMPLE / "task.yaml",
    "experiment.yaml": EXAMPLE / "code" / "experiment.yaml",
    "rubric.yaml": TEMPLATES / "rubric.yaml",
    "repro.yaml": TEMPLATES / "repro.yaml",
}
METRICS = {"metrics": [{"claim": "twonorm-selection", "value": 3.9}], "notes": ""}


def validator(name):
    return Draft202012Validator(json_schema(name))


def sample(name):
    if name == "metrics.json":
        return copy.deepcopy(METRICS)
    return yaml.safe_load(SAMPLES[name].read_text(encoding="utf-8"))


def mappings(value, place=()):
    """Every mapping in a value, with its place; settings of configurations are free."""
    if isinstance(value, dict):
        yield place, value
        for key, item in value.items():
            if key not in {"change", "config"}:
                yield from mappings(item, (*place, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from mappings(item, (*place, number))


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_a_valid_schema_that_other_tools_can_read(name):
    schema = json_schema(name)
    Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", [*SAMPLES, "metrics.json"])
def test_a_schema_accepts_the_files_of_the_project(name):
    validator(name).validate(sample(name))


@pytest.mark.parametrize("name", [*SAMPLES, "metrics.json"])
def test_a_schema_refuses_an_unknown_key_in_every_mapping(name):
    places = [place for place, _ in mappings(sample(name))]
    assert places
    check = validator(name)
    for place in places:
        broken = sample(name)
        inner = broken
        for part in place:
            inner = inner[part]
        inner["no_such_key"] = 1
        assert not check.is_valid(broken), place


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("task.yaml", {"schema": 2}),
        ("task.yaml", {"seeds": []}),
        ("task.yaml", {"budget": {"wall_clock": "soon"}}),
        ("task.yaml", {"budget": {"wall_clock": 0}}),
        (
            "task.yaml",
            {"claims": [{"id": "Not_A_Slug", "metric": "m", "reported": {"quote": "abc"}}]},
        ),
        ("task.yaml", {"claims": [{"id": "a", "metric": "m", "reported": {"table": "T"}}]}),
        ("repro.yaml", {"limits": {"memory": "4GB"}}),
        ("repro.yaml", {"limits": {"memory": 1.5}}),
        ("repro.yaml", {"runner": "podman"}),
        ("experiment.yaml", {"entry": []}),
        ("metrics.json", {"metrics": [{"claim": "a", "value": "3.9"}]}),
    ],
)
def test_a_schema_refuses_a_wrong_value(name, change):
    with pytest.raises(ValidationError):
        validator(name).validate({**sample(name), **change})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("task.yaml", {"budget": {"wall_clock": 7200}}),
        ("task.yaml", {"budget": {"wall_clock": "1.5h"}}),
        ("task.yaml", {"claims": [{"id": "a", "metric": "m", "reported": {"quote": "is 3.9"}}]}),
        (
            "task.yaml",
            {
                "claims": [
                    {
                        "id": "a",
                        "metric": "m",
                        "reported": {"table": {"index": 2}, "row": ["x", "y"], "column": ["z"]},
                    },
                    {"id": "b", "metric": "m", "reported": {"value": None, "source": "a person"}},
                ],
                "outputs": [{"claim": "a", "file": "stdout", "json": "$.x"}],
                "ablations": [],
                "comparisons": [],
                "assumptions": [],
            },
        ),
        ("repro.yaml", {"limits": {"memory": "4 GiB", "wall_clock": 60}}),
    ],
)
def test_a_schema_accepts_every_way_of_saying_it(name, change):
    validator(name).validate({**sample(name), **change})


def test_a_name_that_is_none_is_met_by_the_nearest(capsys):
    with pytest.raises(SystemExit):
        main(["schema", "task.yml"])
    assert "Did you mean 'task.yaml'?" in capsys.readouterr().err
    assert main(["schema", "task.yaml"]) == 0
