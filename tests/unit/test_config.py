"""`repro.yaml`: its defaults are those that the template and the page name; mistakes are told."""

from pathlib import Path

import pytest

from repro_pipeline.config import CONFIG_NAME, ProjectConfig, find_project
from repro_pipeline.errors import FileFormatError
from repro_pipeline.yamlfile import load_model, parse_model

TEMPLATE = Path(__file__).resolve().parents[2] / "repro_pipeline" / "templates" / CONFIG_NAME


def config(text):
    return parse_model(text, ProjectConfig, name=CONFIG_NAME)


def test_the_template_says_what_the_defaults_are():
    assert load_model(TEMPLATE, ProjectConfig) == ProjectConfig()


def test_quantities_and_roles_are_read():
    found = config(
        "limits: {wall_clock: 90m, memory: 512MiB, cpus: 2}\n"
        "budget: {usd: 5, wall_clock: 2d}\n"
        "models: {coder: {model: some/model, temperature: 1}}\n"
        "send_to_models: {code: false}\n"
    )
    assert (found.limits.wall_clock, found.limits.memory, found.limits.cpus) == (5400, 512 << 20, 2)
    assert (found.budget.usd, found.budget.wall_clock) == (5, 172800)
    assert found.models.coder.model == "some/model"
    assert found.models.planner is None
    assert (found.send_to_models.code, found.send_to_models.paper) == (False, True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "runner: podman",
            "runner: must be 'bubblewrap', 'docker' or 'unsafe_local', not the text 'podman'.",
        ),
        ("seeds: 0", "seeds: must be greater than or equal to 1, not the number 0."),
        ("seeds: 1001", "seeds: must be less than or equal to 1000, not the number 1001."),
        ("workers: 0", "workers: must be greater than or equal to 1, not the number 0."),
        ("schema: 2", "schema: must be 1, not the number 2."),
        ("schema: '1'", "schema: must be 1, not the text '1'."),
        ("store: 5", "store: must be a text, not the number 5. Write it in quotes: '5'."),
        (
            "limits: {memory: 4GB}",
            "limits.memory: '4GB' is not understood; write it as 512MiB or 4GiB.",
        ),
        (
            "limits: {wall_clock: 0}",
            "limits.wall_clock: must be greater than 0, not the number 0.",
        ),
        (
            "models: {coder: some/model}",
            "models.coder: must be a mapping, not the text 'some/model'.",
        ),
        ("runer: bubblewrap", "unknown key 'runer'. Did you mean 'runner'?"),
    ],
)
def test_a_mistake_is_told_with_its_line(text, sentence):
    with pytest.raises(FileFormatError) as error:
        config(f"# mine\n{text}\n")
    assert str(error.value) == f"repro.yaml:2: {sentence}"


def test_the_nearest_project_above_is_found(tmp_path):
    outer, inner = tmp_path / "outer", tmp_path / "outer" / "papers" / "inner"
    deep = inner / "papers" / "x"
    deep.mkdir(parents=True)
    assert find_project(deep) is None
    (outer / CONFIG_NAME).write_text("schema: 1\n")
    assert find_project(deep) == outer
    (inner / CONFIG_NAME).mkdir()
    assert find_project(deep) == outer
    (inner / CONFIG_NAME).rmdir()
    (inner / CONFIG_NAME).write_text("schema: 1\n")
    assert find_project(deep) == inner
    assert find_project(inner) == inner
