"""Write down what had to be assumed, and check that each quoted source really says it."""

from __future__ import annotations

import re

from repro_pipeline.bundle.task import Task
from repro_pipeline.errors import BundleError
from repro_pipeline.lineage.model import Assumption, AssumptionGiven, AssumptionLedger, Lineage


def collect_assumptions(task: Task, texts: dict[str, str], lineage: Lineage) -> AssumptionLedger:
    """The assumptions of a task, each with its source looked up.

    `texts` are the local reference files, name → content. A quote that does not stand in its file
    is kept and marked. Raises BundleError for a source that names no file or reference there is.
    """
    assumptions = tuple(_checked(given, texts, lineage) for given in task.assumptions)
    lost = [a.id for a in assumptions if a.source_found is False]
    warnings = [
        f"The assumption '{name}' quotes words that do not stand in its source." for name in lost
    ]
    warnings += [
        f"The paper rests on '{key}', but no text of it is at hand: add it under references/."
        for key in lineage.unread
    ]
    if not assumptions:
        warnings.append(
            "No assumptions were given: what the paper leaves unsaid was not looked for."
        )
    return AssumptionLedger(assumptions=assumptions, warnings=tuple(warnings))


def _checked(given: AssumptionGiven, texts: dict[str, str], lineage: Lineage) -> Assumption:
    source, where = given.source, f"task.yaml: assumption {given.id}"
    known = {ranked.key for ranked in lineage.ranked}
    if source.reference is not None and source.reference not in known:
        raise BundleError(
            f"names the reference '{source.reference}', which the paper does not list.",
            where=where,
            hint=f"It lists: {', '.join(sorted(known)) or 'none'}.",
        )
    found, line = None, source.line
    if source.file is not None:
        if source.file not in texts:
            raise BundleError(
                f"names the file '{source.file}', which is no text file of references/.",
                where=where,
                hint=f"There are: {', '.join(sorted(texts)) or 'none'}.",
            )
        if source.quote is not None:
            line = _line_of(source.quote, texts[source.file])
            found = line is not None
    return Assumption(
        **{**given.model_dump(), "source": source.model_copy(update={"line": line})},
        proposed_by="task.yaml",
        source_found=found,
    )


def _line_of(quote: str, text: str) -> int | None:
    """The line on which a quote begins, whatever the white space in it; None where it is absent."""
    pattern = r"\s+".join(re.escape(word) for word in quote.split())
    match = re.search(pattern, text)
    return text.count("\n", 0, match.start()) + 1 if match else None
