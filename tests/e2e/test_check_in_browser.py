"""The page for checking tables in a real browser: eye, mouse, keyboard, screen reader."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from repro_pipeline.bundle.folder import open_bundle
from repro_pipeline.paper.read import read_paper
from repro_pipeline.report.check_page import check_page
from tests.conftest import ROOT

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

WIDE = (
    """# A <script>paper</script>

Table 1: Errors.

| Model | """
    + " | ".join(f"metric {n}" for n in range(30))
    + """ |
|---|"""
    + "---|" * 30
    + """
| """
    + "W" * 80
    + " | "
    + " | ".join(f"{n}.5" for n in range(30))
    + """ |
| it's <img src=x onerror=alert(1)> | """
    + " | ".join("x1.5" for _ in range(30))
    + """ |
| b | """
    + " | ".join("2.5" for _ in range(30))
    + """ |
| c | """
    + " | ".join("2.5" for _ in range(30))
    + """ |
"""
)


def made(folder: Path, name: str, content: bytes) -> Path:
    folder.mkdir()
    (folder / name).write_bytes(content)
    page = folder.with_suffix(".html")
    page.write_text(check_page(read_paper(folder / name), open_bundle(folder), folder))
    return page


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("checks")
    example = ROOT / "examples/random-forests-2001"
    return {
        "pdf": made(folder / "pdf", "paper.pdf", (example / "paper.pdf").read_bytes()),
        "tex": made(folder / "tex", "paper.tex", (example / "paper.tex").read_bytes()),
        "wide": made(folder / "wide", "paper.md", WIDE.encode()),
    }


@pytest.fixture
def opened(browser, pages):
    """Open a page; at the end, nothing may have been logged and nothing else requested."""
    contexts, noise = [], []

    def open_page(name: str, *, width: int = 1500, scheme: str = "light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        address = pages[name].as_uri()
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("dialog", lambda dialog: noise.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: (
                request.url.startswith((address, "data:image/png")) or noise.append(request.url)
            ),
        )
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert noise == []


def cell(page, text: str):
    return page.get_by_role("gridcell", name=text, exact=True)


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1500, "light")])
@pytest.mark.parametrize("name", ["pdf", "tex", "wide"])
def test_it_fits_and_axe_finds_nothing(opened, tmp_path, name, width, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    page = opened(name, width=width, scheme=scheme)
    page.get_by_role("gridcell").first.click()
    pictures = Path(os.environ.get("REPRO_CI_ARTIFACTS") or tmp_path)
    page.screenshot(path=pictures / f"check-{name}-{scheme}-{width}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    results = axe.Axe().run(page)
    assert not results.response["violations"], results.generate_report()


def test_the_mark_lies_on_the_cell_of_the_picture(opened):
    page = opened("pdf")
    image = page.get_by_role("img", name="Table 1 on page 2 of paper.pdf").bounding_box()
    marked = page.locator("rect.here")
    assert marked.count() == 0
    cell(page, "34.0").hover()
    first = marked.bounding_box()
    cell(page, "17.8").hover()
    assert marked.count() == 1
    box = marked.bounding_box()
    assert first["y"] == pytest.approx(box["y"], abs=3) and first["x"] > box["x"] + box["width"]
    for side, length in (("x", "width"), ("y", "height")):
        assert image[side] < box[side] and box[side] + box[length] < image[side] + image[length]


def test_a_cell_is_corrected_with_the_keyboard_alone(opened):
    page = opened("pdf")
    page.get_by_role("columnheader", name="Data set").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.textContent") == "3.9"
    page.keyboard.press("Enter")
    page.keyboard.type("it's 4.9")
    page.keyboard.press("Tab")
    page.keyboard.type("page 2")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    sync_api.expect(page.locator("#copied")).to_have_text("Copied.")
    command = page.evaluate("navigator.clipboard.readText()")
    assert shlex.split(command) == [
        *("repro", "paper", "correct", "pdf", "--table=Table 1", "--row=Twonorm"),
        *("--column=Selection", "--value=it's 4.9", "--reason=page 2"),
    ]
    page.keyboard.press("Escape")
    assert not page.get_by_role("complementary", name="Correct a cell").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "3.9"


def test_the_picture_leads_to_the_cell(opened):
    page = opened("pdf")
    page.locator("rect[data-of=t1r4c4]").click()
    assert page.evaluate("document.activeElement.textContent") == "25.7"
    sync_api.expect(page.locator("#picked-name")).to_have_text(
        "Table 1, row 'Ringnorm', column 'One tree'"
    )


def test_a_line_of_the_source_is_marked(opened):
    page = opened("tex")
    cell(page, "24.7").hover()
    marked = page.locator("li.here")
    assert marked.count() == 1
    assert page.evaluate("scrollY") == 0
    assert "24.7" in marked.text_content() and "Twonorm" in marked.text_content()
