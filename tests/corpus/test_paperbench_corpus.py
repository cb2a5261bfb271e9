"""Published PaperBench rubrics are read, and the root scores of graded trees recompute exactly."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from repro_pipeline.paperbench.score import grades_of, leaf_shares, other_weights, score_tree
from repro_pipeline.paperbench.tree import GradedNode, leaves, read_tree, shared_ids


def test_all_rubrics_are_read(corpus: Path):
    rubrics = sorted(corpus.glob("paperbench/*/rubric.json"))
    assert len(rubrics) == 14
    total, twice = Counter(), {}
    for path in rubrics:
        root = read_tree(path)
        found = list(leaves(root))
        total.update(leaf.task_category for _, leaf in found)
        assert len({place for place, _ in found}) == len(found)
        if shared := shared_ids(root):
            twice[path.parent.name] = len(shared)
        for code_only in (False, True):
            shares = leaf_shares(root, code_only=code_only)
            assert sum(shares.values()) == Fraction(1)
            assert score_tree(root, {}, code_only=code_only).score is None
    assert sum(total.values()) == 5726
    assert twice == {"bbox": 3, "bridging-data-gaps": 3}


@pytest.mark.parametrize(
    ("name", "exact", "reweighted"),
    [("rice", "1123/6048", 0), ("all-in-one", "15421/21600", 19), ("pinn", "53957/64680", 19)],
)
def test_root_scores_recompute_to_the_last_bit(corpus: Path, name, exact, reweighted):
    graded = read_tree(corpus / f"paperbench_judge_eval/{name}.expected_result.json", GradedNode)
    scored = score_tree(graded, grades_of(graded, graded))
    assert scored.score == graded.score
    assert (scored.exact, scored.graded_weight) == (exact, 1.0)
    # The graded trees carry the weights of an earlier version of the rubric.
    rubric = read_tree(corpus / f"paperbench/{name}/rubric.json")
    assert len(other_weights(graded, rubric)) == reweighted
    assert score_tree(rubric, grades_of(graded, rubric)).graded_weight == 1.0
