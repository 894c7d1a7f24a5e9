"""MkDocs hooks: the examples, which are outside docs/, become part of the site."""

from __future__ import annotations

import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FOLDERS = ("examples", "inventory")
SHOWN = {".md", ".yaml", ".yml", ".csv", ".py", ".sh"}
LINK = re.compile(r"\]\(([^)\s#:]+)(#[^)\s]*)?\)")
PICTURE = re.compile(r'<img [^>]*src="([^"]+\.svg)"[^>]*>')
CELL = re.compile(r"<td[^>]*>.*?</td>", re.S)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the examples and the inventory, at the paths that they have in the repository."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in SHOWN:
                files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Return the text of a page with links that lead to the same file on the site as in the repository."""
    place = page.file.src_uri
    folder = ((ROOT if place.startswith(FOLDERS) else DOCS) / place).parent

    def on_site(link: re.Match[str]) -> str:
        target = (folder / link[1]).resolve()
        if target.is_dir():
            target /= "README.md"
        base = DOCS if target.is_relative_to(DOCS) else ROOT
        if not target.is_relative_to(base):
            return link[0]
        path = os.path.relpath(target.relative_to(base), Path(place).parent)
        return f"]({Path(path).as_posix()}{link[2] or ''})"

    return LINK.sub(on_site, markdown)


def on_page_content(html: str, **_: object) -> str:
    """Return a page whose pictures lead to themselves and scroll, and whose tables have no backslash before a bar.

    GitHub takes the backslash away, Markdown's own tables do not.
    """
    html = CELL.sub(lambda cell: cell[0].replace("\\|", "|"), html)
    return PICTURE.sub(r'<a class="picture" href="\1">\g<0></a>', html)


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Return a page whose search dialog has a name; the theme gives it none."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
