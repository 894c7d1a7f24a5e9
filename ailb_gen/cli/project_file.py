"""Reading a project file: TOML, checked key by key."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from ailb_gen.api.connect import Driver
from ailb_gen.api.generate import Format
from ailb_gen.api.inputs import EXECUTORS, is_executor
from ailb_gen.api.validate import FailOn
from ailb_gen.errors import Place
from ailb_gen.textio import read_text, text_problem
from ailb_gen.validation import Int, Model, validated, wrong
from ailb_gen.yamlio import Source

# As tomllib ends its messages.
POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
SYNTAX = 'write KEY = "TEXT", each key once, and \\ twice or / instead'
KEY = re.compile(r'^\s*["\']?([\w-]+)["\']?\s*=', re.MULTILINE)
HEADER = re.compile(r"^\s*\[([^\]]*)\]", re.MULTILINE)


def _report(text: str) -> str:
    kind, equals, file = text.partition("=")
    if not (kind and equals and file):
        raise wrong("wrong-value", f"{text!r}: write FORMAT=FILE, such as 'html=build/{{verb}}.html'")
    if set("{}") & set(file.replace("{verb}", "")):
        raise wrong("wrong-value", f"{text!r}: only {{verb}} can stand in braces")
    return text


def _executor(text: str) -> str:
    if not is_executor(text):
        raise wrong("wrong-value", f"must be {EXECUTORS}, not {text!r}")
    return text


Text = Annotated[str, Field(min_length=1)]
Report = Annotated[str, AfterValidator(_report)]


class ProjectFile(Model):
    """The keys of a project file; `options.py` says what each means."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"))

    fabric: Text | None = None
    artifacts: Text | None = None
    inventory: Text | None = None
    inventory_url: Text | None = None
    state: Text | None = None
    driver: Driver | None = None
    templates: Text | None = None
    format: Format | None = None
    yang: Text | None = None
    batfish: Text | None = None
    waivers: Text | None = None
    fail_on: FailOn | None = None
    reports: tuple[Report, ...] | None = None
    executor: Annotated[str, AfterValidator(_executor)] | None = None
    workers: Annotated[Int, Field(ge=1, le=512)] | None = None
    no_cache: bool | None = None
    color: Literal["auto", "always", "never"] | None = None


PATHS = ("fabric", "artifacts", "inventory", "state", "templates", "yang", "waivers")


def read_project(file: Path, table: Sequence[str] = ()) -> dict[str, Any]:
    """Return the values of a project file by key: of a table of it, or of all of it; paths lead from here.

    Raises IntentError with everything that is wrong.
    """
    name = os.path.relpath(file)
    source = _source(read_text(file, name), name, table)
    found = validated(ProjectFile, source).model_dump(by_alias=True, exclude_none=True)
    for key in PATHS:
        if key in found:
            found[key] = placed(file.parent, found[key])
    if "reports" in found:
        pairs = (word.partition("=") for word in found["reports"])
        found["reports"] = [f"{kind}={placed(file.parent, path)}" for kind, _, path in pairs]
    return found


def placed(folder: Path, text: str) -> str:
    """Return a path of a file in a folder as it leads from the working directory; absolute ones and `~` stay."""
    text = os.path.expanduser(text)  # noqa: PTH111 - leaves `~somebody` as it is where nobody has that name
    return text if Path(text).is_absolute() else os.path.relpath(folder / text)


def _source(text: str, name: str, table: Sequence[str]) -> Source:
    """Return the data of a table with the line of every key. Raises IntentError."""
    try:
        data: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = POSITION.search(str(error))
        line, column = (
            (int(at[1]), int(at[2])) if at and at[1] else (text.count("\n") + 1, len(text) - text.rfind("\n"))
        )
        reason = f"not valid TOML: {POSITION.sub('', str(error))}"
        raise text_problem(name, "toml-syntax", reason, line, column, SYNTAX) from error
    # Without a header of its own, a table may be anywhere.
    start, end = (text.find(table[-1]),) * 2 if table else (0, len(text))
    for step in table:
        data = data[step]
    if not table and not data.keys().isdisjoint(("tool", "ailb")):
        raise text_problem(name, "unknown-key", "this file has no tables", hint="delete the line with the brackets")
    for header in HEADER.finditer(text) if table else ():
        if re.sub(r"[\s\"']", "", header[1]) == ".".join(table):
            start, following = header.end(), HEADER.search(text, header.end())
            end = following.start() if following is not None else len(text)
    places: dict[tuple[str | int, ...], Place] = {
        (found[1],): _place(name, text, found.start(1)) for found in KEY.finditer(text, start, end)
    }
    return Source(name, data, {(): _place(name, text, start), **places})


def _place(name: str, text: str, at: int) -> Place:
    return Place(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
