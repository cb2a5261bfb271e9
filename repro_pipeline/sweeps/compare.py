"""The same experiment again: the same conclusion, or a reason why not. Pure.

Two samples of seeds are held against each other by Welch's test (Welch 1947, "The generalization of
Student's problem when several different population variances are involved"): neither their variances
nor their numbers need be equal. Benjamini-Hochberg at 5 % over the claims of a paper keeps one of many
from differing by chance. A conclusion that changed while the samples do not differ is seed noise: the
truth lies near a border of the tolerance. One that changed because the values moved is laid to what
else changed, packages before host; where nothing did, it is unexplained, and said so.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev

from repro_pipeline.environment.model import Fingerprint
from repro_pipeline.scoring.model import ClaimVerdict
from repro_pipeline.scoring.multiple import adjusted
from repro_pipeline.status import Verdict
from repro_pipeline.sweeps.model import ClaimComparison, PackageChange
from repro_pipeline.wording import counted, number, plain

LEVEL = 0.05
_NAMED = 5
_OF_THE_HOST = (
    "python",
    "implementation",
    "platform",
    "libc",
    "cpu",
    "cpu_flags",
    "blas",
    "variables",
)


def compare(
    before: Sequence[ClaimVerdict],
    after: Sequence[ClaimVerdict],
    *,
    packages: Sequence[PackageChange] = (),
    host: Sequence[str] = (),
) -> tuple[ClaimComparison, ...]:
    """Each claim then and now, in the order of `before`. `host` names what else of the host changed."""
    now = {verdict.claim: verdict for verdict in after}
    p_values = [_welch(_values(one), _values(now[one.claim])) for one in before]
    # A claim without a test counts as one that does not differ, so that leaving values out helps none.
    controlled = adjusted([1.0 if p is None else p for p in p_values], "benjamini_hochberg")
    return tuple(
        _compared(one, now[one.claim], p, None if p is None else fine, packages, host)
        for one, p, fine in zip(before, p_values, controlled, strict=True)
    )


def package_changes(before: Fingerprint, after: Fingerprint) -> tuple[PackageChange, ...]:
    """The packages that differ, by name."""
    old, new = before.packages, after.packages
    return tuple(
        PackageChange(name=name, before=old.get(name), after=new.get(name))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    )


def host_changes(before: Fingerprint, after: Fingerprint) -> tuple[str, ...]:
    """What of the host differs, by name."""
    return tuple(name for name in _OF_THE_HOST if getattr(before, name) != getattr(after, name))


def summary(comparisons: Sequence[ClaimComparison]) -> str:
    """All of them in one line."""
    changed = [one for one in comparisons if not one.same]
    moved = [one for one in comparisons if one.same and one.because != "same"]
    said = f"{len(comparisons) - len(changed)} of {counted(len(comparisons), 'claim')} as before"
    if changed:
        said += "; another conclusion: " + ", ".join(
            f"{one.claim} ({plain(one.because)})" for one in changed[:_NAMED]
        )
        said += f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
    if moved:
        said += f"; {counted(len(moved), 'value')} moved all the same"
    return f"{said}."


def _compared(
    before: ClaimVerdict,
    after: ClaimVerdict,
    p: float | None,
    fine: float | None,
    packages: Sequence[PackageChange],
    host: Sequence[str],
) -> ClaimComparison:
    same = before.verdict is after.verdict
    difference = None if None in (before.mean, after.mean) else after.mean - before.mean
    differs = fine is not None and fine <= LEVEL
    because = _because(same, before, after, differs, fine is None, packages, host)
    return ClaimComparison(
        claim=before.claim,
        before=before.verdict,
        after=after.verdict,
        same=same,
        difference=difference,
        p=p,
        adjusted_p=fine,
        because=because,
        sentence=f"{_conclusion(before, after, same)} {_evidence(difference, fine)} "
        f"{_reason(because, same, after, packages, host)}".strip(),
    )


def _because(same, before, after, differs, untested, packages, host) -> str:
    if Verdict.NOT_RUN in (before.verdict, after.verdict):
        return "same" if same else "missing_runs"
    if not differs:
        if same:
            return "same"
        # Without a test (one value a side) nothing says that the seeds alone did it.
        return (
            "unexplained"
            if untested and not packages
            else "dependencies"
            if untested
            else "seed_noise"
        )
    return "dependencies" if packages else "host" if host else "unexplained"


def _conclusion(before: ClaimVerdict, after: ClaimVerdict, same: bool) -> str:
    if same:
        return f"{plain(after.verdict).capitalize()}, as before."
    return f"{plain(before.verdict).capitalize()} before, now {plain(after.verdict)}."


def _evidence(difference: float | None, fine: float | None) -> str:
    if difference is None:
        return ""
    if fine is None:
        return f"The mean moved by {number(difference)}; too few values for a test."
    return f"The mean moved by {number(difference)} (Welch's test, adjusted p = {fine:.3g})."


def _reason(because, same, after, packages, host) -> str:
    if because == "seed_noise":
        return "That is within what seeds scatter: the value lies near a border of the tolerance."
    if because == "dependencies":
        return f"These packages changed, and nothing else is known to have: {_named(packages)}."
    if because == "host":
        return f"The host is another: {', '.join(host)}."
    if because == "missing_runs":
        return f"Runs are missing: {'; '.join(after.missing) or 'those of the reproduction'}."
    if because == "unexplained":
        return (
            "Code, lock, data and host are the same: look for what the code takes from outside "
            "(time, order of files, number of processors)."
        )
    return ""


def _named(packages: Sequence[PackageChange]) -> str:
    said = [f"{p.name} {p.before or 'absent'} → {p.after or 'gone'}" for p in packages[:_NAMED]]
    more = len(packages) - _NAMED
    return ", ".join(said) + (f" and {more} more" if more > 0 else "")


def _values(verdict: ClaimVerdict) -> list[float]:
    return list(verdict.values.values())


def _welch(before: Sequence[float], after: Sequence[float]) -> float | None:
    """p of Welch's test; without any spread, whether the values are the same. None below two values."""
    if min(len(before), len(after)) < 2:
        same = before and after and fmean(before) == fmean(after)
        return 1.0 if same else None
    if stdev(before) == 0 and stdev(after) == 0:
        return 1.0 if fmean(before) == fmean(after) else 0.0
    from scipy.stats import ttest_ind

    return float(ttest_ind(before, after, equal_var=False).pvalue)
