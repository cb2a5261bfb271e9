"""What must hold of the data, the ensembles and the run; `python -m unittest` from `code/`."""

import json
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
from ensembles import ForestErrors, _error, adaboost, random_forest
from experiment import Config, read_config, run, run_draw
from problems import PROBLEMS, Sample, base_waves, draw
from scipy.stats import ncx2, norm

CODE = Path(__file__).resolve().parents[1]
SMALL = Config("twonorm", 100, 200, 2, 10, 5, 1, "resample")


def bayes_errors(sample: Sample, log_densities: list) -> float:
    return float(np.mean(np.argmax(log_densities, axis=0) != sample.y))


def log_normal(x: np.ndarray, mean, variance: float = 1.0) -> np.ndarray:
    """Log density of N(mean, variance I), up to a constant that all classes share."""
    return -((x - mean) ** 2).sum(1) / (2 * variance) - x.shape[1] / 2 * np.log(variance)


class TestData(unittest.TestCase):
    """The formulas, by their moments and the error of the best possible classifier."""

    n = 100_000
    a = 2 / np.sqrt(20)

    def sample(self, dataset: str, scale: float = 2.0) -> Sample:
        return draw(dataset, self.n, scale, np.random.default_rng(1))

    def near(self, error: float, expected: float) -> None:
        """Within four standard errors of a share of n cases."""
        self.assertLess(abs(error - expected), 4 * np.sqrt(expected * (1 - expected) / self.n))

    def test_shapes_and_equal_classes(self):
        for dataset, inputs, classes in (
            ("waveform", 21, 3),
            ("twonorm", 20, 2),
            ("threenorm", 20, 2),
            ("ringnorm", 20, 2),
        ):
            sample = self.sample(dataset)
            self.assertEqual(sample.x.shape, (self.n, inputs))
            self.assertEqual(sample.classes, classes)
            for label in range(classes):
                self.near(float(np.mean(sample.y == label)), 1 / classes)

    def test_waveform_moments(self):
        sample, waves = self.sample("waveform"), base_waves()
        self.assertEqual(list(waves.argmax(axis=1) + 1), [11, 15, 7])
        self.assertEqual(list(waves.max(axis=1)), [6, 6, 6])
        for label, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
            x = sample.x[sample.y == label]
            # u is uniform: mean 1/2, variance 1/12; the noise has variance 1.
            np.testing.assert_allclose(x.mean(0), (waves[i] + waves[j]) / 2, atol=0.05)
            variance = (waves[i] - waves[j]) ** 2 / 12 + 1
            np.testing.assert_allclose(x.var(0), variance, rtol=0.05)
            # one u for the whole wave, not one per input
            k, m = np.argmax(waves[i] - waves[j]), np.argmin(waves[i] - waves[j])
            covariance = (waves[i] - waves[j])[k] * (waves[i] - waves[j])[m] / 12
            self.assertAlmostEqual(np.cov(x[:, k], x[:, m])[0, 1], covariance, delta=0.1)

    def test_twonorm_bayes_error(self):
        sample = self.sample("twonorm")
        densities = [log_normal(sample.x, self.a), log_normal(sample.x, -self.a)]
        self.near(bayes_errors(sample, densities), norm.cdf(-2))

    def test_threenorm_bayes_error(self):
        sample = self.sample("threenorm")
        alternating = np.tile([self.a, -self.a], 10)
        two = [log_normal(sample.x, mean) for mean in (self.a, -self.a)]
        densities = [np.logaddexp(*two) - np.log(2), log_normal(sample.x, alternating)]
        self.near(bayes_errors(sample, densities), 0.105)

    def test_threenorm_first_class_has_two_equal_sides(self):
        sample = self.sample("threenorm")
        first = sample.x[sample.y == 0]
        self.assertAlmostEqual(np.mean(first.sum(axis=1) > 0), 0.5, delta=0.01)

    def test_ringnorm_bayes_error(self):
        for scale in (1.0, 2.0):
            sample, a = self.sample("ringnorm", scale), scale / np.sqrt(20)
            densities = [log_normal(sample.x, 0, 4), log_normal(sample.x, a)]
            # The boundary is a sphere about 4/3 of the mean, its squared radius as follows.
            square = scale**2
            radius = 4 / 3 * (20 * np.log(4) + square / 3)
            outside = ncx2.sf(radius, 20, square / 9)
            inside = ncx2.cdf(radius / 4, 20, 4 * square / 9)
            self.near(bayes_errors(sample, densities), (outside + inside) / 2)


class FixedTree:
    """Answers as told, whatever it is fitted to."""

    def __init__(self, on_train: list[int], on_test: int) -> None:
        self.on_train, self.on_test = np.array(on_train), on_test

    def fit(self, _x, _y):
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.on_train if len(x) == len(self.on_train) else np.full(len(x), self.on_test)


