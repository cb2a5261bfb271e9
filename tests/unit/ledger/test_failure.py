"""Real failures of real programs are told apart, and the same one is recognised again."""

import subprocess
import sys

import pytest

from repro_pipeline.ledger.failure import reason_from, signature
from repro_pipeline.status import Status

FAILURES = {
    "import_error": "import not_a_module_at_all",
    "exception:ValueError": "raise ValueError('shapes (3,4) and (5,) do not fit')",
    "exception:KeyError": "{}['loss']",
    "exception:FileNotFoundError": "open('/nowhere/data.csv')",
    "exception:SyntaxError": "def f(:",
    "exception:AssertionError": "assert 1 == 2",
    "exception:ZeroDivisionError": "try:\n    {}['x']\nexcept KeyError:\n    1 / 0",
    "out_of_memory": "import resource\n"
    "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\nbytearray(2**40)",
    "network_refused": "import socket\nsocket.getaddrinfo('data.invalid', 80)",
    "disk_full": "import resource, signal\n"
    "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    "file = open('big', 'wb', buffering=0)\n"
    "for _ in range(3):\n    file.write(b'x' * 900)",
    "killed_by_signal": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
    "nonzero_exit": "import sys\nprint('epoch 1')\nsys.exit('no convergence after 20 epochs')",
}


def run(code: str, folder, name="script.py") -> tuple[int, str]:
    """Exit code and output of a real program; killed ones as a shell reports them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(code)
    done = subprocess.run(
        [sys.executable, str(folder / name)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    code = done.returncode
    return (code if code >= 0 else 128 - code), done.stdout


@pytest.mark.parametrize("code", FAILURES)
def test_each_failure_has_its_code_and_a_sentence(code, tmp_path):
    exit_code, log = run(FAILURES[code], tmp_path)
    reason = reason_from(exit_code, Status.FAILED, log)
    assert reason.code == code
    assert "\n" not in reason.sentence
    assert len(reason.sentence) > 10
    assert (reason.signature is None) == (log == "")


def test_the_sentence_says_what_the_program_said(tmp_path):
    said = {name: reason_from(*_failed(run(code, tmp_path))) for name, code in FAILURES.items()}
    assert said["import_error"].sentence == "The module 'not_a_module_at_all' is not installed."
    assert said["exception:KeyError"].sentence == "KeyError: 'loss'"
    assert said["killed_by_signal"].sentence == "It was ended by SIGSEGV."
    assert said["nonzero_exit"].sentence == (
        "It ended with exit code 1: no convergence after 20 epochs"
    )


def _failed(ended: tuple[int, str]) -> tuple[int, Status, str]:
    return ended[0], Status.FAILED, ended[1]


def test_the_same_failure_has_the_same_signature_wherever_it_happens(tmp_path):
    body = "def fit(n):\n    raise ValueError(f'bad batch {n} of {object()} in {__file__}')\n"
    first = run(body + "fit(12)", tmp_path / "one")[1]
    second = run("import os\n\n\n" + body + "print('epoch 3')\nfit(7)", tmp_path / "two")[1]
    assert first != second
    assert signature(first) == signature(second)


def test_another_failure_has_another_signature(tmp_path):
    logs = [run(code, tmp_path)[1] for code in FAILURES.values()]
    signatures = [signature(log) for log in logs if log]
    assert len(set(signatures)) == len(signatures)
    elsewhere = run("def other():\n    {}['loss']\nother()", tmp_path)[1]
    assert signature(elsewhere) != signature(run(FAILURES["exception:KeyError"], tmp_path)[1])


def test_an_exception_that_was_survived_is_not_the_reason(tmp_path):
    code = (
        "import logging, sys\n"
        "try:\n    {}['optional']\nexcept KeyError:\n    logging.exception('skipped')\n"
        "for epoch in range(50):\n    print('epoch', epoch, flush=True)\n"
        "sys.exit(3)"
    )
    exit_code, log = run(code, tmp_path)
    assert "KeyError" in log
    assert reason_from(exit_code, Status.FAILED, log).code == "nonzero_exit"


@pytest.mark.parametrize(
    ("status", "said", "code"),
    [
        (Status.TIMED_OUT, "It ran for 600 s.", "timed_out"),
        (Status.CANCELLED, "", "cancelled"),
        (Status.BUDGET_EXHAUSTED, "It used 8.1 GB of memory.", "out_of_memory"),
        (Status.BUDGET_EXHAUSTED, "It wrote 20 GB.", "limit_reached"),
    ],
)
def test_what_the_runner_ended_is_told_by_the_runner(status, said, code):
    reason = reason_from(None, status, "epoch 1\n", said)
    assert reason.code == code
    assert reason.sentence == said or not said


def test_a_hostile_log_gives_one_short_clean_sentence():
    log = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n' + (
        "ValueError: \x1b[31m" + "A" * 100_000 + "\x07\x00"
    )
    reason = reason_from(1, Status.FAILED, log)
    assert len(reason.sentence) <= 300
    assert reason.sentence.isprintable()
    assert reason_from(1, Status.FAILED, "").sentence == "It ended with exit code 1."
    assert reason_from(None, Status.FAILED, "", "The runner lost it.").sentence == (
        "The runner lost it."
    )
