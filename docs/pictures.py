"""The pictures of the site, from a real run: `python docs/pictures.py PROJECT PAPER [--ui]`.

PROJECT is the folder of a project in which PAPER was reproduced (`./run` makes `reproduction` with
`random-forests-2001`). They go to `docs/pictures/`, in few colours, so that all stay below 1.5 MB.
`--ui` starts Dagster's webserver for a picture of the graph as well. Needs Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

PICTURES = Path(__file__).parent / "pictures"
COLOURS = 64
WIDTH = 1100


def main() -> None:
    """Take them all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=Path)
    parser.add_argument("paper")
    parser.add_argument("--ui", action="store_true", help="also of Dagster's graph")
    options = parser.parse_args()
    report = options.project.resolve() / "reports" / options.paper / "report.html"
    check = PICTURES.parent / "check.html"
    repro = [sys.executable, "-m", "repro_pipeline.cli"]
    subprocess.run(
        [*repro, "paper", "check", options.paper, "--out", check], cwd=options.project, check=True
    )
    PICTURES.mkdir(exist_ok=True)
    try:
        with sync_playwright() as playwright, chromium(playwright) as browser:
            of_report(browser, report)
            window(browser, check.as_uri(), "check", height=1150)
            window(
                browser, (report.parents[1] / "scoreboard.html").as_uri(), "scoreboard", height=520
            )
            if options.ui:
                of_graph(browser, options.project)
    finally:
        check.unlink(missing_ok=True)
    for file in sorted(PICTURES.glob("*.png")):
        print(f"{file.name:24} {file.stat().st_size / 1000:6.0f} kB")


@contextmanager
def chromium(playwright) -> Iterator[Browser]:
    """The system's Chromium, without a window."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
    yield browser
    browser.close()


def window(
    browser: Browser, address: str, name: str, *, width: int = WIDTH, height: int = 800
) -> None:
    """What a window of this size shows first."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(address)
    keep(page.screenshot(), name)
    page.close()


def of_report(browser: Browser, report: Path) -> None:
    """Its first screen on a desk and on a telephone, and its sections one by one."""
    window(browser, report.as_uri(), "report")
    window(browser, report.as_uri(), "report-narrow", width=400, height=760)
    page = browser.new_page(viewport={"width": WIDTH, "height": 800})
    page.goto(report.as_uri())
    page.add_style_tag(content=".contents { visibility: hidden }")  # it would float over the parts
    for name, part in PARTS.items():
        section = page.locator(part).first
        section.evaluate("part => { part.open = true }")  # where it can be opened
        box = section.bounding_box()
        top = box["y"] + page.evaluate("window.scrollY")
        keep(
            page.screenshot(
                full_page=True, clip={**box, "y": top, "height": min(box["height"], 820)}
            ),
            name,
        )
    page.close()


PARTS = {"claim": "#claims > details", "tables": "#tables", "sensitivity": "#sensitivity"}
"""Picture → the part of the report."""


def of_graph(browser: Browser, project: Path) -> None:
    """Dagster's graph of the assets."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "repro_pipeline.cli", "ui", "--port", str(port)],
        cwd=project,
        start_new_session=True,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(address)
        page = browser.new_page(viewport={"width": 1500, "height": 900})
        page.goto(f"{address}/asset-groups")
        page.wait_for_timeout(15_000)  # the layout is computed in the page
        keep(page.screenshot(), "graph")
    finally:
        os.killpg(server.pid, signal.SIGINT)
        server.wait(30)


def _wait_for(address: str) -> None:
    while True:
        try:
            urllib.request.urlopen(f"{address}/server_info", timeout=5)
            return
        except OSError:
            time.sleep(1)


def keep(png: bytes, name: str) -> None:
    """Write it with a palette: a page of text needs few colours."""
    picture = Image.open(BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(PICTURES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
