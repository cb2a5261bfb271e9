"""What speaks against the packages of an environment, as far as data on this machine can tell.

Known flaws (a small list of our own, and a folder of OSV records that a user may have), versions that
their authors withdrew, names that look like another package's, and packages without a licence.
Nothing is asked of any service. Silence means that nothing is known here, not that nothing is wrong.
"""

from __future__ import annotations

import contextlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cache
from importlib.metadata import Distribution
from operator import eq, ge, gt, le, lt
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from repro_pipeline.errors import BuildError
from repro_pipeline.frozen import Frozen
from repro_pipeline.status import FindingKind

_HERE = Path(__file__).parent
ADVISORIES = _HERE / "advisories.toml"
"""The advisories that come with this package."""
_ORDER = {"<": lt, "<=": le, "==": eq, ">=": ge, ">": gt}
_TURN = ("fixed", "limit", "introduced", "last_affected")  # of events at one version
_SHORTEST = 5  # of names that are compared: shorter ones are too near to one another


class AuditFinding(Frozen):
    """One thing that speaks against a package."""

    kind: FindingKind
    package: str
    version: str
    sentence: str


class Advisory(Frozen):
    """A known flaw: the versions of a package that have it."""

    id: str
    package: str
    affected: tuple[str, ...] = ()
    """Specifiers; a version in any of them has the flaw."""
    versions: tuple[str, ...] = ()
    """Further versions, each by itself."""
    summary: str = ""

    def affects(self, version: str) -> bool:
        """Whether a version has the flaw; a local build (2.5.1+cpu) has those of its version."""
        try:
            public = Version(Version(version).public)
        except InvalidVersion:
            return version in self.versions
        exact = (f"=={one}" for one in self.versions)
        return any(_within(text, public) for text in (*exact, *self.affected))


def audit(
    packages: Mapping[str, str],
    *,
    licences: Mapping[str, str | None],
    yanked: Mapping[str, str],
    advisories: Iterable[Advisory],
) -> tuple[AuditFinding, ...]:
    """What speaks against installed packages (version per normalised name), worst kind first.

    `licences` has what each names as its licence, `yanked` the authors' reason per withdrawn package.
    """
    found: list[AuditFinding] = []

    def add(kind: FindingKind, name: str, sentence: str) -> None:
        found.append(
            AuditFinding(kind=kind, package=name, version=packages[name], sentence=sentence)
        )

    for one in sorted(advisories, key=lambda advisory: (advisory.package, advisory.id)):
        if one.package in packages and one.affects(packages[one.package]):
            version = packages[one.package]
            add("vulnerable", one.package, f"{one.package} {version}: {one.id}, {one.summary}.")
    for name, why in sorted(yanked.items()):
        if name in packages:
            said = f" ('{why}')" if why else ""
            add("yanked", name, f"{name} {packages[name]} was withdrawn by its authors{said}.")
    for name in sorted(packages):
        if other := looks_like(name):
            add("lookalike", name, f"{name} is not {other}, and looks like it.")
    for name, licence in sorted(licences.items()):
        if licence is None and name in packages:
            add("unlicensed", name, f"{name} {packages[name]} names no licence.")
    return tuple(found)


def looks_like(name: str) -> str | None:
    """The well-known package that a name imitates or mistakes; None for one of its own."""
    known = _known_names()
    if name in known["popular"] or name in known["own"]:
        return None
    if name in known["imitations"]:
        return known["imitations"][name]
    near = (one for one in known["popular"] if len(one) >= _SHORTEST and _one_slip(name, one))
    return next(near, None)


def our_advisories() -> tuple[Advisory, ...]:
    """The advisories that come with this package: few, and as old as `advisories_compiled`."""
    content = tomllib.loads(ADVISORIES.read_text(encoding="utf-8"))
    return tuple(Advisory.model_validate(one) for one in content["advisory"])


def advisories_compiled() -> date:
    """When our list of advisories was last looked over."""
    return tomllib.loads(ADVISORIES.read_text(encoding="utf-8"))["compiled"]


