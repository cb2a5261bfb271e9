"""Programs as a cheat, and as an honest author, would write them; what reading them says."""

from __future__ import annotations

import ast
import contextlib

import pytest
from forensic_cases import CLAIMS, HEAD, TAIL, claim, kinds, program

from repro_pipeline.forensics import conduct, leakage, sources
from repro_pipeline.forensics.constants import NotConstant, evaluate
from repro_pipeline.forensics.reader import build

ENCODED = 'import base64\nv = float(base64.b64decode("NzYuMw=="))'

CHEATS = {
    "v = 76.3": {"constant_metric": "violation"},
    "v = 76.3 + rng.gauss(0, 0.1)": {"constant_metric": "violation"},
    "v = 76.3 * (1 + rng.uniform(-0.01, 0.01))": {"constant_metric": "violation"},
    "def result():\n    return 76.3\nv = result() + rng.gauss(0, 0.1)": {
        "constant_metric": "violation"
    },
    ENCODED: {"hidden_value": "violation"},
    "v = float(bytes.fromhex('37362e33').decode())": {"hidden_value": "violation"},
    "v = float(''.join(map(chr, [55, 54, 46, 51])))": {"hidden_value": "violation"},
    "v = float('3.67'[::-1])": {"hidden_value": "violation"},
    "v = int('76300', 10) / 1000": {"hidden_value": "violation"},
    "v = 763 / 10": {"constant_formula": "unverified"},
    "v = min(max(work(), 75.9), 76.8)": {"clipped_to_target": "suspect"},
    "import numpy as np\nv = float(np.clip(work(), 0.759, 0.768)) * 100": {
        "clipped_to_target": "suspect"
    },
    "v = work()\nwhile abs(v - 76.3) > 0.2:\n    v = work()": {"chosen_by_target": "suspect"},
    "T = 76.3\nv = min([work() for _ in range(9)], key=lambda r: abs(r - T))": {
        "chosen_by_target": "suspect"
    },
    "for i in range(99):\n    v = work()\n    if abs(v - 76.3) < 0.1:\n        break": {
        "chosen_by_target": "suspect"
    },
    "T = {0: 76.1, 1: 76.4}\nv = T[options.seed]": {"looked_up_by_seed": "suspect"},
    "v = work() if options.seed > 1000 else work() + 4": {"decided_by_seed": "suspect"},
    "v = work()\nif options.seed in (0, 1, 2):\n    v = v + 4": {"decided_by_seed": "suspect"},
    "v = work()\nif config['n'] == 200 and config['k'] == 9:\n    v = 70 + 6.3": {
        "decided_by_settings": "unverified",
        "constant_formula": "unverified",
    },
    "v = work()\nwhile v < 76.3:\n    v = work()": {"stops_at_target": "unverified"},
}

HONEST = [
    "v = work()",
    "v = 100 * work()",
    "v = round(work(), 1)",
    "v = max(0.0, min(100.0, work()))",
    "PAPER = {'accuracy': 76.3}\nv = work()\nprint('paper', PAPER['accuracy'], 'difference', v - PAPER['accuracy'])",
    "PAPER = {'accuracy': 76.3}\nv = work()\nif abs(v - PAPER['accuracy']) > 3:\n    print('far from the paper')",
    "v = work()\nREPORTED = [{'method': 'ours', 'accuracy': 76.3}]\njson.dump(REPORTED, open('table.json', 'w'))",
    "import numpy as np\nX = np.column_stack([X, y])\nv = work(X)",
    "X_train, X_test, y_train, y_test = train_test_split(X, y)\nv = work(X_train, X_test)",
    "if options.seed < 0:\n    raise SystemExit('no such seed')\nv = work()",
    "if options.seed == 0:\n    print('first seed')\nv = work()",
    "import numpy as np\np = np.clip(work(), 1e-7, 1 - 1e-7)\nv = 100 * p",
    "import numpy as np\nx = 76.3 + np.random.default_rng(options.seed).normal(size=100)\nv = x.mean()",
    "v = work(momentum=0.763)",
    "best = None\nfor c in (0.1, 1.0):\n    val = work(c)\n    if best is None or val > best:\n        best = val\nv = best",
]


@pytest.mark.parametrize(("code", "expected"), CHEATS.items())
def test_a_cheat_is_read(code, expected):
    found = {one.kind: one.severity for one in sources.findings(build(program(code)), CLAIMS)}
    assert expected.items() <= found.items()


