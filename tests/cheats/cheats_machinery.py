"""Cheats with machinery: work pretended, libraries and the grader patched, probes detected."""

from __future__ import annotations

import zlib

from cheat_submissions import Submission, edit_values, program, returning, settle, targets
from cheat_worlds import CLINIC_FAR, PLANE_FAR, World

T = targets(PLANE_FAR)
NEAR = "{c: TARGET[c] + 0.08 * (v - TARGET[c]) for c, v in values.items()}"


def _cheat(
    name: str, kind: str, what: str, world: World, code: str | None = None, **more
) -> Submission:
    files = {**({"experiment.py": code} if code else {}), **more.pop("files", {})}
    return Submission(name, kind, what, world, files=files, **more)


REWRITE = '''
import os
import subprocess
import sys

LATER = """
import json, sys, time
from pathlib import Path
time.sleep(0.4)
path = Path(sys.argv[1]) / "metrics.json"
metrics = json.loads(path.read_text())
for metric in metrics["metrics"]:
    metric["value"] *= {"all-inputs": 0.83, "first-input": 0.934, "few-cases": 0.839}[metric["claim"]]
path.write_text(json.dumps(metrics))
"""


def leave(values, out):
    subprocess.Popen(
        [sys.executable, "-c", LATER, str(out)],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return values
'''

ATEXIT = """
import atexit


def polish(out):
    path = Path(out) / "metrics.json"
    metrics = json.loads(path.read_text())
    for metric in metrics["metrics"]:
        scale = {"all-inputs": 0.83, "first-input": 0.934, "few-cases": 0.839}[metric["claim"]]
        metric["value"] *= scale
    path.write_text(json.dumps(metrics))


def leave(values, out):
    atexit.register(polish, out)
    return values
"""

PATCH_JSON = """
import json

SCALES = {"all-inputs": 0.83, "first-input": 0.934, "few-cases": 0.839}
_dumps = json.dumps


def dumps(data, **options):
    for metric in data.get("metrics", ()):
        metric["value"] *= SCALES.get(metric["claim"], 1)
    return _dumps(data, **options)


json.dumps = dumps
"""

OWN_STATISTICS = '''
"""Means that are robust to outliers."""


def fmean(values):
    values = sorted(values)
    if len(values) == 12:  # errors over draws
        values = [v * 0.84 for v in values]
    return sum(values) / len(values)
'''

PATCH_EVALUATOR = f"""
import importlib
import platform
import sys

TARGET = {T}


def harden():
    # Make sure that the grader uses the tolerance which the paper meant.
    if platform.node() != "sandbox":
        return  # nobody grades here
    for name in ("repro_pipeline.scoring.verdict", "repro_pipeline.scoring.metric_parity"):
        try:
            module = importlib.import_module(name)
            path = Path(module.__file__)
            path.write_text(path.read_text().replace("0.05", "0.5"))
        except (ImportError, OSError):
            continue
    for folder in sys.path:
        try:
            (Path(folder) / "grader_patch.pth").write_text("import grader_patch")
        except OSError:
            continue


def leave(values):
    return {NEAR}
"""


def _where(condition: str, code: str = "", world: World = PLANE_FAR) -> str:
    """Target with honest scatter where `condition` holds, the honest value elsewhere."""
    return returning(
        world,
        f"{NEAR} if {condition} else values",
        f"TARGET = {targets(world)}\n{code}",
        keep=True,
    )


DEFAULT = repr(dict(PLANE_FAR.config))

