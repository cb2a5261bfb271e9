"""What must hold of the models, the estimators and the run; `python -m unittest` from `code/`."""

import unittest
from dataclasses import replace
from pathlib import Path

import numpy as np
from estimators import best, naive_path, ridge, standardise
from experiment import METHODS, read_config, run, run_dataset
from problems import PROBLEMS, Sample
from sklearn.linear_model import ElasticNet

CODE = Path(__file__).resolve().parents[1]
CONFIG = replace(read_config(CODE / "configs" / "example-1.json"), n_datasets=3)


class TestProblems(unittest.TestCase):
    def test_samples_have_the_moments_of_the_formulas(self):
        for problem in PROBLEMS.values():
            sample = problem.draw(200_000, np.random.default_rng(1))
            away = np.cov(sample.x.T) - problem.covariance
            self.assertLess(np.abs(away).max(), 0.02)
            noise = sample.y - sample.x @ problem.beta
            self.assertLess(abs(noise.std() / problem.sigma - 1), 0.01)

    def test_grouped_predictors_are_near_copies(self):
        covariance = PROBLEMS["example-4"].covariance
        self.assertEqual(covariance[0, 4], 1)
        self.assertEqual(covariance[0, 5], 0)
        self.assertAlmostEqual(covariance[0, 0], 1.01)
        self.assertEqual(covariance[20, 20], 1)


class TestEstimators(unittest.TestCase):
    def setUp(self):
        problem = PROBLEMS["example-1"]
        self.train = problem.draw(30, np.random.default_rng(5))
        self.scaled, self.factors = standardise(self.train, "sum_of_squares")

    def test_standardised_columns_have_unit_length(self):
        np.testing.assert_allclose((self.scaled.x**2).sum(axis=0), 1)
        np.testing.assert_allclose(
            self.scaled.x * self.factors, self.train.x - self.train.x.mean(0)
        )
        variance, _ = standardise(self.train, "variance")
        np.testing.assert_allclose(variance.x.var(axis=0), 1)

    def test_a_point_of_the_naive_path_is_what_coordinate_descent_finds(self):
        l2, n = 0.3, len(self.scaled.y)
        b = naive_path(self.scaled, l2, np.array([0.4]))[0]
        gradient = 2 * self.scaled.x.T @ (self.scaled.y - self.scaled.x @ b) - 2 * l2 * b
        l1 = np.abs(gradient).max()
        other = ElasticNet(
            alpha=(l1 + 2 * l2) / (2 * n),
            l1_ratio=l1 / (l1 + 2 * l2),
            fit_intercept=False,
            tol=1e-12,
        ).fit(self.scaled.x, self.scaled.y)
        np.testing.assert_allclose(other.coef_, b, atol=1e-4 * np.abs(b).max())

    def test_the_end_of_the_naive_path_is_ridge_regression(self):
        for l2 in (0.01, 1.0, 100.0):
            np.testing.assert_allclose(
                naive_path(self.scaled, l2, np.array([1.0]))[0],
                ridge(self.scaled, np.array([l2]))[0],
                rtol=1e-6,
                atol=1e-9,
            )

    def test_the_best_candidate_has_the_lowest_validation_error(self):
        train = Sample(np.array([[0.0], [2.0]]), np.array([1.0, 3.0]))
        validation = Sample(np.array([[3.0]]), np.array([6.0]))
        candidates = [np.array([[0.0], [1.0]]), np.array([[2.1]])]
        self.assertEqual(best(candidates, train, validation), 2.1)


class TestRun(unittest.TestCase):
    def test_a_seed_gives_the_same_values_and_another_gives_others(self):
        first, again, other = run(CONFIG, 1), run(CONFIG, 1), run(CONFIG, 2)
        self.assertEqual(first, again)
        self.assertNotEqual(first["metrics"], other["metrics"])
        self.assertEqual(
            [m["claim"] for m in first["metrics"]], [f"example-1-{m}" for m in METHODS]
        )

    def test_with_no_ridge_penalty_to_choose_all_nets_are_the_lasso(self):
        errors = run_dataset(replace(CONFIG, l2_grid=(0.0,)), np.random.SeedSequence(3))
        self.assertEqual(errors["lasso"], errors["elastic-net"])
        self.assertEqual(errors["lasso"], errors["naive"])

    def test_an_impossible_setting_is_refused(self):
        for wrong in (
            {"dataset": "example-5"},
            {"scale": "x"},
            {"error": "x"},
            {"l2_grid": ()},
            {"n_ridge": 0},
        ):
            with self.assertRaises(ValueError):
                replace(CONFIG, **wrong)


if __name__ == "__main__":
    unittest.main()
