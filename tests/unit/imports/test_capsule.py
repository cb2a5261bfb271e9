"""CORE-Bench's tasks as they are read, and what a capsule says of how it is run."""

from __future__ import annotations

import json

import pytest
from foreign import write

from repro_pipeline.errors import UserError
from repro_pipeline.imports.capsule import (
    absolute_results,
    container_packages,
    read_tasks,
    run_command,
    task_for,
)

RUNS = [
    {"the mean": mean, "fig the best": "Forest", "the labels": ["a", 1], "the count": 3}
    for mean in (1.74, 1.75, 1.76)
]


def test_tasks_are_read_and_found(tmp_path):
    path = tmp_path / "tasks.json"
    one = {"capsule_id": "capsule-1", "results": RUNS, "something": "else"}
    path.write_text(json.dumps([one, {**one, "capsule_id": "capsule-2"}]))
    tasks = read_tasks(path)
    assert task_for(tasks, None, tmp_path / "capsule-2").capsule_id == "capsule-2"
    assert task_for(tasks, "capsule-1", None).capsule_id == "capsule-1"
    assert task_for(tasks[:1], None, None).capsule_id == "capsule-1"
    with pytest.raises(UserError, match="no task is of 'capsule-3'"):
        task_for(tasks, "capsule-3", None)
    for bad in ("[]", "{}", '[{"capsule_id": 3}]', '[{"capsule_id": "a", "results": []}]'):
        path.write_text(bad)
        with pytest.raises(UserError, match="no file of tasks"):
            read_tasks(path)
    path.write_text(json.dumps([{**one, "results": [{"a": 1}, {"b": 1}]}]))
    with pytest.raises(UserError, match="different questions"):
        read_tasks(path)


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ("[{}]", "asks nothing"),
        ('[{"q": 1}, {"q": "x"}]', "by a number and by a text"),
        ('[{"q": 1}, {"q": null}]', "no number, text"),
        ('[{"q": {"x": 1}}]', "no number, text"),
        ('[{"q": [[1]]}]', "no number, text"),
        ('[{"q": 1, "q": 2}]', "stands twice"),
        ('[{"q": NaN}]', "no finite number"),
        ('[{"q": 1e999}]', "no finite number"),
        (f'[{{"q": {"9" * 400}}}]', "no number, text"),
    ],
)
def test_what_no_rule_scores_is_told_and_never_solved(tmp_path, results, said):
    """A task without a question was solved by no answer; numbers beside texts were a traceback."""
    path = tmp_path / "tasks.json"
    path.write_text(f'[{{"capsule_id": "a", "results": {results}}}]', encoding="utf-8-sig")
    with pytest.raises(UserError, match=said):
        read_tasks(path)


def test_two_tasks_of_one_capsule_are_told(tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"capsule_id": "a", "results": RUNS}] * 2))
    with pytest.raises(UserError, match="two tasks"):
        read_tasks(path)


def test_how_a_capsule_is_run(tmp_path):
    capsule = write(tmp_path, {"code/run": "python a.py", "REPRODUCING.md": "x"})
    assert run_command(capsule, None, "medium") == ["bash", "-c", "cd code && exec bash run"]
    assert run_command(capsule, "python b.py", "hard")[-1] == "cd code && python b.py"
    with pytest.raises(UserError, match="REPRODUCING"):
        run_command(capsule, None, "hard")


def test_what_its_dockerfile_installs(tmp_path):
    text = (
        "FROM registry/conda:4.7-python3.8-ubuntu\nRUN apt-get install -y git \\\n && pip3 install -U "
        "--no-cache-dir \\\n    numpy==1.19.2 \\\n 'scipy>=1.5' git+https://x/y && rm -r z\n"
    )
    assert container_packages(write(tmp_path, {"environment/Dockerfile": text})) == (
        ["numpy==1.19.2", "scipy>=1.5"],
        "3.8",
        ["apt-get", "git+https://x/y"],
    )
    assert container_packages(tmp_path / "absent") == ([], None, [])


@pytest.mark.parametrize(
    ("line", "packages", "others"),
    [
        ("pip install -r requirements.txt numpy", ["numpy"], ["-r requirements.txt"]),
        ("# RUN pip install old", [], []),
        ("pip install numpy || true", ["numpy"], []),
        ("pip install numpy > log 2>&1; echo done", ["numpy"], []),
        ("pip install numpy>=1.2 # the shell makes a file of it", ["numpy"], []),
        ("pip install -t lib -i simple numpy", ["numpy"], []),
        (
            """pip install "numpy >= 1.2; python_version > '3'" ./x""",
            ["numpy >= 1.2; python_version > '3'"],
            ["./x"],
        ),
        ("python3 -m pip install numpy \\\n# more\n scipy", ["numpy", "scipy"], []),
        ("conda install -y numpy && /opt/bin/pip3 install scipy", ["scipy"], ["conda"]),
        ("pip install numpy\r\n", ["numpy"], []),
        ("pip install 'numpy", [], ["'numpy"]),
    ],
)
def test_only_packages_are_taken_for_packages(tmp_path, line, packages, others):
    """A file's name or a word of the shell would be looked up in an index, and may be somebody's there."""
    text = f"FROM python:3.8\n{line if line.startswith('#') else f'RUN {line}'}\n"
    write(tmp_path, {"environment/Dockerfile": text})
    assert container_packages(tmp_path) == (packages, "3.8", others)


def test_places_that_write_to_the_absolute_folder(tmp_path):
    write(tmp_path, {"code/a.py": "x\nopen('/results/x')\n", "code/b.py": "open('../results/x')"})
    assert absolute_results(tmp_path) == ["code/a.py:2"]
