"""From a code folder to its built environment: requirements, Python, lock, build, audit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple

from repro_pipeline.bundle.task import Task, TaskCode
from repro_pipeline.environment.audit import (
    ADVISORIES,
    AuditFinding,
    audit,
    licences_of,
    osv_advisories,
    our_advisories,
)
from repro_pipeline.environment.build import build, host_python
from repro_pipeline.environment.fingerprint import named_packages, site_packages
from repro_pipeline.environment.image import build_image
from repro_pipeline.environment.interpreter import (
    find_interpreter,
    python_for,
    releases,
    wanted_versions,
)
from repro_pipeline.environment.lock import lock_info, resolve
from repro_pipeline.environment.manifest import file_digest
from repro_pipeline.environment.model import BuiltEnvironment, Requirements
from repro_pipeline.environment.python_evidence import RELEASED, Evidence, python_as_of, python_of
from repro_pipeline.environment.requirement_lines import parse_entries, parse_entry
from repro_pipeline.environment.requirements import find_requirements
from repro_pipeline.errors import BuildError
from repro_pipeline.frozen import digest
from repro_pipeline.paper.model import Paper
from repro_pipeline.ports import ArtifactStore, Images
from repro_pipeline.project import Project
from repro_pipeline.sandbox.egress import Excluded, plain_package
from repro_pipeline.sandbox.policy import DETERMINISM, THREADS, default_environment
from repro_pipeline.status import FindingKind

_PYTHONS = tuple(version for minor in RELEASED for version in releases(minor))


class Rules(NamedTuple):
    """What an environment must keep to."""

    as_of: date | None = None
    """Packages published later are left out of a resolution."""
    advisories: Path | None = None
    """A folder of OSV records, beside our own few advisories."""
    block: tuple[FindingKind, ...] = ()
    """Findings of the audit with which nothing is run."""
    excluded: tuple[str, ...] = ()
    """Sources that are not to be looked at, packages (`pip:name`) among them."""

    def depends_on(self) -> dict:
        """All that an environment made by these rules rests on, as JSON."""
        folder = self.advisories
        files = sorted(folder.rglob("*.json")) if folder else []
        told = {str(file.relative_to(folder)): file_digest(file) for file in files}
        return {
            "as_of": self.as_of and self.as_of.isoformat(),
            "advisories": digest({"ours": file_digest(ADVISORIES), "user's": told}),
            "block": list(self.block),
            "excluded": list(self.excluded),
        }


NO_RULES = Rules()


def make_environment(
    code: Path | None,
    given: TaskCode | None,
    *,
    store: ArtifactStore,
    cache: Path,
    also: Sequence[str] = (),
    rules: Rules = NO_RULES,
    images: Images | None = None,
) -> BuiltEnvironment:
    """Lock what the code says it needs, keep the lock in the store, build from it alone, and audit it.

    With `images` it is built as one, with the Python that the image has, whatever this host has.

    `code` is None where it is yet to be written. `also` are packages that the code does not name; they
    are not added to a lock that comes with the code. Raises BuildError where requirements conflict or
    reach outside the index, a package cannot be had or is excluded, no Python fits, or the audit finds
    what `rules` block.
    """
    also = [str(parse_entry(one, "packages", n).requirement) for n, one in enumerate(also, 1)]
    requirements = Requirements(kind="requirements", file="repro.yaml: agent.packages")
    if code is not None:
        requirements = find_requirements(code, given.requirements if given else None)
    if also and requirements.kind != "given_lock":
        lines = (*requirements.lines, *(one for one in also if one not in requirements.lines))
        requirements = requirements.model_copy(update={"lines": lines})
    as_of = None if requirements.kind == "given_lock" else rules.as_of
    evidence = _python(code, requirements, given.python if given else None, as_of)
    minors = tuple(RELEASED) if images else ()
    python = python_for(evidence.wanted or None, cache=cache, minors=minors)
    if images is None:
        find_interpreter(python, cache=cache)  # raises before anything is asked of the index
    text = resolve(requirements, python=python, cache=cache, as_of=as_of)
    lock = lock_info(
        text,
        requirements=requirements,
        python=python,
        named=evidence.said,
        why=evidence.why,
        as_of=as_of,
    )
    _refuse_excluded(text, rules.excluded)
    store.put(text.encode())
    how = {"lock": lock, "cache": cache, "variables": fixed_variables()}
    built = build_image(text, **how, images=images) if images else build(text, **how)
    findings = _audited(built, cache, rules.advisories)
    blocked = [one for one in findings if one.kind in rules.block]
    if blocked:
        raise BuildError(
            " ".join(one.sentence for one in blocked[:5])
            + (f" And {len(blocked) - 5} more." if len(blocked) > 5 else ""),
            hint="Name other versions, or take the kind out of `audit: {block: …}` in repro.yaml.",
        )
    return built.model_copy(update={"findings": findings})


def keep_to(project: Project, task: Task, paper: Paper) -> Rules:
    """The rules of a project and a paper's task. Raises BuildError as `resolution_date` does."""
    config, given = project.config, task.code
    wanted = given.as_of if given and given.as_of else config.as_of
    folder = config.audit.advisories
    return Rules(
        as_of=resolution_date(wanted, paper.year),
        advisories=project.root / folder if folder else None,
        block=config.audit.block,
        excluded=task.exclude,
    )


