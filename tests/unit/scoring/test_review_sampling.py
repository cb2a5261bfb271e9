"""Reviews by people: how far reviewers agree, when sampling becomes stable, what decisions change."""

import math
from collections import Counter
from datetime import UTC, datetime
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_cases import breiman

from repro_pipeline.frozen import digest
from repro_pipeline.ledger.rows import DecisionRow, ReviewRow
from repro_pipeline.scoring.agreement import Agreement, agreement, cohen
from repro_pipeline.scoring.review import (
    after_review,
    holding,
    item_of,
    phase_of,
    reviewers_agreement,
    sample,
)
from repro_pipeline.scoring.rubric import ReviewRule, Rubric
from repro_pipeline.scoring.score import score
from repro_pipeline.status import Verdict

LABELS = ("confirmed", "overturned", "unclear")
SCORES = score(breiman(), Rubric(), "0" * 64)
STORED = digest(SCORES)
CLAIM = SCORES.verdicts[0].claim


def kappa_by_definition(pairs):
    """(p - e) / (1 - e) in floats, from the table of both reviewers' labels."""
    n = len(pairs)
    table = [[sum((a, b) == (x, y) for a, b in pairs) / n for y in LABELS] for x in LABELS]
    agreed = sum(table[k][k] for k in range(3))
    chance = sum(sum(table[k]) * sum(row[k] for row in table) for k in range(3))
    return None if math.isclose(chance, 1) else (agreed - chance) / (1 - chance)


labels = st.sampled_from(LABELS)
rated = st.lists(st.dictionaries(st.sampled_from("abcd"), labels), max_size=25)


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=40))
def test_kappa_is_cohens(pairs):
    expected = kappa_by_definition(pairs)
    assert cohen(pairs) == (expected and pytest.approx(expected, abs=1e-12))
    assert cohen([(b, a) for a, b in pairs]) == cohen(pairs)


def test_kappa_of_a_table_in_the_literature():
    """The example of Cohen (1960), 200 cases in three classes: p = 0.70, e = 0.41."""
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    pairs = [
        (LABELS[i], LABELS[j])
        for i, row in enumerate(table)
        for j, n in enumerate(row)
        for _ in range(n)
    ]
    assert cohen(pairs) == pytest.approx((0.70 - 0.41) / (1 - 0.41))


@given(rated)
def test_more_reviewers_have_the_mean_of_their_pairs_weighted_by_shared_claims(ratings):
    found = agreement(ratings)
    kappas = []
    for one, other in combinations("abcd", 2):
        pairs = [(r[one], r[other]) for r in ratings if one in r and other in r]
        if pairs and (kappa := kappa_by_definition(pairs)) is not None:
            kappas.append((kappa, len(pairs)))
    weight = sum(n for _, n in kappas)
    expected = sum(k * n for k, n in kappas) / weight if weight else None
    assert found.kappa == (expected if expected is None else pytest.approx(expected, abs=1e-9))
    assert found.claims == sum(len(r) > 1 for r in ratings)
    if found.kappa is not None:
        assert -1 - 1e-12 <= found.kappa <= 1 + 1e-12


def test_reviewers_who_always_say_the_same_prove_nothing():
    assert agreement([{"a": "confirmed", "b": "confirmed"}] * 80).kappa is None


def made(claim, decision, who, *, blind=True, scores=STORED):
    return DecisionRow(
        claim=claim,
        scores=scores,
        reviewer=who,
        decision=decision,
        reason="looked",
        blind=blind,
        seq=1,
        at=datetime(2024, 5, 1, tzinfo=UTC),
        actor=f"human:{who}",
    )


def row(claim, *decisions, scores=STORED):
    return ReviewRow(
        claim=claim, scores=scores, rate=0.25, why="drawn", status="waiting", decisions=decisions
    )


@pytest.mark.parametrize(
    ("claims", "kappa", "phase"),
    [
        (50, 0.8, "stable"),
        (49, 0.8, "early"),
        (50, 0.79, "early"),
        (500, None, "early"),
        (0, None, "early"),
    ],
)
def test_sampling_is_stable_after_fifty_reviews_that_agree(claims, kappa, phase):
    found = Agreement(claims=claims, reviewers=2, kappa=kappa)
    assert phase_of(ReviewRule(), found) == phase
    assert phase_of(ReviewRule(phase="stable"), found) == "stable"


def test_only_blind_decisions_speak_for_the_reviewers_where_reviews_are_blind():
    rows = [
        row(
            f"c{n}",
            made(f"c{n}", LABELS[n % 2], "ada"),
            made(f"c{n}", LABELS[n % 2], "emil", blind=n > 9),
        )
        for n in range(60)
    ]
    assert reviewers_agreement(rows, ReviewRule()) == Agreement(claims=50, reviewers=2, kappa=1)
    assert reviewers_agreement(rows, ReviewRule(double_blind=False)).claims == 60


