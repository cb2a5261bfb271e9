"""The documentation's site in a real browser: its pages ask nobody else, and fit a telephone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("mkdocs", reason="mkdocs is not installed (extra `dev`)")

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("index", "tutorial", "architecture", "reference/commands", "reference/schemas", "faq")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server of the built site."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
        timeout=120,
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1600, "light")])
def test_the_pages_load_nothing_from_elsewhere_and_fit(
    browser, address, artifacts, width: int, scheme: str
):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    noise = []
    page = context.new_page()
    page.on("console", lambda message: message.type == "error" and noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("request", lambda request: request.url.startswith(address) or noise.append(request.url))
    for name in PAGES:
        page.goto(f"{address}/{name}.html", wait_until="networkidle")
        page.screenshot(path=artifacts / f"site-{name.replace('/', '-')}-{width}.png")
        assert page.locator("h1").count() == 1, name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    assert noise == []
    context.close()


def test_a_word_is_found(browser, address):
    page = browser.new_page()
    page.goto(f"{address}/index.html")
    page.fill("input[name=query]", "blinding")
    page.wait_for_selector(".md-search-result__item")
    assert "linding" in page.locator(".md-search-result__item").first.inner_text()
    page.close()
