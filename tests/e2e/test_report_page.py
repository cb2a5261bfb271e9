"""The report in a real browser: narrow and wide, light and dark, with friendly and hostile texts."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from unit.report.breiman import bare_report, breiman_report, hostile_report

from repro_pipeline.report.html import render_html
from repro_pipeline.report.scoreboard import Look, ScoreboardRow, render_scoreboard_html

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


def scoreboard() -> str:
    """Three papers: one of each mode, and one that could not be scored."""
    given = ScoreboardRow(
        paper="random-forests-2001",
        title="Random Forests on Synthetic Data",
        mode="code",
        overall="fail",
        reproduced=10,
        not_reproduced=2,
        inconclusive=4,
        claims=16,
        environment_parity="pass",
        metric_parity="fail",
        ablation_faithful="inconclusive",
        no_leakage="inconclusive",
        integrity="unverified",
        headline="10 of 16 claims reproduced within 5 %.",
        attempts=32,
        run_seconds=1441,
        report="random-forests-2001/report.html",
    )
    written = {"paper": "written", "title": "W" * 200, "mode": "agent", "overall": "pass"}
    second = {"paper": "second", "title": "Another", "overall": "pass", "reproduced": 2}
    looks = tuple(
        Look(at=f"2026-03-0{day}T00:00:00Z", overall="fail", reproduced=found, claims=16)
        for day, found in ((1, 4), (2, None), (3, 10))
    )
    given = given.model_copy(update={"history": looks})
    broken = ScoreboardRow(paper="broken", title="A paper", reason="paper.tex:3: never closed.")
    others = [ScoreboardRow(**{**dict(given), **one}) for one in (second, written)]
    return render_scoreboard_html((given, *others, broken))


CONTENTS = {
    "breiman": lambda: render_html(breiman_report()),
    "hostile": lambda: render_html(hostile_report()),
    "bare": lambda: render_html(bare_report()),
    "scoreboard": scoreboard,
}
WIDTHS = (400, 1600)
SCHEMES = ("light", "dark")
OPEN_ALL = "document.querySelectorAll('details').forEach(item => item.open = true)"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    files = {}
    for name, make in CONTENTS.items():
        files[name] = folder / f"{name}.html"
        files[name].write_text(make(), encoding="utf-8")
    return files


@pytest.fixture
def opened(browser, pages: dict[str, Path]) -> Iterator[Callable[..., object]]:
    """Open a report; at the end, nothing may have been logged and nothing else requested."""
    contexts, noise = [], []

    def open_page(name: str, *, width: int = 1600, scheme: str = "light", anchor: str = ""):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        address = pages[name].as_uri()
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("dialog", lambda dialog: noise.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: request.url.startswith(address) or noise.append(request.url),
        )
        page.goto(address + anchor)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert noise == []


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("REPRO_CI_ARTIFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", CONTENTS)
def test_the_page_fits_its_window(opened, pictures: Path, name: str, width: int, scheme: str):
    page = opened(name, width=width, scheme=scheme)
    page.screenshot(path=pictures / f"{name}-{scheme}-{width}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1600, "light")])
@pytest.mark.parametrize("name", CONTENTS)
def test_axe_finds_nothing(opened, name: str, width: int, scheme: str):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    page = opened(name, width=width, scheme=scheme)
    page.evaluate(OPEN_ALL)
    results = axe.Axe().run(page)
    assert not results.response["violations"], results.generate_report()


def test_the_first_screen_says_verdict_claims_cost_and_what_is_open(opened):
    page = opened("breiman")
    for text in ("10 of 16 claims reproduced", "Claims at a glance", "What it cost", "Not decided"):
        box = page.get_by_text(text).first.bounding_box()
        assert box["y"] + box["height"] <= 900, text
    assert page.get_by_role("listitem").filter(has_text="Ringnorm · One tree").is_visible()


def test_a_link_to_a_claim_opens_its_runs(opened):
    page = opened("breiman")
    runs = page.get_by_role("region", name="Runs of twonorm-selection")
    assert not runs.is_visible()
    page.get_by_role("link", name="twonorm-selection", exact=True).first.click()
    runs.wait_for()
    assert runs.get_by_role("row").count() == 1 + 5


@pytest.mark.parametrize("name", ["breiman", "bare"])
def test_the_claims_do_not_scroll_sideways_on_a_small_screen(opened, name: str):
    page = opened(name, width=1200)
    table = page.get_by_role("region", name="All claims, table")
    assert table.evaluate("box => box.scrollWidth - box.clientWidth") <= 0


def test_the_end_of_a_failed_runs_log_opens(opened):
    page = opened("breiman", width=400)
    line = page.get_by_text("Traceback (most recent call last):")
    assert not line.is_visible()
    page.get_by_text("The end of its log").focus()
    page.keyboard.press("Enter")
    sync_api.expect(line).to_be_visible()


def board(page, name: str = "Given code, unblinded") -> list[str]:
    rows = page.get_by_role("region", name=name).locator("tbody tr:visible code")
    return rows.all_text_contents()


def test_the_scoreboard_is_sorted_with_the_keyboard(opened):
    page = opened("scoreboard")
    assert board(page) == ["random-forests-2001", "second"]
    page.get_by_role("button", name="Reproduced").first.focus()
    header = page.get_by_role("columnheader", name="Reproduced").first
    page.keyboard.press("Enter")
    assert board(page) == ["second", "random-forests-2001"]
    sync_api.expect(header).to_have_attribute("aria-sort", "ascending")
    page.keyboard.press("Space")
    assert board(page) == ["random-forests-2001", "second"]
    sync_api.expect(header).to_have_attribute("aria-sort", "descending")
    sync_api.expect(page.get_by_role("status")).to_have_text("Sorted by Reproduced, descending.")


def test_the_scoreboard_is_filtered_with_the_keyboard(opened):
    page = opened("scoreboard", width=400)
    page.get_by_label("Text in a row").focus()
    page.keyboard.type("ANOTHER")
    assert board(page) == ["second"]
    sync_api.expect(page.get_by_role("status")).to_have_text("1 of 4 papers shown.")
    page.get_by_label("Text in a row").fill("")
    page.get_by_label("Overall").select_option("unscored")
    assert board(page) == [] and board(page, "Not scored") == ["broken"]


def test_the_scoreboard_is_whole_without_scripts(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["scoreboard"].as_uri())
    assert page.get_by_role("row").count() == 3 + 2 + 2
    assert not page.get_by_label("Text in a row").is_visible()
    assert page.get_by_role("link", name="Parquet").get_attribute("href") == "scoreboard.parquet"
    context.close()


def test_the_page_is_used_with_the_keyboard_alone(opened):
    page = opened("breiman", width=400)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the verdict"
    assert page.get_by_role("link", name="Skip to the verdict").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#verdict"
    table = page.get_by_role("region", name="All claims, table")
    table.focus()
    page.keyboard.press("ArrowRight")
    sync_api.expect(table).not_to_have_js_property("scrollLeft", 0)


def test_a_screen_reader_is_told_what_the_figure_shows(opened):
    page = opened("breiman")
    shown = page.get_by_role("listitem").filter(has_text="Ringnorm · Selection").first
    assert shown.locator(".name").get_by_role("img", name="key claim").count() == 1
    said = shown.locator(".strip").get_by_role("img").get_attribute("aria-label")
    assert said.startswith("differs by −8.2\u00a0% from the reported value; 90 % interval")
    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_marks_differ_by_shape_and_not_by_colour_alone(opened):
    page = opened("breiman")
    shapes = page.evaluate(
        """[...document.querySelectorAll('.forest li')].map(row => [
             row.querySelector('.says .outcome').textContent.trim(),
             row.querySelector('.strip use').getAttribute('href')])"""
    )
    by_word = {word: {shape for said, shape in shapes if said == word} for word, _ in shapes}
    assert all(len(used) == 1 for used in by_word.values())
    assert len({next(iter(used)) for used in by_word.values()}) == len(by_word) == 3


def test_the_band_and_the_marks_are_drawn_where_the_numbers_say(opened):
    page = opened("breiman")
    drawn = page.evaluate(
        """[...document.querySelectorAll('.forest li')].map(row => {
             const box = element => element.getBoundingClientRect();
             const strip = box(row.querySelector('.strip'));
             const band = box(row.querySelector('.band'));
             const mark = box(row.querySelector('.strip use'));
             return {middle: strip.x + strip.width / 2, band: band.width / 2,
                     mark: mark.x + mark.width / 2, text: row.querySelector('.gap').textContent}})"""
    )
    for row in drawn:
        per_cent = float(row["text"].replace("−", "-").removesuffix("\u00a0%"))
        expected = row["middle"] + row["band"] * per_cent / 5
        assert row["mark"] == pytest.approx(expected, abs=1.5), row


def test_print_shows_every_run_without_the_menu(opened, pictures: Path):
    page = opened("breiman")
    page.emulate_media(media="print")
    assert not page.get_by_role("navigation").is_visible()
    for runs in page.locator("details .inside").all():
        assert runs.bounding_box()["height"] > 0
    printed = page.pdf(prefer_css_page_size=True, path=pictures / "breiman-print.pdf")
    assert printed.startswith(b"%PDF")
