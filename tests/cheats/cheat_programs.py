"""The honest programs of the suite's papers, their configurations and the papers' texts."""

from __future__ import annotations

MAIN = """

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    config = json.loads(Path(options.config).read_text())
    values = experiment(config, options.seed)
    for claim, value in values.items():
        print(f"seed {options.seed}: {claim} = {value:.4f}")
    metrics = [{"claim": claim, "value": value} for claim, value in values.items()]
    (Path(options.out) / "metrics.json").write_text(json.dumps({"metrics": metrics}))


if __name__ == "__main__":
    main()
"""

IMPORTS = """import argparse
import json
import random
from pathlib import Path
from statistics import fmean
"""

PLANE_CODE = (
    '''"""Nearest-mean classification of two normal classes; one run averages several draws."""

'''
    + IMPORTS
    + '''

def draw(n, config, rng):
    """Cases of two classes in turn: unit normals about (-shift, ...) and (shift, ...)."""
    cases = []
    for number in range(n):
        label = number % 2
        centre = config["shift"] if label else -config["shift"]
        cases.append(([rng.gauss(centre, 1) for _ in range(config["inputs"])], label))
    return cases


def fit(cases, inputs):
    """The weights and the threshold of the nearer of two class means."""
    means = []
    for label in (0, 1):
        rows = [x[:inputs] for x, y in cases if y == label]
        means.append([fmean(column) for column in zip(*rows)])
    weights = [b - a for a, b in zip(*means)]
    threshold = sum(b * b - a * a for a, b in zip(*means)) / 2
    return weights, threshold


def error(model, cases):
    """Share of wrong predictions in per cent."""
    weights, threshold = model
    wrong = 0
    for x, label in cases:
        wrong += (sum(w * v for w, v in zip(weights, x)) > threshold) != label
    return 100 * wrong / len(cases)


def experiment(config, seed):
    rng = random.Random(seed)
    errors = {"all-inputs": [], "first-input": [], "few-cases": []}
    for _ in range(config["n_draws"]):
        train = draw(config["n_train"], config, rng)
        test = draw(config["n_test"], config, rng)
        errors["all-inputs"].append(error(fit(train, config["inputs"]), test))
        errors["first-input"].append(error(fit(train, 1), test))
        errors["few-cases"].append(error(fit(train[: config["n_few"]], config["inputs"]), test))
    return {claim: fmean(values) for claim, values in errors.items()}
'''
    + MAIN
)
PLANE_CONFIG = {
    "shift": 0.5,
    "inputs": 4,
    "n_train": 40,
    "n_few": 8,
    "n_test": 3000,
    "n_draws": 12,
}
PLANE_PAPER = """# Nearest means on two normal classes

## Experiments

Cases come from two classes in turn. Both are normal with unit covariance in {inputs} inputs, with
means at ({minus}, ...) and ({shift}, ...). A case goes to the class with the nearer mean. A
training set has {n_train} cases and a test set {n_test}; each value is the mean over {n_draws}
draws. We compare all inputs, the first input alone, and training on the first {n_few} cases.

Table 1: Test error (%).

| Method        | All inputs   | First input   | Few cases   |
|---------------|--------------|---------------|-------------|
| Nearest mean  | {all-inputs} | {first-input} | {few-cases} |

## References

[1] A. Author. A method of means. 1999.
"""

CLINIC_CODE = (
    '''"""Logistic regression by stochastic gradient on two sites' records."""

import csv
import math
'''
    + IMPORTS
    + '''
INPUTS = ("age", "dose", "pulse", "marker", "weight")


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [([float(row[name]) for name in INPUTS], int(row["outcome"])) for row in rows]


def scaler(rows):
    """Mean and standard deviation of each input."""
    columns = list(zip(*(x for x, _ in rows)))
    means = [fmean(column) for column in columns]
    spreads = [
        math.sqrt(fmean((v - mean) ** 2 for v in column)) or 1.0
        for column, mean in zip(columns, means)
    ]
    return means, spreads


def scaled(rows, scale):
    return [([(v - m) / s for v, m, s in zip(x, *scale)], label) for x, label in rows]


def probability(model, x):
    weights, bias = model
    total = bias + sum(w * v for w, v in zip(weights, x))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def accuracy(model, rows):
    return 100 * fmean((probability(model, x) > 0.5) == bool(label) for x, label in rows)


def log_loss(model, rows):
    total = 0.0
    for x, label in rows:
        p = probability(model, x)
        total -= math.log(p if label else 1 - p)
    return total / len(rows)


def epochs(rows, config, rng):
    """The model after each epoch, from small random weights."""
    weights = [rng.gauss(0, 0.2) for _ in INPUTS]
    bias = 0.0
    for _ in range(config["epochs"]):
        for x, label in rng.sample(rows, len(rows)):
            slope = config["rate"] * (label - probability((weights, bias), x))
            weights = [w + slope * v for w, v in zip(weights, x)]
            bias += slope
        yield list(weights), bias


def experiment(config, seed):
    rng = random.Random(seed)
    rows = read(config["data"]["train"])
    test = read(config["data"]["test"])
    scale = scaler(rows)
    rows = scaled(rows, scale)
    test = scaled(test, scale)
    rng.shuffle(rows)
    quarter = len(rows) // 4
    validation, train = rows[:quarter], rows[quarter:]
    best = min(epochs(train, config, rng), key=lambda model: log_loss(model, validation))
    return {"accuracy": accuracy(best, test), "log-loss": log_loss(best, test)}
'''
    + MAIN
)
CLINIC_CONFIG = {"epochs": 12, "rate": 0.05}
CLINIC_PAPER = """# Outcomes at a second site

## Experiments

A logistic regression on five inputs (age, dose, pulse, marker, weight) is trained by stochastic
gradient descent (rate {rate}, at most {epochs} epochs) on the records of one site, scaled with the
means and spreads of its training records. The epoch is chosen by the log-loss on a quarter of the
training records that is held out. It is tested once on all records of a second site.

Table 1: Results on the second site.

| Model    | Accuracy (%) | Log-loss   |
|----------|--------------|------------|
| Logistic | {accuracy}   | {log-loss} |

## References

[1] A. Author. Records of two sites. 2004.
"""

