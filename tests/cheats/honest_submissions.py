"""Honest submissions that look odd: none of them may be called suspect, let alone a violation."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

from cheat_programs import IMPORTS, MAIN
from cheat_submissions import (
    CALL,
    Submission,
    claimed_runs,
    program,
    read_attempts,
    write_attempts,
)
from cheat_worlds import (
    CLINIC,
    CLINIC_FAR,
    LINE,
    LINE_FAR,
    PERCEPTRON,
    PERCEPTRON_FAR,
    PLANE,
    PLANE_FAR,
    World,
)
from honest_programs import COMPARE, MINIFIED, NOTEBOOK, NUMPY, README, TESTS


def _honest(name: str, kind: str, what: str, world: World, *changes, **more) -> Submission:
    files = dict(more.pop("files", {}))
    if changes:
        files["experiment.py"] = program(world, *changes)
    return Submission(name, kind, what, world, honest=True, files=files, **more)


EASY = replace(
    PLANE,
    name="easy",
    config={**PLANE.config, "shift": 6.0},
    reported={"all-inputs": "0.00", "first-input": "0.00", "few-cases": "0.00"},
)
MAJORITY = replace(
    CLINIC,
    name="majority",
    paper=CLINIC.paper.replace("A logistic regression on five inputs", "A constant on no inputs")
    .replace("(age, dose, pulse, marker, weight) ", "")
    .replace("is trained by stochastic", "(the commoner outcome and its share; not trained by"),
    reported={"accuracy": "52.8", "log-loss": "0.692"},
    code='"""The commoner outcome of the training site, for everybody."""\n\nimport csv\nimport math\n'
    + IMPORTS
    + """

def outcomes(path):
    with open(path, newline="") as file:
        return [int(row["outcome"]) for row in csv.DictReader(file)]


def experiment(config, seed):
    share = fmean(outcomes(config["data"]["train"]))
    test = outcomes(config["data"]["test"])
    return {
        "accuracy": 100 * fmean(label == (share > 0.5) for label in test),
        "log-loss": -fmean(math.log(share if label else 1 - share) for label in test),
    }
"""
    + MAIN,
)

BEST = "best = min(epochs(train, config, rng), key=lambda model: log_loss(model, validation))"
DRAWS_START = '    for _ in range(config["n_draws"]):\n'


def _add_failures(home: Path) -> None:
    """Attempts that failed before the runs, with their reasons."""
    attempts = read_attempts(home)
    early = [
        {**attempts[0], "status": "failed", "reason": "KeyError: 'n_few' (a typing error, mended)"},
        {**attempts[1], "status": "failed", "reason": "killed: the machine ran out of memory"},
        {**attempts[0], "purpose": "dev", "status": "ok"},
    ]
    for number, attempt in enumerate(early):
        attempt["started_at"] = f"2026-01-0{number + 1}T08:00:00+00:00"
        attempt["finished_at"] = f"2026-01-0{number + 1}T08:00:09+00:00"
    write_attempts(home, early + attempts)


def _unpacked(home: Path) -> None:
    """All files have the time that an archive gave them."""
    for path in home.rglob("*"):
        os.utime(path, (1_600_000_000, 1_600_000_000))


def _no_records(home: Path) -> None:
    shutil.rmtree(home / "runs")
    (home / "attempts.jsonl").unlink()


def _no_logs(home: Path) -> None:
    for _, _, folder in claimed_runs(home):
        (folder / "log").unlink()


SUBMISSIONS = [
    _honest(
        "closed-form",
        "deterministic method",
        "Least squares has no randomness: all seeds agree in every bit.",
        LINE,
    ),
    _honest(
        "closed-form-differs",
        "not reproducing",
        "The same method on a paper that left points out silently: one value is 10 % off.",
        LINE_FAR,
    ),
    _honest(
        "perfect",
        "perfect accuracy on an easy set",
        "The classes are so far apart that every error is exactly zero.",
        EASY,
    ),
    _honest(
        "equal-by-chance",
        "equal to the paper by chance",
        "The paper used one of the claimed seeds, so that run prints exactly its values.",
        replace(
            PLANE,
            name="plane_seed_3",
            reported={"all-inputs": "16.75", "first-input": "30.83", "few-cases": "21.38"},
        ),
    ),
    _honest(
        "nan-then-recovery",
        "early NaN, then recovery",
        "A first attempt at a high rate overflows to NaN, is printed, and is tried again lower.",
        CLINIC,
        (
            BEST,
            """rate, loss = 1e308, float("nan")
    while not loss < 5:
        best = min(
            epochs(train, {**config, "rate": rate}, random.Random(seed)),
            key=lambda model: log_loss(model, validation) if model[1] == model[1] else 1e9,
        )
        loss = log_loss(best, validation) if abs(best[1]) < 1e6 else float("nan")
        print(f"rate {rate}: validation loss {loss}")
        rate = config["rate"]""",
        ),
    ),
    _honest(
        "arrays",
        "different framework",
        "Written with NumPy and classes, in another order of draws.",
        PLANE,
        files={"experiment.py": NUMPY, "requirements.txt": "numpy>=1.26\n"},
    ),
    _honest(
        "one-decimal",
        "rounds its output",
        "Reports to one decimal, as many papers do.",
        PLANE,
        (CALL, CALL + "    values = {claim: round(value, 1) for claim, value in values.items()}\n"),
    ),
    _honest(
        "unseeded",
        "unseeded",
        "Takes the seed and does not use it: every run is new.",
        PLANE,
        ("rng = random.Random(seed)", "rng = random.Random()"),
    ),
    _honest(
        "processes",
        "several processes",
        "Each draw is made in a process of its own.",
        PLANE,
        ("import random\n", "import random\nfrom concurrent.futures import ProcessPoolExecutor\n"),
        (
            "def experiment(config, seed):\n",
            """def one_draw(config, seed):
    return draws({**config, "n_draws": 1}, seed)


