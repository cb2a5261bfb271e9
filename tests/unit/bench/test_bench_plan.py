"""Who is compared, under which conditions; and what cannot be mixed."""

from __future__ import annotations

import pytest

from repro_pipeline.bench.plan import Contestant, Plan, cast, judge_of, scoring_code
from repro_pipeline.bench.roster import contestants
from repro_pipeline.bundle.task import Budget
from repro_pipeline.config import Role, Roles
from repro_pipeline.errors import UserError
from repro_pipeline.sandbox.policy import Limits

KNOWN = Roles(
    coder=Role(model="openai/large", api_base="http://127.0.0.1:1/v1"),
    planner=Role(model="openai/small", temperature=None),
)


def plan(**changes) -> Plan:
    base = {
        "suite": "tiny",
        "suite_version": "1",
        "suite_content": "0" * 64,
        "tasks": ("one",),
        "contestants": (Contestant(name="trivial", agent="trivial"),),
        "repeats": 1,
        "budget": Budget(tokens=1000),
        "limits": Limits(),
        "seeds": 3,
        "packages": ("numpy",),
        "scoring_code": scoring_code(),
    }
    return Plan(**{**base, **changes})


def test_one_model_plays_all_roles_with_its_own_settings():
    made = cast("openai/small", KNOWN)
    assert made.of("coder").model == made.of("planner").model == "openai/small"
    assert made.coder.temperature is None


def test_models_by_role_and_an_unknown_one_at_the_coders_endpoint():
    made = cast("planner=openai/small,coder=openai/new", KNOWN)
    assert made.planner.model == "openai/small"
    assert made.coder.api_base == "http://127.0.0.1:1/v1"


@pytest.mark.parametrize("text", ["planner=openai/small", "poet=x,coder=y", "coder=y,z"])
def test_a_cast_that_cannot_work_is_refused(text):
    with pytest.raises(UserError):
        cast(text, KNOWN)


def test_one_judge_for_all_is_named_beside_the_casts():
    texts = ["openai/small", "judge=openai/new", "planner=openai/small,coder=y,judge=z"]
    judge, others = judge_of(texts, KNOWN)
    assert judge.model == "openai/new" and str(judge.api_base) == "http://127.0.0.1:1/v1"
    assert others == [texts[0], texts[2]]
    assert judge_of(["openai/small"], KNOWN) == (None, ["openai/small"])
    with pytest.raises(UserError, match="two judges"):
        judge_of(["judge=a", "judge=b"], KNOWN)
    with pytest.raises(UserError, match="judge differ"):
        plan(judge=judge).grown(plan())


def test_agents_times_models_but_a_command_stands_once():
    made = contestants(
        ["loop", "trivial", "mine=command:python agent.py"],
        ["openai/small", "openai/large"],
        KNOWN,
        {"openai/small": "2024-06"},
    )
    assert [one.name for one in made] == [
        "loop-openai-small",
        "loop-openai-large",
        "trivial",
        "mine",
    ]
    assert [one.cutoff for one in made] == ["2024-06", None, None, None]


@pytest.mark.parametrize("agent", ["lop", "command:", "x=lop"])
def test_an_unknown_agent_is_refused(agent):
    with pytest.raises(UserError):
        contestants([agent], [], KNOWN, {})


def test_a_loop_without_models_is_refused():
    with pytest.raises(UserError, match="none is named"):
        contestants(["loop"], [], Roles(), {})


def test_a_plan_can_grow():
    more = plan(tasks=("two",), repeats=3, contestants=(Contestant(name="new", agent="trivial"),))
    grown = plan().grown(more)
    assert (grown.tasks, grown.repeats) == (("one", "two"), 3)
    assert [one.name for one in grown.contestants] == ["trivial", "new"]
    assert len(list(grown.trials())) == 2 * 2 * 3


@pytest.mark.parametrize(
    "changes",
    [
        {"budget": Budget(tokens=2000)},
        {"suite_content": "1" * 64},
        {"scoring_code": "1" * 64},
        {"contestants": (Contestant(name="trivial", agent="loop"),)},
    ],
)
def test_other_conditions_are_never_mixed(changes):
    with pytest.raises(UserError, match="other conditions"):
        plan().grown(plan(**changes))
