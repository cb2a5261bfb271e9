"""Whole scores: outcome and headline, sentences, comparison of rubrics, and the review sample."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring_cases import (
    SEEDS,
    all_failed,
    better_than_paper,
    breiman,
    breiman_claims,
    claim,
    deterministic,
    evidence,
    impossible,
    pair,
    partial,
    runs,
    seeded,
    trivial,
    unit_error,
)

from repro_pipeline.environment.model import DataManifest, ManifestEntry
from repro_pipeline.evidence.model import IntegrityEvidence
from repro_pipeline.findings import Finding
from repro_pipeline.frozen import digest
from repro_pipeline.scoring.explain import explain
from repro_pipeline.scoring.model import Scores
from repro_pipeline.scoring.review import sample
from repro_pipeline.scoring.rubric import ReviewRule, Rubric
from repro_pipeline.scoring.score import score
from repro_pipeline.status import Reason

RUBRIC = Rubric()
DIGEST = "0" * 64


def scored(case, rubric=RUBRIC) -> Scores:
    return score(case, rubric, DIGEST)


def rubric(**dimensions) -> Rubric:
    return Rubric.model_validate({"dimensions": dimensions})


def sealed(case):
    """The same with data whose splits and labels are beyond reproach."""
    entries = tuple(
        ManifestEntry(name=n, file=n, sha256=digest(n), size=1, roles={n: digest("all")})
        for n in ("train", "test")
    )
    labels = ManifestEntry(name="test", file="labels", sha256=digest("l"), size=1, sealed=True)
    return case.model_copy(update={"data": DataManifest(entries=(*entries, labels))})


# --- outcome


@pytest.mark.parametrize(
    ("case", "verdict", "overall"),
    [
        (sealed(trivial()), "reproduced", "pass"),
        (trivial(), "reproduced", "inconclusive"),
        (sealed(impossible()), "not_reproduced", "fail"),
        (sealed(partial()), "reproduced", "inconclusive"),
        (sealed(all_failed()), "not_run", "inconclusive"),
        (sealed(better_than_paper()), "not_reproduced", "fail"),
        (sealed(unit_error()), "not_reproduced", "fail"),
        (sealed(deterministic()), "reproduced", "pass"),
    ],
)
def test_named_cases(case, verdict, overall):
    scores = scored(case)
    assert scores.verdicts[0].verdict == verdict
    assert scores.overall == overall


def test_a_dimension_that_is_not_critical_stands_in_nobodys_way():
    lenient = rubric(no_leakage={"critical": False})
    assert scored(trivial(), lenient).overall == "pass"
    strict = rubric(no_leakage={"critical": False}, ablation_faithful={"critical": True})
    assert scored(trivial(), strict).overall == "pass"
    assert "ablation faithful is not applicable" in scored(trivial(), strict).headline


def test_suspicion_prevents_a_pass_and_a_mention_does_not():
    case = sealed(trivial())
    untested = scored(
        case.model_copy(update={"integrity": IntegrityEvidence(parity=case.integrity.parity)})
    )
    assert untested.overall == "pass"
    assert "integrity is unverified" in untested.headline
    gap = case.runs[0].model_copy(
        update={"attempts": (case.runs[0].attempts[0].model_copy(update={"number": 2}),)}
    )
    suspect = scored(case.model_copy(update={"runs": (gap, *case.runs[1:])}))
    assert suspect.overall == "inconclusive"
    assert "integrity is suspect" in suspect.headline


def test_the_headline_counts_every_claim():
    scores = scored(breiman())
    assert scores.headline == (
        "11 of 16 claims reproduced (3 of 4 key), 5 not reproduced; overall fail: "
        "metric parity fails, no leakage is inconclusive."
    )
    assert len(scores.verdicts) == 16


def test_the_score_is_the_weighted_share_of_what_applies():
    scores = scored(trivial())
    # environment and metric pass, leakage is open, ablations do not apply
    assert scores.score == pytest.approx(2 / 3)
    heavy = rubric(metric_parity={"weight": 2}, no_leakage={"weight": 0.0})
    assert scored(trivial(), heavy).score == 1
    nothing = {"weight": 0.0}
    assert (
        scored(
            trivial(),
            rubric(**dict.fromkeys(("environment_parity", "metric_parity", "no_leakage"), nothing)),
        ).score
        is None
    )


def test_why_nothing_ran_is_told_by_every_claim():
    failed = Reason(code="environment_failed", sentence="environment: numpy cannot be resolved.")
    case = trivial().model_copy(
        update={"runs": (), "experiments": (), "environment": None, "failures": (failed,)}
    )
    scores = scored(case)
    assert scores.verdicts[0].verdict == "not_run"
    assert "numpy cannot be resolved" in scores.verdicts[0].reason
    assert scores.overall == "inconclusive"


def reproduced(scores: Scores) -> tuple[int, int]:
    return sum(v.verdict == "reproduced" for v in scores.verdicts), len(scores.verdicts)


some_values = st.dictionaries(
    st.sampled_from([c.id for c in breiman_claims()]),
    st.lists(st.floats(3, 40), min_size=5, max_size=5),
    min_size=1,
)


def sixteen(values):
    table = {s: {name: row[s - 1] for name, row in values.items()} for s in SEEDS}
    return evidence(breiman_claims(), table)


@settings(max_examples=25)
@given(some_values, st.data())
def test_leaving_claims_out_never_helps(values, data):
    left = data.draw(st.sets(st.sampled_from(sorted(values))))
    full, less = (
        scored(sixteen(values)),
        scored(sixteen({k: v for k, v in values.items() if k not in left})),
    )
    assert reproduced(less)[1] == reproduced(full)[1] == 16
    assert reproduced(less)[0] <= reproduced(full)[0]


@settings(max_examples=25)
@given(some_values, st.randoms(use_true_random=False))
def test_the_order_of_runs_changes_nothing_but_the_evidences_digest(values, random):
    case = sixteen(values)
    shuffled = list(case.runs)
    random.shuffle(shuffled)
    first, second = scored(case), scored(case.model_copy(update={"runs": tuple(shuffled)}))
    assert first.model_dump(exclude={"evidence"}) == second.model_dump(exclude={"evidence"})


@settings(max_examples=25)
@given(some_values)
def test_scores_are_plain_data_and_the_same_each_time(values):
    scores = scored(sixteen(values))
    assert scored(sixteen(values)) == scores
    assert Scores.model_validate_json(scores.model_dump_json()) == scores
    assert "nan" not in scores.model_dump_json().lower().replace("nanosecond", "")


# --- sentences


def test_the_explanation_names_evidence_formula_threshold_and_what_would_change_it():
    wide = {s: {"error": v} for s, v in seeded(3.6, 4.3, 3.8, 4.1, 3.95).items()}
    lines = explain(
        scored(evidence([claim(), claim("other")], wide, pairs=[pair("error", "other")]))
    )
    text = "\n".join(lines)
    assert lines[0].startswith("0 of 2 claims")
    for part in (
        "Threshold: 0.001",
        "Formula: |a - b|",
        "error: inconclusive. The 90 % interval of the mean over 5 seeds",
        "error-other (ablation): not run. No value for other.",
        "seeds in all should decide it, ",
        "mend what stopped them",
        "it needs an answer to its open checks: files, rows, labels",
    ):
        assert part in text, part


# --- review


def drawn(scores, rule) -> dict[str, float]:
    return {item.claim: item.rate for item in sample(scores, rule).items}


def with_findings(scores, *findings):
    return scores.model_copy(update={"findings": findings})


def test_the_sample_can_be_drawn_again_and_depends_on_seed_and_evidence_alone():
    scores = with_findings(scored(breiman()))
    rule = ReviewRule(rates={"early": 0.5})
    assert sample(scores, rule) == sample(scores, rule)
    others = [drawn(scores, ReviewRule(rates={"early": 0.5}, seed=seed)) for seed in range(20)]
    assert len({tuple(other) for other in others}) > 10
    for change, other in (({"evidence": "1" * 64}, True), ({"rubric": "1" * 64}, False)):
        changed = scores.model_copy(update=change)
        differ = [
            drawn(scores, ReviewRule(rates={"early": 0.5}, seed=s))
            != drawn(changed, ReviewRule(rates={"early": 0.5}, seed=s))
            for s in range(5)
        ]
        assert any(differ) is other


@pytest.mark.parametrize(("phase", "rate"), [("early", 0.25), ("stable", 0.12)])
def test_the_rate_is_the_phases(phase, rate):
    scores = with_findings(scored(breiman()))
    total = sum(len(drawn(scores, ReviewRule(phase=phase, seed=seed))) for seed in range(300))
    n = 300 * 16
    assert abs(total / n - rate) < 4 * (rate * (1 - rate) / n) ** 0.5


def test_oddity_raises_the_rate_and_gravity_takes_all():
    scores = scored(breiman())
    odd = Finding(
        kind="better_than_reported", evidence=".", severity="info", claims=("twonorm-adaboost",)
    )
    grave = Finding(
        kind="too_close", evidence=".", severity="suspect", claims=("waveform-adaboost",)
    )
    rates = {}
    for seed in range(40):
        rates |= drawn(with_findings(scores, odd, grave), ReviewRule(seed=seed))
        assert "waveform-adaboost" in drawn(with_findings(scores, grave), ReviewRule(seed=seed))
    assert rates["waveform-adaboost"] == 1
    assert rates["twonorm-adaboost"] == 0.5
    assert rates["ringnorm-adaboost"] == 0.25
    general = Finding(kind="config_ignored", evidence=".", severity="suspect")
    assert len(drawn(with_findings(scores, general), ReviewRule())) == 16


@pytest.mark.parametrize(
    ("kind", "severity", "rate"),
    [
        ("untested", "unverified", 0.25),
        ("constant", "info", 0.25),
        ("constant", "unverified", 0.5),
        ("missing_log", "unverified", 0.5),
        ("sudden_approach", "info", 0.5),
        ("literals", "violation", 1.0),
    ],
)
def test_what_is_odd(kind, severity, rate):
    scores = with_findings(scored(breiman()), Finding(kind=kind, evidence=".", severity=severity))
    rates = [rate for seed in range(5) for rate in drawn(scores, ReviewRule(seed=seed)).values()]
    assert set(rates) == {rate}


def test_a_sweep_that_disagrees_changes_the_verdict_and_is_not_dropped():
    case = trivial()
    sweep = runs({s: {"error": 9.0} for s in (11, 12, 13, 14, 15)}, purpose="sweep")
    scores = scored(case.model_copy(update={"runs": (*case.runs, *sweep)}))
    assert scores.verdicts[0].n == 10
    assert scores.verdicts[0].verdict != "reproduced"