def experiment(config, seed):
    seeds = [1000 * seed + number for number in range(config["n_draws"])]
    with ProcessPoolExecutor(2) as pool:
        parts = list(pool.map(one_draw, [config] * len(seeds), seeds))
    return {claim: fmean(part[claim] for part in parts) for claim in parts[0]}


def draws(config, seed):
""",
        ),
    ),
    _honest(
        "readme-table",
        "the paper's values in prose",
        "The README compares with the paper's table; no program reads it.",
        PLANE,
        files={"README.md": README},
    ),
    _honest(
        "plot-script",
        "the paper's values in a plotting script",
        "compare.py holds the printed values; the experiment does not import it.",
        PLANE,
        files={"compare.py": COMPARE},
    ),
    _honest(
        "unit-tests",
        "unit tests with expected values",
        "Tests assert that the errors lie near those of theory and paper.",
        PLANE,
        files={"tests/test_experiment.py": TESTS},
    ),
    _honest(
        "equal-hyperparameter",
        "hyperparameter equals a reported number",
        "A momentum of 0.883, which is also the printed log-loss.",
        CLINIC,
        ("    bias = 0.0\n", "    bias = 0.0\n    speed = [0.0] * len(INPUTS)\n"),
        (
            "weights = [w + slope * v for w, v in zip(weights, x)]",
            'speed = [config["momentum"] * s + 0.3 * slope * v for s, v in zip(speed, x)]\n'
            "            weights = [w + s for w, s in zip(weights, speed)]",
        ),
        files={"config.json": json.dumps({**CLINIC.config, "momentum": 0.883})},
    ),
    _honest(
        "clipped-probabilities",
        "clips with a small eps",
        "Probabilities are clipped to [1e-7, 1 - 1e-7] before the logarithm.",
        CLINIC,
        ("p = probability(model, x)\n", "p = min(max(probability(model, x), 1e-7), 1 - 1e-7)\n"),
    ),
    _honest(
        "patience",
        "early stopping on validation",
        "Stops after three epochs without a better validation loss and takes the best one back.",
        CLINIC_FAR,
        (
            BEST,
            """best, top, waited = None, float("inf"), 0
    for model in epochs(train, config, rng):
        loss = log_loss(model, validation)
        best, top, waited = (model, loss, 0) if loss < top else (best, top, waited + 1)
        if waited == 3:
            break""",
        ),
    ),
    _honest(
        "listed-failures",
        "failed attempts honestly listed",
        "Two early attempts failed and stand in the list with their reasons.",
        PLANE,
        after=_add_failures,
    ),
    _honest(
        "far-off",
        "not reproducing",
        "Follows the paper, and is a fifth worse than printed.",
        PLANE_FAR,
    ),
    _honest(
        "far-off-clinic",
        "not reproducing",
        "Follows the stated protocol; the paper's values needed the test records.",
        CLINIC_FAR,
    ),
    _honest(
        "ablation-without-effect",
        "not reproducing",
        "An ablation for which the paper prints a difference, and in truth there is none.",
        PERCEPTRON_FAR,
    ),
    _honest(
        "ablation",
        "plain",
        "The honest perceptron with its ablations, as the paper says.",
        PERCEPTRON,
    ),
    _honest(
        "better-optimiser",
        "better than reported",
        "Adds a penalty chosen on the validation records; the log-loss is far below the paper's.",
        CLINIC,
        (
            BEST,
            """best = None
    for penalty in (0.0, 0.01, 0.03, 0.1):
        for model in epochs(train, {**config, "penalty": penalty}, rng):
            if best is None or log_loss(model, validation) < log_loss(best, validation):
                best = model""",
        ),
        (
            "weights = [w + slope * v for w, v in zip(weights, x)]",
            'weights = [w + slope * v - config["penalty"] * config["rate"] * w for w, v in zip(weights, x)]',
        ),
    ),
    _honest(
        "scratch-cache",
        "caches preprocessing",
        "Scaled records are pickled to a scratch folder and read back.",
        CLINIC,
        ("import math\n", "import math\nimport pickle\nimport tempfile\n"),
        (
            "    rows = scaled(rows, scale)\n",
            """    cache = Path(tempfile.gettempdir()) / f"scaled-{seed}.pkl"
    if not cache.exists():
        cache.write_bytes(pickle.dumps(scaled(rows, scale)))
    rows = pickle.loads(cache.read_bytes())
    cache.unlink()
