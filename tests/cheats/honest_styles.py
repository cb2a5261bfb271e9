"""Honest submissions of unusual style: code in a notebook, in an archive, made by code, found by name."""

from __future__ import annotations

import json

from cheat_submissions import CALL, Submission, program
from cheat_worlds import CLINIC_FAR, PERCEPTRON_FAR, PLANE_FAR, World
from cheats_unread import RUN_CELLS, notebook, zipped


def _honest(name: str, kind: str, what: str, world: World, **files: str | bytes) -> Submission:
    named = {file.replace("__", "."): content for file, content in files.items()}
    return Submission(name, kind, what, world, honest=True, files=named)


_HEAD, _, _MAIN = PLANE_FAR.code.partition("\n\ndef main")
_IMPORTS, _, _DRAWING = _HEAD.partition("\n\ndef draw")
_SPEC = PLANE_FAR.files()["experiment.yaml"]

_GENERATED = """
def dotted(n):
    \"\"\"A scalar product of n parts, unrolled as a text and compiled once.\"\"\"
    parts = " + ".join(f"w[{i}] * x[{i}]" for i in range(n))
    names = {}
    exec(f"def dot(w, x):\\n    return {parts}\\n", names)
    return names["dot"]


DOT = dotted(5)
MILLE = 1000


def output(weights, x):
    return DOT(weights, x)


def error(weights, cases):
    wrong = sum(label * output(weights, x) <= 0 for x, label in cases)
    return MILLE * wrong / len(cases) / 10
"""
_OLD = """def output(weights, x):
    return sum(w * v for w, v in zip(weights, x))
"""
_OLD_ERROR = """def error(weights, cases):
    return 100 * fmean(label * output(weights, x) <= 0 for x, label in cases)
"""

_PLUGINS = '''"""Steps by name: each registers itself, and the configuration says which are taken."""

STEPS = {}


def step(name):
    def register(function):
        STEPS[name] = function
        return function

    return register
'''

SUBMISSIONS = [
    _honest(
        "cells-of-a-notebook",
        "notebook",
        "A small program runs the cells of a notebook; some cells are timed or ask for a listing.",
        PLANE_FAR,
        experiment__py=RUN_CELLS,
        study__ipynb=notebook(_IMPORTS, "def draw" + _DRAWING, "def main" + _MAIN),
    ),
    _honest(
        "program-in-an-archive",
        "archive",
        "The entry is one zip archive that Python runs.",
        PLANE_FAR,
        experiment__yaml=_SPEC.replace("experiment.py", "app.pyz"),
        experiment__py='"""The program is in app.pyz."""\n',
        app__pyz=zipped({"__main__.py": PLANE_FAR.code}),
    ),
    _honest(
        "code-made-by-code",
        "generated code",
        "A product is unrolled by `exec`, and errors are counted per mille before they are told.",
        PERCEPTRON_FAR,
        experiment__py=program(PERCEPTRON_FAR, (_OLD, _GENERATED.lstrip()), (_OLD_ERROR, "")),
    ),
    _honest(
        "steps-by-name",
        "plug-ins",
        "The experiment is a step that registers itself, in a module loaded by the name in a setting.",
        CLINIC_FAR,
        experiment__py=program(
            CLINIC_FAR,
            (
                CALL,
                "    import importlib\n\n"
                '    importlib.import_module(config["module"])\n'
                "    from registry import STEPS\n\n"
                '    values = STEPS[config["step"]](config, options.seed)\n',
            ),
        ),
        registry__py=_PLUGINS,
        steps__py="from experiment import *  # noqa\n"
        "from registry import step\n\n\n"
        '@step("logistic")\ndef logistic(config, seed):\n    return experiment(config, seed)\n',
        config__json=json.dumps({**CLINIC_FAR.config, "module": "steps", "step": "logistic"}),
    ),
]
