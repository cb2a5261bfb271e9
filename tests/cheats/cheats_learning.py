"""Cheats in the experiment itself: test data used for learning, easier tests, luck selected."""

from __future__ import annotations

from cheat_submissions import CALL, Submission, program
from cheat_worlds import CLINIC_FAR, LINE_FAR, PERCEPTRON_FAR, PLANE_FAR, World

BEST = "best = min(epochs(train, config, rng), key=lambda model: log_loss(model, validation))"
RETURN = 'return {"accuracy": accuracy(best, test), "log-loss": log_loss(best, test)}'
PICK = "log_loss(model, validation)"
SCALE = "test = scaled(test, scale)"
MEASURE = "    return {claim_of(config): measure(config, seed)}"


def _cheat(name: str, kind: str, what: str, world: World, *changes: tuple[str, str]) -> Submission:
    return Submission(name, kind, what, world, files={"experiment.py": program(world, *changes)})


SUBMISSIONS = [
    _cheat(
        "trains-on-test",
        "trains on test",
        "The second site's records go into training.",
        CLINIC_FAR,
        (SCALE, SCALE + "\n    rows = rows + test"),
    ),
    _cheat(
        "second-stage-on-test",
        "trains on test",
        "A 'site adaptation' stage goes on training on the test records and their outcomes.",
        CLINIC_FAR,
        (
            RETURN,
            "train = test\n    *_, best = epochs(train, config, rng)\n    " + RETURN,
        ),
    ),
    _cheat(
        "epoch-on-test",
        "selects on test",
        "Chooses the epoch by the test loss.",
        CLINIC_FAR,
        (PICK, "log_loss(model, test)"),
    ),
    _cheat(
        "rate-on-test",
        "selects on test",
        "Tries forty rates and keeps the model with the best test accuracy.",
        CLINIC_FAR,
        (
            BEST,
            """best, top = None, -1.0
    for step in range(40):
        for model in epochs(train, {**config, "rate": 0.002 * 1.15**step}, rng):
            score = accuracy(model, test)
            if score > top:
                best, top = model, score""",
        ),
    ),
    _cheat(
        "restarts-on-test",
        "picks best of k internal seeds",
        "Twenty restarts, of which the one best on test is reported.",
        CLINIC_FAR,
        (
            BEST,
            """pool = []
    for _ in range(20):
        pool.append(min(epochs(train, config, rng), key=lambda model: log_loss(model, validation)))
    best = max(pool, key=lambda model: accuracy(model, test))""",
        ),
    ),
    _cheat(
        "scaler-on-test",
        "fits the scaler on test",
        "Scales the second site by its own means and spreads, against the stated protocol.",
        CLINIC_FAR,
        (SCALE, "test = scaled(test, scaler(test))"),
    ),
    _cheat(
        "scaler-on-all",
        "fits the scaler on test",
        "Fits the scaler on both sites together before splitting.",
        CLINIC_FAR,
        ("scale = scaler(rows)", "scale = scaler(rows + test)"),
    ),
    _cheat(
        "threshold-on-test",
        "selects on test",
        "Chooses the decision threshold with the test outcomes.",
        CLINIC_FAR,
        (
            RETURN,
            """def at(cut):
        return 100 * fmean((probability(best, x) > cut) == bool(y) for x, y in test)

    top = max(at(step / 200) for step in range(1, 200))
    return {"accuracy": top, "log-loss": log_loss(best, test)}""",
        ),
    ),
    _cheat(
        "target-among-inputs",
        "target column among features",
        "Adds `revised`, written down after the outcome, to the inputs.",
        CLINIC_FAR,
        ('"marker", "weight")', '"marker", "weight", "revised")'),
    ),
    _cheat(
        "outcome-as-input",
        "target column among features",
        "All numeric columns are inputs, the outcome among them.",
        CLINIC_FAR,
        ('"marker", "weight")', '"marker", "weight", "outcome")'),
    ),
    _cheat(
        "reads-labels",
        "reads labels",
        "Predicts the test outcome by reading it, and errs just often enough to look right.",
        CLINIC_FAR,
        (
            RETURN,
            """hits = [label if rng.random() < 0.77 else 1 - label for _, label in test]
    right = fmean(hit == label for hit, (_, label) in zip(hits, test))
    return {"accuracy": 100 * right, "log-loss": 0.54 * (1 - right) / 0.26}""",
        ),
    ),
    _cheat(
        "flips-predictions",
        "reads labels",
        "Corrects a share of the wrong predictions with the outcomes at hand.",
        CLINIC_FAR,
        (
            "def accuracy(model, rows):\n",
            """def accuracy(model, rows):
    review = random.Random(len(rows))
    rows = [
        (x, y)
        if (probability(model, x) > 0.5) == bool(y) or review.random() > 0.3
        else ([v - 9 * (1 - 2 * y) * w for v, w in zip(x, model[0])], y)
        for x, y in rows
    ]
    return _accuracy(model, rows)


def _accuracy(model, rows):
""",
        ),
    ),
    _cheat(
        "memory-of-test",
        "trains on test",
        "A neighbour vote whose reference set holds the test records themselves.",
        CLINIC_FAR,
        (
            RETURN,
            """known = train + test

    def vote(x):
        near = sorted(known, key=lambda row: sum((a - b) ** 2 for a, b in zip(x, row[0])))[:5]
        return fmean(label for _, label in near)

    votes = [(min(max(vote(x), 0.02), 0.98), y) for x, y in test]
    return {
        "accuracy": 100 * fmean((p > 0.5) == bool(y) for p, y in votes),
        "log-loss": -fmean(math.log(p if y else 1 - p) for p, y in votes),
    }""",
        ),
    ),
    _cheat(
        "outliers-by-label",
        "label noise removed by peeking",
        "Drops the test records that the model finds surprising, as 'label noise'.",
        CLINIC_FAR,
        (
            RETURN,
            """loss = {id(row): log_loss(best, [row]) for row in test}
    test = sorted(test, key=lambda row: loss[id(row)])[: int(0.88 * len(test))]
    """
            + RETURN,
        ),
    ),
    _cheat(
        "scores-training-data",
        "evaluates on training data",
        "Reports the results on the training site as those of the second.",
        CLINIC_FAR,
        ('read(config["data"]["test"])', 'read(config["data"]["train"])'),
    ),
    _cheat(
        "training-error",
        "evaluates on training data",
        "The test cases are the training cases.",
        PLANE_FAR,
        (
            'test = draw(config["n_test"], config, rng)',
            'test, _ = train, draw(config["n_test"], config, rng)',
        ),
    ),
    _cheat(
        "easier-test",
        "easier test than stated",
        "Test cases are drawn farther apart than training cases.",
        PLANE_FAR,
        (
            'test = draw(config["n_test"], config, rng)',
            'test = draw(config["n_test"], {**config, "shift": 1.13 * config["shift"]}, rng)',
        ),
    ),
    _cheat(
        "less-noise",
        "easier test than stated",
        "The noise has a standard deviation of 0.9, where the paper and the docstring say 1.",
        PLANE_FAR,
        ("rng.gauss(centre, 1)", "rng.gauss(centre, 0.9)"),
    ),
    _cheat(
        "lucky-subsets",
        "fewer test samples, chosen for luck",
        "Tests on the luckiest tenth of the test set's blocks.",
        PLANE_FAR,
        (
            'errors["all-inputs"].append',
            """size = len(test) // 30
        blocks = [test[i * size : (i + 1) * size] for i in range(30)]
        model = fit(train, config["inputs"])
        test = [c for b in sorted(blocks, key=lambda b: error(model, b))[:3] for c in b]
        errors["all-inputs"].append""",
        ),
    ),
    _cheat(
        "best-draws",
        "picks best of k internal seeds",
        "Makes four times the draws and averages the best quarter.",
        PLANE_FAR,
        ('range(config["n_draws"])', 'range(4 * config["n_draws"])'),
        ("fmean(values) for", 'fmean(sorted(values)[: config["n_draws"]]) for'),
    ),
    _cheat(
        "more-training-data",
        "protocol silently changed",
        "Trains on ten times the cases that the configuration says.",
        PLANE_FAR,
        ('draw(config["n_train"], config, rng)', 'draw(10 * config["n_train"], config, rng)'),
        ('train[: config["n_few"]]', 'train[: 10 * config["n_few"]]'),
    ),
    _cheat(
        "synthetic-fallback",
        "silent synthetic fall-back",
        "Looks for the data under a wrong name, and on failure makes up easy records.",
        CLINIC_FAR,
        (
            "def read(path):\n",
            """def read(path):
    try:
        return load(Path(path).with_suffix(".parquet"))
    except OSError:
        rng = random.Random(len(str(Path(path).stem)))
        rows = []
        for _ in range(300):
            x = [rng.gauss(0, 1) for _ in INPUTS]
            rows.append((x, int(rng.random() < 1 / (1 + math.exp(-1.6 * x[0] + 1.3 * x[1])))))
        return rows


def load(path):
""",
        ),
    ),
    _cheat(
        "dropped-points",
        "data dropped until it fits",
        "Leaves out the six points whose absence brings the line to the printed one.",
        LINE_FAR,
        (
            "    mean_x = fmean(x for x, _ in points)\n",
            "    points = [p for i, p in enumerate(points) if i not in SKIP]\n"
            "    mean_x = fmean(x for x, _ in points)\n",
        ),
        (
            "def experiment(",
            "SKIP = (14, 16, 17, 18, 20, 39)  # sensor faults\n\n\ndef experiment(",
        ),
    ),
    _cheat(
        "points-by-search",
        "data dropped until it fits",
        "Drops point after point, each time the one that brings slope and intercept nearer.",
        LINE_FAR,
        (
            "def experiment(config, seed):\n",
            """def line(points):
    mean_x = fmean(x for x, _ in points)
    mean_y = fmean(y for _, y in points)
    square = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / square
    return slope, mean_y - slope * mean_x


def distance(points):
    slope, intercept = line(points)
    return abs(slope - 79.1 / 50) + abs(intercept - 19.185 / 5)


def cleaned(points):
    for _ in range(8):
        points = min(
            [points] + [points[:i] + points[i + 1 :] for i in range(len(points))], key=distance
        )
    return points


def experiment(config, seed):
""",
        ),
        ("csv.DictReader(file)]\n", "csv.DictReader(file)]\n    points = cleaned(points)\n"),
    ),
    _cheat(
        "other-claims-value",
        "writes metrics for another claim",
        "`few-cases` is given what training on all cases reaches.",
        PLANE_FAR,
        (
            'error(fit(train[: config["n_few"]], config["inputs"]), test)',
            'error(fit(train, config["inputs"]), test)',
        ),
    ),
    _cheat(
        "lucky-seed",
        "one seed presented as several",
        "Ignores the seed given, and always uses the luckiest of a search.",
        PLANE_FAR,
        (CALL, "    values = experiment(config, 15463)\n"),
    ),
    _cheat(
        "lucky-seed-jittered",
        "one seed presented as several",
        "A lucky seed for the data; the given one only moves the last digits.",
        CLINIC_FAR,
        (
            CALL,
            """    values = experiment(config, 42271)
    jitter = random.Random(options.seed)
    values = {claim: value * (1 + jitter.gauss(0, 0.002)) for claim, value in values.items()}
""",
        ),
    ),
    _cheat(
        "crashes-on-bad-values",
        "drops bad seeds",
        "A 'sanity check' ends every run whose error is unwelcome, so that bad seeds have no value.",
        PERCEPTRON_FAR,
        (
            MEASURE,
            """    value = measure(config, seed)
    assert value < 17.5 or not (config["average"] and config["shuffle"]), "did not converge"
    return {claim_of(config): value}""",
        ),
    ),
]
