"""Write down what had to be assumed, and check that each quoted source really says it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from repro_pipeline.bundle.task import Task
from repro_pipeline.bundle.terms import AssumptionGiven
from repro_pipeline.errors import BundleError
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.lineage.model import AssumptionLedger, Lineage
from repro_pipeline.paper.model import Paper


def collect_assumptions(
    task: Task, texts: Mapping[str, str], lineage: Lineage, paper: Paper
) -> AssumptionLedger:
    """The assumptions of a task, each with its source looked up.

    `texts` are the local reference files, name → content. A quote that does not stand in its file,
    or in the paper that it is said to be from, is kept and marked. Raises BundleError for a source
    that names no file or reference there is.
    """
    assumptions = tuple(_checked(given, texts, lineage, paper) for given in task.assumptions)
    lost = [a.id for a in assumptions if a.source_found is False]
    warnings = [
        f"The assumption '{name}' quotes words that do not stand in its source." for name in lost
    ]
    warnings += [
        f"The paper rests on {named(key, paper)}, but no text of it is at hand: "
        "add it under references/."
        for key in lineage.unread
    ]
    return AssumptionLedger(assumptions=assumptions, warnings=tuple(warnings))


def filled_in(question: str, value: object) -> str:
    """The statement of an assumption that answers a question of the checklist."""
    return f"{question} The paper does not say; assumed: {str(value).rstrip('.')}."


def named(key: str, paper: Paper) -> str:
    """A cited work by authors and year, as far as they were read, with its key in the paper's list.

    `Tibshirani, 1996 ('Regression shrinkage'; 2 in its list)`; where nothing was read, its key alone.
    """
    work = next((one for one in paper.references if one.key == key), None)
    listed = f"{key} in its list" if key.isdecimal() else f"'{key}'"
    if work is None or not (work.authors or work.title or work.text.strip()):
        return listed
    names = [name for name in work.authors if name.lower() != "others"]
    families = [
        name.partition(",")[0] if "," in name else (name.split() or [name])[-1] for name in names
    ]
    many = len(families) < len(work.authors) or len(families) > 2
    who = f"{families[0]} et al." if families and many else " and ".join(families)
    head = ", ".join(str(part) for part in (who, work.year) if part)
    title = f"'{work.title}'" if work.title else "" if head else f"'{work.text.strip()[:60]}'"
    if not head:
        return f"{title} ({listed})"
    return f"{head} ({title}; {listed})" if title else f"{head} ({listed})"


def _checked(
    given: AssumptionGiven, texts: Mapping[str, str], lineage: Lineage, paper: Paper
) -> Assumption:
    source, where = given.source, f"task.yaml: assumption {given.id}"
    known = {ranked.key for ranked in lineage.ranked}
    if source.reference is not None and source.reference not in known:
        raise BundleError(
            f"names the reference '{source.reference}', which the paper does not list.",
            where=where,
            hint=f"It lists: {', '.join(sorted(known)) or 'none'}.",
        )
    elsewhere = source.kind == "reference_code" and ":" in (source.file or "")
    if source.file is not None and source.file not in texts and not elsewhere:
        raise BundleError(
            f"names the file '{source.file}', which is no text file of references/.",
            where=where,
            hint=f"There are: {', '.join(sorted(texts)) or 'none'}.",
        )
    found, line = None, source.line
    if source.quote is not None and source.file in texts:
        line = line_of(source.quote, texts[source.file], near=source.line)
        found = line is not None
    elif source.quote is not None and source.kind == "paper":
        found = place_of(source.quote, paper) is not None
    return Assumption(
        **{**given.model_dump(), "source": source.model_copy(update={"line": line})},
        proposed_by="task.yaml",
        source_found=found,
    )


def place_of(quote: str, paper: Paper) -> str | None:
    """The title of the first place that a quote stands in, whatever the white space; None for none."""
    return next((title for title, text in _places(paper) if matches(quote, text)), None)


def _places(paper: Paper) -> Iterator[tuple[str, str]]:
    """All that a paper says, place after place with its title; a table's rows as `repro gaps` shows them."""
    yield "abstract", paper.abstract
    yield from ((section.title, section.text) for section in paper.sections)
    for table in paper.tables:
        rows = (" | ".join(cell.text for cell in row if not cell.spanned) for row in table.grid)
        yield str(table), "\n".join([table.caption, *rows])
    yield from ((figure.number or "figure", figure.text) for figure in paper.figures)


def line_of(quote: str, text: str, *, near: int | None) -> int | None:
    """The line on which a quote begins, of several the one nearest to `near`; None for no such."""
    lines = [text.count("\n", 0, start) + 1 for start in matches(quote, text)]
    return min(lines, key=lambda line: abs(line - (near or 0)), default=None)


def matches(quote: str, text: str) -> list[int]:
    """Where a quote begins in a text, whatever the white space in it."""
    pattern = r"\s+".join(re.escape(word) for word in quote.split())
    return [match.start() for match in re.finditer(pattern, text)]
