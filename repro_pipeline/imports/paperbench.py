"""A PaperBench paper folder into a bundle; its rubric and the judge's addendum go where no agent looks.

The layout is the public benchmark's: `config.yaml` (id, title), `paper.md`, `paper.pdf`, `addendum.md`,
`blacklist.txt`, `rubric.json`, `judge.addendum.md`, `assets/`.
"""

from __future__ import annotations

from pathlib import Path

from repro_pipeline.imports.foreign_yaml import read_foreign
from repro_pipeline.imports.record import ImportFault, ImportRecord, Taken, files_below, take
from repro_pipeline.imports.task import OURS, begin_task

RUBRIC = "rubric.json"
_CONFIG, _BLACKLIST, _ADDENDUM = "config.yaml", "blacklist.txt", "addendum.md"
_PAPERS = ("paper.md", "paper.pdf")
_OF_A_JUDGE = (RUBRIC, "judge.addendum.md")
_TELLING = (*_OF_A_JUDGE, _BLACKLIST, _ADDENDUM)


def is_paperbench(source: Path) -> bool:
    """Whether a folder has the shape: a configuration with id and title, and what only PaperBench has."""
    if not any((source / name).is_file() for name in _TELLING):
        return False
    config = read_foreign(source / _CONFIG)
    return config is not None and {"id", "title"} <= config.keys()


def paperbench_id(source: Path) -> str:
    """The paper's id by its configuration."""
    return str((read_foreign(source / _CONFIG) or {})["id"])


def import_paperbench(source: Path, bundle: Path, grading: Path, *, asked: str) -> ImportRecord:
    """Fill the empty folders `bundle` and `grading`. Raises ImportFault where there is no paper."""
    papers = [name for name in _PAPERS if (source / name).is_file()]
    if not papers:
        raise ImportFault(
            "is a PaperBench folder without its paper.",
            where=str(source),
            hint=f"Put {' or '.join(_PAPERS)} there: the benchmark keeps them in large-file storage.",
        )
    if any(_is_pointer(source / name) for name in papers):
        raise ImportFault(
            "holds a pointer to large-file storage in the paper's place.",
            where=str(source / papers[0]),
            hint="Fetch the paper itself with `git lfs pull`.",
        )
    title = str((read_foreign(source / _CONFIG) or {})["title"]).strip()
    excluded = blacklist(source / _BLACKLIST)
    files = [take(source, name, bundle, name) for name in papers]
    files += [
        take(source, name, bundle, name)
        for name in files_below(source)
        if name.startswith(("assets/", *OURS))
    ]
    if (source / _ADDENDUM).is_file():
        files.append(take(source, _ADDENDUM, bundle, f"references/{_ADDENDUM}"))
    files.append(begin_task(source, bundle, title=title, exclude=excluded))
    hidden = [take(source, n, grading, n) for n in _OF_A_JUDGE if (source / n).is_file()]
    known = {one.source for one in (*files, *hidden)} | {_CONFIG, _BLACKLIST}
    return ImportRecord(
        layout="paperbench",
        asked=asked,
        title=title,
        files=tuple(files),
        grading=tuple(hidden),
        left_out=tuple(name for name in files_below(source) if name not in known),
        notes=tuple(_notes(files, hidden, excluded)),
    )


def blacklist(path: Path) -> list[str]:
    """The addresses of a blacklist, a line each; `none` names none."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    named = [line.strip() for line in lines if not line.lstrip().startswith("#")]
    return list(dict.fromkeys(one for one in named if one and one.lower() != "none"))


def _notes(files: list[Taken], hidden: list[Taken], excluded: list[str]) -> list[str]:
    notes = []
    if any(one.file.startswith("references/") for one in files):
        notes.append("The addendum is a reference: agents may read it, reported values masked.")
    if excluded:
        notes.append(f"Excluded by the blacklist: {', '.join(excluded)}.")
    if hidden:
        names = " and ".join(one.source for one in hidden)
        notes.append(f"Kept from agents, beside the papers: {names}.")
    return notes


def _is_pointer(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(64).startswith(b"version https://git-lfs.github.com/spec/")
