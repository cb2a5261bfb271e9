"""Can the values be believed? Findings from the evidence at hand, and the worst of them.

`violation`: direct evidence that a value was not computed. `suspect`: evidence that an honest
submission does not give. `unverified`: nothing tested whether the value comes from a computation,
or a test was not passed that an honest submission may fail too. `info`: worth a look, no reproach.
A deterministic method, or one that a setting does not move, is tested and named, not accused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from repro_pipeline.claims.model import Claim
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.findings import Finding, Probe
from repro_pipeline.forensics.literals import telling_digits
from repro_pipeline.forensics.probes import ResponseProbe
from repro_pipeline.ledger.runs import Attempt
from repro_pipeline.scoring import accounting, self_report
from repro_pipeline.scoring.model import ClaimVerdict, IntegrityStatus
from repro_pipeline.scoring.observations import Observation
from repro_pipeline.wording import counted

_RESPONSE = get_args(ResponseProbe)
_IGNORED = {"config_sensitivity": "config_ignored", "fit_labels": "fit_ignored"}
_SEVERAL = 3
"""So many different values are no coincidence."""
_TOO_CLOSE = 1e-4
_CLOSEST = 0.01
"""No single claim speaks louder than this share of its rounding: some values are exact by nature."""
_STATUS = {
    "info": IntegrityStatus.CLEAN,
    "unverified": IntegrityStatus.UNVERIFIED,
    "suspect": IntegrityStatus.SUSPECT,
    "violation": IntegrityStatus.VIOLATION,
}
_ORDER = tuple(_STATUS)


def findings(
    evidence: Evidence,
    observed: Mapping[str, Observation],
    verdicts: Mapping[str, ClaimVerdict],
    attempts: Sequence[Attempt] = (),
) -> tuple[IntegrityStatus, tuple[Finding, ...]]:
    """What speaks against believing the values, gravest first, and the status that follows.

    `attempts` are all attempts ever made for the paper, dev runs and earlier code included, where
    they are known.
    """
    case = _Case.of(evidence, verdicts)
    found = [
        *_hard_coded(case),
        *_same_values(case),
        *_unmoved(case),
        *_exactly_reported(case),
        *_too_close(case),
        *_untested(case),
        *_better(case),
        *_no_sandbox(evidence),
        *evidence.integrity.found,
        *self_report.self_evaluated(verdicts.values()),
        *self_report.findings(evidence.runs),
        *accounting.findings(evidence, observed, attempts),
    ]
    found.sort(key=lambda finding: -_ORDER.index(finding.severity))
    return (_STATUS[found[0].severity] if found else IntegrityStatus.CLEAN), tuple(found)


@dataclass(frozen=True)
class _Case:
    """What the rules read."""

    evidence: Evidence
    verdicts: Mapping[str, ClaimVerdict]
    claims: Mapping[str, Claim]
    moved: frozenset[str]
    """Claims whose bits a changed configuration, or changed data, changed."""
    constant: frozenset[str]
    """Claims with the same value for at least two seeds, whatever else the runs left."""
    exact: frozenset[str]
    """Of these, the ones whose value is the reported one, of three or more telling digits."""

    @classmethod
    def of(cls, evidence: Evidence, verdicts: Mapping[str, ClaimVerdict]) -> _Case:
        claims = {claim.id: claim for claim in evidence.claims.claims}
        probes = [p for p in evidence.integrity.probes if p.applies and p.id in _RESPONSE]
        constant = {v.claim for v in verdicts.values() if v.n > 1 and (v.deterministic or v.tied)}
        exact = {
            name
            for name in constant
            if verdicts[name].mean == claims[name].value and telling_digits(claims[name]) >= 3
        }
        moved = {claim for probe in probes for claim in probe.claims}
        return cls(
            evidence, verdicts, claims, frozenset(moved), frozenset(constant), frozenset(exact)
        )

    def probes(self, *names: str) -> list[Probe]:
        """The probes of those names that apply."""
        return [p for p in self.evidence.integrity.probes if p.applies and p.id in names]

    def distinct(self, claims: Iterable[str]) -> int:
        """How many different values the claims report."""
        return len({self.claims[claim].value for claim in claims if claim in self.claims})


def _hard_coded(case: _Case) -> Iterator[Finding]:
    """Reported values as numbers in code that must not know them.

    In mode `code` the authors may well have written their results down: information only.
    """
    for probe in case.probes("literal_scan"):
        strong, weak = int(probe.evidence["strong"]), int(probe.evidence["weak"])
        if not strong and not weak:
            continue
        half_of_weak = 2 * weak >= max(1, int(probe.evidence["weak_of"]))
        copied = case.exact & set(probe.claims)
        if case.evidence.mode == "code":
            severity = "info"
        elif case.distinct(copied) >= _SEVERAL:
            severity = "violation"
        elif strong >= _SEVERAL or set(probe.claims) & case.constant - case.moved:
            severity = "suspect"
        else:
            severity = "unverified" if strong or half_of_weak else "info"
        yield Finding(
            kind="literals", evidence=probe.sentence, severity=severity, claims=probe.claims
        )


def _same_values(case: _Case) -> Iterator[Finding]:
    """The same value for different seeds: a deterministic method, an ignored seed, or a tie."""
    said = {
        (False, True): (
            "All seeds gave the same bits, and a changed input changed them: deterministic."
        ),
        (False, False): (
            "All seeds gave the same bits: the method is deterministic, or ignores its seed."
        ),
        (True, True): "All seeds gave the same value, and a changed input changed it.",
        (True, False): (
            "All seeds gave the same value: a tie of a coarse measure, or one that ignores the seed."
        ),
    }
    for (tied, tested), evidence in said.items():
        claims = [
            claim
            for claim in sorted(case.constant)
            if (case.verdicts[claim].tied, claim in case.moved) == (tied, tested)
        ]
        if claims:
            severity = "info" if tested else "unverified"
            yield Finding(
                kind="constant", evidence=evidence, severity=severity, claims=tuple(claims)
            )


def _unmoved(case: _Case) -> Iterator[Finding]:
    """A probe that changed no bit of any value that it could have changed."""
    for probe in case.probes(*_RESPONSE):
        compared = int(probe.evidence["compared"])
        if not compared or probe.evidence["identical"] != compared:
            continue
        # Code may carry its own copy of the declared data, and a setting may move nothing; with
        # literals in an agent's code, or the reported bits, it is no longer innocent.
        known = {claim for scan in case.probes("literal_scan") for claim in scan.claims}
        grave = case.evidence.mode == "agent" and (known or case.exact)
        answered = bool(probe.unmoved) and set(probe.unmoved) <= case.moved
        yield Finding(
            kind=_IGNORED.get(probe.id, "data_ignored"),
            evidence=probe.sentence,
            severity="suspect" if grave else "info" if answered else "unverified",
            claims=probe.unmoved,
        )


def _exactly_reported(case: _Case) -> Iterator[Finding]:
    """Every seed gave the very bits that the paper prints, which a computation seldom does."""
    for claims, tested in ((case.exact - case.moved, False), (case.exact & case.moved, True)):
        if not claims:
            continue
        severity = "info" if tested else "unverified"
        if not tested and case.evidence.mode == "agent" and case.distinct(claims) >= _SEVERAL:
            severity = "suspect"
        yield Finding(
            kind="equals_reported",
            evidence="Every seed gave exactly the printed value.",
            severity=severity,
            claims=tuple(sorted(claims)),
        )


def _too_close(case: _Case) -> Iterator[Finding]:
    """Values closer to the printed ones than the printing's own rounding allows.

    Even a perfect reproduction lies anywhere within half a unit of the last printed digit, so its
    distance in such halves is at least uniform on [0, 1]; Fisher's method combines the claims:
    -2 sum ln u is at most chi-square with 2k degrees of freedom.
    """
    from scipy.special import chdtrc

    shares: dict[tuple[float, float], float] = {}
    named = []
    for claim in case.claims.values():
        verdict = case.verdicts[claim.id]
        if not _can_be_too_close(claim, verdict):
            continue
        share = abs(verdict.value - claim.value) / (claim.quantum / 2)
        shares[claim.value, verdict.value] = min(max(share, _CLOSEST), 1.0)
        named.append(claim.id)
    if not shares:
        return
    statistic = -2 * math.fsum(math.log(share) for share in shares.values())
    chance = float(chdtrc(2 * len(shares), statistic))
    if chance < _TOO_CLOSE:
        yield Finding(
            kind="too_close",
            evidence=(
                f"{counted(len(shares), 'value')} lie closer to the printed ones than rounding "
                f"allows (chance {chance:.1g})."
            ),
            severity="suspect",
            claims=tuple(named),
        )


def _can_be_too_close(claim: Claim, verdict: ClaimVerdict) -> bool:
    """Whether a value has digits beyond the printed ones; a rounded output shows nothing."""
    if claim.value is None or verdict.value is None or not claim.quantum:
        return False
    if telling_digits(claim) < 2:
        return False
    in_units = [value / claim.quantum for value in verdict.values.values()]
    return any(abs(units - round(units)) > 1e-6 for units in in_units)


def _untested(case: _Case) -> Iterator[Finding]:
    """Values that no probe tested by changing what they must depend on."""
    untested = tuple(v.claim for v in case.verdicts.values() if v.n and v.claim not in case.moved)
    if not any(v.n for v in case.verdicts.values()):
        yield Finding(
            kind="untested", evidence="There is no value to believe or not.", severity="unverified"
        )
    elif untested:
        yield Finding(
            kind="untested",
            evidence=(
                f"No probe changed {counted(len(untested), 'value')} of "
                f"{sum(v.n > 0 for v in case.verdicts.values())}: whether "
                f"{'it comes' if len(untested) == 1 else 'they come'} from the computation is not shown."
            ),
            severity="unverified",
            claims=untested,
        )


def _better(case: _Case) -> Iterator[Finding]:
    better = tuple(v.claim for v in case.verdicts.values() if v.better_than_reported)
    if better:
        yield Finding(
            kind="better_than_reported",
            evidence=f"{counted(len(better), 'value')} beyond the tolerance on the better side.",
            severity="info",
            claims=better,
        )


def _no_sandbox(evidence: Evidence) -> Iterator[Finding]:
    if evidence.runner == "unsafe_local" and evidence.runs:
        yield Finding(
            kind="no_sandbox",
            evidence="The code ran without a sandbox: it could read and write anything.",
            severity="unverified",
        )