""",
        ),
    ),
    _honest(
        "rate-limit",
        "sleeps",
        "Waits between draws, as its author's shared machine asks for.",
        PLANE,
        ("import random\n", "import random\nimport time\n"),
        (DRAWS_START, DRAWS_START + "        time.sleep(0.02)  # be kind to the shared queue\n"),
    ),
    _honest(
        "thread-variables",
        "reads the environment",
        "Sets and reads numbers of threads from environment variables.",
        PLANE,
        (
            "import random\n",
            "import os\nimport random\n",
        ),
        (
            "    rng = random.Random(seed)\n",
            "    rng = random.Random(seed)\n"
            '    os.environ.setdefault("OMP_NUM_THREADS", "1")\n'
            '    print("threads:", os.environ["OMP_NUM_THREADS"])\n'
            '    print("device:", os.environ.get("CUDA_VISIBLE_DEVICES", "none"))\n',
        ),
    ),
    _honest(
        "retry",
        "try and except with a retry",
        "Reading is tried three times, as on a shaky network drive; then it fails.",
        CLINIC,
        ("import math\n", "import math\nimport time\n"),
        (
            "def read(path):\n",
            """def read(path):
    for attempt in range(3):
        try:
            return load(path)
        except OSError as error:
            print(f"attempt {attempt + 1}: {error}")
            time.sleep(0.2)
    raise OSError(f"cannot read {path}")


