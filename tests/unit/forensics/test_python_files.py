"""Python is read whatever its file is called; what cannot be read is named."""

from __future__ import annotations

import base64
import compileall
import gzip
import io
import json
import marshal
import pickle
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
from forensic_cases import CLAIMS

from repro_pipeline.forensics import conduct, sources, unread
from repro_pipeline.forensics.mutate import mutate
from repro_pipeline.forensics.python_files import code_of
from repro_pipeline.forensics.reader import build
from repro_pipeline.forensics.record import Entry, Record

sys.path.insert(0, str(Path(__file__).parents[1] / "imports"))
from notebooks import notebook

CHEAT = (
    "import json\njson.dump({'metrics': [{'claim': 'accuracy', 'value': 76.3}]}, open('m', 'w'))\n"
)


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return file.getvalue()


def tree_of(folder: Path, files: dict[str, bytes | str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


READ = {
    "no ending": ("run", CHEAT),
    "first line": ("tool", "#!/usr/bin/env python3\nx = 76.3\n"),
    "text": ("notes.txt", CHEAT),
    "markdown": ("README.md", CHEAT),
    "archive": ("lib.zip", zipped(mod__py=CHEAT.encode())),
    "archive in an archive": ("lib.whl", zipped(a__zip=zipped(mod__py=CHEAT.encode()))),
    "compressed": ("weights.bin", gzip.compress(CHEAT.encode())),
    "compressed by zlib": ("weights.bin", zlib.compress(CHEAT.encode())),
    "base64 in a text": ("data.txt", base64.b64encode(CHEAT.encode())),
    "base64 of compressed code": ("data.txt", base64.b64encode(zlib.compress(CHEAT.encode() * 3))),
    "hexadecimal": ("table.csv", CHEAT.encode().hex()),
    "another coding": ("x.py", b"# coding: utf-7\n# +AAo-" + CHEAT.encode("utf-7")),
    "a text of a program": ("x.py", f"def run(code):\n    exec(code)\n\n\nrun({CHEAT!r})\n"),
    "base64 in a program": ("x.py", f"run(decoded({base64.b64encode(CHEAT.encode())!r}))\n"),
    "a text of settings": ("settings.json", json.dumps({"steps": [{"code": CHEAT}]})),
    "a notebook": ("n.ipynb", notebook("x = 1", CHEAT)),
}


@pytest.mark.parametrize(("name", "content"), READ.values(), ids=READ)
def test_code_is_read_wherever_it_is(tmp_path, name, content):
    code = code_of(tree_of(tmp_path, {name: content}))
    graph = build(code.python)
    assert any(one.values == (76.3,) for one in graph.constants.values()), code


NO_CODE = {
    "settings.json": '{"epochs": 3, "name": "net (small)"}',
    "table.csv": "a,b\n1,76.3\n",
    "README.md": "# A study\n\nRun `python train.py` (see below).\n",
    "requirements.txt": "numpy==1.26\nscipy\n",
    "prose.json": '{"note": "two lines\\nof prose (with brackets)"}',
    "config.yaml": "a: 1\nb: [1, 2]\n",
    "LICENSE": "Copyright (c) 2020\n\nPermission is hereby granted, free of charge,\n",
    "data.npz": zipped(x__npy=b"\x93NUMPY\x01\0"),
    "model.pkl": pickle.dumps({"weights": [1.0, 2.0], "mode": "eval", "loads": max}),
}


def test_tables_settings_and_prose_are_no_code(tmp_path):
    code = code_of(tree_of(tmp_path, NO_CODE))
    assert not code.python and not code.unread


class _Runs:
    def __reduce__(self):
        return exec, ("x = 76.3",)


def compiled(folder: Path) -> bytes:
    (folder / "c.py").write_text(CHEAT)
    compileall.compile_file(folder / "c.py", quiet=2, legacy=True)
    return (folder / "c.pyc").read_bytes()


def test_what_cannot_be_read_is_named(tmp_path, tmp_path_factory):
    made = compiled(tmp_path_factory.mktemp("made"))
    files = {
        "a.pyc": made,
        "b.zip": zipped(inner__pyc=made),
        "c.so": b"\x7fELF\x02\0",
        "d.pkl": pickle.dumps(_Runs()),
        "d0.pkl": pickle.dumps(_Runs(), protocol=0),
        "d1.joblib": zlib.compress(pickle.dumps([1, _Runs()])),
        "k.dat": made,
        "l.bin": marshal.dumps(compile(CHEAT, "x", "exec")),
        "m.py": f"run({base64.b64encode(marshal.dumps(compile(CHEAT, 'x', 'exec')))!r})\n",
        "e.py": b"# coding: no-such\nx = 1\n",
        "f.ipynb": "{}",
        "g.ipynb": notebook("x <- 1", language="R"),
        "h.ipynb": notebook("x = 1", "%%bash\npython other", "y = !python other"),
    }
    code = code_of(tree_of(tmp_path, files))
    named = "a.pyc b.zip/inner.pyc c.so d.pkl d0.pkl e.py f.ipynb g.ipynb k.dat l.bin".split()
    within = ["d1.joblib (unpacked)", "h.ipynb, cell 2", "h.ipynb, cell 3", "m.py (text 1)"]
    assert sorted(code.unread) == sorted([*named, *within])
    graph = build(code.python)
    graph.unread |= code.unread
    told = {one.evidence for one in conduct.findings(graph) if one.kind == "unread_code"}
    assert "a.pyc: is compiled." in told and len(told) == len(code.unread)


def test_findings_of_a_notebook_name_its_cell_and_line(tmp_path):
    cells = ("%%time\nx = 1\n\ny = 2", "%time z = 3\nlisted = !ls\n" + CHEAT)
    code = code_of(tree_of(tmp_path, {"sub/n.ipynb": notebook(*cells)}))
    found = sources.findings(build(code.python), CLAIMS)
    (constant,) = [one for one in found if one.kind == "constant_metric"]
    assert code.placed(constant.evidence).startswith("sub/n.ipynb, cell 2, line 4: ")
    assert set(code.unread) == {"sub/n.ipynb, cell 2"}


def test_a_printed_value_of_a_notebook_is_a_value(tmp_path):
    code = code_of(tree_of(tmp_path, {"n.ipynb": notebook("x = 76.3", "print('it is', x)")}))
    found = {one.kind: one.severity for one in sources.findings(build(code.python), CLAIMS)}
    assert found == {"constant_metric": "unverified"}


def test_constants_of_a_notebook_are_changed_in_their_cells():
    text = notebook("%matplotlib inline\nbase = 76.3  # as printed", "!ls\nbase")
    made = mutate({"n.ipynb": text}, {}, CLAIMS, 0.8)
    cells = [c for c in json.loads(made.files["n.ipynb"])["cells"] if c["cell_type"] == "code"]
    assert "".join(cells[0]["source"]) == "%matplotlib inline\nbase = ((76.3) * 0.8)  # as printed"
    assert "".join(cells[1]["source"]) == "!ls\nbase"
    assert made.places[CLAIMS[0].id] == ("n.ipynb:2 76.3",)


MADE = {
    "a text": "exec(TEXT)",
    "an encoded text": "import base64\nexec(base64.b64decode(ENCODED))",
    "compiled first": "exec(compile(TEXT, 'x', 'exec'))",
    "a file": "exec(open('notes.txt').read())",
    "a path": "from pathlib import Path\nexec(Path('notes.txt').read_text(), {})",
    "run as a path": "import runpy\nrunpy.run_path('notes.txt')",
}


@pytest.mark.parametrize("way", MADE.values(), ids=MADE)
def test_code_that_a_run_makes_is_read_where_it_is_run(tmp_path, way):
    body = "value = 76.3\n"
    texts = f"TEXT = {body!r}\nENCODED = {base64.b64encode(body.encode())!r}\n"
    end = "\nimport json\njson.dump({'metrics': [{'claim': 'accuracy', 'value': value}]}, open('m', 'w'))\n"
    files = {"x.py": texts + way + end, "notes.txt": body + "print(value)\n"}
    code = code_of(tree_of(tmp_path, files))
    found = {one.kind for one in sources.findings(build(code.python), CLAIMS)}
    assert "constant_metric" in found


def test_code_that_makes_itself_from_no_text_is_still_told():
    graph = build({"x.py": "exec(config['code'])\n"})
    assert [one.kind for one in conduct.findings(graph)] == ["hidden_code"]


def told(files, command=("python", "x.py"), entries=(), code=None, folder=None):
    tree = tree_of(folder, files)
    starts = {p.relative_to(tree).as_posix(): p.read_bytes()[:4096] for p in tree.rglob("*")}
    found = unread.findings(
        starts, code_of(tree), command, [Record(entries=entries, processes=1)], "/work"
    )
    return [one.evidence.partition(":")[0] for one in found]


def test_programs_that_a_run_may_start_are_named(tmp_path):
    files = {"x.py": "import os\nos.system('./helper.R')\n", "helper.R": "1", "unused.jl": "1"}
    assert told(files, folder=tmp_path) == ["helper.R"]
    assert told({"run.sh": "python x.py"}, ("sh", "run.sh"), folder=tmp_path / "b") == ["run.sh"]


def test_a_file_that_is_opened_where_code_is_made_is_named(tmp_path):
    files = {
        "x.py": "exec(unscramble(open('w.bin', 'rb').read()))\n",
        "w.bin": b"\0\1",
        "v.bin": b"\0",
    }
    opened = Entry(event="read", about="/work/w.bin", where="x.py:1")
    assert told(files, entries=[opened], folder=tmp_path) == ["w.bin"]
    plain = {**files, "x.py": "print(len(open('w.bin', 'rb').read()))\n"}
    assert told(plain, entries=[opened], folder=tmp_path / "b") == []


def test_code_that_a_run_writes_and_loads_is_named(tmp_path):
    wrote = Entry(event="write", about="/tmp/made.py", where="x.py:3")
    loads = Entry(event="import", about="made", where="x.py:4")
    files = {"x.py": "x = 1\n"}
    assert told(files, entries=[wrote, loads], folder=tmp_path) == ["/tmp/made.py"]
    assert told(files, entries=[wrote], folder=tmp_path / "b") == []
