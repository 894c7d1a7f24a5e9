"""A real browser for the tests of pages: Debian's Chromium, driven by Playwright; nothing leaves the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

from tests.browser.reports import reports  # noqa: F401 - a fixture
from tests.conftest import missing, need_tool

MERMAID = "11.12.0"
# Opens a file in a page of its own.
Opener = Callable[[Path], Page]
SIZE: ViewportSize = {"width": 1280, "height": 900}


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Give a headless Chromium."""
    program = need_tool("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"],
        )
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Browser) -> Iterator[Opener]:
    """Give what opens a file; afterwards the page must have logged no error and asked for nothing but itself."""
    wrong: list[str] = []
    contexts: list[BrowserContext] = []

    def open_file(path: Path) -> Page:
        context = chromium.new_context(viewport=SIZE, reduced_motion="reduce", offline=True)
        contexts.append(context)
        page = context.new_page()
        address = path.resolve().as_uri()
        page.on("console", lambda told: wrong.append(f"console: {told.text}") if told.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on(
            "request",
            lambda asked: (
                None if asked.url.split("#")[0] == address or asked.url.startswith("data:") else wrong.append(asked.url)
            ),
        )
        page.goto(address)
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture(scope="session")
def mermaid() -> str:
    """Return Mermaid's own code, as its package has it; kept in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ailb-gen" / "tests"
    kept = cache / f"mermaid-{MERMAID}.min.js"
    if not kept.exists():
        if shutil.which("npm") is None:
            missing("npm is not installed, which fetches Mermaid")
        cache.mkdir(parents=True, exist_ok=True)
        packing = ["npm", "pack", "--silent", f"mermaid@{MERMAID}", "--pack-destination", str(cache)]
        done = subprocess.run(packing, capture_output=True, text=True, check=False)
        if done.returncode:
            missing(f"npm cannot fetch Mermaid: {done.stderr.strip()[-300:]}")
        with tarfile.open(cache / f"mermaid-{MERMAID}.tgz") as archive:
            found = archive.extractfile("package/dist/mermaid.min.js")
            assert found is not None
            kept.write_bytes(found.read())
    return kept.read_text("utf-8")