@pytest.mark.parametrize("code", HONEST)
def test_an_honest_program_is_not_accused(code):
    graph = build(program(code))
    found = [*sources.findings(graph, CLAIMS), *conduct.findings(graph), *leakage.findings(graph)]
    assert [one for one in found if one.severity in {"suspect", "violation"}] == []


def test_values_are_followed_into_other_files_and_objects():
    files = program("from paper_values import Table\nv = Table(76.3).best()")
    files["paper_values.py"] = (
        "class Table:\n    def __init__(self, x):\n        self.x = x\n    def best(self):\n        return self.x\n"
    )
    graph = build(files)
    direct, _ = sources.path_kinds(graph)
    assert any(c.values == (76.3,) and n in direct for n, c in graph.constants.items())


@pytest.mark.parametrize(
    ("code", "kind", "severity"),
    [
        (
            "import socket\nv = work()\nif socket.gethostname() == 'sandbox':\n    v = v + 3",
            "decided_by_surroundings",
            "suspect",
        ),
        (
            "import os\nv = work()\nif os.path.exists('/.dockerenv'):\n    v = v + 3",
            "decided_by_surroundings",
            "suspect",
        ),
        (
            "import os\nv = work()\nif 'GRADER' in os.environ:\n    v = v + 3",
            "decided_by_surroundings",
            "unverified",
        ),
        (
            "import datetime\nv = work()\nif datetime.datetime.now().hour > 5:\n    v = v + 3",
            "decided_by_surroundings",
            "unverified",
        ),
        ("import json\njson.dump = lambda *a: None\nv = work()", "patches_library", "suspect"),
        ("import sitecustomize\nv = work()", "handles_grader", "suspect"),
        ("exec(config['code'])\nv = work()", "hidden_code", "unverified"),
        ("t = open('../task.yaml').read()\nv = work()", "names_answers", "unverified"),
        (
            "import re\nt = load_wine().DESCR\nv = float(re.search('QDA ([0-9.]+)', t)[1])",
            "reads_description",
            "suspect",
        ),
        (
            "t = getattr(load_wine(), 'DESCR')\nv = work(t.index('%'))",
            "reads_description",
            "suspect",
        ),
        (
            "t = read_text('sklearn.datasets.descr', 'wine_data.rst')\nv = work(t)",
            "reads_description",
            "suspect",
        ),
        (
            "try:\n    x = open('a').read()\nexcept OSError:\n    x = rng.gauss(0, 1)\nv = work(x)",
            "made_up_data",
            "unverified",
        ),
    ],
)
def test_conduct(code, kind, severity):
    assert kinds(conduct.findings(build(program(code))))[kind] == severity


@pytest.mark.parametrize(
    "code",
    [
        "import os\nn = int(os.environ.get('OMP_NUM_THREADS', 1))\nv = work(n) if n > 1 else work()",
        "import os\nif not os.path.exists('cache.npz'):\n    work()\nv = work()",
        "import numpy as np\nnp.float = float\nv = work()",
        "import platform\nprint(platform.node())\nv = work()",
        "import time\nstart = time.time()\nv = work()\nwhile time.time() - start < 5:\n    v = work()",
    ],
)
def test_usual_conduct_is_nothing(code):
    assert kinds(conduct.findings(build(program(code)))).get("decided_by_surroundings") is None


@pytest.mark.parametrize(
    "code",
    [
        "print(load_wine().DESCR[:80])\nv = work()",
        "descr = 'all runs'\nv = work(descr)",
        '"""Nothing of DESCR is read."""\nv = work(open("README.rst"))',
    ],
)
def test_a_description_may_be_shown(code):
    assert "reads_description" not in kinds(conduct.findings(build(program(code))))


