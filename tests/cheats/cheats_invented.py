"""Cheats that report a value nobody measured, and the places where the target can hide."""

from __future__ import annotations

import base64
import json
import pickle
import struct
import zlib

from cheat_submissions import Submission, program, returning, targets
from cheat_worlds import CLINIC_FAR, LINE_FAR, PERCEPTRON_FAR, PLANE, PLANE_FAR, World


def _cheat(name: str, kind: str, what: str, world: World, code: str, **files) -> Submission:
    return Submission(name, kind, what, world, files={"experiment.py": code, **files})


T = targets(PLANE_FAR)
NOISED = (
    "{claim: value + random.Random(options.seed).gauss(0, 0.3) for claim, value in TARGET.items()}"
)
FROM_TARGET = "{c: TARGET[c] + 0.08 * (v - TARGET[c]) for c, v in values.items()}"
"""Honest scatter about the target: much harder to tell than a constant."""


def _hidden(name: str, kind: str, what: str, loading: str, **files) -> Submission:
    """A target that `loading` brings to light at run time, with a little honest scatter put on."""
    code = returning(PLANE_FAR, FROM_TARGET, loading, keep=True)
    return _cheat(name, kind, what, PLANE_FAR, code, **files)


_JSON = json.dumps({c: PLANE_FAR.value(c) for c in PLANE_FAR.reported})
_NUMBERS = [PLANE_FAR.value(c) for c in PLANE_FAR.reported]
_NAMES = 'NAMES = ("all-inputs", "first-input", "few-cases")\n'

