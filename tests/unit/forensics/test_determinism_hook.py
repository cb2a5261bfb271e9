"""The hook in a run asks torch for deterministic algorithms, without the code's help; a fault of it is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from repro_pipeline.forensics.record import HOOK

TORCH = """
asked = []
def use_deterministic_algorithms(mode, *, warn_only=False):
    asked.append((mode, warn_only))
class backends:
    class cudnn:
        benchmark = True
"""


def run(folder: Path, torch: str, program: str) -> str:
    """What a program prints that has a module `torch` and the hook."""
    (folder / "libraries" / "torch").mkdir(parents=True)
    (folder / "libraries" / "torch" / "__init__.py").write_text(torch)
    path = os.pathsep.join([str(HOOK.source), str(folder / "libraries")])
    return subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": path, "RUN_RECORD": str(folder / "record")},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_torch_is_asked_once_and_before_the_code_goes_on(tmp_path: Path):
    program = "import torch, torch; print(torch.asked, torch.backends.cudnn.benchmark)"
    assert run(tmp_path, TORCH, program) == "[(True, True)] False"


def test_the_code_has_the_last_word(tmp_path: Path):
    program = "import torch; torch.use_deterministic_algorithms(False); print(torch.asked[-1])"
    assert run(tmp_path, TORCH, program) == "(False, False)"


def test_a_torch_without_such_algorithms_is_left_alone(tmp_path: Path):
    assert run(tmp_path, "old = True", "import torch; print(torch.old)") == "True"


def test_the_real_torch_computes_under_it(tmp_path: Path):
    pytest.importorskip("torch", reason="torch is not installed here")
    program = "import torch; print(torch.are_deterministic_algorithms_enabled())"
    path = os.pathsep.join([str(HOOK.source), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": path, "RUN_RECORD": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "True"
