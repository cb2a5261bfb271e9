"""The documentation's site: built strictly, whole, and without a request to anywhere else."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from repro_pipeline.schemas import FILES

pytest.importorskip("mkdocs", reason="mkdocs is not installed (extra `dev`)")

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
ELSEWHERE = re.compile(r"^(?:https?:)?//")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site; links and anchors that lead nowhere fail the build."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


class Loads(HTMLParser):
    """The addresses that a browser fetches by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs) -> None:
        named = dict(attrs)
        if tag == "link" and named.get("rel") in {"canonical", "next", "prev"}:
            return
        address = named.get(LOADED.get(tag, ""))
        if address:
            self.found.append(address)


def test_nothing_is_loaded_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    for page in pages:
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        assert loads.found and not [a for a in loads.found if ELSEWHERE.match(a)], page
        for address in loads.found:
            file = address.partition("?")[0]
            root = site if file.startswith("/") else page.parent
            assert (root / file.lstrip("/")).exists(), f"{page}: {address}"
        text = page.read_text(encoding="utf-8")
        assert 'class="mermaid"' not in text, f"{page}: mermaid's script comes from elsewhere"
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"""(?:@import|url\()\s*["']?(?:https?:)?//""", text), style


def test_the_reference_is_of_the_program_as_it_is(site):
    commands = (site / "reference/commands.html").read_text(encoding="utf-8")
    for command in ("repro run", "repro paper correct", "repro ledger export", "repro sandbox run"):
        assert f">{command}<" in commands, command
    assert "--unsafe-local" in commands
    assert "<p>Nothing of it is believed: its code is run" in commands  # text, and no code
    schemas = (site / "reference/schemas.html").read_text(encoding="utf-8")
    assert all(f'id="{name.replace(".", "")}"' in schemas for name in FILES)
    assert "Exactly one of <code>path</code>" in schemas
    assert 'href="#taskyaml-taskclaim"' in schemas and 'id="taskyaml-taskclaim"' in schemas
    python = (site / "reference/python.html").read_text(encoding="utf-8")
    for name in ("repro_pipeline.api.open_project", "repro_pipeline.scoring.model.ClaimVerdict"):
        assert f'id="{name}"' in python, name


def test_every_page_can_be_found_by_the_navigation():
    def pages(entry):
        if isinstance(entry, str):
            yield entry
        for part in entry if isinstance(entry, list) else []:
            yield from pages(part)
        for part in entry.values() if isinstance(entry, dict) else []:
            yield from pages(part)

    nav = set(pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    there = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert there <= nav, f"add to `nav` of mkdocs.yml: {', '.join(sorted(there - nav))}"


def test_the_readme_leads_to_pages_that_are_there():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"]\(([^)#]+)(?:#[^)]*)?\)", readme):
        assert ELSEWHERE.match(target) or (ROOT / target).exists(), target


def test_the_pictures_are_small():
    sizes = [file.stat().st_size for file in (DOCS / "pictures").iterdir()]
    assert sum(sizes) < 1_500_000
