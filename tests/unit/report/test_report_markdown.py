"""The report as Markdown says what the page says, and no text of a paper becomes markup."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt
from unit.report.breiman import bare_report, breiman_report, hostile_report

from repro_pipeline.report.markdown_report import render_markdown
from repro_pipeline.report.rows import claim_rows

MARKDOWN = MarkdownIt("commonmark").enable("table")


def test_it_holds_every_claim_failure_and_cause():
    data = breiman_report()
    text = render_markdown(data)
    for row in claim_rows(data.evidence.claims, data.scores):
        line = next(line for line in text.splitlines() if line.startswith(f"| {row.claim.id}"))
        assert f"| {row.reproduced} |" in line and row.verdict_words in line
    for attempt in data.failed_attempts:
        assert f"attempt {attempt.number}: " in text and attempt.reason.sentence in text
    assert "        Traceback (most recent call last):" in text
    assert all(cause.next_step in text for cause in data.attribution.causes)
    assert data.ledger.hash in text
    assert render_markdown(data) == text


def test_a_bare_report_says_what_is_not_there():
    text = render_markdown(bare_report())
    assert "No sandbox" in text and "No environment was built." in text
    assert "None, of 0 attempts." in text


@pytest.mark.parametrize("make", [breiman_report, hostile_report, bare_report])
def test_its_markup_is_its_own(make):
    html = MARKDOWN.render(render_markdown(make()))
    assert not re.search(r"<(script|img|style|b|a)\b", html)
    assert html.count("<h2>") == 14
    wide = [len(re.findall("<t[hd]", row)) for row in re.findall("<tr>.*?</tr>", html, re.S)]
    assert set(wide) <= {4, 5, 6, 8}
