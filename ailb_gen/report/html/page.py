"""The page of every HTML report: sections, their scripts and styles, all inside one file.

A section named `findings` is drawn by `templates/report/findings.html.j2`, and may have `findings.js` and
`findings.css` beside it. The page works without a network: its Content-Security-Policy allows nothing but the scripts
and styles inside, by their hashes, so that text from a configuration never runs.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Generic, Literal, TypeVar

import jinja2
from markupsafe import Markup

from ailb_gen.report.html.markup import ends, inline
from ailb_gen.report.text import where
from ailb_gen.shipped import shipped_templates
from ailb_gen.version import __version__
from ailb_gen.wording import clean

FOLDER = "report"
# The template of every page, and the scripts and styles of every page in this order; those of the sections follow.
BASE = "page"
SHARED = (BASE, "panel")
# Compressed once; `ailb.data` in page.js reads it back.
LEVEL = 6

T = TypeVar("T", bound=Hashable)
Status = Literal["pass", "warn", "fail", "info"]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    `name` is that of its template, and its anchor. `values` are given to the template; `data` is what its script reads
    by `ailb.data(name)`, anything that JSON has, None for nothing. `uses` are other parts whose scripts and styles it
    needs, such as `charts`, `css` further rules that are not in a file. `parts` is data that is read by itself, when it
    is needed: `ailb.data("NAME-KEY")`.
    """

    name: str
    title: str
    values: Mapping[str, object] = field(default_factory=dict)
    data: object = None
    uses: tuple[str, ...] = ()
    css: str = ""
    parts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Packed:
    """Data that is packed already: what `packed` has returned."""

    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A report: what it is about, the verdict in a line, and its sections in order."""

    title: str
    status: Status
    verdict: str
    facts: tuple[tuple[str, str], ...] = ()
    sections: tuple[Section, ...] = ()


def html(page: Page) -> str:
    """Return the page as HTML."""
    environment = _environment()
    names = [*SHARED, *dict.fromkeys(name for section in page.sections for name in (*section.uses, section.name))]
    rules = dict.fromkeys(section.css for section in page.sections if section.css)
    scripts, styles = list(_files(names, "js")), [*_files(names, "css"), *rules]
    texts = [environment.get_template(f"{section.name}.html.j2").render(section.values) for section in page.sections]
    # Markup as it stands: rendered with every value escaped, or the program's own files.
    return environment.get_template(f"{BASE}.html.j2").render(
        page=page,
        bodies=list(zip(page.sections, map(Markup, texts), strict=True)),
        scripts=list(map(Markup, scripts)),
        styles=list(map(Markup, styles)),
        data=list(_data(page.sections)),
        policy=_policy(scripts, styles),
        version=__version__,
    )


def _data(sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    for section in sections:
        if section.data is not None:
            yield section.name, packed(section.data)
        for key, part in section.parts.items():
            yield f"{section.name}-{key}", part.text if isinstance(part, Packed) else packed(part)


def packed(data: object) -> str:
    """Return JSON compressed and in base64; the same data has the same text."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return base64.b64encode(gzip.compress(text.encode(), LEVEL, mtime=0)).decode()


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(shipped_templates() / FOLDER)),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"inline": inline, "clean": clean, "ends": ends, "where": where}
    return environment


def _files(names: list[str], suffix: str) -> Iterator[str]:
    """Give the scripts or the styles of some parts, where they have one."""
    for name in names:
        path: Path = shipped_templates() / FOLDER / f"{name}.{suffix}"
        if path.is_file():
            yield path.read_text("utf-8")


def _policy(scripts: list[str], styles: list[str]) -> str:
    """Return the Content-Security-Policy (W3C CSP Level 3): only what is inside, by its hash."""
    allowed = {"script-src": _hashes(scripts), "style-src": _hashes(styles)}
    fixed = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
    return "; ".join([fixed, *(f"{what} {hashes}" for what, hashes in allowed.items())])


def _hashes(texts: list[str]) -> str:
    digests = (base64.b64encode(sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"


class Numbered(Generic[T]):
    """Values, each with its number in the order of their first use: so the data of sections stays small."""

    __slots__ = ("values",)

    def __init__(self, values: Iterable[T] = ()) -> None:
        self.values: dict[T, int] = {}
        for value in values:
            self(value)

    def __call__(self, value: T) -> int:
        """Return the number of a value, a new one for a new value."""
        return self.values.setdefault(value, len(self.values))