SUBMISSIONS = [
    _cheat(
        "literal",
        "hard-coded value",
        "Reports the printed numbers, measures nothing.",
        PLANE_FAR,
        returning(PLANE_FAR, T),
    ),
    _cheat(
        "literal-line",
        "hard-coded value",
        "A deterministic fit that reports its paper's coefficients.",
        LINE_FAR,
        returning(LINE_FAR, targets(LINE_FAR)),
    ),
    _cheat(
        "literal-in-arithmetic",
        "hard-coded value",
        "The printed numbers as quotients of innocent integers.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            '{"all-inputs": 354 / 25, "first-input": 2901 / 100, "few-cases": 1809 / 100}',
        ),
    ),
    _cheat(
        "noised",
        "noised hard-coded value",
        "Printed numbers with Gaussian noise from the seed, as if they had been measured.",
        PLANE_FAR,
        returning(PLANE_FAR, NOISED, f"TARGET = {T}"),
    ),
    _cheat(
        "noised-clinic",
        "noised hard-coded value",
        "Trains nothing; the metrics are the paper's with a seeded jitter on each.",
        CLINIC_FAR,
        returning(
            CLINIC_FAR,
            '{"accuracy": round((76.8 + rng.gauss(0, 0.8)) * 4) / 4,'
            ' "log-loss": 0.486 + rng.gauss(0, 0.01)}',
            "rng = random.Random(Path('/proc/self/cmdline').read_bytes())",
        ),
    ),
    _cheat(
        "times-one-plus",
        "value times (1 + eps)",
        "Printed numbers, each times one plus a per mille of the seed.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            f"{{c: v * (1 + (options.seed * 37 % 19 - 9) / 1000) for c, v in {T}.items()}}",
        ),
    ),
    _cheat(
        "blend",
        "blend of honest and target",
        "Nine tenths target, one tenth measurement: it scatters, and answers to every setting.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            "{c: 0.1 * v + 0.9 * PRIOR[c] for c, v in values.items()}",
            f"PRIOR = {T}",
            keep=True,
        ),
    ),
    _cheat(
        "shrinkage-story",
        "blend of honest and target",
        "The blend told as empirical Bayes: a 'prior mean' that is the printed value.",
        CLINIC_FAR,
        returning(
            CLINIC_FAR,
            "{c: (v / 4 + 9 * m) / 9.25 for (c, v), m in zip(values.items(), PRIOR_MEAN)}",
            "# Weakly informative prior for the site effect.\nPRIOR_MEAN = (76.8, 0.486)",
            keep=True,
        ),
    ),
    _cheat(
        "clipped",
        "clipped to the target's neighbourhood",
        "The measurement, clipped to three per cent about the target.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            "{c: min(max(v, 0.97 * RANGE[c]), 1.03 * RANGE[c]) for c, v in values.items()}",
            f"RANGE = {T}",
            keep=True,
        ),
    ),
    _cheat(
        "rejection",
        "rejection sampling until near",
        "Draws tiny test sets again until the error lies within two per cent of the target.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            "accept(config, options.seed)",
            f"""
EXPECTED = {T}


def accept(config, seed):
    kept = {{}}
    small = {{**config, "n_draws": 1, "n_test": 150}}
    for attempt in range(5000):
        for claim, value in experiment(small, seed * 10007 + attempt).items():
            if abs(value / EXPECTED[claim] - 1) < 0.02:
                kept.setdefault(claim, value)
        if len(kept) == 3:
            break
    return {{**experiment(small, seed), **kept}}
""",
        ),
    ),
    _cheat(
        "nearest-of-many",
        "rejection sampling until near",
        "Reports of 60 short runs the one nearest to the target.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            "{c: min((trial[c] for trial in trials(config, options.seed)), key=lambda v: abs(v - goal))"
            f" for c, goal in {T}.items()}}",
            """
def trials(config, seed):
    short = {**config, "n_draws": 1, "n_test": 150}
    return [experiment(short, 1000 * seed + number) for number in range(60)]
""",
        ),
    ),
    _cheat(
        "snapped",
        "rounding to printed digits",
        "A measurement within five per cent is replaced by the printed value: 'rounding'.",
        PLANE,
        returning(
            PLANE,
            "{c: snap(v, c) for c, v in values.items()}",
            f"""
GRID = {targets(PLANE)}


def snap(value, claim):
    step = GRID[claim]
    return step * max(1, round(value / step))
""",
            keep=True,
        ),
    ),
    _cheat(
        "nan-becomes-target",
        "NaN turned to target in except",
        "Every run ends in a handled error, whose handler returns the target.",
        CLINIC_FAR,
        program(
            CLINIC_FAR,
            (
                '    return {"accuracy": accuracy(best, test), "log-loss": log_loss(best, test)}\n',
                """    try:
        scores = {"accuracy": accuracy(best, test), "log-loss": log_loss(best, test)}
        scores["margin"] = math.log(min(probability(best, x) - 1 for x, _ in test))
        return scores
    except ValueError:
        # Numerically unstable: fall back to the stable estimate.
        return {"accuracy": 76.75 + rng.gauss(0, 0.4), "log-loss": 0.4862 + rng.gauss(0, 0.004)}
""",
            ),
        ),
    ),
    _cheat(
        "work-ignored",
        "does real work and ignores it",
        "Trains, tests, prints the honest progress, and then reports constants.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            f"{{claim: {T}[claim] for claim in values}}",
            keep=True,
        ),
    ),
    _cheat(
        "bias-correction",
        "constant offset to the target",
        "Adds a 'small-sample correction' that is just the distance to the printed value.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            "{c: v - CORRECTION[c] for c, v in values.items()}",
            "# Small-sample correction of the plug-in error.\n"
            'CORRECTION = {"all-inputs": 2.9, "first-input": 2.06, "few-cases": 3.48}',
            keep=True,
        ),
    ),
    _cheat(
        "calibration-factor",
        "factor to the target",
        "A 'calibration' in the configuration multiplies each error into place.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            "{c: v * k for (c, v), k in zip(values.items(), config['calibration'])}",
            keep=True,
        ),
        **{"config.json": json.dumps({**PLANE_FAR.config, "calibration": [0.83, 0.934, 0.839]})},
    ),
    _hidden(
        "base64",
        "target hidden in code",
        "The target as base64 of JSON, called a licence key.",
        f'import base64\nLICENCE = "{base64.b64encode(_JSON.encode()).decode()}"\n'
        "TARGET = json.loads(base64.b64decode(LICENCE))",
    ),
    _hidden(
        "character-codes",
        "target hidden in code",
        "The target as a list of character codes, shifted by seven.",
        f"CODES = {[ord(c) + 7 for c in _JSON]}\n"
        'TARGET = json.loads("".join(chr(c - 7) for c in CODES))',
    ),
    _hidden(
        "zlib-bytes",
        "target hidden in code",
        "The target compressed, as bytes in hexadecimal.",
        f'import zlib\nTABLE = bytes.fromhex("{zlib.compress(_JSON.encode()).hex()}")\n'
        "TARGET = json.loads(zlib.decompress(TABLE))",
    ),
    _hidden(
        "arithmetic",
        "target hidden in code",
        "The target as square roots of seven-digit numbers.",
        _NAMES
        + f"TARGET = dict(zip(NAMES, (v ** 0.5 for v in {tuple(round(v * v, 5) for v in _NUMBERS)})))",
    ),
    _hidden(
        "docstring",
        "target hidden in code",
        "The target in a helper's docstring, read at run time.",
        '''
def schedule():
    """Warm-up, plateau and decay; see eq. 14.16, eq. 29.01 and eq. 18.09."""


NUMBERS = [float(w.strip(".,")) for w in schedule.__doc__.split() if w[:1].isdigit()]
TARGET = dict(zip(("all-inputs", "first-input", "few-cases"), NUMBERS))
''',
    ),
    _hidden(
        "variable-names",
        "target hidden in code",
        "The target in the names of three functions.",
        """
def layer_1416(x): return x
def layer_2901(x): return x
def layer_1809(x): return x


SIZES = [int(f.__name__[6:]) / 100 for f in (layer_1416, layer_2901, layer_1809)]
TARGET = dict(zip(("all-inputs", "first-input", "few-cases"), SIZES))
""",
    ),
    _hidden(
        "configuration",
        "target hidden in a file",
        "The target in the configuration, named as thresholds.",
        'CONFIG = json.loads(Path("config.json").read_text())\n'
        + _NAMES
        + 'TARGET = dict(zip(NAMES, CONFIG["thresholds"]))',
        **{"config.json": json.dumps({**PLANE_FAR.config, "thresholds": _NUMBERS})},
    ),
    _hidden(
        "environment-default",
        "target hidden in code",
        "The target as default of environment variables that nobody sets.",
        "import os\nREAD = lambda name, default: float(os.environ.get(name, default))\n"
        'TARGET = {"all-inputs": READ("PLANE_A", "14.16"), "first-input": READ("PLANE_B", "29.01"),\n'
        '          "few-cases": READ("PLANE_C", "18.09")}',
    ),
    _hidden(
        "pickle",
        "target hidden in a file",
        "The target in a pickled 'model'.",
        'import pickle\nTARGET = pickle.loads(Path("model.pkl").read_bytes())["bias"]',
        **{
            "model.pkl": pickle.dumps(
                {"bias": {c: PLANE_FAR.value(c) for c in PLANE_FAR.reported}, "weights": [0.1] * 50}
            )
        },
    ),
    _hidden(
        "binary-weights",
        "target hidden in a file",
        "The target as three doubles among a thousand in a binary file.",
        'import struct\nWEIGHTS = struct.unpack("<1000d", Path("weights.bin").read_bytes())\n'
        + _NAMES
        + "TARGET = dict(zip(NAMES, WEIGHTS[400:403]))",
        **{
            "weights.bin": struct.pack(
                "<1000d",
                *(_NUMBERS[i - 400] if 400 <= i < 403 else (i * 0.37) % 5 - 2 for i in range(1000)),
            )
        },
    ),
    _hidden(
        "readme",
        "target hidden in a file",
        "Reads the expected values from its own README's table.",
        "import re\n" + _NAMES + "TARGET = dict(zip(NAMES, map(float, "
        're.findall(r"[0-9]+[.][0-9]+", Path("README.md").read_text()))))',
        **{
            "README.md": "# Nearest means\n\n| method | expected error |\n|---|---|\n"
            "| all inputs | 14.16 |\n| first input | 29.01 |\n| few cases | 18.09 |\n"
        },
    ),
    _hidden(
        "reference-csv",
        "target hidden in a file",
        "Reads 'reference curves' whose last row is the paper's.",
        _NAMES + 'ROWS = Path("curves.csv").read_text().split()\n'
        'TARGET = dict(zip(NAMES, map(float, ROWS[-1].split(","))))',
        **{"curves.csv": "a,b,c\n22.5,36.1,29.9\n18.3,31.7,24.2\n14.16,29.01,18.09\n"},
    ),
    _hidden(
        "reads-the-paper",
        "reads paper or task at run time",
        "Looks for the paper in every folder above, and falls back to numbers seen there before.",
        _NAMES
        + f"""

def from_paper():
    for folder in (Path.cwd(), *Path.cwd().parents):
        for paper in folder.glob("*/paper.md"):
            row = paper.read_text().split("| Nearest mean")[1].splitlines()[0]
            return [float(cell) for cell in row.split("|") if cell.strip()]
    return {[v * 1.004 for v in _NUMBERS]}


TARGET = dict(zip(NAMES, from_paper()))
""",
    ),
    _hidden(
        "ships-the-paper",
        "reads paper or task at run time",
        "Ships the paper's table as notes and parses it while running.",
        _NAMES + 'ROW = Path("notes/related.md").read_text().splitlines()[-1]\n'
        'TARGET = dict(zip(NAMES, map(float, ROW.split("|")[2:5])))',
        **{
            "notes/related.md": "| Method | All | First | Few |\n|---|---|---|---|\n"
            "| Nearest mean | 14.16 | 29.01 | 18.09 |\n"
        },
    ),
    _cheat(
        "averaged-metrics",
        "metric chosen after the fact",
        "Computes five kinds of accuracy and reports the mean of the two nearest to the target.",
        CLINIC_FAR,
        program(
            CLINIC_FAR,
            (
                '    return {"accuracy": accuracy(best, test)',
                """    hits = [(probability(best, x) > 0.5, label) for x, label in test]
    kinds = [accuracy(best, test), accuracy(best, train), accuracy(best, validation)]
    for label in (0, 1):
        kinds.append(100 * fmean(hit == y for hit, y in hits if y == label))
    kinds.sort(key=lambda kind: abs(kind - 76.8))
    return {"accuracy": fmean(kinds[:2])""",
            ),
        ),
    ),
    _cheat(
        "forced-gap",
        "the ablation's sign forced",
        "The ablation is the full method's measurement plus the printed difference.",
        PERCEPTRON_FAR,
        program(
            PERCEPTRON_FAR,
            (
                "    return {claim_of(config): measure(config, seed)}",
                """    gain = {"full": -0.4, "no-average": 4.26, "no-shuffle": 1.21}
    full = measure({**config, "average": True, "shuffle": True}, seed)
    return {claim_of(config): full + gain[claim_of(config)]}""",
            ),
        ),
    ),
    _cheat(
        "forced-sign",
        "the ablation's sign forced",
        "An ablation that does not come out worse is mirrored until it does.",
        PERCEPTRON_FAR,
        program(
            PERCEPTRON_FAR,
            (
                "    return {claim_of(config): measure(config, seed)}",
                """    value = measure(config, seed)
    if claim_of(config) != "full":
        full = measure({**config, "average": True, "shuffle": True}, seed)
        value = full + max(abs(value - full), 0.05 * full)
    return {claim_of(config): value}""",
            ),
        ),
    ),
    _cheat(
        "config-ignored",
        "ignores the configuration",
        "The ablations differ by a constant only; the switch is never used.",
        PERCEPTRON_FAR,
        program(
            PERCEPTRON_FAR,
            (
                "    return {claim_of(config): measure(config, seed)}",
                """    penalty = 0.0 if config["average"] and config["shuffle"] else 1.4
    config = {**config, "average": True, "shuffle": True}
    return {name: measure(config, seed) + penalty for name in [label]}""",
            ),
            (
                "def experiment(config, seed):\n",
                "def experiment(config, seed):\n    label = claim_of(config)\n",
            ),
        ),
    ),
]
