"""Tiny folders in the layouts of others."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

PAPER = """# A tiny study of two estimators

## Experiments

Table 1: Error (%) of each method.

| Source | Plain | Shrunk |
|--------|-------|--------|
| Noisy  | 10.0  | 20.0   |
"""
RUBRIC_WORDS = "The plain estimator has an error of ten per cent on the noisy source"
JUDGE_WORDS = "Accept an implementation that shrinks towards zero"

METADATA = r"""
title: "[Re] A tiny study: again"
authors:
  - name: Ada Author
    orcid: 0000-0000-0000-0000
  - name: Ben {B}uilder
code:
  - url: https:/example.org/ada/again
  - doi:
replication:
  - cite: "A. Author. A tiny study. 1999"
  - bib: author1999
  - url: https://example.org/tiny.pdf
  - doi: ~
abstract: "
   We repeat a tiny study.
"
bibliography: bibliography.bib
type: Replication
journal:
  - name: "ReScience C"
"""
CONTENT = r"""
\section{Introduction}
We repeat \cite{author1999}.
\input{results}
"""
RESULTS = r"""
\begin{table}\caption{Errors}\begin{tabular}{lrr}
Source & Original & Ours \\
Noisy & 10.0 & 10.2 \\
\end{tabular}\end{table}
"""
BIB = "@article{author1999, title={A tiny study}, author={Author, A.}, year={1999}}\n"


def write(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def paperbench(folder: Path, **more: str) -> Path:
    """A PaperBench paper's folder; `more` by file name with `__` for a dot."""
    rubric = {
        "id": "r",
        "requirements": RUBRIC_WORDS,
        "weight": 1,
        "sub_tasks": [],
        "task_category": "Result Analysis",
        "finegrained_task_category": None,
    }
    files = {
        "config.yaml": 'id: tiny-study\ntitle: "A tiny study of two estimators"\n',
        "paper.md": PAPER,
        "addendum.md": "The source has a thousand rows.\n",
        "blacklist.txt": "https://github.com/ada/tiny\nnone\n",
        "rubric.json": json.dumps(rubric),
        "judge.addendum.md": JUDGE_WORDS,
        "assets/asset_1.jpg": "no picture",
        "paper.tex.bak": "an old one",
    }
    return write(folder, files | {name.replace("__", "."): text for name, text in more.items()})


def rescience(folder: Path) -> Path:
    """A ReScience C article's folder, without its class file."""
    return write(
        folder,
        {
            "metadata.yaml": METADATA,
            "content.tex": CONTENT,
            "results.tex": RESULTS,
            "bibliography.bib": BIB,
            "Makefile": "all:\n",
        },
    )


def repository(folder: Path, files: dict[str, str]) -> str:
    """A Git repository with one commit; its id."""
    write(folder, files)
    git(folder, "init", "-q", "-b", "main")
    return commit(folder)


def commit(folder: Path) -> str:
    """Commit everything; the commit's id."""
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "--no-verify", "--allow-empty", "-m", "as it is")
    return git(folder, "rev-parse", "HEAD")


def git(folder: Path, *arguments: str) -> str:
    """What Git says, run without its user's configuration."""
    names = [f"GIT_{role}_{part}" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")]
    environment = os.environ | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=environment | dict.fromkeys(names, "someone"),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()
