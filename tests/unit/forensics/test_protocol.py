"""The protocol as the code carries it out: what is read, and what is no reproach."""

from __future__ import annotations

import pytest
from forensic_cases import kinds, program

from repro_pipeline.forensics import conduct, protocol, seeding
from repro_pipeline.forensics.reader import build

CHEATS = {
    "v = work({**config, 'shift': 1.13 * config['shift']})": "setting_scaled",
    "config['noise'] *= 0.9\nv = work(config)": "setting_scaled",
    "v = work(10 * config['n_train'])": "setting_scaled",
    "v = sum(work() for _ in range(4 * config['n_draws']))": "setting_scaled",
    "v = work({**config, 'average': True})": "ablation_overridden",
    "config['average'] = False\nv = work(config)": "ablation_overridden",
    "SKIP = (3, 9, 20)\nX = [x for i, x in enumerate(X) if i not in SKIP]\nv = work(X)": "rows_left_out",
    "import numpy as np\nX = np.delete(X, [3, 9, 20], axis=0)\nv = work(X)": "rows_left_out",
    "def f():\n    '''eq. 76.3'''\nv = float(f.__doc__.split()[1])": "reads_itself",
    "def size_763(): pass\nv = int(size_763.__name__[5:]) / 10": "reads_itself",
    "import inspect, re\nv = float(re.findall('[0-9.]+', inspect.getsource(work))[0])": "reads_itself",
}
HONEST = [
    "v = work({**config, 'n_draws': 1})",
    "v = max(work({**config, 'rate': rate}) for rate in grid)",
    "v = 100 * work(config) / config['n_test']",
    "v = work(config['n_test'] // 2, 0.5 * config['rate'], 2 * config['n_train'])",
    "X = [x for i, x in enumerate(X) if i % 2 == 0]\nv = work(X)",
    "X = [x for x, label in zip(X, y) if label in (1, 7)]\nv = work(X)",
    "parser = argparse.ArgumentParser(description=__doc__)\nv = float(work())",
    "for f in (work, evaluate):\n    print(f.__name__, float(f()))\nv = work()",
]


@pytest.mark.parametrize(("code", "kind"), CHEATS.items())
def test_a_protocol_that_is_not_kept(code, kind):
    found = kinds(protocol.findings(build(program(code)), {"average"}))
    assert found == {kind: "unverified"}


@pytest.mark.parametrize("code", HONEST)
def test_what_honest_code_does_with_settings(code):
    assert kinds(protocol.findings(build(program(code)), {"average"})) == {}


def test_a_file_in_place_of_a_standard_module():
    files = program("from statistics import fmean\nv = fmean([work()])")
    assert "shadows_library" not in kinds(conduct.findings(build(files)))
    files["statistics.py"] = "def fmean(values):\n    return 0.8 * sum(values) / len(values)\n"
    assert kinds(conduct.findings(build(files)))["shadows_library"] == "unverified"


def test_a_method_of_a_generator_replaced():
    code = "import random\nrandom.Random.gauss = lambda self, a, b: a\nv = work()"
    assert kinds(conduct.findings(build(program(code))))["patches_library"] == "suspect"


def test_a_seed_of_its_own_given_to_an_own_function():
    code = "def run(config, seed):\n    return work(seed)\nv = run(config, {})"
    assert seeding.fixed_seeds(build(program(code.format("15463"))))
    assert not seeding.fixed_seeds(build(program(code.format("options.seed"))))


READ_TEST = "def test_work(:\n"
"""A file that cannot be read: so it is seen whether it was tried."""


@pytest.mark.parametrize(
    ("code", "tried"),
    [
        ("import test_helper\nv = test_helper.work(config)", True),
        ("import importlib\nv = importlib.import_module('test_' + 'helper').work(config)", True),
        ("v = work(config)", False),
    ],
)
def test_a_test_is_read_where_the_experiment_can_bring_it_in(code, tried):
    graph = build({**program(code), "test_helper.py": READ_TEST})
    assert ("test_helper.py" in graph.unread) is tried
