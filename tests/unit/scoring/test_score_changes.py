"""What a changed rubric changes, and that its causes are computed rather than guessed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from scoring_cases import CLOSE, claim, evidence, impossible, seeded, trivial

from repro_pipeline.scoring.changes import compare, states
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.scoring.score import score

RUBRIC = Rubric()


def rubric(**dimensions) -> Rubric:
    return Rubric.model_validate({"dimensions": dimensions})


def change(case, new, old=RUBRIC, before=None):
    """The comparison of two scorings of a case, or of `before` and the case."""
    one = score(before or case, old, "a" * 64)
    other = score(case, new, "b" * 64)
    return compare(case, (), (one, old), (other, new))


def told(found) -> dict[str, tuple[str | None, str | None, str]]:
    return {one.name: (one.before, one.after, found.why(one)) for one in found.outcomes}


def close():
    values = {s: {"error": v} for s, v in seeded(*CLOSE).items()}
    return evidence([claim(quantum=0.001)], values)


def test_the_threshold_that_did_it_is_named_and_no_other_change():
    strict = rubric(
        metric_parity={"threshold": 0.0005, "weight": 3}, ablation_faithful={"weight": 2}
    )
    found = change(close(), strict)
    cause = "metric_parity.threshold 0.05 → 0.0005"
    assert told(found) == {
        "metric_parity": ("pass", "inconclusive", cause),
        "error": ("reproduced", "inconclusive", cause),
    }
    assert len(found.settings) == 3
    assert found.sentence == f"1 claim, 1 dimension changed ({cause})."


def test_what_no_setting_does_alone_is_laid_to_those_that_it_needs():
    old = rubric(metric_parity={"threshold": 0.0005})
    new = rubric(no_leakage={"critical": False}, ablation_faithful={"weight": 9})
    found = change(close(), new, old)
    (overall,) = (one for one in found.outcomes if one.kind == "overall")
    assert (overall.before, overall.after, overall.how) == ("inconclusive", "pass", "together")
    assert set(overall.causes) == {
        "dimensions.metric_parity.threshold",
        "dimensions.no_leakage.critical",
    }
    assert found.why(overall).endswith("together")


def test_criticality_changes_the_whole_alone():
    found = change(trivial(), rubric(no_leakage={"critical": False}))
    assert told(found) == {
        "overall": ("inconclusive", "pass", "no_leakage.critical True → False"),
    }


def test_other_evidence_is_the_cause_where_the_old_rubric_agrees():
    found = change(impossible(), rubric(ablation_faithful={"weight": 2}), before=trivial())
    assert not found.same_evidence
    assert found.outcomes and {one.how for one in found.outcomes} == {"evidence"}
    assert "other evidence" in found.sentence


def test_nothing_changes_under_the_same_rubric_nor_by_rules_of_review():
    assert change(close(), RUBRIC).outcomes == ()
    reviewed = Rubric.model_validate({"review": {"seed": 8, "rates": {"early": 1.0}}})
    found = change(close(), reviewed)
    assert (found.outcomes, found.settings) == ((), ())
    assert found.sentence == "no outcome changed."


@settings(max_examples=25)
@given(
    st.sampled_from([0.0005, 0.01, 0.05, 0.2]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, "none"]),
)
def test_every_difference_is_listed_and_each_sole_cause_suffices(
    threshold, critical, key, procedure
):
    new = Rubric.model_validate(
        {
            "dimensions": {
                "metric_parity": {"threshold": threshold, "key_claims_only": key},
                "no_leakage": {"critical": critical},
            },
            **({"false_discovery": {"procedure": procedure}} if procedure else {}),
        }
    )
    case = close()
    found = change(case, new)
    before, after = (states(score(case, one, "a" * 64)) for one in (RUBRIC, new))
    assert {(one.kind, one.name) for one in found.outcomes} == {
        key for key in before if before[key] != after[key]
    }
    for one in found.outcomes:
        assert one.how in {"alone", "together"} and one.causes
        for path in one.causes if one.how == "alone" else ():
            single = RUBRIC.model_dump(mode="json", by_alias=True)
            *folders, name = path.split(".")
            place, given_ = single, new.model_dump(mode="json", by_alias=True)
            for folder in folders:
                place, given_ = place[folder], given_[folder]
            place[name] = given_[name]
            alone = states(score(case, Rubric.model_validate(single), "a" * 64))
            assert alone[one.kind, one.name] == one.after
