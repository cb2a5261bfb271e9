"""Blinding of real papers: what survives is looked for by plain strings, what stays was read by eye."""

from __future__ import annotations

import pytest

from repro_pipeline.claims.blinding import blind_paper, secrets_for
from repro_pipeline.claims.leaks import leaks
from repro_pipeline.paper.latex import read_latex
from tests.corpus.blinding import GROUPS, claims_of, measure


def test_no_telling_value_of_a_drawn_claim_survives_and_hyperparameters_stay(corpus):
    figures = measure(corpus, GROUPS["machine-written"], 8)
    assert figures.papers == 6 and figures.before > 5
    assert figures.telling == []
    steps = [one for one in figures.touched if "steps" in one]  # results that are counted in steps
    assert figures.untouched + len(steps) >= figures.sentences - 2


@pytest.mark.parametrize(
    ("paper", "stays", "goes"),
    [
        (
            "dual_expert_denoiser",
            [
                "a batch size of 256 for 10,000 steps",
                "a learning rate of 3 × 10^{−4}",
                "weighted at 0.05 relative to the MSE loss",
                "100,000 samples each",
            ],
            [
                "38.7",
                "17.6",
                "1.060",
                "0.873",
                "0.650",
                "65.99",
                "45%",
                "consistently outperformed",
            ],
        ),
        (
            "weight_initialization_grokking",
            ["Batch size: 512", "Total training steps: 7,500", "weight decay"],
            ["863 steps", "2363 steps", "4543 steps"],
        ),
    ],
)
def test_what_stays_and_what_goes_read_by_eye(corpus, paper, stays, goes):
    read = read_latex(corpus / f"tex/aiscientist/{paper}/latex")
    claims = claims_of(read)
    shown = blind_paper(read, claims).text
    assert [words for words in stays if words not in shown] == []
    assert [words for words in goes if words in shown] == []
    assert not [one for one in leaks(shown, secrets_for(read, claims)) if one.certain]
