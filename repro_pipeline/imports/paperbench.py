"""A PaperBench paper folder into a bundle; its rubric and the judge's addendum go where no agent looks.

The layout is the public benchmark's: `config.yaml` (id, title), `paper.md`, `paper.pdf`, `addendum.md`,
`blacklist.txt`, `rubric.json`, `judge.addendum.md`, `assets/`.
"""

from __future__ import annotations

import os
from pathlib import Path

from repro_pipeline.imports.foreign_yaml import read_foreign
from repro_pipeline.imports.record import (
    ImportFault,
    ImportRecord,
    Taken,
    files_below,
    refuse_pointer,
    take,
)
from repro_pipeline.imports.task import OURS, begin_task

RUBRIC = "rubric.json"
_CONFIG, _BLACKLIST, _ADDENDUM = "config.yaml", "blacklist.txt", "addendum.md"
_PAPERS = ("paper.md", "paper.pdf")
_OF_A_JUDGE = (RUBRIC, "judge.addendum.md")
_TELLING = (*_OF_A_JUDGE, _BLACKLIST, _ADDENDUM)


def is_paperbench(source: Path) -> bool:
    """Whether a folder has the shape: a configuration with id and title, and what only PaperBench has.

    One with a judge's file has it whatever its configuration: as a bundle it would be copied whole,
    and agents would be shown what is kept from them.
    """
    if any(os.path.lexists(source / name) for name in _OF_A_JUDGE):
        return True
    if not any((source / name).is_file() for name in _TELLING):
        return False
    config = read_foreign(source / _CONFIG)
    return config is not None and {"id", "title"} <= config.keys()


def paperbench_id(source: Path) -> str:
    """The paper's id by its configuration. Raises ImportFault where that does not say it."""
    return _configured(source, "id")


def _configured(source: Path, key: str) -> str:
    value = (read_foreign(source / _CONFIG) or {}).get(key)
    if isinstance(value, str) and value.strip():
        return value.strip()
    judges = [name for name in _OF_A_JUDGE if os.path.lexists(source / name)]
    kept = f" It holds {' and '.join(judges)}, which agents may not see." if judges else ""
    raise ImportFault(
        f"says no `{key}` that can be read, or is not there.{kept}",
        where=str(source / _CONFIG),
        hint="A PaperBench folder's config.yaml gives `id` and `title`."
        + (f" If it is none, take {' and '.join(judges)} out of it." if judges else ""),
    )


def import_paperbench(source: Path, bundle: Path, grading: Path, *, asked: str) -> ImportRecord:
    """Fill the empty folders `bundle` and `grading`. Raises ImportFault where there is no paper."""
    papers = [name for name in _PAPERS if (source / name).is_file()]
    if not papers:
        raise ImportFault(
            "is a PaperBench folder without its paper.",
            where=str(source),
            hint=f"Put {' or '.join(_PAPERS)} there: the benchmark keeps them in large-file storage.",
        )
    for name in (*papers, *_TELLING):
        if (source / name).is_file():
            refuse_pointer(source / name)
    title = _configured(source, "title")
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
    """The addresses of a blacklist, a line each; `none` names none.

    Words beside an address are no part of it; a line without a slash is taken whole. Raises
    ImportFault for what is no UTF-8: an address that is misread excludes nothing.
    """
    if not path.is_file():
        return []
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ImportFault(
            "is not UTF-8.", where=str(path), hint="Write it anew as UTF-8."
        ) from None
    named = [line.strip() for line in lines if not line.lstrip().startswith("#")]
    told = [one for one in named if one and one.lower().rstrip(".") != "none"]
    return list(dict.fromkeys(address for one in told for address in _addresses(one)))


def _addresses(line: str) -> list[str]:
    words = [word.strip("<>()[],;\"'`") for word in line.split()]
    return [word for word in words if word.strip("/") and "/" in word] or [line]


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
