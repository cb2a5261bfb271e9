"""From the addresses in `task.yaml` to claims: each value is read from the paper, never retyped."""

from __future__ import annotations

import sys
from decimal import Decimal

from repro_pipeline.bundle.task import Task, TaskClaim, TaskPair
from repro_pipeline.claims.model import Claim, ClaimPair, PairKind, ReportedClaims
from repro_pipeline.errors import AddressError, BundleError
from repro_pipeline.paper.address import CellAddress, StatedValue, TextAddress
from repro_pipeline.paper.model import Paper, Provenance, Quantity
from repro_pipeline.paper.resolve import resolve_cell, resolve_text


def extract_claims(paper: Paper, task: Task) -> ReportedClaims:
    """The claims that a task names, with the values that the paper prints.

    Raises BundleError when the task names no claims or a pair contradicts the paper, and
    AddressError, with all faulty claims at once, when an address names no number.
    """
    if not task.claims:
        raise no_claims()
    claims, faults = [], []
    for wanted in task.claims:
        try:
            claims.append(_claim(paper, wanted))
        except AddressError as fault:
            faults.append(f"claim {wanted.id}: {fault}")
    if faults:
        raise AddressError("\n".join(faults))
    by_id = {claim.id: claim for claim in claims}
    pairs = [_pair(pair, PairKind.ABLATION, by_id) for pair in task.ablations]
    pairs += [_pair(pair, PairKind.COMPARISON, by_id) for pair in task.comparisons]
    return ReportedClaims(
        claims=tuple(claims), pairs=tuple(pairs), main=_main(task), proposed_by="task.yaml"
    )


def no_claims(*, has_file: bool = True) -> BundleError:
    """What is said where nobody names claims, with a `task.yaml` or without one."""
    return BundleError(
        "names no claims." if has_file else "there is no such file, and so no claims are named.",
        where="task.yaml",
        hint="Name the numbers that matter under `claims`, by table, row and column; or configure "
        "a `reader` under `models` in repro.yaml, which proposes some.",
    )


def claims_unread(task: Task) -> ReportedClaims:
    """The claims of a task without the paper's values: for what asks their names alone.

    The task must name some.
    """
    claims = tuple(
        Claim(**one.model_dump(exclude={"reported", "main"}), value=None, address=one.reported)
        for one in task.claims
    )
    return ReportedClaims(claims=claims, main=_main(task), proposed_by="task.yaml")


def _claim(paper: Paper, wanted: TaskClaim) -> Claim:
    quantity, provenance = _read(paper, wanted.reported)
    if quantity and quantity.unit and wanted.unit and not _same_unit(quantity.unit, wanted.unit):
        raise AddressError(
            f"the paper prints '{quantity.text}' in {quantity.unit}, the task says {wanted.unit}.",
            where=str(wanted.reported),
            hint=f"Write `unit: {quantity.unit}`.",
        )
    return Claim(
        **wanted.model_dump(exclude={"reported", "main"}),
        value=quantity.value if quantity else None,
        quantum=quantity.quantum if quantity else None,
        uncertainty=quantity.uncertainty if quantity else None,
        uncertainty_kind=quantity.uncertainty_kind if quantity else None,
        address=wanted.reported,
        text=quantity.text if quantity else "",
        provenance=provenance,
    )


def _read(
    paper: Paper, address: CellAddress | TextAddress | StatedValue
) -> tuple[Quantity | None, Provenance | None]:
    if isinstance(address, StatedValue):
        return _stated(address), None
    if isinstance(address, CellAddress):
        _, _, _, cell, quantity = resolve_cell(paper, address)
        provenance = cell.provenance
    else:
        _, quantity = resolve_text(paper, address)
        provenance = Provenance(file=paper.source.file)
    if quantity.relation != "=":
        raise AddressError(
            f"'{quantity.text}' is a bound or an estimate, not a value.", where=str(address)
        )
    return quantity, provenance


def _stated(address: StatedValue) -> Quantity | None:
    if address.value is None:
        return None
    decimals = max(0, -Decimal(repr(address.quantum)).normalize().as_tuple().exponent)
    return Quantity(
        text=f"{address.value:.{decimals}f}",
        value=address.value,
        quantum=address.quantum,
        uncertainty=address.uncertainty,
        uncertainty_kind="unstated" if address.uncertainty is not None else None,
    )


def _same_unit(one: str, other: str) -> bool:
    names = {"%": "percent", "pct": "percent"}
    return names.get(one.lower(), one.lower()) == names.get(other.lower(), other.lower())


def _pair(pair: TaskPair, kind: PairKind, claims: dict[str, Claim]) -> ClaimPair:
    full, variant = claims[pair.full], claims[pair.variant]
    where = f"task.yaml: {kind} {pair.id}"
    if full.unit != variant.unit or full.metric != variant.metric:
        raise BundleError(
            f"compares {full.metric} in {full.unit} with {variant.metric} in {variant.unit}.",
            where=where,
            hint="Both claims of a pair must have the same metric and unit.",
        )
    difference, excluded = None, None
    sign = pair.expected_sign
    if full.value is not None and variant.value is not None:
        difference = variant.value - full.value
        rounding = (full.quantum + variant.quantum) / 2
        noise = 4 * sys.float_info.epsilon * max(abs(full.value), abs(variant.value))
        if abs(difference) <= rounding * (1 + 1e-9) + noise:
            sign = None
            excluded = (
                f"the printed values differ by {abs(difference):.4g}, "
                f"which lies within their rounding (±{rounding:.4g})"
            )
        else:
            printed = 1 if difference > 0 else -1
            if sign not in (None, printed):
                raise BundleError(
                    f"expects the sign {sign:+d}, but the paper prints "
                    f"{variant.text} against {full.text}.",
                    where=where,
                )
            sign = printed
    elif sign is None:
        raise BundleError(
            "has claims without values and no `expected_sign`.",
            where=where,
            hint="Say which sign variant - full should have.",
        )
    return ClaimPair(
        id=pair.id,
        kind=kind,
        full=pair.full,
        variant=pair.variant,
        expected_sign=sign,
        expected_difference=difference,
        excluded=excluded,
    )


def _main(task: Task) -> str:
    marked = [claim.id for claim in task.claims if claim.main]
    key = [claim.id for claim in task.claims if claim.key]
    return (marked or key or [task.claims[0].id])[0]
