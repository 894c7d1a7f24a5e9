"""The project file, `ailb.toml` or `[tool.ailb]` of pyproject.toml: values for arguments that a command line omits.

An argument or option with an environment variable `AILB_KEY` takes its value from the command line, else from that
variable, else from `key` in the project file, else it has its default. So `options.py` is the only table of keys.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ailb_gen.errors import AilbError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import typer

FILE, SHARED_FILE = "ailb.toml", "pyproject.toml"
TABLE = ("tool", "ailb")
PREFIX = "AILB_"
# In the names of reports: the verb that writes them.
VERB = "{verb}"
# Of options that take HTML reports only.
PAGE = "html=FILE"
# Typer has no public types for its commands, their parameters, and the contexts of all commands.
Command: TypeAlias = Any
Parameter: TypeAlias = Any
Context: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Project:
    """A project file, and its values by key; paths lead from the working directory."""

    file: Path
    values: Mapping[str, Any] = field(default_factory=dict)


def find_file(start: Path) -> Path | None:
    """Return the project file that holds for a directory: of the nearest directory above that has one.

    The search ends with the directory that has a `.git`, and at the root of the file system.
    """
    for folder in (start, *start.parents):
        # A dangling link counts, too: reading it is an error.
        if os.path.lexists(folder / FILE):
            return folder / FILE
        if (folder / SHARED_FILE).is_file() and _has_table((folder / SHARED_FILE).read_bytes()):
            return folder / SHARED_FILE
        if (folder / ".git").exists():
            break
    return None


def _has_table(data: bytes) -> bool:
    """Return whether a pyproject.toml has our table; broken TOML that names it counts, so that its error is told."""
    if b"ailb" not in data:
        return False
    import tomllib

    try:
        tools = tomllib.loads(data.decode("utf-8-sig")).get(TABLE[0])
    except ValueError:
        return b"tool.ailb" in data.replace(b" ", b"")
    return isinstance(tools, dict) and TABLE[1] in tools


def project() -> Project | None:
    """Return the project of the working directory, if there is one.

    Raises IntentError for a file with errors, UsageError for one above that belongs to somebody else: its inventory
    may name commands that run.
    """
    here = Path.cwd()
    file = find_file(here)
    if file is None:
        return None
    if file.parent != here and file.lstat().st_uid not in (0, os.geteuid(), here.stat().st_uid):
        reason = "this project file above the working directory belongs to another user, so it is not used"
        raise UsageError(f"{file}: {reason}; work in its directory, or write an {FILE} here")
    from ailb_gen.cli.project_file import read_project

    return Project(Path(os.path.relpath(file)), read_project(file, () if file.name == FILE else TABLE))


def key_of(param: Parameter) -> str | None:
    """Return the key of the project file that a parameter takes its value from, or None."""
    name = param.envvar
    return name.removeprefix(PREFIX).lower().replace("_", "-") if name and name.startswith(PREFIX) else None


class Defaults(dict[str, Any]):
    """The `default_map` of a command: what the project file gives, by the name of a parameter."""

    def __init__(self, ctx: typer.Context) -> None:
        super().__init__()
        self.ctx = ctx
        self.params = {param.name: param for param in ctx.command.params}

    @cached_property
    def project(self) -> Project | None:
        """The project, read when a value is first asked for: `--help` does without."""
        return project()

    def get(self, name: str, default: object = None) -> object:
        """Return the value of a parameter from the project file; nothing for help and completion."""
        param: Parameter = self.params.get(name)
        key = key_of(param) if param is not None else None
        if key is None or self.ctx.resilient_parsing or self.project is None:
            return default
        found = self.project.values.get(key, default)
        return _reports(found, str(self.ctx.info_name), param.metavar == PAGE) if key == "reports" and found else found


def _reports(words: Sequence[str], verb: str, pages: bool) -> list[str]:
    """Return the reports of a verb; `pages`: it makes HTML reports only."""
    return [word.replace(VERB, verb) for word in words if not pages or word.startswith("html=")]


def source_of(ctx: Context, name: str) -> str:
    """Return what gave a parameter its value: COMMANDLINE, ENVIRONMENT, DEFAULT_MAP (the project file) or DEFAULT."""
    return str(getattr(ctx.get_parameter_source(name), "name", ""))


def completed(ctx: typer.Context, key: str) -> str | None:
    """Return what the environment, or else the project file, has for a key while a command line is being typed."""
    if found := os.environ.get(f"{PREFIX}{key.upper().replace('-', '_')}"):
        return found
    try:
        given = ctx.default_map.project if isinstance(ctx.default_map, Defaults) else None
    except (AilbError, OSError):
        # A shell shows no errors while somebody types; the command itself will.
        return None
    value = given.values.get(key) if given is not None else None
    return str(value) if value is not None else None


def all_keys(command: Command) -> Iterator[tuple[str, Parameter]]:
    """Yield every key with a parameter that takes it, of a command and those below it."""
    for param in command.params:
        if (key := key_of(param)) is not None:
            yield key, param
    for below in getattr(command, "commands", {}).values():
        yield from all_keys(below)


def hint(param: Parameter) -> str:
    """Return what else can give a missing argument, or nothing."""
    key = key_of(param)
    if key is None:
        return ""
    file = find_file(Path.cwd())
    if file is not None:
        return f"{os.path.relpath(file)} has no key '{key}'."
    return f"An {FILE} can give it: ailb-gen config"
