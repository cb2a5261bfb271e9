"""The report of one paper as a single HTML page: no script, no network, every text escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from repro_pipeline.report import facts, figures, words
from repro_pipeline.report.again import script
from repro_pipeline.report.grid import rebuilt
from repro_pipeline.report.model import ReportData
from repro_pipeline.report.pages import templates
from repro_pipeline.report.privacy import is_private
from repro_pipeline.report.rows import claim_rows, pair_rows
from repro_pipeline.scoring.history import change_rows
from repro_pipeline.scoring.review import after_review
from repro_pipeline.scoring.sensitivity import movements
from repro_pipeline.status import Verdict


def render_html(data: ReportData) -> str:
    """The whole page. The same data give the same bytes."""
    claims = claim_rows(data.evidence.claims, data.scores, data.review)
    pairs = pair_rows(data.evidence.claims, data.scores)
    rule = data.rubric.dimensions.metric_parity
    return (
        templates()
        .get_template("report.html")
        .render(
            data=data,
            claims=claims,
            runs={row.claim.id: facts.claim_runs(data.evidence, row.claim.id) for row in claims},
            pairs=pairs,
            verdict_counts=_counts(Verdict, (row.verdict.verdict for row in claims)),
            undecided=facts.undecided(data, claims, pairs),
            after_review=after_review(data.scores, data.review.items if data.review else ()),
            forest=figures.forest(claims, rule),
            panels=figures.panels(claims, rule),
            panel_side=figures.PANEL,
            tables=[(held.table, rebuilt(held, claims)) for held in data.tables],
            movements=movements(data.evidence),
            explained={(one.kind, one.name): one for one in data.explanations},
            names={row.claim.id: row.label for row in claims},
            quanta={row.claim.id: row.claim.quantum for row in claims},
            cost=facts.cost(data),
            spread_words=words.SPREAD,
            intervals_words=words.INTERVALS,
            limits=facts.sandbox_limits(data.attempts),
            private=is_private(data.evidence.data),
            image=facts.image_words(data.evidence.environment),
            review=facts.review_words(data),
            script=script(data),
            changes=change_rows(data.change) if data.change else [],
            trends=figures.trends(data.trend.claims) if data.trend else (),
        )
    )


def _counts(kinds: type[Verdict], found: Iterable[Verdict]) -> dict[str, int]:
    counted = Counter(found)
    return {kind.value: counted[kind] for kind in kinds}
