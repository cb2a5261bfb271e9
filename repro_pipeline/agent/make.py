"""Come to an implementation: the given code as it is, or code that an agent writes."""

from __future__ import annotations

from repro_pipeline.agent.implement import implement
from repro_pipeline.agent.mode import mode_of
from repro_pipeline.agent.write import ROLES, Ground, write_code
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.frozen import digest
from repro_pipeline.stages import Ended, Stage


def make_implementation(stage: Stage, ground: Ground) -> Implementation | Ended:
    """The frozen code of a paper, by its mode."""
    if mode_of(stage.project, ground.bundle) == "agent":
        return write_code(stage, ground)
    return implement(stage, ground.bundle, ground.claims, ground.data, ground.environment)


def what_it_rests_on(stage: Stage, ground: Ground) -> dict:
    """What makes another implementation necessary: the inputs, and in mode `agent` the models too."""
    given = (ground.bundle, ground.claims, ground.data, ground.environment, ground.assumptions)
    mode = mode_of(stage.project, ground.bundle)
    rests = {"mode": mode, "inputs": [digest(one) for one in given]}
    if mode == "agent":
        models = {role: stage.project.chat.info(role).name for role in ROLES}
        rests |= {"paper": digest(ground.paper), "models": models}
    return rests
