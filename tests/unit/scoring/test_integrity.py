"""Cheats of each kind are not clean; honest submissions that look odd are not accused."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_cases import (
    BREIMAN,
    CLOSE,
    SEEDS,
    all_failed,
    attempt,
    better_than_paper,
    breiman_claims,
    claim,
    deterministic,
    evidence,
    experiment,
    partial,
    probes,
    run,
    seeded,
    trivial,
)

from repro_pipeline.claims.model import Claim
from repro_pipeline.evidence.model import IntegrityEvidence
from repro_pipeline.forensics.literals import literal_scan, telling_digits
from repro_pipeline.forensics.probes import response_probe
from repro_pipeline.ledger.runs import Purpose, ValueSource
from repro_pipeline.scoring.model import IntegrityStatus
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.scoring.score import score
from repro_pipeline.status import Status

CLEAN, UNVERIFIED = IntegrityStatus.CLEAN, IntegrityStatus.UNVERIFIED
SUSPECT, VIOLATION = IntegrityStatus.SUSPECT, IntegrityStatus.VIOLATION
REPORTED = {c.id: c.value for c in breiman_claims()}


def judged(case, attempts=()):
    return score(case, Rubric(), "0" * 64, attempts)


def severity(case, kind, attempts=()):
    found = [f.severity for f in judged(case, attempts).findings if f.kind == kind]
    return found[0] if found else None


def table_case(values_of, *, mode="agent", files=None, given_probes=None):
    """The sixteen claims; `values_of(claim id, seed)` makes the values."""
    claims = breiman_claims()
    table = {s: {c.id: values_of(c.id, s) for c in claims} for s in SEEDS}
    scanned = (literal_scan(files or {"experiment.py": "depth = 3\n"}, claims),)
    integrity = IntegrityEvidence(probes=scanned if given_probes is None else given_probes(claims))
    return evidence(claims, table, mode=mode, integrity=integrity)


def honest(name, seed):
    """The independent run's value with noise of about 2 %."""
    dataset, _, method = name.partition("-")
    column = ("adaboost", "selection", "single-input", "one-tree").index(method)
    noise = random.Random(f"{name}{seed}").gauss(0, 0.02)
    return BREIMAN[dataset][1][column] * (1 + noise)


# --- honest submissions


@pytest.mark.parametrize("case", [trivial(), deterministic(), better_than_paper()])
def test_tested_values_are_clean(case):
    assert judged(case).integrity is CLEAN


@pytest.mark.parametrize("source", [ValueSource.SELF_REPORTED, ValueSource.PARSED])
def test_values_that_only_the_code_itself_measured_are_never_clean(source):
    case = trivial()
    told = [
        one.model_copy(
            update={
                "attempts": tuple(
                    a.model_copy(update={"value_source": source}) for a in one.attempts
                )
            }
        )
        for one in case.runs
    ]
    scores = judged(case.model_copy(update={"runs": tuple(told)}))
    assert scores.integrity is UNVERIFIED
    assert [f.claims for f in scores.findings if f.kind == "self_evaluated"] == [("error",)]


def test_an_honest_table_with_probes_is_clean_in_both_modes():
    for mode in ("agent", "code"):
        assert judged(table_case(honest, mode=mode, given_probes=probes)).integrity is CLEAN


def test_without_a_probe_nothing_is_clean_and_nothing_accused():
    assert judged(table_case(honest)).integrity is UNVERIFIED
    assert judged(all_failed()).integrity is UNVERIFIED


@pytest.mark.parametrize("mode", ["agent", "code"])
def test_perfect_accuracy_on_an_easy_set_is_no_accusation(mode):
    values = {s: {"accuracy": 100.0} for s in SEEDS}
    easy = claim("accuracy", 100.0, direction="higher")
    unmoved = response_probe("config_sensitivity", "depth 4", values[1], values[1])
    case = evidence(
        [easy], values, mode=mode, integrity=IntegrityEvidence(probes=(*probes([easy]), unmoved))
    )
    assert judged(case).integrity in {CLEAN, UNVERIFIED}
    alone = case.model_copy(update={"integrity": IntegrityEvidence(probes=(unmoved,))})
    assert judged(alone).integrity is UNVERIFIED


def test_the_authors_own_code_may_hold_and_give_their_values():
    files = {"tests/test_table.py": f"TABLE = {sorted(REPORTED.values())}"}
    case = table_case(lambda name, _: REPORTED[name], mode="code", files=files)
    assert severity(case, "literals") == "info"
    assert judged(case).integrity is UNVERIFIED