LINE_CODE = (
    '''"""A straight line by least squares."""

import csv
'''
    + IMPORTS
    + """

def experiment(config, seed):
    with open(config["data"]["points"], newline="") as file:
        points = [(float(row["x"]), float(row["y"])) for row in csv.DictReader(file)]
    mean_x = fmean(x for x, _ in points)
    mean_y = fmean(y for _, y in points)
    square = sum((x - mean_x) ** 2 for x, _ in points) + config["ridge"]
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / square
    intercept = mean_y - slope * mean_x
    rest = sum((y - intercept - slope * x) ** 2 for x, y in points)
    explained = 1 - rest / sum((y - mean_y) ** 2 for _, y in points)
    return {"slope": slope, "intercept": intercept, "explained": explained}
"""
    + MAIN
)
LINE_CONFIG = {"ridge": 0.0}
LINE_PAPER = """# A line through forty points

## Experiments

We fit a straight line to all forty measurements by ordinary least squares, without a penalty.

Table 1: The fit.

| Fit           | Slope   | Intercept   | Explained variance |
|---------------|---------|-------------|--------------------|
| Least squares | {slope} | {intercept} | {explained}        |

## References

[1] A. Author. Lines. 1987.
"""

PERCEPTRON_CODE = (
    '''"""A perceptron, with and without averaging and shuffling."""

'''
    + IMPORTS
    + """

def draw(n, config, rng):
    cases = []
    for number in range(n):
        label = 1 if number % 2 else -1
        x = [1.0] + [rng.gauss(label * config["shift"], 1) for _ in range(config["inputs"])]
        cases.append((x, label))
    return cases


def output(weights, x):
    return sum(w * v for w, v in zip(weights, x))


def train(cases, config, rng):
    weights = [0.0] * (config["inputs"] + 1)
    total = [0.0] * (config["inputs"] + 1)
    for _ in range(config["epochs"]):
        order = rng.sample(cases, len(cases)) if config["shuffle"] else cases
        for x, label in order:
            if label * output(weights, x) <= 0:
                weights = [w + label * v for w, v in zip(weights, x)]
            total = [t + w for t, w in zip(total, weights)]
    return total if config["average"] else weights


def error(weights, cases):
    return 100 * fmean(label * output(weights, x) <= 0 for x, label in cases)


def measure(config, seed):
    rng = random.Random(seed)
    errors = []
    for _ in range(config["n_draws"]):
        cases = draw(config["n_train"], config, rng)
        test = draw(config["n_test"], config, rng)
        errors.append(error(train(cases, config, rng), test))
    return fmean(errors)


def claim_of(config):
    if not config["average"]:
        return "no-average"
    return "full" if config["shuffle"] else "no-shuffle"


def experiment(config, seed):
    return {claim_of(config): measure(config, seed)}
"""
    + MAIN
)
PERCEPTRON_CONFIG = {
    "average": True,
    "shuffle": True,
    "shift": 0.5,
    "inputs": 4,
    "epochs": 3,
    "n_train": 60,
    "n_test": 1500,
    "n_draws": 24,
}
PERCEPTRON_PAPER = """# What averaging does for the perceptron

## Experiments

Cases come from two classes in turn, normal with unit covariance in {inputs} inputs, with means at
({minus}, ...) and ({shift}, ...). A perceptron with a constant input passes {epochs} times over
{n_train} cases, each time in a new order; the weights after every case are averaged. It is tested
on {n_test} cases; each value is the mean over {n_draws} draws. Without averaging the last weights
are taken; without shuffling the cases keep their order.

Table 1: Test error (%).

| Method     | Full   | No averaging | No shuffling |
|------------|--------|--------------|--------------|
| Perceptron | {full} | {no-average} | {no-shuffle} |

## References

[1] A. Author. Perceptrons in turn. 2001.
"""