class TestEnsembles(unittest.TestCase):
    """Votes, out-of-bag cases and restarts."""

    def forest(self, train: Sample, test: Sample, seed: int = 0, **changes):
        settings = {"n_trees": 50, "n_inputs": 5, "min_samples_leaf": 1} | changes
        return random_forest(train, test, rng=np.random.default_rng(seed), **settings)

    def boost(self, train: Sample, test: Sample, **changes):
        settings = {"n_rounds": 20, "resample": True, "min_samples_leaf": 1} | changes
        return adaboost(train, test, rng=np.random.default_rng(0), **settings)

    def pair(self, dataset: str) -> tuple[Sample, Sample]:
        rng = np.random.default_rng(3)
        return draw(dataset, 300, 2.0, rng), draw(dataset, 2000, 2.0, rng)

    def test_votes(self):
        votes, y = np.array([[3.0, 1, 0], [0, 1, 2]]), np.array([0, 1])
        self.assertEqual(_error(votes, y, np.random.default_rng(0)), 0.5)

    def test_equal_votes_are_settled_by_chance(self):
        votes, y = np.full((10_000, 2), 0.1 + 0.2), np.zeros(10_000, int)
        self.assertAlmostEqual(_error(votes, y, np.random.default_rng(0)), 0.5, delta=0.02)

    def test_out_of_bag_error_estimates_the_test_error(self):
        train, test = self.pair("waveform")
        errors = self.forest(train, test)
        self.assertAlmostEqual(errors.out_of_bag, errors.test, delta=0.06)

    def test_out_of_bag_error_of_labels_by_chance_is_that_of_guessing(self):
        train, _ = self.pair("twonorm")
        noise = replace(train, y=np.random.default_rng(4).integers(2, size=300))
        errors = self.forest(noise, noise)
        self.assertAlmostEqual(errors.out_of_bag, 0.5, delta=0.1)  # no tree saw the case
        self.assertLess(errors.test, 0.05)  # two trees in three learnt it by heart

    def test_ensembles_are_better_than_a_tree(self):
        for dataset in PROBLEMS:
            train, test = self.pair(dataset)
            errors = self.forest(train, test)
            self.assertLess(errors.test, errors.mean_tree)
            self.assertLess(self.boost(train, test).test, errors.mean_tree)

    def test_one_random_input_per_node_grows_weaker_trees_than_all(self):
        train, test = self.pair("waveform")
        single, every = (self.forest(train, test, n_inputs=n).mean_tree for n in (1, 21))
        self.assertGreater(single, every + 0.01)

    def test_boosted_trees_vote_by_their_weighted_error(self):
        # Equal weights: the first tree errs on 1 of 5, odds 4. That case then has weight 1/2 and
        # the others 1/8: the second tree errs on one of these, odds 7, and outvotes the first.
        train = Sample(np.zeros((5, 1)), np.zeros(5, int), 2)
        test = Sample(np.zeros((100, 1)), np.ones(100, int), 2)
        trees = [FixedTree([1, 0, 0, 0, 0], 0), FixedTree([0, 1, 0, 0, 0], 1)]
        with mock.patch("ensembles._tree", side_effect=trees):
            self.assertEqual(self.boost(train, test, n_rounds=2).test, 0)

    def test_boosting_restarts_where_every_tree_is_without_error(self):
        train, test = self.pair("twonorm")
        boosted = self.boost(train, test, resample=False)
        self.assertEqual((boosted.restarts_without_error, boosted.restarts_at_half), (20, 0))

    def test_boosting_restarts_where_no_tree_can_learn(self):
        train, test = self.pair("twonorm")
        blank = replace(train, x=np.zeros_like(train.x))
        boosted = self.boost(blank, test, n_rounds=40)
        self.assertGreater(boosted.restarts_at_half, 0)
        self.assertEqual(boosted.restarts_without_error, 0)


class TestRun(unittest.TestCase):
    """Selection, determinism, and that the settings are used."""

    def test_selection_takes_the_forest_of_lower_out_of_bag_error(self):
        low = ForestErrors(out_of_bag=0.1, test=0.5, mean_tree=0.6)
        high = ForestErrors(out_of_bag=0.2, test=0.3, mean_tree=0.4)
        for single, several, selected in ((low, high, low), (high, low, low), (low, low, low)):
            with mock.patch("experiment.random_forest", side_effect=[single, several]) as forest:
                result = run_draw(SMALL, np.random.SeedSequence(0))
            self.assertEqual([call.kwargs["n_inputs"] for call in forest.mock_calls], [1, 5])
            self.assertEqual((result.selection, result.one_tree), (selected.test, 0.6))
            self.assertEqual(result.single_input, single.test)
            self.assertEqual(result.chose_single_input, single is low)

    def test_one_seed_one_result(self):
        self.assertEqual(run(SMALL, 5), run(SMALL, 5))
        self.assertNotEqual(run(SMALL, 5), run(SMALL, 6))

    def test_each_setting_changes_what_it_should_and_nothing_else(self):
        claims = {"adaboost", "selection", "single-input", "one-tree"}
        base = self.values(SMALL)
        for change, moved in (
            ({"boosting": "reweight"}, {"adaboost"}),
            ({"n_rounds": 20}, {"adaboost"}),
            ({"n_trees": 40}, claims - {"adaboost"}),
            ({"min_samples_leaf": 20}, claims),
            ({"mean_scale": 1.0}, claims),
            ({"n_train": 50}, claims),
        ):
            values = self.values(replace(SMALL, **change))
            self.assertEqual({claim for claim in claims if values[claim] != base[claim]}, moved)

    def values(self, config: Config) -> dict[str, float]:
        metrics = run(config, 0)["metrics"]
        return {m["claim"].removeprefix("twonorm-"): m["value"] for m in metrics}

    def test_given_configurations_are_read(self):
        for dataset in PROBLEMS:
            config = read_config(CODE / "configs" / f"{dataset}.json")
            self.assertEqual((config.dataset, config.n_train, config.n_test), (dataset, 300, 3000))
            self.assertEqual((config.n_trees, config.n_rounds), (100, 50))

    def test_wrong_configurations_are_named(self):
        given = json.loads((CODE / "configs" / "twonorm.json").read_text())
        for change, words in (
            ({"n_tree": 3}, "unknown setting n_tree"),
            ({"dataset": "fournorm"}, "must be one of waveform"),
            ({"n_draws": 0}, "n_draws is 0"),
            ({"boosting": "none"}, "must be resample or reweight"),
        ):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "config.json"
                path.write_text(json.dumps(given | change))
                with self.assertRaisesRegex(ValueError, words):
                    read_config(path)


if __name__ == "__main__":
    unittest.main()
