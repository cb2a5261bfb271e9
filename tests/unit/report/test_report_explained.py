"""The page and its data explain every score: evidence, formula, threshold, what would change it."""

from __future__ import annotations

import html
import json

from unit.report.breiman import breiman_report

from repro_pipeline.evidence.model import IntegrityEvidence
from repro_pipeline.report.html import render_html
from repro_pipeline.report.model import ReportData
from repro_pipeline.report.rows import claim_rows
from repro_pipeline.scoring.explain import explanations
from repro_pipeline.scoring.score import score


def really_scored() -> ReportData:
    """The example's evidence, judged by the scorer."""
    data = breiman_report()
    evidence = data.evidence.model_copy(update={"integrity": IntegrityEvidence()})
    scores = score(evidence, data.rubric, data.scores.rubric)
    made = {"evidence": evidence, "scores": scores, "explanations": explanations(scores)}
    return data.model_copy(update=made)


def test_every_score_is_explained_in_full():
    data = really_scored()
    scores = data.scores
    named = {(one.kind, one.name) for one in data.explanations}
    assert {("dimension", one.id) for one in scores.dimensions} <= named
    assert {("claim", one.claim) for one in scores.verdicts} <= named
    assert {("measure", one.id) for one in scores.measures} <= named
    assert {("pair", f"{one.pair} ({one.kind})") for one in scores.pairs} <= named
    assert {("overall", "overall"), ("control", "false_discovery")} <= named
    assert ("integrity", "integrity") in named
    for one in data.explanations:
        assert all((one.outcome, one.evidence, one.formula, one.threshold, one.change)), one.name


def test_the_page_shows_formula_threshold_and_change_of_dimensions_claims_and_measures():
    data = really_scored()
    page = html.unescape(render_html(data)).replace("\u00a0", " ")
    for one in data.explanations:
        if one.kind in {"dimension", "integrity", "claim"}:
            assert one.formula in page, one.name
            assert one.change in page, one.name
    for measure in data.scores.measures:
        assert measure.label in page
        assert measure.definition in page
        assert measure.change in page
    assert "not scored" in page  # no judge was asked for align scores


def test_the_json_holds_them_too():
    data = really_scored()
    stored = json.loads(data.model_dump_json(by_alias=True))
    assert len(stored["explanations"]) == len(data.explanations)
    align = [one for one in stored["scores"]["measures"] if one["id"].startswith("align")]
    assert [one["value"] for one in align] == [None, None, None]
    assert ReportData.model_validate_json(data.model_dump_json(by_alias=True)) == data


def test_a_verdict_that_does_not_stand_is_tagged_in_every_row():
    data = really_scored()
    first = data.scores.verdicts[0].model_copy(update={"stands": False})
    scores = data.scores.model_copy(update={"verdicts": (first, *data.scores.verdicts[1:])})
    row = claim_rows(data.evidence.claims, scores)[0]
    assert "the miss may be chance, as one of so many claims" in row.tags