def osv_advisories(folder: Path, packages: Iterable[str]) -> Iterator[Advisory]:
    """The advisories on some Python packages in a folder of OSV records, a JSON file each.

    Raises BuildError for a folder that is none or holds no record, and for a file that is no JSON.
    """
    files = sorted(file for file in folder.rglob("*.json") if file.is_file())
    if not files:
        raise BuildError("holds no advisories as .json files.", where=str(folder))
    wanted = {canonicalize_name(name) for name in packages}
    for file in files:
        raw = file.read_bytes()
        if b'"PyPI"' not in raw:
            continue
        try:
            record = json.loads(raw)
            yield from _osv(record, wanted) if not record.get("withdrawn") else ()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BuildError(f"is no OSV record: {error!r}.", where=str(file)) from None


def licences_of(packages: Mapping[str, Distribution]) -> dict[str, str | None]:
    """What each installed package names as its licence, in words or by a file; None for nothing."""
    return {name: _licence(one) for name, one in packages.items()}


def _osv(record: dict, wanted: set[str]) -> Iterator[Advisory]:
    """The parts of an OSV record (ossf.github.io/osv-schema) on wanted packages."""
    for part in record.get("affected", ()):
        package = part.get("package", {})
        name = canonicalize_name(package.get("name", ""))
        if package.get("ecosystem") != "PyPI" or name not in wanted:
            continue
        ranges = [one for one in part.get("ranges", ()) if one.get("type") == "ECOSYSTEM"]
        yield Advisory(
            id=record["id"],
            package=name,
            affected=tuple(text for one in ranges for text in _specifiers(one["events"])),
            versions=tuple(part.get("versions", ())),
            summary=" ".join(str(record.get("summary") or record.get("details") or "").split())[
                :200
            ],
        )


def _specifiers(events: list[dict[str, str]]) -> Iterator[str]:
    """The intervals between the events of a range, which stand in any order."""
    pairs = [pair for event in events for pair in event.items() if pair != ("limit", "*")]
    with contextlib.suppress(InvalidVersion):  # then in the order in which they stand
        pairs.sort(key=lambda pair: (pair[1] != "0", Version(pair[1]), _TURN.index(pair[0])))
    start: str | None = None
    for kind, at in pairs:
        if kind == "introduced":
            start = at if start is None else start
        elif start is not None:
            sign = "<=" if kind == "last_affected" else "<"
            yield f"{sign}{at}" if start == "0" else f">={start},{sign}{at}"
            start = None
    if start is not None:
        yield "" if start == "0" else f">={start}"


def _within(interval: str, version: Version) -> bool:
    """Whether a version lies in an interval, by the order of versions alone.

    So 2.6.0rc1 lies below 2.6.0, as in OSV, which a requirement `<2.6.0` would deny. Nothing lies in an
    interval whose bounds are no versions: such a record lists its versions.
    """
    try:
        return all(
            _ORDER[one.operator](version, Version(one.version)) for one in SpecifierSet(interval)
        )
    except (InvalidSpecifier, InvalidVersion):
        return False


def _licence(one: Distribution) -> str | None:
    told = one.metadata
    for text in (told.get("License-Expression"), told.get("License")):
        if text and text.strip().lower() not in {"unknown", "none", "n/a"}:
            return text.strip().splitlines()[0][:100]
    for line in told.get_all("Classifier") or ():
        if line.startswith("License ::"):
            return line.rpartition("::")[2].strip()
    names = [str(file).lower() for file in one.files or () if ".dist-info/" in str(file)]
    stems = ("licen", "copying")
    return "in a file" if any(n.rpartition("/")[2].startswith(stems) for n in names) else None


@cache
def _known_names() -> dict:
    content = tomllib.loads((_HERE / "known_names.toml").read_text(encoding="utf-8"))
    return content | {"popular": tuple(content["popular"]), "own": frozenset(content["own"])}


def _one_slip(one: str, other: str) -> bool:
    """Whether two names differ by one letter: added, left out, another one, or two exchanged."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = next(
        (n for n, pair in enumerate(zip(one, other, strict=False)) if len(set(pair)) > 1), None
    )
    if start is None:
        return True
    a, b = one[start:], other[start:]
    swapped = a[:2] == b[1::-1] and a[2:] == b[2:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or swapped