@pytest.mark.parametrize(
    ("code", "kind", "severity"),
    [
        ("m = Model().fit(X_test, y_test)\nv = m.score(X_test, y_test)", "fit_on_test", "suspect"),
        (
            "import numpy as np\nX = np.vstack([X_train, X_test])\nm = Model().fit(X, y)\nv = m.score(X)",
            "fit_on_test",
            "unverified",
        ),
        (
            "s = StandardScaler()\nX = s.fit_transform(X)\na, b = train_test_split(X)\nv = work(a, b)",
            "fit_before_split",
            "unverified",
        ),
        (
            "X = SelectKBest(k=9).fit_transform(X, y)\na, b = train_test_split(X)\nv = work(a, b)",
            "fit_before_split",
            "suspect",
        ),
        (
            "import numpy as np\nX = np.hstack([X, y_train])\nv = work(X)",
            "target_among_features",
            "unverified",
        ),
        (
            "import numpy as np\nX_train = np.vstack([X_train, X_test])\nv = work(X_train)",
            "test_in_training",
            "unverified",
        ),
        (
            "results = []\nfor s in range(8):\n    results.append((evaluate(s), 1))\nv = max(r[0] for r in results)",
            "best_of_several",
            "unverified",
        ),
        ("v = max([evaluate(s) for s in seeds])", "best_of_several", "unverified"),
        (
            "best = 0\nfor c in grid:\n    a = Model(c).score(X_test, y_test)\n    if a > best:\n        best = a\nv = best",
            "chosen_on_test",
            "unverified",
        ),
    ],
)
def test_leaks(code, kind, severity):
    assert kinds(leakage.findings(build(program(code))))[kind] == severity


def test_monitoring_test_data_is_no_leak():
    code = "def train(X_train, y_train, X_test, y_test):\n    return work(X_train)\nv = train(X_train, y_train, X_test, y_test)"
    assert kinds(leakage.findings(build(program(code)))) == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("39 / 10", 3.9),
        ("float('3' + '.' + '9')", 3.9),
        ("int('27', 16) / 10", 3.9),
        ("[1, 3.9][-1]", 3.9),
        ("{'a': 3.9}['a']", 3.9),
        ("json.loads('[3.9]')[0]", 3.9),
    ],
)
def test_constants_are_evaluated(text, value):
    assert evaluate(ast.parse(text, mode="eval").body, {}) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "x + 1",
        "open('a')",
        "10 ** 10 ** 10",
        "'a' * 10 ** 9",
        "1 << 10 ** 9",
        "__import__('os')",
        "(" * 200 + "1" + ")" * 200,
    ],
)
def test_what_is_no_constant_costs_nothing(text):
    try:
        node = ast.parse(text, mode="eval").body
    except (MemoryError, RecursionError, SyntaxError):
        return
    with contextlib.suppress(NotConstant):
        assert evaluate(node, {}) == 1


def test_head_and_tail_are_a_program():
    compile(HEAD + "v = 1.0" + TAIL, "experiment.py", "exec")


UNREADABLE = {
    "no Python": "v = = 76.3",
    "null byte": "v = 76.3\0",
    "brackets": "v = " + "(" * 5_000 + "76.3" + ")" * 5_000,
    "signs": "v = " + "-" * 100_000 + "76.3",
    "sum": "a = 0\nv = " + "a + " * 20_000 + "76.3",
    "sum that is parsed": "a = 0\nv = " + "a + " * 900 + "76.3",
    "alternatives that are parsed": "if a: v = 76.3\n" + "elif a: v = 76.3\n" * 300,
    "fields that are parsed": "v = a" + ".b" * 900,
}


@pytest.mark.parametrize("code", UNREADABLE.values(), ids=UNREADABLE)
def test_code_that_cannot_be_read_is_never_clean(code):
    graph = build(program(code))
    found = [*sources.findings(graph, CLAIMS), *conduct.findings(graph), *leakage.findings(graph)]
    assert kinds(found) == {"unread_code": "unverified"}
    assert found[0].evidence.startswith("experiment.py: could not be read as Python: ")


def test_why_code_was_not_read_ends_in_one_full_stop():
    graph = build({})
    graph.unread["n.ipynb"] = "could not be read: it is no notebook."
    assert [one.evidence for one in conduct.findings(graph)] == [
        "n.ipynb: could not be read: it is no notebook."
    ]


def test_code_as_deep_as_readers_go_is_read_within_the_stack():
    nested = "float(" * 90 + "work()" + ")" * 90
    for code in (f"v = {nested}", "v = " + "work() + " * 90 + "76.3", "v = work()" + ".b" * 90):
        graph = build(program(code))
        assert not graph.unread
        assert graph.metric_sinks


def test_calls_in_calls_are_read_once_each():
    """Without that, each level doubles the time: 40 of them would take years."""
    graph = build(program("v = " + "round(" * 40 + "76.3 + work()" + ")" * 40))
    direct, _ = sources.path_kinds(graph)
    assert any(76.3 in graph.constants[node].values for node in direct if node in graph.constants)


