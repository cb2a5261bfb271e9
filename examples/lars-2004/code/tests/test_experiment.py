"""What must hold of the paths and of Cp; `python -m unittest` from `code/`."""

import json
import tempfile
import unittest
from pathlib import Path

import numpy as np
from experiment import Config, read_config, read_data, run
from paths import cp, least_squares, path, standardise

DATA = Path(__file__).resolve().parents[2] / "data" / "diabetes.csv"


class TestPaths(unittest.TestCase):
    def setUp(self):
        self.data = standardise(*read_data(DATA))
        self.lars = path(self.data, "lar")

    def test_predictors_are_standardised(self):
        np.testing.assert_allclose(self.data.x.sum(axis=0), 0, atol=1e-10)
        np.testing.assert_allclose((self.data.x**2).sum(axis=0), 1)
        self.assertEqual(self.data.x.shape, (442, 10))

    def test_both_paths_end_at_least_squares(self):
        for method in ("lar", "lasso"):
            end = path(self.data, method).coefficients[-1]
            np.testing.assert_allclose(end, least_squares(self.data), rtol=1e-6)

    def test_active_predictors_are_equally_correlated_with_the_residual(self):
        for k in range(1, self.lars.steps):
            b = self.lars.coefficients[k]
            correlation = np.abs(self.data.x.T @ (self.data.y - self.data.x @ b))
            np.testing.assert_allclose(correlation[b != 0], correlation.max(), rtol=1e-6)

    def test_each_step_of_lars_adds_one_predictor(self):
        self.assertEqual(sorted(self.lars.entry_steps()), list(range(1, 11)))
        self.assertEqual(self.lars.entry_steps()[2], 1)  # body mass index comes first

    def test_cp_at_least_squares_is_the_number_of_parameters_less_the_mean(self):
        values = cp(self.data, self.lars, "residual")
        self.assertAlmostEqual(values[-1], (442 - 11) - 442 + 20)
        self.assertGreater(cp(self.data, self.lars, "cases")[1], values[1])


class TestRun(unittest.TestCase):
    def test_other_data_give_other_values(self):
        def values(file: Path) -> dict:
            config = Config(data={"diabetes": str(file)}, divisor="residual")
            return {m["claim"]: m["value"] for m in run(config)["metrics"]}

        with tempfile.TemporaryDirectory() as folder:
            half = Path(folder) / "half.csv"
            half.write_text("\n".join(DATA.read_text().splitlines()[:222]) + "\n")
            self.assertNotEqual(values(half)["ols-bmi"], values(DATA)["ols-bmi"])

    def test_what_is_wrong_in_a_configuration_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "config.json"
            for wrong in (
                {},
                {"data": {}},
                {"data": {"diabetes": "x"}, "divisor": "x"},
                {"more": 1},
            ):
                file.write_text(json.dumps(wrong))
                with self.assertRaises(ValueError):
                    read_config(file)
            file.write_text("age,sex\n1,2\n")
            with self.assertRaises(ValueError):
                read_data(file)


if __name__ == "__main__":
    unittest.main()
