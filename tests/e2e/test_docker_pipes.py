"""A step in a container of a real engine: what it reports reaches Dagster, and its policy holds."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from repro_pipeline.sandbox.policy import Limits, SandboxPolicy
from resources.docker_pipes import SandboxedPipesClient
from resources.docker_runner import DockerRunner
from tests.docker_engine import Engine

STEP = """
import os, socket
from dagster_pipes import open_dagster_pipes
with open_dagster_pipes() as pipes:
    pipes.log.info("at work")
    print("\\x1b[2Jplain output")
    reached = True
    try:
        socket.create_connection(("192.0.2.1", 80), 1)
    except OSError:
        reached = False
    open("/out/model", "w").write("weights")
    pipes.report_asset_materialization(metadata={
        "accuracy": 0.75, "by": pipes.get_extra("by"), "network": reached, "user": os.getuid(),
    })
"""


@pytest.fixture
def steps(docker_engine: Engine) -> SandboxedPipesClient:
    return SandboxedPipesClient(DockerRunner(host=docker_engine.host, image=docker_engine.image))


def materialized(
    steps: SandboxedPipesClient, code: Path, out: Path | None = None, **limits: float
) -> dg.ExecuteInProcessResult:
    @dg.asset(required_resource_keys={"steps"})
    def trained(context):
        done = context.resources.steps.run(
            context=context,
            policy=SandboxPolicy(limits=Limits(**{"wall_clock": 60, **limits})),
            command=["python3", "step.py"],
            work=code,
            out=out,
            extras={"by": "a test"},
        )
        return done.get_materialize_result()

    return dg.materialize([trained], resources={"steps": steps}, raise_on_error=False)


def test_metrics_of_a_step_reach_dagster(steps, docker_engine, tmp_path: Path, capfd):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "step.py").write_text(STEP)
    done = materialized(steps, tmp_path / "code", tmp_path / "out")
    assert done.success
    [made] = done.asset_materializations_for_node("trained")
    found = {name: value.value for name, value in made.metadata.items()}
    assert (found["accuracy"], found["by"], found["network"]) == (0.75, "a test", False)
    assert found["user"] != 0
    assert (tmp_path / "out" / "model").read_text() == "weights"
    shown = capfd.readouterr()
    assert "plain output" in shown.out and "\x1b[2J" not in shown.out
    assert docker_engine.containers() == set()


@pytest.mark.parametrize(
    ("program", "limits", "sentence"),
    [
        ("raise SystemExit(3)", {}, "exit status 3"),
        ("import time; time.sleep(60)", {"wall_clock": 1}, "longer than its 1 s"),
    ],
)
def test_a_step_that_fails_or_passes_a_limit_fails_the_asset(
    steps, docker_engine, tmp_path: Path, program: str, limits: dict, sentence: str
):
    (tmp_path / "step.py").write_text(program)
    done = materialized(steps, tmp_path, **limits)
    assert not done.success
    [failure] = [event for event in done.all_events if event.is_step_failure]
    assert sentence in str(failure.event_specific_data.error_display_string)
    assert docker_engine.containers() == set()