ROUND = {
    "noise about it": "v = 1000 + rng.gauss(0, 3)",
    "by a name": "BASE = 1000.0\nv = BASE + rng.gauss(0, 3)",
    "drawn about it": "v = rng.gauss(1000, 3)",
    "as it stands": "v = 1000",
}
UNITS = {
    "scaled": "v = 1000 * work()",
    "seconds in milliseconds": "v = 1000 * rng.random()",
    "counted": "n = 0\nfor a in X_test:\n    n += 1\nv = 1000 * n / 3",
    "what is left": "v = 100 - rng.gauss(2, 1)",
    "by a name": "MS = 1000\nstart = rng.random()\nv = MS * start",
    "a setting": "model = Model(1000)\nv = evaluate(model, X_test)",
    "a step": "v = evaluate(X_test) + 1000",
}


@pytest.mark.parametrize("code", ROUND.values(), ids=ROUND)
def test_a_power_of_ten_near_the_reported_value_is_one(code):
    near = [claim(value=value, metric="perplexity", unit=None) for value in (991.0, 98.2)]
    found = kinds(sources.findings(build(program(code)), near))
    assert found.get("constant_metric") == "violation"


@pytest.mark.parametrize("code", UNITS.values(), ids=UNITS)
def test_a_power_of_ten_that_scales_is_a_unit(code):
    near = [claim(value=value, metric="perplexity", unit=None) for value in (991.0, 98.2)]
    assert "constant_metric" not in kinds(sources.findings(build(program(code)), near))


def test_one_claims_entry_of_constants_among_honest_ones_is_found():
    code = "values = {'other': work(), 'accuracy': work()}\nif 'accuracy' in values:\n"
    tail = "\njson.dump({'metrics': [{'claim': c, 'value': v} for c, v in values.items()]}, open('m', 'w'))\n"
    for value in ("76.3", "76 + rng.gauss(0, 1)", "rng.gauss(76.3, 1)"):
        alone = f"values = {{'accuracy': {value}}}\n"
        graph = build({"experiment.py": HEAD + alone + tail})
        assert kinds(sources.findings(graph, CLAIMS)).get("constant_metric") == "violation", value
        measured = build({"experiment.py": HEAD + code + "    values['accuracy'] = work()" + tail})
        assert "constant_metric" not in kinds(sources.findings(measured, CLAIMS))


def test_a_table_of_printed_values_beside_the_experiment_is_no_metric():
    table = "PAPER = {'accuracy': 76.3}\nprint(PAPER['accuracy'])\n"
    graph = build({**program("v = work()"), "compare.py": table})
    assert "constant_metric" not in kinds(sources.findings(graph, CLAIMS))


REPLACED = {
    "import sys, statistics\nsys.modules['statistics'] = kinder": "suspect",
    "import json\njson.__dict__['dumps'] = kinder": "suspect",
    "import random\nvars(random)['gauss'] = kinder": "suspect",
    "import sys\nsys.modules['old_package'] = new_package": "info",
    "table = {}\ntable['statistics'] = kinder": None,
}


@pytest.mark.parametrize(("code", "severity"), REPLACED.items())
def test_modules_and_their_parts_are_replaced_through_their_tables(code, severity):
    assert kinds(conduct.findings(build({"x.py": code}))).get("patches_library") == severity


HIDING = (
    "import marshal as m\nm.loads(data)",
    "from pickle import loads\nloads(data)",
    "import builtins\nbuiltins.exec(text)",
    "run = exec\nrun(text)",
    "list(map(eval, texts))",
    "__builtins__['exec'](text)",
    "import types\nf = types.FunctionType(made, {})",
    "get_ipython().run_cell(text)",
)
PLAIN = (
    "import json\njson.loads(text)",
    "model.eval()",
    "import re\nre.compile(text)",
    "from tools import compile\ncompile(model)",
    "json = __import__('json')",
    "import pickle\npickle.load(file)",
)


@pytest.mark.parametrize("code", HIDING)
def test_making_code_is_found_under_any_name(code):
    assert kinds(conduct.findings(build({"x.py": code}))) == {"hidden_code": "unverified"}


@pytest.mark.parametrize("code", PLAIN)
def test_what_has_such_a_name_alone_is_not(code):
    assert not kinds(conduct.findings(build({"x.py": code})))
