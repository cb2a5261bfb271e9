"""A result card in a browser: it fits a phone, and axe finds nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repro_pipeline.bench.pages import write_card
from repro_pipeline.bench.suite import open_suite
from tests.bench_suites import make_suite, truth
from tests.unit.bench.test_bench_card import TASKS, both, made, row


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    suite = open_suite(make_suite(tmp_path_factory.mktemp("suite"), dict.fromkeys(TASKS, truth())))
    made_of = {"two": both(), "alone": [row(TASKS[0], "trivial", 0.0)]}
    folders = {name: tmp_path_factory.mktemp(name) for name in made_of}
    for name, rows in made_of.items():
        write_card(made(suite, rows), folders[name])
    return {name: folder / "card.html" for name, folder in folders.items()}


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1600, "light")])
@pytest.mark.parametrize("name", ["two", "alone"])
def test_a_card_fits_and_axe_finds_nothing(browser, pages, tmp_path, name, width, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=True
    )
    page = context.new_page()
    page.goto(pages[name].as_uri())
    pictures = Path(os.environ.get("REPRO_CI_ARTIFACTS") or tmp_path)
    page.screenshot(path=pictures / f"card-{name}-{scheme}-{width}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    results = axe.Axe().run(page)
    assert not results.response["violations"], results.generate_report()
    text = page.inner_text("body")
    assert ("nothing is compared" in text) == (name == "alone")
    assert "memory 4,096 MiB" in text
    context.close()
