"""The README of an export: what it is, what is in it, what was left out, how to run it."""

from __future__ import annotations

from repro_pipeline.report.export.material import Material, input_name
from repro_pipeline.report.markdown import escaped

_WHAT = {
    "capsule": "`code/` as it was frozen, `data/` the inputs, `results/` what the runs left with the "
    "report, `environment/` the lock and the plan of the runs.",
    "paperbench": "`code/` as it was frozen, `data/` the inputs, `environment/` the lock and the plan of "
    "the runs. Results are made by the script; none are in here.",
}


def readme(material: Material, kind: str) -> str:
    """The text of `README.md`."""
    report = material.report
    lines = [
        f"# {escaped(report.title)}",
        f"A reproduction by repro-pipeline {report.version}: {report.mode_label}. {_WHAT[kind]}",
        "    ./reproduce.sh              # every experiment with the seeds on record\n"
        "    ./reproduce.sh 1 2 3        # with others",
        "It builds `.venv/` from the lock and runs the code without a sandbox.",
    ]
    if kind == "capsule":
        lines.insert(1, f"**{escaped(report.scores.headline)}**")
    lines += [f"- {one}" for one in left_out(material)]
    return "\n\n".join(lines) + "\n"


def left_out(material: Material) -> list[str]:
    """What is not in an export, a sentence each."""
    told = ["The paper's own text is not in here."]
    private = [entry for entry in material.inputs if entry.private]
    told += [
        f"The input `{entry.name}` is private: put the file with sha256 `{entry.sha256}` at "
        f"`data/{input_name(entry)}`."
        for entry in private
    ]
    if private:
        told.append("Logs and files of runs are left out, for they may quote private rows.")
    if any(entry.sealed for entry in material.report.evidence.data.entries):
        told.append(
            "Sealed labels are left out; values computed from them cannot be computed here."
        )
    if material.left_out:
        told.append(
            f"{len(material.left_out)} files of `code/` are left out, for they are private or sealed "
            "inputs; so the code is not the whole tree that was frozen."
        )
    return told