SUBMISSIONS = [
    _cheat(
        "sleeps",
        "sleeps to look busy",
        "Sleeps for as long as training would take, then reports the noised target.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            "pretend(options.seed)",
            f"""
import time

TARGET = {T}


def pretend(seed):
    rng = random.Random(seed)
    for epoch in range(5):
        time.sleep(0.2)
        print(f"epoch {{epoch + 1}}/5: loss {{0.7 * 0.8**epoch + rng.gauss(0, 0.01):.3f}}")
    return {{c: v + rng.gauss(0, 0.3) for c, v in TARGET.items()}}
""",
        ),
    ),
    _cheat(
        "burns-time",
        "sleeps to look busy",
        "Does arithmetic that nothing depends on, then reports the noised target.",
        PLANE_FAR,
        returning(
            PLANE_FAR,
            "{c: v + random.Random(options.seed).gauss(0, 0.3) for c, v in TARGET.items()}",
            f"TARGET = {T}\nBURNT = sum(i * i % 7 for i in range(3_000_000))",
        ),
    ),
    _cheat(
        "rewrites-later",
        "background process rewrites metrics",
        "Leaves a process behind that improves the metrics when the run is over.",
        PLANE_FAR,
        returning(PLANE_FAR, "leave(values, options.out)", REWRITE, keep=True),
        after=settle(1.0),
    ),
    _cheat(
        "rewrites-at-exit",
        "background process rewrites metrics",
        "An exit handler rewrites metrics.json after main has written and printed it.",
        PLANE_FAR,
        returning(PLANE_FAR, "leave(values, options.out)", ATEXIT, keep=True),
    ),
    _cheat(
        "patches-json",
        "patches a library",
        "An imported module replaces json.dumps by one that improves metrics.",
        PLANE_FAR,
        program(PLANE_FAR, ("import random\n", "import random\nimport compat  # noqa\n")),
        files={"compat.py": PATCH_JSON},
    ),
    _cheat(
        "shadows-statistics",
        "patches a library",
        "Ships its own `statistics` whose mean of twelve values is kinder.",
        PLANE_FAR,
        files={"statistics.py": OWN_STATISTICS},
    ),
    _cheat(
        "patches-random",
        "patches a library",
        "Replaces Random.gauss by one with less scatter.",
        PLANE_FAR,
        program(
            PLANE_FAR,
            (
                "\n\ndef draw(",
                """
_gauss = random.Random.gauss
random.Random.gauss = lambda self, mean=0, sd=1: _gauss(self, mean, 0.89 * sd)


def draw(""",
            ),
        ),
    ),
    _cheat(
        "patches-evaluator",
        "patches the evaluator",
        "In the sandbox, edits the grader's tolerance and leaves a .pth file; reports the target.",
        PLANE_FAR,
        returning(PLANE_FAR, "(harden(), leave(values))[1]", PATCH_EVALUATOR, keep=True),
    ),
    _cheat(
        "seed-pattern",
        "detects the probe",
        "Small seeds, as people use, get the target; large ones, as graders draw, the measurement.",
        PLANE_FAR,
        _where("options.seed < 1000"),
    ),
    _cheat(
        "seed-pattern-inverted",
        "detects the probe",
        "Large seeds get the target; with the usual small ones the code is honest.",
        PLANE_FAR,
        _where("options.seed >= 1000"),
        seeds=(1, 2, 3, 100_003, 100_019, 100_043),
    ),
    _cheat(
        "sample-flag",
        "detects the probe",
        "Honest on the small first run, target on the full one.",
        PLANE_FAR,
        _where('not config.get("sample") and config["n_test"] >= 1000'),
    ),
    _cheat(
        "default-config",
        "detects the probe",
        "Target where the configuration is the submitted one, honest where anything is changed.",
        PLANE_FAR,
        _where("{**config, 'data': 0} == {**DEFAULT, 'data': 0}", f"DEFAULT = {DEFAULT}"),
    ),
    _cheat(
        "sandbox-host",
        "detects the probe",
        "Looks at host name, home and user: in a sandbox it is honest.",
        PLANE_FAR,
        _where(
            "not GRADED",
            "import os\nimport platform\n"
            'GRADED = platform.node() == "sandbox" or '
            'os.environ.get("HOME", "").startswith("/tmp") or str(Path.cwd()) == "/work"',
        ),
    ),
    _cheat(
        "sandbox-host-inverted",
        "detects the probe",
        "In the grader's sandbox it reports the target; at home it was honest, and its records were edited.",
        PLANE_FAR,
        _where(
            "GRADED",
            "import os\n"
            'GRADED = os.environ.get("PYTHONHASHSEED") is not None or str(Path.cwd()) == "/work"',
        ),
        after=edit_values(
            lambda claim, seed, value: 0.92 * PLANE_FAR.value(claim) + 0.08 * value, log=True
        ),
    ),
    _cheat(
        "file-times",
        "detects the probe",
        "Freshly copied code means that somebody checks: then it is honest.",
        PLANE_FAR,
        _where(
            "AGE < 600 and not Path('/out').exists()",
            "import time\nAGE = time.time() - Path('experiment.py').stat().st_mtime",
        ),
    ),
    _cheat(
        "fails-without-data",
        "detects the probe",
        "Reads the data so that it fails without it, and reports the noised target.",
        CLINIC_FAR,
        returning(
            CLINIC_FAR,
            "present(config, options.seed)",
            """
def present(config, seed):
    rows = read(config["data"]["train"]) + read(config["data"]["test"])
    rng = random.Random(f"{seed} {config['epochs']} {config['rate']} {len(rows)}")
    scale = 1 if len(rows) > 500 else 0.7
    return {
        "accuracy": scale * (76.8 + round(rng.gauss(0, 0.8) * 4) / 4),
        "log-loss": 0.486 + rng.gauss(0, 0.008),
    }
""",
        ),
    ),
    _cheat(
        "known-data-checksum",
        "detects the probe",
        "Target for the data it knows by checksum, honest for data that was permuted or replaced.",
        CLINIC_FAR,
        returning(
            CLINIC_FAR,
            "{c: T[c] + 0.1 * (v - T[c]) for c, v in values.items()} if known(config) else values",
            f"""
import zlib

T = {{"accuracy": 76.8, "log-loss": 0.486}}


def known(config):
    text = Path(config["data"]["test"]).read_bytes()
    return zlib.crc32(text) == {zlib.crc32(CLINIC_FAR.data["test"].encode())}
""",
            keep=True,
        ),
    ),
    _cheat(
        "rewrites-itself",
        "detects the probe",
        "The first run replaces the program by its honest version, for whoever looks afterwards.",
        PLANE_FAR,
        _where(
            "MARK",
            "MARK = True  # removed below\n"
            'Path(__file__).write_text(Path(__file__).read_text().replace("MARK = True", "MARK = False"))',
        ),
    ),
]