def test_what_was_drawn_stays_drawn_when_the_rate_falls():
    all_of_them = ReviewRule(rates={"early": 1.0, "stable": 0.0, "anomaly": 0.0})
    drawn = sample(SCORES, all_of_them).items
    assert len(drawn) == len(SCORES.verdicts)
    later = sample(SCORES, all_of_them, phase="stable")
    grave = {item.claim for item in later.items}
    kept = next(v.claim for v in SCORES.verdicts if v.claim not in grave)
    again = sample(
        SCORES, all_of_them, phase="stable", standing=[row(kept, made(kept, "unclear", "ada"))]
    )
    assert {item.claim for item in again.items} == {kept, *grave}
    (item,) = (item for item in again.items if item.claim == kept)
    assert (item.rate, item.verdict) == (0.25, Verdict.INCONCLUSIVE)


OTHER = "1" * 64


@pytest.mark.parametrize(
    ("earlier", "holds"),
    [
        (SCORES.model_copy(update={"rubric": OTHER, "headline": "another"}), True),
        (SCORES.model_copy(update={"evidence": OTHER}), False),
        (
            SCORES.model_copy(
                update={
                    "verdicts": (
                        SCORES.verdicts[0].model_copy(update={"verdict": Verdict.NOT_RUN}),
                        *SCORES.verdicts[1:],
                    )
                }
            ),
            False,
        ),
        (None, False),
    ],
    ids=["another rubric", "other evidence", "another verdict", "unreadable"],
)
def test_a_draw_holds_where_evidence_and_verdict_are_the_same(earlier, holds):
    old = row(CLAIM, made(CLAIM, "overturned", "ada", scores=OTHER), scores=OTHER)
    held = holding(SCORES, STORED, [old], {OTHER: earlier}.get)
    assert held == ((old,) if holds else ())
    none = ReviewRule(rates={"early": 0.0, "stable": 0.0, "anomaly": 0.0})
    items = [one for one in sample(SCORES, none, standing=held).items if one.claim == CLAIM]
    assert [item.verdict for item in items] == ([Verdict.NOT_REPRODUCED] if holds else [])


def test_of_several_draws_that_hold_that_of_the_scores_counts_then_one_with_decisions():
    own, bare = row(CLAIM), row(CLAIM, scores="2" * 64)
    decided = row(CLAIM, made(CLAIM, "unclear", "ada", scores=OTHER), scores=OTHER)
    read = {OTHER: SCORES, "2" * 64: SCORES}.get
    assert holding(SCORES, STORED, [own, decided, bare], read) == (own,)
    assert holding(SCORES, STORED, [decided, bare], read) == (decided,)


def test_decisions_that_hold_for_later_scores_are_one_review():
    ratings = [made(CLAIM, "confirmed", who) for who in ("ada", "emil")]
    first = row(CLAIM, *ratings)
    later = first.model_copy(update={"scores": OTHER, "decided_on": STORED})
    assert later.bound_to == first.bound_to == STORED
    assert reviewers_agreement([first, later], ReviewRule()).claims == 1


@pytest.mark.parametrize(
    ("decisions", "verdict"),
    [
        ([], None),
        (["confirmed"], Verdict.REPRODUCED),
        (["overturned", "overturned"], Verdict.NOT_REPRODUCED),
        (["unclear"], Verdict.INCONCLUSIVE),
        (["confirmed", "overturned"], Verdict.INCONCLUSIVE),
    ],
)
def test_the_reviewers_verdict_is_what_they_all_say(decisions, verdict):
    people = zip(("ada", "emil", "grace"), decisions, strict=False)
    item = item_of(row(CLAIM, *(made(CLAIM, what, who) for who, what in people)))
    assert item.verdict == verdict


def test_a_sentence_says_which_verdicts_people_overruled():
    by_verdict = {v.verdict: v.claim for v in SCORES.verdicts}
    good = by_verdict[Verdict.REPRODUCED]
    assert after_review(SCORES, [item_of(row(good))]) is None
    held = after_review(SCORES, [item_of(row(good, made(good, "confirmed", "ada")))])
    reproduced = Counter(v.verdict for v in SCORES.verdicts)[Verdict.REPRODUCED]
    assert f"{reproduced} of 16 claims reproduced; no verdict overruled" in held
    fell = after_review(SCORES, [item_of(row(good, made(good, "overturned", "ada")))])
    assert f"{reproduced - 1} of 16 claims reproduced" in fell
    assert f"overruled: {good} from reproduced to not reproduced" in fell
