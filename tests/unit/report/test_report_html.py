"""The page says what the data say, all of it, and no text of a paper becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from html.parser import HTMLParser
from typing import Any

import pytest
from pydantic import ValidationError
from unit.report.breiman import FOUND, METHODS, bare_report, breiman_report, hostile_report

from repro_pipeline.ledger.runs import NOT_STARTED
from repro_pipeline.paper.model import Correction
from repro_pipeline.report.again import script as script_of
from repro_pipeline.report.facts import cost
from repro_pipeline.report.html import render_html
from repro_pipeline.report.markdown_report import render_markdown
from repro_pipeline.report.model import ModelCost, ReportData
from repro_pipeline.report.pages import tone
from repro_pipeline.sandbox.image import ContainerImage
from repro_pipeline.status import Outcome, Reason, Sign, Status, Verdict

VOID = {"meta", "br", "img", "link", "input", "hr"}
SHAPES = {"use", "line", "rect", "circle", "path", "polygon"}


class Page(HTMLParser):
    """A page's tags, texts and tables; raises where tags are not well nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._table: list[list[str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in VOID:
            return
        self.open.append(tag)
        if tag == "div" and dict(attrs).get("role") == "region":
            self._table = self.tables.setdefault(dict(attrs)["aria-label"], [])
        if tag == "tr":
            self._table.append([])
        if tag in {"td", "th"}:
            self._table[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        assert tag in SHAPES, tag
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)
        if {"td", "th"} & set(self.open):
            self._table[-1][-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def column(self, table: str, name: str) -> list[str]:
        header, *rows = self.tables[table]
        return [" ".join(row[header.index(name)].split()) for row in rows]


@pytest.fixture(scope="module")
def data() -> ReportData:
    return breiman_report()


@pytest.fixture(scope="module")
def page(data: ReportData) -> Page:
    return Page(render_html(data))


def test_each_claim_has_its_numbers_in_the_table(data: ReportData, page: Page):
    table = "All claims, table"
    verdicts = data.scores.verdicts
    claims = data.evidence.claims.claims
    assert page.column(table, "Reported") == [f"{claim.text} %" for claim in claims]
    assert page.column(table, "Reproduced") == [f"{v.mean:.2f} ± {v.sd:.2f}" for v in verdicts]
    assert page.column(table, "Seeds") == ["5/5"] * 16
    assert page.column(table, "Error") == [f"{100 * v.relative_error:.1f} %" for v in verdicts]
    assert page.column(table, "95 % interval") == [
        f"{v.interval95[0]:.2f} to {v.interval95[1]:.2f}" for v in verdicts
    ]
    assert page.column(table, "Reason") == [v.reason for v in verdicts]
    said = page.column(table, "Verdict")
    assert [re.split(" better| unv| value", text)[0] for text in said] == [
        v.verdict.replace("_", " ") for v in verdicts
    ]
    assert all(text.endswith("value self reported") for text in said)


def test_the_rebuilt_table_holds_reported_and_reproduced_side_by_side(page: Page):
    header, *rows = page.tables["Table 1 of the paper, rebuilt, table"]
    assert header == ["Data set", *METHODS.values()]
    for row, (dataset, means) in zip(rows, FOUND.items(), strict=True):
        assert row[0] == dataset.capitalize()
        shown = [re.findall(r"\d+\.\d+", cell) for cell in row[1:]]
        assert [float(numbers[1]) for numbers in shown] == pytest.approx(means, abs=0.005)
        assert all(re.search("reproduced|inconclusive", cell) for cell in row[1:])


def test_a_claim_leads_to_run_seed_log_and_code(data: ReportData, page: Page):
    table = "Runs of twonorm-selection, table"
    runs = [run for run in data.evidence.runs if run.experiment == "twonorm"]
    assert page.column(table, "Run key") == [run.run_key for run in runs]
    assert page.column(table, "Log") == [run.counted.log for run in runs]
    assert page.column(table, "Seed") == [str(run.seed) for run in runs]
    assert page.column(table, "Attempts") == ["1", "1", "2", "1", "1"]
    assert page.column(table, "Value") == [f"{r.values['twonorm-selection']:.6g}" for r in runs]
    assert data.evidence.code_tree in page.text


def test_a_verdict_is_never_shown_without_the_doubt_about_its_value(page: Page):
    cells = [cell for row in page.tables["Table 1 of the paper, rebuilt, table"] for cell in row]
    assert any("34.50" in cell and "unverified" in cell for cell in cells)
    assert not any("17.40" in cell and "unverified" in cell for cell in cells)
    assert "Waveform · One tree +1.5 % reproduced * , unverified" in page.text
    assert "Waveform · Selection ★ +1.2 % reproduced Waveform" in page.text


def test_runs_of_a_sensitivity_experiment_are_no_evidence_for_a_claim(page: Page):
    assert set(page.column("Runs of ringnorm-selection, table", "Experiment")) == {"ringnorm"}


def test_every_failed_attempt_stands_in_the_timeline(data: ReportData, page: Page):
    assert len(data.failed_attempts) == 3
    assert "3 of 32 attempts did not end well" in page.text
    for attempt in data.failed_attempts:
        assert attempt.reason.sentence in page.text
        assert attempt.log in page.text
    times = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC · after", page.text)
    assert times == sorted(times)


def test_a_failure_shows_the_end_of_its_log(data: ReportData, page: Page):
    assert page.text.count("The end of its log") == len(data.log_ends) == 1
    (crashed,) = [one for one in data.failed_attempts if one.log in data.log_ends]
    assert f"boom(seed={crashed.seed})" in page.text


def test_the_page_says_how_to_run_it_again(data: ReportData, page: Page):
    script = script_of(data)
    assert " ".join(script.split()) in page.text
    for pinned in (data.evidence.code_tree, data.evidence.environment.lock.sha256):
        assert pinned in script
    assert "There is no reproduce.sh" in Page(render_html(bare_report())).text


def test_the_first_screen_says_how_far_people_have_looked(page: Page):
    assert "Review 0 of 2 claims that were drawn have a decision" in page.text


def test_without_failed_attempts_the_page_says_so(data: ReportData):
    good = tuple(attempt for attempt in data.attempts if attempt.status is Status.OK)
    text = Page(render_html(data.model_copy(update={"attempts": good}))).text
    assert "None: each of the 29 attempts ended well." in text


def test_what_is_not_decided_is_listed_with_what_would_decide_it(page: Page):
    assert "Not decided (8)" in page.text
    assert page.text.count("14 seeds would decide, 7 min more of runs") == 4
    assert "no leakage: labels sealed not checkable" in page.text


def test_where_all_is_decided_the_page_says_so(data: ReportData):
    claims = data.evidence.claims.model_copy(
        update={"claims": data.evidence.claims.claims[:1], "pairs": ()}
    )
    decided = data.model_copy(
        update={
            "evidence": data.evidence.model_copy(update={"claims": claims}),
            "scores": data.scores.model_copy(
                update={"verdicts": data.scores.verdicts[:1], "pairs": (), "dimensions": ()}
            ),
            "tables": (),
            "review": None,
        }
    )
    assert (
        "Nothing: every claim, ablation and check came to a decision."
        in Page(render_html(decided)).text
    )


def test_ablations_count_and_comparisons_stand_apart(page: Page):
    ablations = page.column("Ablations, table", "Direction")
    assert ablations == ["agree"] * 4 + ["undecided"] + ["excluded"] * 3
    assert page.column("Ablations, table", "Paper")[0] == "+16.80"
    assert len(page.column("Comparisons between methods, table", "Direction")) == 4
    assert "Waveform: One tree against Selection" in page.text
    assert "the printed difference of 0.0 lies within rounding" in page.text


def test_what_nobody_said_or_filled_is_listed(data: ReportData, page: Page):
    (gap,), (contradiction,) = data.gaps, data.contradictions
    assert page.column("Gaps, table", "Question") == [gap.question]
    assert contradiction in page.text
    filled = render_html(data.model_copy(update={"gaps": (), "contradictions": ()}))
    assert "Left unsaid" not in filled and "Said in two ways" not in filled
    assert gap.question in render_markdown(data) and contradiction in render_markdown(data)


def test_the_image_that_runs_had_is_named_where_they_are_made_again(data: ReportData):
    built = data.evidence.environment
    image = ContainerImage(id="sha256:" + "5" * 64, base="debian:12", base_id="sha256:" + "6" * 64)
    there = data.evidence.model_copy(
        update={"environment": built.model_copy(update={"image": image})}
    )
    again = render_html(data.model_copy(update={"evidence": there})).partition('id="again"')[2]
    assert image.id in again
    assert "<dt>Image</dt>" not in render_html(data)


def test_sensitivity_is_shown_against_seed_noise(page: Page):
    readings = page.column("Sensitivity experiments, table", "Reading")
    assert all(reading.startswith("moves the claim by ") for reading in readings[:4])
    assert readings[4:] == ["no movement that can be told from noise"] * 4
    assert page.column("Sensitivity experiments, table", "Seeds") == ["5"] * 4 + ["4"] * 4


def test_a_report_cannot_leave_a_claim_out(data: ReportData):
    for verdicts in (data.scores.verdicts[1:], data.scores.verdicts + data.scores.verdicts[:1]):
        scores = data.scores.model_copy(update={"verdicts": verdicts})
        with pytest.raises(ValidationError, match="waveform-adaboost"):
            ReportData(**{**dict(data), "scores": scores})


def test_a_report_cannot_mix_papers_or_modes(data: ReportData):
    for name, value in (("paper", "another-paper"), ("mode", "agent")):
        scores = data.scores.model_copy(update={name: value})
        with pytest.raises(ValidationError, match="different"):
            ReportData(**{**dict(data), "scores": scores})


def test_the_report_survives_json(data: ReportData):
    stored = data.model_dump_json(by_alias=True)
    assert ReportData.model_validate_json(stored) == data


def test_the_same_data_give_the_same_bytes(data: ReportData):
    again = ReportData.model_validate_json(data.model_dump_json(by_alias=True))
    assert render_html(again) == render_html(data)


def test_the_mode_stands_on_the_page(data: ReportData, page: Page):
    assert "code: given code, unblinded" in page.text
    written = data.model_copy(update={"scores": data.scores.model_copy(update={"mode": "agent"})})
    assert "given code, unblinded" not in Page(render_html(written)).text


def test_unsafe_local_is_loud_and_a_sandbox_is_not(page: Page):
    bare = Page(render_html(bare_report()))
    assert "banner" in [attrs.get("class") for _, attrs in bare.tags]
    assert "No sandbox. The runner is unsafe_local" in bare.text
    assert "banner" not in [attrs.get("class") for _, attrs in page.tags]


def test_a_report_without_runs_says_what_stopped_it():
    text = Page(render_html(bare_report())).text
    assert "no version of scikit-learn fits Python 3.11." in text
    assert "None: nothing was run." in text
    assert "No environment was built." in text
    assert "Ablations: the claims hold none." in text


def test_limits_that_differ_between_attempts_are_counted(data: ReportData):
    first, *others = data.attempts
    weaker = first.model_copy(update={"limits": {**first.limits, "memory": "watched"}})
    text = Page(render_html(data.model_copy(update={"attempts": (weaker, *others)}))).text
    assert "memory watched (1 attempts), hard (31 attempts)" in text


def test_cost_counts_every_attempt(data: ReportData, page: Page):
    assert "Attempts 32, 3 failed" in page.text
    paid = data.model_copy(update={"model_cost": ModelCost(usd=1.5, tokens=12000, calls=7)})
    assert "US$ 1.50 for 7 calls, 12,000 tokens" in Page(render_html(paid)).text
    unknown = data.model_copy(update={"model_cost": ModelCost(usd=None, tokens=12000, calls=7)})
    assert "price not known for 7 calls" in Page(render_html(unknown)).text


def test_private_data_are_shown_by_hash_alone(data: ReportData):
    entry = {
        "name": "scans",
        "file": "patients/secret-name.csv",
        "sha256": "a" * 64,
        "size": 12,
        "private": True,
    }
    manifest = type(data.evidence.data).model_validate({"entries": [entry]})
    evidence = data.evidence.model_copy(update={"data": manifest})
    html = render_html(data.model_copy(update={"evidence": evidence}))
    assert "secret-name" not in html
    assert "a" * 64 in html


@pytest.mark.parametrize("make", [breiman_report, hostile_report, bare_report])
def test_the_page_is_whole_and_needs_nothing_from_outside(make):
    html = render_html(make())
    page = Page(html)
    names = [name for name, _ in page.tags]
    assert not {"script", "link", "img", "iframe", "object", "form", "base"} & set(names)
    attributes = [(key, value or "") for _, attrs in page.tags for key, value in attrs.items()]
    assert not [key for key, _ in attributes if key.startswith("on")]
    ids = [value for key, value in attributes if key == "id"]
    assert len(ids) == len(set(ids))
    links = [value for key, value in attributes if key in {"href", "src"}]
    assert all(link.startswith("#") for link in links)
    labels = [value for key, value in attributes if key == "aria-labelledby"]
    assert {link[1:] for link in links} | set(labels) <= set(ids)
    assert "url(" not in html.replace("url(#", "")
    assert "@import" not in html
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", html)


MARKUP = "<img src=x onerror=alert(1)>\"'&</style></title></script>"


def test_no_field_of_the_data_reaches_the_page_as_markup():
    plain = breiman_report().model_dump(mode="json", by_alias=True)
    kinds = sorted({kind for kind, _ in _texts(plain)})
    free = [kind for kind in kinds if _accepts(plain, kind)]
    assert len(free) > 50
    for kind, place in list(_texts(plain)):
        if kind in free:
            _put(plain, place, MARKUP)
    page = Page(render_html(ReportData.model_validate(plain)))
    assert not {"img", "script"} & {name for name, _ in page.tags}
    assert not [key for _, attrs in page.tags for key in attrs if key.startswith("on")]
    assert page.text.count("<img src=x onerror=alert(1)>") > len(free)


def _texts(value: Any, place: tuple = ()) -> Iterator[tuple[tuple, tuple]]:
    """Every text with its kind (its place without list numbers) and its place."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield from _texts(item, (*place, key))
    if isinstance(value, str):
        yield tuple(str(part) for part in place if not isinstance(part, int)), place


def _put(value: Any, place: tuple, text: str) -> None:
    for part in place[:-1]:
        value = value[part]
    value[place[-1]] = text


def _accepts(plain: dict, kind: tuple) -> bool:
    """Whether the model takes any text there: not an id, a digest or a word of a list."""
    if kind[-1] in {"claim", "main", "full", "variant", "pair", "of", "experiment", "runner"}:
        return False
    changed = deepcopy(plain)
    for found, place in list(_texts(plain)):
        if found == kind:
            _put(changed, place, MARKUP)
    try:
        ReportData.model_validate(changed)
    except ValidationError:
        return False
    return True


def test_each_outcome_has_a_mark_of_the_right_kind():
    assert {tone(word) for word in ("reproduced", "pass", "agree", "ok", "clean")} == {"yes"}
    assert {tone(word) for word in ("not_reproduced", "fail", "opposite", "failed")} == {"no"}
    good = {Verdict.REPRODUCED, Outcome.PASS, Sign.AGREE, Status.OK}
    others = {*Verdict, *Outcome, *Sign, *Status} - good
    assert "yes" not in {tone(word) for word in others}


def test_a_corrected_cell_says_who_put_what_in_the_place_of_what():
    data = breiman_report()
    (held, *others) = data.tables
    row, column = next(iter(held.places.values()))
    cell = held.table.grid[row][column]
    corrected = cell.model_copy(
        update={
            "corrected": Correction(before="<b>9.9", actor="human:ada", reason="p. 2, printed so")
        }
    )
    grid = [list(line) for line in held.table.grid]
    grid[row][column] = corrected
    table = held.table.model_copy(update={"grid": tuple(map(tuple, grid))})
    changed = data.model_copy(
        update={"tables": (held.model_copy(update={"table": table}), *others)}
    )
    said = " ".join(" ".join(Page(render_html(changed)).words).split())
    assert f"“{cell.text}” is a correction by human:ada: the reader read “<b>9.9”" in said
    assert "p. 2, printed so" in said
    assert "correction by" not in " ".join(Page(render_html(data)).words)


def test_what_was_cancelled_is_not_counted_as_failed(data: ReportData):
    failed = data.failed_attempts[0]
    ended = failed.model_copy(update={"status": Status.CANCELLED})
    tried = tuple(ended if one == failed else one for one in data.attempts)
    told = cost(data.model_copy(update={"attempts": tried})).attempts
    assert told == "32, 2 failed, 1 cancelled"


def test_what_was_left_out_is_no_attempt(data: ReportData):
    failed = data.failed_attempts[0]
    why = Reason(code=NOT_STARTED, sentence="Not run: the first 2 runs failed alike.")
    ended = failed.model_copy(update={"status": Status.CANCELLED, "reason": why})
    tried = tuple(ended if one == failed else one for one in data.attempts)
    told = cost(data.model_copy(update={"attempts": tried})).attempts
    assert told == "31, 2 failed; 1 run left out"


def test_key_claims_bear_a_star_with_a_name_in_the_figure():
    page = render_html(breiman_report())
    figure = page[page.index('<ol class="forest"') : page.index("</figure>")]
    rows = re.findall(r"<li.*?</li>", figure, re.S)
    starred = {re.search(r'#claim-([^"]+)"', row)[1] for row in rows if "★" in row}
    key = {claim.id for claim in breiman_report().evidence.claims.claims if claim.key}
    assert starred == key and len(rows) > len(key) > 0
    assert all('role="img" aria-label="key claim">★<' in row for row in rows if "★" in row)
    assert "★: a key claim." in figure