def resolution_date(wanted: date | Literal["paper"] | None, paper_year: int | None) -> date | None:
    """The day as of which packages are resolved; for `paper` the last of its year.

    Raises BuildError where the paper's year is not known.
    """
    if wanted != "paper":
        return wanted
    if paper_year is None:
        raise BuildError(
            "packages are to be resolved as of the paper's date, and it names no year.",
            where="as_of",
            hint="Write a date, as 2020-06-30.",
        )
    return date(paper_year, 12, 31)


def fixed_variables() -> dict[str, str]:
    """The variables that every run has and that can change a number: hash seed, threads, locale."""
    given = default_environment("", "")
    return {name: given[name] for name in (*DETERMINISM, "LANG", *THREADS)}


def _python(
    code: Path | None, requirements: Requirements, named: str | None, as_of: date | None
) -> Evidence:
    """Which Python is wanted and why; an empty wish is for our own."""
    if named:
        return Evidence(named, "the task names it", True)
    found = python_of(code) if code is not None and not requirements.python else None
    if requirements.python:
        source = requirements.file or "the code"
        found = Evidence(requirements.python, f"{source} or .python-version names it", True)
    if as_of is None:
        return found or Evidence("", "our own, since nothing speaks for another", False)
    then = python_as_of(as_of)
    if found is None:
        return then
    if found.wanted[:1].isdigit():
        return found
    both = f"{found.wanted},{then.wanted}"
    if not any(map(wanted_versions(both).contains, _PYTHONS)):
        return found._replace(why=f"{found.why} (against the date: {then.why})")
    return Evidence(both, f"{found.why}; {then.why}", found.said)


def _audited(built: BuiltEnvironment, cache: Path, folder: Path | None) -> tuple[AuditFinding, ...]:
    packages = built.fingerprint.packages
    advisories = [*our_advisories(), *(osv_advisories(folder, packages) if folder else ())]
    return audit(
        packages,
        licences=licences_of(named_packages(site_packages(host_python(built, cache)))),
        yanked=built.yanked,
        advisories=advisories,
    )


def _refuse_excluded(lock_text: str, excluded: Sequence[str]) -> None:
    packages = Excluded(excluded).packages
    for entry in parse_entries(lock_text, "the lock"):
        if plain_package(entry.requirement.name) in packages:
            raise BuildError(
                f"the package '{entry.requirement.name}' is excluded.",
                where="task.yaml: exclude",
                hint="Take it out of the requirements: code that looks into it is no reproduction.",
            )
