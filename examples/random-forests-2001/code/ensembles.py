"""The two ensembles that are compared: Forest-RI and AdaBoost, both of voting CART trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from problems import Sample
from sklearn.tree import DecisionTreeClassifier


@dataclass(frozen=True)
class ForestErrors:
    """Error rates of one forest, as fractions."""

    out_of_bag: float
    test: float
    mean_tree: float
    """Mean test error of the forest's single trees."""


@dataclass(frozen=True)
class BoostingErrors:
    """Test error rate of one boosted ensemble, and how often it restarted at equal weights."""

    test: float
    restarts_without_error: int
    restarts_at_half: int


def random_forest(
    train: Sample,
    test: Sample,
    *,
    n_trees: int,
    n_inputs: int,
    min_samples_leaf: int,
    rng: np.random.Generator,
) -> ForestErrors:
    """Forest-RI: each tree on a bootstrap sample, `n_inputs` inputs drawn at random at each node."""
    n = len(train.y)
    oob_votes = np.zeros((n, train.classes))
    votes = np.zeros((len(test.y), train.classes))
    tree_errors = []
    for _ in range(n_trees):
        bag = rng.integers(n, size=n)
        out = np.setdiff1d(np.arange(n), bag)
        tree = _tree(min_samples_leaf, rng, max_features=n_inputs).fit(train.x[bag], train.y[bag])
        oob_votes[out, tree.predict(train.x[out])] += 1
        predicted = tree.predict(test.x)
        votes[np.arange(len(test.y)), predicted] += 1
        tree_errors.append(np.mean(predicted != test.y))
    judged = oob_votes.any(axis=1)  # a case that every bag holds has no out-of-bag vote
    return ForestErrors(
        out_of_bag=_error(oob_votes[judged], train.y[judged], rng),
        test=_error(votes, test.y, rng),
        mean_tree=float(np.mean(tree_errors)),
    )


def adaboost(
    train: Sample,
    test: Sample,
    *,
    n_rounds: int,
    resample: bool,
    min_samples_leaf: int,
    rng: np.random.Generator,
) -> BoostingErrors:
    """AdaBoost as in Breiman, "Arcing classifiers" (1998): the weights are sampling probabilities.

    A tree of weighted training error e votes with log((1 - e) / e). Where e is 0 or at least 1/2
    the weights restart at equal ones. A tree with e >= 1/2 has no positive vote and casts none; one
    without error votes as if e were half a case of n. With `resample` false the weights go into the
    tree's own splitting instead.
    """
    n = len(train.y)
    equal = np.full(n, 1 / n)
    weights = equal
    votes = np.zeros((len(test.y), train.classes))
    without_error = at_half = 0
    for _ in range(n_rounds):
        tree = _tree(min_samples_leaf, rng)
        if resample:
            drawn = rng.choice(n, size=n, p=weights)
            tree.fit(train.x[drawn], train.y[drawn])
        else:
            tree.fit(train.x, train.y, sample_weight=weights)
        wrong = tree.predict(train.x) != train.y
        error = float(weights[wrong].sum())
        if error >= 0.5:
            at_half += 1
            weights = equal
            continue
        odds = (1 - error) / error if error > 0 else 2 * n - 1
        votes[np.arange(len(test.y)), tree.predict(test.x)] += np.log(odds)
        if error > 0:
            weights = weights * np.where(wrong, odds, 1)
            weights = weights / weights.sum()
        else:
            without_error += 1
            weights = equal
    return BoostingErrors(_error(votes, test.y, rng), without_error, at_half)


def _tree(
    min_samples_leaf: int, rng: np.random.Generator, max_features: int | None = None
) -> DecisionTreeClassifier:
    """An unpruned CART tree (Gini index), not yet grown."""
    return DecisionTreeClassifier(
        max_features=max_features,
        min_samples_leaf=min_samples_leaf,
        random_state=int(rng.integers(2**31)),
    )


def _error(votes: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> float:
    """Share of cases whose most voted class is not `y`; equal votes are settled by chance."""
    tied = np.isclose(votes, votes.max(axis=1, keepdims=True))
    winner = np.argmax(tied * rng.random(votes.shape), axis=1)
    return float(np.mean(winner != y))
