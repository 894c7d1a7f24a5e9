"""Write man pages from the app: ailb-gen(1), and one for every command.

Usage: python docs/site/man.py DIRECTORY
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from ailb_gen.cli import app
from ailb_gen.errors import EXIT_CODES
from ailb_gen.version import __version__

NAME = "ailb-gen"


def main() -> None:
    """Write every page into the directory that the command line names."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (folder / f"{name}.1").write_text(text, encoding="utf-8")


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name of every page, and its text in the macros of man(7)."""
    yield from _pages(NAME, typer.main.get_command(app))


def _pages(name: str, command: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - it has no public type
    yield name.replace(" ", "-"), "\n".join(_page(name, command)) + "\n"
    for word, below in getattr(command, "commands", {}).items():
        yield from _pages(f"{name} {word}", below)


def _page(name: str, command: Any) -> Iterator[str]:  # noqa: ANN401
    context = command.context_class(command, info_name=name)
    page = name.replace(" ", "-")
    first, _, rest = str(command.help or "").partition("\n")
    yield f'.TH "{page.upper()}" "1" "" "{NAME} {__version__}" "User commands"'
    yield from (".SH NAME", f"{roff(page)} \\- {roff(first.rstrip('.'))}")
    yield from (".SH SYNOPSIS", f".B {roff(name)}", roff(" ".join(command.collect_usage_pieces(context))))
    yield from (".SH DESCRIPTION", roff(first))
    yield from _paragraphs(rest)
    yield from _parameters(command, context)
    for word, below in getattr(command, "commands", {}).items():
        if word == next(iter(command.commands)):
            yield ".SH COMMANDS"
        yield from (".TP", f".B {roff(f'{page}-{word}(1)')}", roff(below.get_short_help_str(200)))
    if name == NAME:
        yield ".SH EXIT STATUS"
        for code, text in EXIT_CODES.items():
            yield from (".TP", f".B {int(code)}", roff(text.replace("`", "")))
    else:
        yield from (".SH SEE ALSO", f".BR {NAME} (1)")


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.replace("\f", "").strip().split("\n\n"):
        if paragraph.strip():
            yield from (".PP", roff(" ".join(paragraph.split())))


def _parameters(command: Any, context: Any) -> Iterator[str]:  # noqa: ANN401
    for kind, title in (("argument", "ARGUMENTS"), ("option", "OPTIONS")):
        records = [one.get_help_record(context) for one in command.get_params(context) if one.param_type_name == kind]
        found = [record for record in records if record]
        yield from (f".SH {title}",) if found else ()
        for record in found:
            yield from (".TP", f".B {roff(record[0])}", roff(" ".join(record[1].split())))


def roff(text: str) -> str:
    """Return text as roff reads it: no line of it is a request, and hyphens are those that are typed."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    main()