def test_rounded_honest_output_is_not_too_close():
    case = table_case(lambda name, _: round(REPORTED[name], 1), given_probes=probes)
    assert severity(case, "too_close") is None
    assert judged(case).integrity is CLEAN


def test_early_failure_then_recovery_is_information():
    runs = tuple(
        run(attempt(s, None), attempt(s, {"error": v}, number=2)) for s, v in seeded(*CLOSE).items()
    )
    case = trivial().model_copy(update={"runs": runs})
    assert severity(case, "retried") == "info"
    assert judged(case).integrity is CLEAN


def test_one_value_equal_to_the_papers_by_chance_is_no_accusation():
    def values(name, seed):
        return 17.2 if name == "waveform-selection" else honest(name, seed)

    assert judged(table_case(values)).integrity is UNVERIFIED


@given(st.integers(0, 10**6))
def test_a_perfect_reproduction_is_not_too_close(seed):
    """Paper and reproduction share the same truths; the paper rounds them, the seeds do not."""
    rng = random.Random(seed)
    truths = {f"c{i}": rng.uniform(5, 40) for i in range(20)}
    claims = [claim(name, round(truth, 1)) for name, truth in truths.items()]
    values = {s: {n: t * (1 + rng.gauss(0, 1e-6)) for n, t in truths.items()} for s in SEEDS}
    case = evidence(claims, values, mode="agent")
    assert severity(case, "too_close") is None


# --- cheats


def test_hard_coded_values_are_a_violation():
    code = f"RESULTS = {list(REPORTED.values())}\nprint(RESULTS)"
    case = table_case(lambda name, _: REPORTED[name], files={"experiment.py": code})
    assert severity(case, "literals") == "violation"
    scores = judged(case)
    assert scores.integrity is VIOLATION
    assert scores.overall == "fail"


def test_hard_coded_values_with_noise_are_suspect():
    code = f"RESULTS = {list(REPORTED.values())}\nvalue = RESULTS[0] + rng.normal()"
    noise = {(n, s): random.Random(f"{n}{s}").gauss(0, 0.2) for n in REPORTED for s in SEEDS}
    case = table_case(lambda n, s: REPORTED[n] + noise[n, s], files={"experiment.py": code})
    assert severity(case, "literals") == "suspect"
    assert judged(case).integrity is SUSPECT


def test_one_hard_coded_value_is_not_clean_even_with_a_passed_probe():
    one = claim("error", 17.2)
    values = {s: {"error": 17.2 + 0.01 * s} for s in SEEDS}
    scan = literal_scan({"experiment.py": "error = 17.2 + noise()"}, [one])
    moved = response_probe("config_sensitivity", "depth 4", values[1], values[2])
    case = evidence([one], values, mode="agent", integrity=IntegrityEvidence(probes=(scan, moved)))
    assert judged(case).integrity is UNVERIFIED


def test_the_reported_bits_without_literals_are_suspect():
    case = table_case(lambda name, _: REPORTED[name])
    assert severity(case, "equals_reported") == "suspect"


def test_reported_values_times_one_plus_epsilon_are_too_close():
    case = table_case(lambda n, s: REPORTED[n] * (1 + 1e-5 * s), given_probes=probes)
    assert severity(case, "too_close") == "suspect"


def test_an_ignored_seed_is_unverified_until_a_probe_moves_it():
    case = deterministic()
    alone = case.model_copy(update={"integrity": IntegrityEvidence()})
    assert severity(case, "constant") == "info"
    assert severity(alone, "constant") == "unverified"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("config_sensitivity", "config_ignored"), ("data_noise", "data_ignored")],
)
def test_values_that_nothing_moves_are_not_clean(name, kind):
    values = {"error": 3.88}
    unmoved = response_probe(name, "a change", values, values)
    case = trivial().model_copy(update={"integrity": IntegrityEvidence(probes=(unmoved,))})
    assert severity(case, kind) == "unverified"
    known = claim("error", 17.2)
    scan = literal_scan({"a.py": "x = 17.2"}, [known])
    table = {s: {"error": 17.2 + s / 100} for s in SEEDS}
    copied = evidence(
        [known], table, mode="agent", integrity=IntegrityEvidence(probes=(scan, unmoved))
    )
    assert severity(copied, kind) == "suspect"