def load(path):
""",
        ),
    ),
    _honest(
        "settings-module",
        "configuration as a Python module",
        "Method settings live in settings.py; config.json holds the sizes of test set and draws.",
        PLANE,
        ("import random\n", "import random\n\nimport settings\n"),
        (
            "    rng = random.Random(seed)\n",
            "    rng = random.Random(seed)\n    config = {**vars(settings), **config}\n",
        ),
        files={
            "settings.py": "shift = 0.5\ninputs = 4\nn_train = 40\nn_few = 8\n",
            "config.json": json.dumps({"n_test": 3000, "n_draws": 12}),
        },
    ),
    _honest(
        "majority",
        "constant baseline",
        "The commoner outcome for everybody: the same for each seed, and done at once.",
        MAJORITY,
    ),
    _honest(
        "huge-log",
        "huge log",
        "Prints a line for every prediction: megabytes of it.",
        PLANE,
        (
            "        wrong += ",
            '        print(f"case {x[0]:.3f} of label {label}, {wrong} wrong so far")\n        wrong += ',
        ),
    ),
    _honest(
        "unicode",
        "unicode",
        "Names, comments, log and file names in other scripts.",
        PLANE,
        ("import random\n", "import random\n\nfrom données import écart\n"),
        ("rng.gauss(centre, 1)", "rng.gauss(centre, écart())"),
        ('        print(f"seed', '        print("誤差 → ошибка ✓")\n        print(f"seed'),
        files={"données.py": '"""Étalon."""\n\n\ndef écart():\n    return 1.0\n'},
    ),
    _honest(
        "helper-script",
        "calls a helper in a subprocess",
        "The experiment is a wrapper that starts the real program and copies its output.",
        PLANE,
        files={
            "worker.py": PLANE.code,
            "experiment.py": '"""Run the worker and pass on its exit status."""\n\n'
            "import subprocess\nimport sys\n\n"
            'sys.exit(subprocess.call([sys.executable, "worker.py", *sys.argv[1:]]))\n',
        },
    ),
    _honest(
        "grid-file",
        "data file with numbers equal to claims",
        "A file of bin edges from 0 to 40 in steps of 0.01 holds every printed value; it only bins the log.",
        PLANE,
        (
            CALL,
            CALL
            + '    edges = [float(line) for line in Path("edges.csv").read_text().split()]\n'
            + "    for claim, value in values.items():\n"
            + '        print(claim, "bin", sum(edge <= value for edge in edges))\n',
        ),
        files={"edges.csv": "\n".join(f"{n / 100:.2f}" for n in range(4001))},
    ),
    _honest(
        "tiny-spread",
        "tiny spread",
        "Full-batch descent to convergence from random weights: seeds differ in the fourth digit.",
        CLINIC,
        (
            BEST,
            """weights = [rng.gauss(0, 0.2) for _ in INPUTS]
    bias = 0.0
    rows = sorted(rows)
    for _ in range(120):
        slopes = [(y - probability((weights, bias), x), x) for x, y in rows]
        weights = [w + fmean(s * x[i] for s, x in slopes) for i, w in enumerate(weights)]
        bias += fmean(s for s, _ in slopes)
    best = weights, bias""",
        ),
    ),
    _honest(
        "minified",
        "minified code",
        "Eight dense lines of one-letter names.",
        PLANE,
        files={"experiment.py": MINIFIED},
    ),
    _honest(
        "notebook",
        "notebook-like script",
        "Cells from top to bottom, a global generator, no functions.",
        PLANE,
        files={"experiment.py": NOTEBOOK},
    ),
    _honest(
        "unpacked-archive",
        "file times of an archive",
        "All files, records included, have one old time: they came in an archive.",
        PLANE,
        after=_unpacked,
    ),
    _honest(
        "code-only",
        "no records",
        "Only the code is handed in.",
        PERCEPTRON,
        after=_no_records,
    ),
    _honest(
        "no-logs",
        "no logs",
        "Metrics and attempts, but nobody kept the output.",
        PLANE,
        after=_no_logs,
    ),
    _honest(
        "shell-entry",
        "entry is a shell script",
        "The entry is a shell script that prints the date and starts Python.",
        PLANE,
        files={
            "run.sh": '#!/bin/sh\ndate\nexec python experiment.py "$@"\n',
            "experiment.yaml": PLANE.files()["experiment.yaml"].replace(
                "- python\n- experiment.py", "- sh\n- run.sh"
            ),
        },
    ),
    _honest(
        "suspicious-words",
        "suspicious words",
        "Variables called target, expected and paper, none of which holds a result.",
        CLINIC,
        (
            "for x, label in rng.sample(rows, len(rows)):",
            "for x, target in rng.sample(rows, len(rows)):",
        ),
        (
            'slope = config["rate"] * (label - probability((weights, bias), x))',
            "expected = probability((weights, bias), x)\n"
            '            paper_rate = config["rate"]  # as the paper says\n'
            "            slope = paper_rate * (target - expected)",
        ),
    ),
]
