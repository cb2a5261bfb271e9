"""The four dimensions: what passes, what fails, and what may not pass for want of evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_cases import (
    CLOSE,
    ENVIRONMENT,
    all_failed,
    breiman,
    claim,
    evidence,
    impossible,
    pair,
    partial,
    runs,
    seeded,
    trivial,
)

from repro_pipeline.environment.model import DataManifest, ManifestEntry
from repro_pipeline.evidence.model import IntegrityEvidence
from repro_pipeline.findings import Probe
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.runs import ExperimentKind, Purpose
from repro_pipeline.scoring import (
    ablation_faithful,
    environment_parity,
    metric_parity,
    no_leakage,
)
from repro_pipeline.scoring.dimension import combine
from repro_pipeline.scoring.model import Check
from repro_pipeline.scoring.observations import observe
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.scoring.verdict import judge_claim
from repro_pipeline.status import Outcome, Reason, Sign, Verdict

PASS, FAIL, OPEN = Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE
NOT_CHECKABLE, NOT_APPLICABLE = Outcome.NOT_CHECKABLE, Outcome.NOT_APPLICABLE
RUBRIC = Rubric()


def verdicts_of(given_evidence, rubric=RUBRIC):
    rule = rubric.dimensions.metric_parity
    observed = observe(given_evidence)
    return {
        one.id: judge_claim(
            one,
            observed[one.id].values,
            observed[one.id].planned,
            rule,
            repeats=observed[one.id].repeats,
            same_outputs=observed[one.id].same_outputs,
            missing=observed[one.id].missing,
        )
        for one in given_evidence.claims.claims
    }


def environment_of(given_evidence, rubric=RUBRIC):
    return environment_parity.score(given_evidence, rubric, observe(given_evidence))


def check_of(dimension, name):
    return next(check for check in dimension.checks if check.id == name)


outcomes = st.lists(st.sampled_from(list(Outcome)), max_size=6)


@given(outcomes)
def test_combining_passes_only_what_passed(given_outcomes):
    checks = [Check(id=str(i), outcome=o, sentence=".") for i, o in enumerate(given_outcomes)]
    combined = combine(checks)
    if FAIL in given_outcomes:
        assert combined is FAIL
    elif OPEN in given_outcomes or NOT_CHECKABLE in given_outcomes or not given_outcomes:
        assert combined is OPEN
    elif PASS in given_outcomes:
        assert combined is PASS
    else:
        assert combined is NOT_APPLICABLE


# --- observations


def test_only_evaluation_runs_of_covering_experiments_supply_values():
    case = trivial()
    other = runs({7: {"error": 99.0}}, purpose=Purpose.DEV)
    other += runs({1: {"error": 99.0}}, experiment="sensitive")
    sensitive = case.experiments[0].model_copy(
        update={"id": "sensitive", "kind": ExperimentKind.SENSITIVITY}
    )
    more = case.model_copy(
        update={"runs": (*other, *case.runs), "experiments": (sensitive, *case.experiments)}
    )
    assert observe(more)["error"].values == observe(case)["error"].values
    assert observe(more)["error"].experiments == ("main",)


def test_sweeps_are_pooled_and_their_failures_stay_in_the_plan():
    case = trivial()
    sweep = runs({11: {"error": 4.0}, 12: None}, purpose=Purpose.SWEEP)
    observed = observe(case.model_copy(update={"runs": (*case.runs, *sweep)}))["error"]
    assert observed.planned == 7
    assert observed.values[11] == 4.0
    assert observed.missing == ("seed 12 failed (ZeroDivisionError in train)",)


def test_an_evaluation_seed_counts_before_the_same_seed_of_a_sweep():
    case = trivial()
    sweep = runs({1: {"error": 1.0}}, purpose=Purpose.SWEEP)
    observed = observe(case.model_copy(update={"runs": (*sweep, *case.runs)}))["error"]
    assert observed.values[1] == 3.88


def test_every_missing_seed_says_why():
    case = partial().model_copy(update={"seeds": (1, 2, 3, 4, 5, 6)})
    observed = observe(case)
    assert observed["error"].missing == (
        "seeds 2, 4 failed (ZeroDivisionError in train)",
        "seed 6 not run",
    )
    assert observed["other"].missing[0] == "seeds 1, 3, 5 left no value"
    assert observed["other"].planned == 6


# --- environment parity


def test_a_bitwise_repetition_passes_and_says_so():
    dimension = environment_of(trivial())
    assert dimension.outcome is PASS
    assert dimension.value == 0
    assert "equal to the last bit" in check_of(dimension, "repetition").sentence


@pytest.mark.parametrize(("again", "outcome"), [(3.8835, PASS), (3.88 * (1 + 2e-3), FAIL)])
def test_the_main_claims_relative_difference_decides(again, outcome):
    case = trivial()
    parity = runs({1: {"error": again}}, purpose=Purpose.PARITY)
    dimension = environment_of(
        case.model_copy(update={"integrity": IntegrityEvidence(parity=parity)})
    )
    assert dimension.outcome is outcome
    assert dimension.value == pytest.approx((again - 3.88) / again)


def test_another_claims_difference_is_told_but_does_not_decide():
    table = {s: {"error": v, "other": v} for s, v in seeded(*CLOSE).items()}
    parity = runs({1: {"error": 3.88, "other": 5.0}}, purpose=Purpose.PARITY)
    case = evidence([claim(), claim("other")], table, integrity=IntegrityEvidence(parity=parity))
    dimension = environment_of(case)
    assert dimension.outcome is PASS
    assert "other 0.224" in check_of(dimension, "repetition").sentence
    swapped = environment_of(
        case.model_copy(update={"claims": case.claims.model_copy(update={"main": "other"})})
    )
    assert swapped.outcome is FAIL


@pytest.mark.parametrize(
    "parity",
    [
        (),
        runs({1: None}, purpose=Purpose.PARITY),
        runs({99: {"error": 3.88}}, purpose=Purpose.PARITY),
        runs({1: {"another": 3.88}}, purpose=Purpose.PARITY),
    ],
)
def test_without_a_comparable_repetition_nothing_passes(parity):
    case = trivial().model_copy(update={"integrity": IntegrityEvidence(parity=parity)})
    dimension = environment_of(case)
    assert dimension.outcome is OPEN
    assert check_of(dimension, "repetition").outcome is NOT_CHECKABLE
    assert dimension.value is None


def test_a_lock_without_hashes_fails_and_none_is_not_checkable():
    lock = ENVIRONMENT.lock.model_copy(update={"hashed": False})
    case = trivial()
    bare = case.model_copy(update={"environment": ENVIRONMENT.model_copy(update={"lock": lock})})
    assert environment_of(bare).outcome is FAIL
    none = environment_of(case.model_copy(update={"environment": None}))
    assert none.outcome is OPEN


def test_a_missing_seed_leaves_the_dimension_open():
    dimension = environment_of(partial())
    assert dimension.outcome is OPEN
    assert "seeds 2, 4 failed" in check_of(dimension, "seeds").sentence


def test_unseeded_code_is_named_and_needs_a_repetition():
    case = breiman()
    assert environment_of(case).outcome is PASS
    assert "takes no seed" in check_of(environment_of(case), "seeds").sentence
    alone = case.model_copy(update={"integrity": IntegrityEvidence()})
    assert check_of(environment_of(alone), "seeds").outcome is NOT_CHECKABLE


# --- metric parity


def parity_of(given_evidence, rubric=RUBRIC):
    return metric_parity.score(given_evidence, rubric, verdicts_of(given_evidence, rubric))


def test_metric_parity_follows_the_key_claims():
    assert parity_of(trivial()).outcome is PASS
    assert parity_of(impossible()).outcome is FAIL
    assert parity_of(all_failed()).outcome is OPEN


def test_claims_that_are_not_key_do_not_decide_unless_the_rubric_says_so():
    table = {s: {"error": v, "other": 9.0} for s, v in seeded(*CLOSE).items()}
    case = evidence([claim(), claim("other", key=False)], table)
    assert parity_of(case).outcome is PASS
    every = Rubric.model_validate({"dimensions": {"metric_parity": {"key_claims_only": False}}})
    assert parity_of(case, every).outcome is FAIL


def test_a_key_claim_without_a_run_blocks_the_pass():
    dimension = parity_of(partial())
    assert dimension.outcome is OPEN
    assert "1 of 2 key claims reproduced" in dimension.sentence


def test_the_point_rule_stands_beside_the_verdicts():
    # Four selected forests: 17.4/17.2, 4.0/3.9, 18.0/17.5, 4.5/4.9 are 1.2, 2.6, 2.9, 8.2 % off.
    dimension = parity_of(breiman())
    assert "3 of 4 lie within 5 %" in dimension.sentence
    assert dimension.value == pytest.approx(0.4 / 4.9)
    # the repetition gave the same bits, so each value stands without spread
    assert dimension.outcome is FAIL


# --- ablations


def ablation_case(full, variant, **of_pair):
    table = {
        seed: {
            k: v
            for k, v in (("full", full.get(seed)), ("variant", variant.get(seed)))
            if v is not None
        }
        for seed in sorted({*full, *variant})
    }
    claims = [claim("full", 4.0, quantum=0.1), claim("variant", 6.0)]
    return evidence(claims, table, pairs=[pair("full", "variant", **of_pair)])


def pair_result(case):
    return ablation_faithful.judge_pairs(case, verdicts_of(case))[0]


NOISE = seeded(4.0, 4.4, 3.6, 4.2, 3.8)


@pytest.mark.parametrize(
    ("shift", "expected", "sign"),
    [
        (1.0, 1, Sign.AGREE),
        (1.0, -1, Sign.OPPOSITE),
        (-1.0, 1, Sign.OPPOSITE),
        (-1.0, -1, Sign.AGREE),
    ],
)
def test_signs_come_from_paired_seeds(shift, expected, sign):
    # The seeds scatter by more than the shift; only the pairing shows it.
    jitter = {1: 0.02, 2: -0.02, 3: 0.01, 4: 0.0, 5: -0.01}
    case = ablation_case(NOISE, {s: v + shift + jitter[s] for s, v in NOISE.items()}, sign=expected)
    result = pair_result(case)
    assert result.sign is sign
    assert result.difference == pytest.approx(shift)
    assert result.n == 5
    worse = "worse" if shift > 0 else "better"
    assert f"The variant is {worse} (lower is better)" in result.reason


def test_an_interval_that_holds_zero_is_undecided():
    case = ablation_case(NOISE, seeded(3.8, 4.6, 4.0, 3.9, 4.1))
    assert pair_result(case).sign is Sign.UNDECIDED
    assert "holds 0" in pair_result(case).reason


def test_pairs_without_values_or_seeds_in_common():
    assert pair_result(ablation_case(NOISE, {})).sign is Sign.NOT_RUN
    assert pair_result(ablation_case({1: 4.0, 2: 4.1}, {3: 6.0, 4: 6.1})).sign is Sign.UNDECIDED
    assert pair_result(ablation_case({1: 4.0}, {1: 6.0})).sign is Sign.UNDECIDED


def test_deterministic_claims_need_one_pair():
    case = ablation_case({None: 4.0}, {None: 6.0})
    result = pair_result(case)
    assert result.sign is Sign.AGREE
    assert result.interval95 == (2.0, 2.0)


def ratio(**counts):
    results = []
    case = ablation_case(NOISE, {s: v + 1 for s, v in NOISE.items()})
    template = pair_result(case)
    for sign, count in counts.items():
        results += [
            template.model_copy(update={"sign": Sign(sign), "pair": f"{sign}-{i}"})
            for i in range(count)
        ]
    return ablation_faithful.score(case, RUBRIC, results)


@pytest.mark.parametrize(
    ("counts", "outcome", "share"),
    [
        ({"agree": 4, "opposite": 1}, PASS, 0.8),
        ({"agree": 4, "undecided": 1}, PASS, 0.8),
        ({"agree": 3, "undecided": 2}, OPEN, 0.6),
        ({"agree": 3, "not_run": 2}, OPEN, 0.6),
        ({"agree": 3, "opposite": 2}, FAIL, 0.6),
        ({"agree": 4, "excluded": 5}, PASS, 1.0),
        ({"excluded": 2}, NOT_APPLICABLE, None),
        ({}, NOT_APPLICABLE, None),
    ],
)
def test_the_share_of_signs(counts, outcome, share):
    dimension = ratio(**counts)
    assert dimension.outcome is outcome
    assert dimension.value == share


def test_ablations_among_the_baseline_s_claims_are_said_to_be_so():
    """The stage of ablations has nothing to run then, and says `not_applicable`."""
    case = ablation_case(NOISE, {s: v - 1 for s, v in NOISE.items()})
    said = "Both sides are claims of the baseline."
    apart = any(one.kind == "ablation" for one in case.experiments)
    results = [pair_result(case)]
    assert (said in ablation_faithful.score(case, RUBRIC, results).sentence) is not apart
    others = tuple(one for one in case.experiments if one.kind != "ablation")
    alone = case.model_copy(update={"experiments": others})
    assert said in ablation_faithful.score(alone, RUBRIC, results).sentence


def test_undecided_and_excluded_ablations_are_listed():
    sentence = ratio(agree=1, undecided=1, excluded=1, opposite=1, not_run=1).sentence
    for name in ("undecided-0", "excluded-0", "opposite-0", "not_run-0"):
        assert name in sentence


def test_comparisons_are_judged_and_do_not_count():
    case = ablation_case(NOISE, {s: v - 1 for s, v in NOISE.items()}, kind="comparison")
    result = pair_result(case)
    assert result.sign is Sign.OPPOSITE
    assert ablation_faithful.score(case, RUBRIC, [result]).outcome is NOT_APPLICABLE


def test_an_excluded_pair_keeps_its_raw_values():
    case = ablation_case(
        NOISE, {s: v + 1 for s, v in NOISE.items()}, sign=None, excluded="within rounding"
    )
    result = pair_result(case)
    assert result.sign is Sign.EXCLUDED
    assert "within rounding" in result.reason
    assert len(result.differences) == 5


# --- leakage


def entry(name, content, roles, **more):
    fields = {"role_files": {}, "rows": 100, **more}
    return ManifestEntry(
        name=name,
        file=f"{name}.csv",
        sha256=digest(content),
        size=10,
        roles={role: digest(rows) for role, rows in roles.items()},
        **fields,
    )


def leakage(*entries, mode="code", probes=()):
    case = trivial().model_copy(
        update={
            "data": DataManifest(entries=entries),
            "mode": mode,
            "integrity": IntegrityEvidence(probes=probes),
        }
    )
    return no_leakage.score(case, RUBRIC)


SEALED = ManifestEntry(name="test", file="labels.csv", sha256=digest("labels"), size=1, sealed=True)


def test_data_made_inside_the_run_passes_nothing():
    dimension = leakage()
    assert dimension.outcome is OPEN
    assert [c.outcome for c in dimension.checks] == [NOT_CHECKABLE] * 3 + [NOT_APPLICABLE]
    assert "no data file is declared" in dimension.sentence


@pytest.mark.parametrize("stage", ["data_manifest", "reported_claims"])
def test_data_that_could_not_be_looked_at_are_not_called_undeclared(stage):
    why = Reason(code="no_data", sentence=f"{stage}: data/images.csv: no such file.")
    case = trivial().model_copy(update={"data": DataManifest(entries=()), "failures": (why,)})
    dimension = no_leakage.score(case, RUBRIC)
    assert dimension.outcome is OPEN
    assert [c.outcome for c in dimension.checks][:3] == [NOT_CHECKABLE] * 3
    assert why.sentence in dimension.sentence and "declared" not in dimension.sentence
    later = why.model_copy(update={"sentence": "environment: no such package."})
    other = no_leakage.score(case.model_copy(update={"failures": (later,)}), RUBRIC)
    assert "no data file is declared" in other.sentence


def test_split_files_with_sealed_labels_pass():
    train, test = entry("train", 1, {"train": "all"}), entry("test", 2, {"test": "all"})
    assert leakage(train, test, SEALED).outcome is PASS
    unsealed = leakage(train, test)
    assert unsealed.outcome is OPEN
    assert "not sealed" in unsealed.sentence


def test_one_file_under_two_names_fails():
    dimension = leakage(
        entry("train", 1, {"train": "all"}), entry("test", 1, {"test": "all"}), SEALED
    )
    assert dimension.outcome is FAIL
    assert "train and test" in dimension.sentence


def test_shared_rows_fail():
    roles = {"train": [0, 1], "test": [1, 2]}
    files = {"role_files": {"train": "a", "test": "b"}}
    clean = entry("digits", 1, roles, **files)
    assert check_of(leakage(clean), "rows").outcome is PASS
    for shared in (1, None):
        leaking = entry("digits", 1, roles, shared_rows={"test & train": shared}, **files)
        assert leakage(leaking).outcome is FAIL
    none = entry("digits", 1, roles, shared_rows={"test & train": 0}, **files)
    assert check_of(leakage(none), "rows").outcome is PASS


def test_no_roles_declared_is_not_checkable():
    assert check_of(leakage(entry("d", 1, {})), "files").outcome is NOT_CHECKABLE
    assert check_of(leakage(entry("d", 1, {"train": "all"})), "files").outcome is NOT_CHECKABLE


def test_what_an_agent_was_shown_needs_its_record():
    assert check_of(leakage(mode="agent"), "shown_text").outcome is NOT_CHECKABLE
    clean = Probe(id="shown_text", applies=True, sentence="Nothing.", evidence={"hits": 0})
    hit = Probe(id="shown_text", applies=True, sentence="3.9 was shown.", evidence={"hits": 1})
    assert check_of(leakage(mode="agent", probes=(clean,)), "shown_text").outcome is PASS
    assert leakage(mode="agent", probes=(hit,)).outcome is FAIL


def test_the_verdicts_of_the_realistic_table_are_told_by_the_sixteen_values():
    verdicts = verdicts_of(breiman())
    within = [v.claim for v in verdicts.values() if v.within_threshold]
    outside = sorted(set(verdicts) - set(within))
    # 4.6/4.9, 3.7/3.9 (5.13 %), 36.3/38.4 (5.47 %), 4.5/4.9 twice
    assert outside == [
        "ringnorm-selection",
        "ringnorm-single-input",
        "threenorm-one-tree",
        "twonorm-adaboost",
        "twonorm-single-input",
    ]
    assert all(v.verdict is Verdict.NOT_REPRODUCED for v in verdicts.values() if v.claim in outside)