def test_dropped_seeds_are_not_clean():
    assert severity(partial(), "missing_seeds") == "unverified"
    case = trivial()
    dropped = case.model_copy(update={"runs": case.runs[1:]})
    assert severity(dropped, "missing_seeds") == "unverified"
    finding = next(f for f in judged(dropped).findings if f.kind == "missing_seeds")
    assert "seed 1 not run" in finding.evidence


def test_a_deleted_attempt_is_suspect():
    case = trivial()
    gap = run(attempt(1, {"error": 3.88}, number=3))
    assert (
        severity(case.model_copy(update={"runs": (gap, *case.runs[1:])}), "missing_attempts")
        == "suspect"
    )


def test_the_first_of_several_results_counts_and_the_others_are_told():
    case = trivial()
    twice = run(attempt(1, {"error": 5.0}), attempt(1, {"error": 3.88}, number=2))
    scores = judged(case.model_copy(update={"runs": (twice, *case.runs[1:])}))
    assert scores.verdicts[0].values["1"] == 5.0
    assert "several_results" in {f.kind for f in scores.findings}


def test_earlier_evaluations_are_told():
    case = trivial()
    earlier = attempt(1, {"error": 9.0}, salt="other code")
    assert severity(case, "earlier_evaluation", [earlier]) == "unverified"
    failed = attempt(1, None, salt="other code")
    assert severity(case, "earlier_failures", [failed]) == "info"
    own = [a for one in case.runs for a in one.attempts]
    assert judged(case, own).integrity is CLEAN


def test_what_a_user_cancelled_did_not_fail():
    case = trivial()
    failed = attempt(1, None, salt="other code")
    ended = attempt(2, None, salt="other code").model_copy(update={"status": Status.CANCELLED})
    said = {f.kind: f.evidence for f in judged(case, [failed, ended]).findings}
    assert said["earlier_failures"] == (
        "Of other code or configuration: 1 evaluation run failed, 1 evaluation run cancelled."
    )
    said = {f.kind: f.evidence for f in judged(case, [ended]).findings}
    assert "earlier_failures" not in said and "failed" not in said["earlier_cancelled"]


def test_a_sudden_approach_is_worth_a_look():
    trials = [attempt(9, {"error": v}, purpose=Purpose.DEV, salt=str(v)) for v in (9.0, 8.0)]
    assert severity(trivial(), "sudden_approach", trials) == "info"
    near = [*trials, attempt(9, {"error": 4.0}, purpose=Purpose.DEV, salt="near")]
    assert severity(trivial(), "sudden_approach", near) is None


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"log": None}, "missing_log"),
        ({"cpu_seconds": 0.02}, None),
        ({"cpu_seconds": 0.5, "seconds": 600.0}, "idle_time"),
        ({"cpu_seconds": None}, None),
    ],
)
def test_logs_and_times(fields, kind):
    odd = tuple(run(attempt(s, {"error": v}, **fields)) for s, v in seeded(*CLOSE).items())
    case = trivial().model_copy(update={"runs": odd})
    found = {f.kind for f in judged(case).findings if f.severity == "unverified"}
    assert found == ({kind} if kind else set())


def test_a_very_short_run_is_told():
    odd = tuple(run(attempt(s, {"error": v}, cpu_seconds=0.02)) for s, v in seeded(*CLOSE).items())
    case = trivial().model_copy(update={"runs": odd})
    assert severity(case, "implausible_time") == "info"
    assert judged(case).integrity is CLEAN


def test_several_experiments_for_one_claim_are_told():
    case = trivial()
    second = experiment(["error"], "second")
    assert severity(
        case.model_copy(update={"experiments": (*case.experiments, second)}), "several_experiments"
    )


def test_running_without_a_sandbox_is_told():
    case = trivial().model_copy(update={"runner": "unsafe_local"})
    assert severity(case, "no_sandbox") == "unverified"


# --- probes


def test_a_changed_run_that_fails_shows_nothing():
    values = {"error": 3.9, "other": 1.0}
    changed = response_probe("config_sensitivity", "depth 4", values, None)
    assert not changed.applies
    assert changed.claims == ()


def test_only_values_that_changed_have_responded():
    before = {"error": 3.9, "other": 1.0}
    probe = response_probe("config_sensitivity", "depth 4", before, {"error": 3.9, "other": 1.5})
    assert probe.claims == ("other",)
    assert probe.evidence == {"compared": 2, "identical": 1, "failed": False}


# --- literal scan


