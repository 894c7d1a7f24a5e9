"""The built site: its links lead somewhere, it asks no other host, it opens from files and from a web server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.judging import violations
from tests.conftest import ROOT

# What a page loads by itself, as opposed to where its links lead.
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "object": "data"}
MAIN = ["index", "start", "tutorial", "concepts/colors", "troubleshooting/routes-hidden", "reference/keys"]
Opener = Callable[[str], Page]

pytestmark = pytest.mark.long


class _Parsed(HTMLParser):
    """What a page names: anchors, links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := found.get(name))}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"] or "")
        if (value := found.get(LOADED.get(tag, ""))) and found.get("rel") != "canonical":
            self.loaded.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the site as `make docs` builds it: strictly."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Parsed]:
    """Give every page; 404.html aside, which a web server shows for any address."""
    return {path: _Parsed(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if path.name != "404.html"}


@pytest.fixture
def visited(site: Path, chromium: Browser) -> Iterator[Opener]:
    """Give what opens a page by its address; it may load what is below that of the site, and must log no error."""
    wrong: list[str] = []
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    homes = (site.as_uri(), "http://127.0.0.1", "data:", "blob:", "about:")
    page.on("request", lambda one: None if one.url.startswith(homes) else wrong.append(one.url))

    def open_page(address: str) -> Page:
        page.goto(address)
        expect(page.locator("h1")).to_have_count(1)
        return page

    yield open_page
    context.close()
    assert wrong == []


def test_links_and_anchors_lead_somewhere(site: Path, pages: dict[Path, _Parsed]) -> None:
    lost = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            file, anchor = urldefrag(link)
            target = (path.parent / unquote(file)).resolve() if file else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (target in pages and anchor and unquote(anchor) not in pages[target].anchors):
                lost.append(f"{path.relative_to(site)}: {link}")
    assert lost == []


def test_no_page_loads_anything_from_another_host(pages: dict[Path, _Parsed]) -> None:
    assert [link for page in pages.values() for link in page.loaded if urlsplit(link).netloc] == []


def test_pages_are_accessible(site: Path, visited: Opener) -> None:
    found = {name: violations(visited((site / f"{name}.html").as_uri())) for name in MAIN}
    assert {name: rules for name, rules in found.items() if rules} == {}


def _search(page: Page) -> None:
    # The page listens to keys: a value that is set is only seen if it is there a millisecond after the focus.
    page.get_by_role("textbox", name="Search").press_sequentially("hidden routes")
    first = page.locator(".md-search-result__item").first
    expect(first).to_contain_text("Routes are hidden", timeout=180000)
    first.get_by_role("link").first.click()
    expect(page.locator("h1")).to_contain_text("Routes are hidden")
    # What still loads would fail with the server that ends.
    page.wait_for_load_state("networkidle")


def test_search_works_from_a_file_system(site: Path, visited: Opener) -> None:
    _search(visited((site / "index.html").as_uri()))


def test_search_works_from_a_web_server(site: Path, visited: Opener) -> None:
    class Server(ThreadingHTTPServer):
        # A browser opens more connections at once than the five that wait by default.
        request_queue_size = 64

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with Server(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        _search(visited(f"http://127.0.0.1:{server.server_port}/"))
        server.shutdown()


def test_copying_a_block_gives_its_commands(site: Path, visited: Opener) -> None:
    page = visited((site / "start.html").as_uri())
    block = page.locator(".highlight code").filter(has_text="pip install --quiet .")
    copied = block.evaluate(
        "block => { block.setAttribute('data-md-copying', ''); const text = block.innerText; "
        "block.removeAttribute('data-md-copying'); return text }"
    )
    commands = ["python3 -m venv .venv", ". .venv/bin/activate", "pip install --quiet .", "ailb-gen --version"]
    assert copied.split("\n")[:4] == commands
    assert copied.strip() == "\n".join(commands)
