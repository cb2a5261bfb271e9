"""What an agent is given of a task: a folder with the blinded paper, and what is wanted of it.

Nothing of the truth, of the reference or of a reported value is in it; `found_in` checks that.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from repro_pipeline.agent.material import Material, material_of
from repro_pipeline.bench.model import Truth
from repro_pipeline.bench.suite import SuiteTask
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.blinding import secrets_for
from repro_pipeline.claims.extract import extract_claims
from repro_pipeline.claims.leaks import leaks
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.config import SendToModels
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.paper.model import Paper
from repro_pipeline.reading.sources import read_agreeing

NOT_SENT_TO = SendToModels()
REFERENCES, NEWLINE = "references", "\n"
SHARED_LINES = 3
"""As many telling lines in common with the reference are taken for a copy of it."""
_TELLING = 25
"""Characters of a line of code, white space left out, that is not found twice by chance."""

INSTRUCTIONS = """# What is wanted

`paper.md` is a paper in which every reported value is masked. `claims.json` lists the values to be
found, by id, with their metric, unit and place in the paper. Write code that finds them, and leave it in
the output folder:

- `experiment.yaml`: how a run is started, and which experiment gives which claims. Example:

      schema: 1
      entry: [python, experiment.py]
      experiments:
        - {{id: main, claims: [a-claim, another], config: config.json, timeout: 10m}}
        - {{id: without-x, kind: ablation, of: main, change: {{x: false}}, claims: [a-third], timeout: 10m}}

- the code, and the JSON configuration that each experiment names. One run is started as
  `python experiment.py --config FILE --seed N --out DIR` and leaves `DIR/metrics.json`:
  `{{"metrics": [{{"claim": "a-claim", "value": 1.23}}]}}`, in the claim's unit. All randomness must come
  from the seed.
- `details.json`: what the paper does not say and you had to choose, a list of
  `{{"statement": "…", "value": …}}`; the value is a number, a text, true or false.

Your code is run again with other seeds, without network, with these packages and what they need:
{packages}. Only what it computes counts: a value that is written into the code is found and counts as
nothing.
"""


@dataclass(frozen=True)
class ReadTask:
    """A task's paper with its claims: the grader's view, values included."""

    bundle: Bundle
    folder: Path
    paper: Paper
    claims: ReportedClaims

    def material(self, assumptions: AssumptionLedger | None = None) -> Material:
        """What an agent may see of it."""
        known = assumptions or AssumptionLedger(assumptions=())
        return material_of(self.bundle, self.folder, self.paper, self.claims, known, NOT_SENT_TO)


def read_task(bundle: Bundle, folder: Path) -> ReadTask:
    """Read the paper of a bundle. Raises UserError."""
    paper = read_agreeing([folder / name for name in bundle.sources])
    return ReadTask(bundle, folder, paper, extract_claims(paper, bundle.task))


def write_given(task: ReadTask, packages: tuple[str, ...], target: Path) -> None:
    """Write what an agent is given into a new folder."""
    material = task.material()
    target.mkdir(parents=True)
    (target / "README.md").write_text(
        INSTRUCTIONS.format(packages=", ".join(packages)), encoding="utf-8"
    )
    (target / "paper.md").write_text(material.paper.text, encoding="utf-8")
    listed = {
        "claims": [claim.model_dump(mode="json") for claim in material.claims],
        "pairs": [pair.model_dump(mode="json") for pair in material.pairs],
    }
    (target / "claims.json").write_text(json.dumps(listed, indent=1), encoding="utf-8")
    for name, text in material.references.items():
        path = target / REFERENCES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for entry in task.bundle.task.data:
        if entry.path and not entry.private:
            path = target / entry.path
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(task.folder / entry.path, path)


def found_in(given: Path, read: ReadTask, task: SuiteTask) -> Iterator[str]:
    """What a given folder holds that no agent may see, a sentence each."""
    shown = _texts(given)
    secrets = secrets_for(read.paper, read.claims)
    data = {entry.path for entry in read.bundle.task.data}
    for name, text in shown.items():
        certain = [one for one in leaks(text, secrets) if one.certain]
        if certain and name not in data:
            named = ", ".join(sorted({claim for one in certain for claim in one.claims}))
            yield f"{name} of what is given shows the reported value of {named}."
    yield from _reference_code(shown, _texts(task.reference))
    yield from _fillings(shown, task.truth)


def _reference_code(shown: Mapping[str, str], reference: Mapping[str, str]) -> Iterator[str]:
    own = {
        line for name, text in reference.items() if name.endswith(".py") for line in _lines(text)
    }
    for name, text in shown.items():
        common = _lines(text) & own
        if len(common) >= SHARED_LINES:
            lines = text.splitlines()
            first = next(n for n, line in enumerate(lines, 1) if _lines(line) & common)
            yield f"{name}:{first} of what is given has {len(common)} lines of the reference's code."


def _lines(text: str) -> set[str]:
    lines = {re.sub(r"\s+", "", line) for line in text.splitlines()}
    return {
        line for line in lines if len(line) >= _TELLING and not line.startswith(("#", "import"))
    }


def _fillings(shown: Mapping[str, str], truth: Truth) -> Iterator[str]:
    """Details that are said to be missing, and are said; references may say them: that is lineage."""
    own = {name: text for name, text in shown.items() if not name.startswith(f"{REFERENCES}/")}
    for detail in truth.missing:
        for name, text in own.items():
            for sentence in re.split(r"(?<=[.;:])\s+|\n\n", text):
                if re.search(detail.about, sentence, re.I) and any(
                    filled(right, None, sentence) for right in detail.right
                ):
                    where = f"{name}:{text.count(NEWLINE, 0, text.find(sentence)) + 1}"
                    said = " ".join(sentence.split())[:120]
                    yield f"{where} of what is given says what `{detail.id}` asks: '{said}'."


def filled(right: str | float | bool, value: str | float | bool | None, statement: str) -> bool:
    """Whether a value, or where there is none a statement, is the right filling."""
    said = statement if value is None else value
    if isinstance(right, str):
        return re.search(right, f"{said}", re.I) is not None
    if isinstance(right, bool) or isinstance(said, bool):
        return said is right or str(said).casefold() == str(right).casefold()
    if isinstance(said, str):
        numbers = re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.]*\d)", said)
        return any(abs(float(one) - right) <= 1e-9 * max(1, abs(right)) for one in numbers)
    return abs(said - right) <= 1e-9 * max(1, abs(right))


def _texts(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.stat().st_size < 1 << 20 and path.name != "requirements.lock"
    }