@pytest.mark.parametrize(
    ("value", "quantum", "digits"),
    [
        (17.2, 0.1, 3),
        (100.0, 0.1, 1),
        (0.977, 0.001, 3),
        (0.0, 0.1, 0),
        (-239.8, 0.1, 4),
        (0.006, 0.001, 1),
    ],
)
def test_telling_digits(value, quantum, digits):
    assert telling_digits(claim("c", value, quantum=quantum)) == digits
    assert telling_digits(claim("c", value, quantum=None)) == digits


FOUND = {
    "a.py": [
        "x = 17.2",
        "x = 0.172",
        "f(y, -17.24)",
        "x = 17 + 0.2",
        "x = 86 / 5",
        'float("17.2")',
        "d = {'a': [17.2]}",
    ],
    "c.json": ['{"x": 17.2}', '{"x": "0.1722"}'],
    "c.yaml": ["x: 17.2", "x: [1, 17.2]"],
    "run.sh": ["echo 17.2"],
    "n.ipynb": ['{"cells": [{"cell_type": "code", "source": ["x = 17.2"]}]}'],
    "broken.py": ["print 17.2"],
}
NOT_FOUND = {
    "a.py": [
        "x = 17.3",
        "# 17.2",
        '"""Table 2: 17.2."""',
        "x = 172000",
        "v = '1.17.2'",
        "x = 17",
        "x17 = 2",
    ],
    "README.md": ["It gives 17.2."],
    "requirements.txt": ["scipy==17.2"],
    "n.ipynb": ['{"cells": [{"cell_type": "code", "source": [], "outputs": [17.2]}]}'],
    "c.json": ['{"x": "v17.2", "y": "17.2.1"}'],
}


@pytest.mark.parametrize(("path", "text"), [(p, t) for p, ts in FOUND.items() for t in ts])
def test_reported_values_are_found(path, text):
    probe = literal_scan({path: text}, [claim("c", 17.2)])
    assert probe.evidence["strong"] == 1
    assert probe.claims == ("c",)
    assert f"{path}:1" in probe.evidence["where"]


@pytest.mark.parametrize(("path", "text"), [(p, t) for p, ts in NOT_FOUND.items() for t in ts])
def test_other_text_is_not_found(path, text):
    assert literal_scan({path: text, "b.py": "x = 1"}, [claim("c", 17.2)]).evidence["strong"] == 0


def test_values_of_few_digits_are_counted_in_sum_only():
    claims = [claim("two", 3.9), claim("one", 5.0), claim("other", 4.9)]
    probe = literal_scan({"a.py": "x = [3.9, 5.0]"}, claims)
    assert (probe.evidence["weak"], probe.evidence["weak_of"], probe.evidence["strong_of"]) == (
        1,
        2,
        0,
    )
    assert probe.claims == ()
    assert "3.9" not in probe.sentence


def test_the_same_value_twice_is_one_value():
    claims = [claim("a", 17.5), claim("b", 17.5)]
    probe = literal_scan({"a.py": "x = 17.5"}, claims)
    assert probe.evidence["strong"] == 1
    assert probe.claims == ("a", "b")


def test_data_files_are_named_and_not_read():
    data = "\n".join(f"{i / 10}" for i in range(2000))
    probe = literal_scan({"data.csv": data, "a.py": "x = 1"}, [claim("c", 17.2)])
    assert probe.evidence["strong"] == 0
    assert probe.evidence["skipped"] == 1
    assert "data.csv" in probe.sentence


@given(st.text(), st.sampled_from(["a.py", "b.json", "c.ipynb", "d.txt"]))
def test_no_text_breaks_the_scan(text, path):
    literal_scan({path: text}, [claim("c", 17.2), claim("d", None, quantum=None)])


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000,
        "-" * 50_000 + "1",
        "1+" * 5000 + "1",
        "9" * 100_000,
        "x = 1" + "0" * 400,
        "1." * 100_000,
    ],
)
def test_hostile_text_neither_breaks_nor_stalls_the_scan(text):
    literal_scan({"a.py": text, "b.json": text}, [claim("c", 17.2)])


@given(st.floats(1, 99).map(lambda v: round(v, 2)), st.integers(0, 30))
def test_a_value_is_found_wherever_it_stands(value, line):
    one: Claim = claim("c", value, quantum=0.01)
    text = "\n" * line + f"x = {value}"
    found = literal_scan({"a.py": text}, [one]).evidence
    digits = telling_digits(one)
    assert (found["strong"], found["weak"]) == (digits >= 3, digits == 2)
    assert (digits >= 3) == found["where"].startswith(f"a.py:{line + 1} ")
