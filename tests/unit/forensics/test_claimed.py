"""What a submission claims of its runs, and what re-runs say."""

from __future__ import annotations

import pytest
from forensic_cases import claim, kinds

from repro_pipeline.forensics import claimed, logs
from repro_pipeline.forensics.submitted import ClaimedRun, ListedAttempt, Submission

TRUE = {0: 76.11, 1: 75.42, 2: 77.03}
FRESH = [76.5, 75.9, 76.8, 75.1, 76.2]


def runs(values, log=None):
    return tuple(
        ClaimedRun(experiment="main", seed=s, values={"accuracy": v}, log=log)
        for s, v in values.items()
    )


def attempts(*seeds, **more):
    return tuple(
        ListedAttempt(experiment="main", seed=s, **{"status": "ok", **more}) for s in seeds
    )


LISTED = attempts(0, 1, 2)


def judged(values, listed=LISTED, again=TRUE, fresh=FRESH, repeatable=True, no_runs=()):
    said = Submission(runs=runs(values), attempts=listed, no_runs=no_runs)
    found = claimed.findings(
        said,
        [claim()],
        {("main", s): {"accuracy": v} for s, v in again.items()},
        {"main": [{"accuracy": v} for v in fresh]},
        repeatable=repeatable,
        experiments=["main"],
    )
    return kinds(found)


def test_true_claims_are_nothing():
    assert judged(TRUE) == {}
    assert judged({s: round(v, 1) for s, v in TRUE.items()}) == {}
    assert judged({s: v * 1.0004 for s, v in TRUE.items()}) == {}


def test_a_folder_that_is_no_run_is_not_passed_over_in_silence():
    assert judged(TRUE, no_runs=("runs/main/007",)) == {"unlisted_run": "unverified"}


def test_edited_claims():
    assert judged({**TRUE, 1: 78.0})["claimed_not_reproduced"] == "suspect"
    assert judged({**TRUE, 1: 95.0})["claimed_not_reproduced"] == "violation"
    assert judged({s: v + 1 for s, v in TRUE.items()})["claimed_not_reproduced"] == "suspect"
    assert judged({s: v * 1.3 for s, v in TRUE.items()})["claimed_not_reproduced"] == "violation"


def test_code_that_does_not_repeat_itself_is_held_against_its_spread():
    assert judged({0: 75.7, 1: 76.6, 2: 75.2}, repeatable=False) == {
        "claimed_not_reproduced": "unverified"
    }
    assert (
        judged({0: 90.0, 1: 76.6, 2: 75.2}, repeatable=False)["claimed_not_reproduced"] == "suspect"
    )


def test_another_machine_may_differ_a_little():
    assert judged({0: 76.4, 1: 75.1, 2: 76.6}) == {"claimed_not_reproduced": "unverified"}


def test_copies():
    assert judged({0: 76.11, 1: 76.11, 2: 76.11})["claimed_copies"] == "violation"
    same = {0: 76.0, 1: 76.0, 2: 76.0}
    assert judged(same, again=same, fresh=[76.0] * 5) == {}, "a deterministic method"


def test_picked_seeds():
    best = {3: 79.1, 8: 79.4, 21: 79.0, 33: 79.3}
    others = [75.1, 76.2, 75.5, 76.9, 77.0, 76.1, 75.8, 76.4, 75.0]
    found = judged(best, listed=attempts(3, 8, 21, 33), again=best, fresh=others)
    assert found["picked_seeds"] in {"unverified", "suspect"}


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        (None, {"attempts_not_listed": "unverified"}),
        (attempts(0, 1, 2, 3), {"dropped_run": "suspect"}),
        (attempts(0, 1), {"unlisted_run": "unverified"}),
        (
            (*attempts(0, 1, 2), *attempts(4, status="failed")),
            {"unexplained_failure": "unverified"},
        ),
        ((*attempts(0, 1, 2), *attempts(4, status="failed", reason="out of memory")), {}),
        ((*attempts(0, 1, 2), *attempts(5, purpose="debug")), {}),
        ((*attempts(0, 1, 2), *attempts(1)), {"several_attempts": "unverified"}),
        (
            (
                *attempts(0, 1, 2),
                *attempts(1, values={"accuracy": 70.0}),
                *attempts(1, values={"accuracy": 75.42}),
            ),
            {"best_of_attempts": "suspect"},
        ),
        (
            (*attempts(0, 2), *attempts(1, values={"accuracy": 70.0})),
            {"attempt_contradicts_run": "suspect"},
        ),
    ],
)
def test_every_attempt_is_accounted_for(listed, expected):
    assert judged(TRUE, listed=listed) == expected


SOURCE = 'print(f"epoch {e} loss {loss:.4f}")\nprint("accuracy", v)'
PRINTED = "epoch 1 loss 0.6931\nepoch 2 loss 0.5012\naccuracy 76.11\n"


def read_log(log, value=76.11, repeatable=True, printed=PRINTED):
    (run,) = runs({0: value}, log)
    return kinds(logs.findings([run], {("main", 0): printed}, SOURCE, repeatable=repeatable))


def test_true_logs_are_nothing():
    assert read_log(PRINTED) == {}
    assert (
        read_log("+ python run.py\n2026-01-01 10:00:00 start\n" + PRINTED + "real 0m1.2s\n") == {}
    )
    assert read_log(PRINTED.replace("0.5012", "0.5013")) == {}


def test_logs_of_something_else():
    fake = "\n".join(f"Iteration {i}: perplexity={9 / (i + 1):.2f}, score {i}" for i in range(5))
    assert read_log(fake) == {"foreign_log": "suspect"}
    invented = PRINTED.replace("0.6931", "0.2").replace("0.5012", "0.1")
    assert read_log(invented) == {"log_not_reproduced": "suspect"}
    assert read_log(invented, repeatable=False) == {}
    assert read_log(PRINTED, value=79.9)["log_contradicts_metrics"] == "suspect"
