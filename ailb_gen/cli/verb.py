"""Commands and groups of commands: the options that all have, the project file, and help in sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from ailb_gen.cli.console import say_verbose
from ailb_gen.cli.project import FILE, Command, Context, Defaults, Parameter, completed, hint, key_of, source_of
from ailb_gen.cli.visible import Color, output

# What gives an option its value; what stands later wins.
SOURCES = ("DEFAULT", "DEFAULT_MAP", "ENVIRONMENT", "COMMANDLINE")
# A port behind its device, which has slashes as a file has: `stripe1-leaf1:et-0/0/1:0`.
PORT = re.compile(r"[ :][a-z]{2,3}-[\d*?\[]")


def _note(ctx: typer.Context, param: typer.CallbackParam, value: object) -> object:
    """Keep an option of the output; behind a verb it wins over the same before the verb."""
    name = str(param.name)
    own, before = (SOURCES.index(source_of(one, name)) for one in (ctx, ctx.find_root()))
    if own >= before:
        setattr(output, name, value)
        if name == "color":
            output.color_given = own > SOURCES.index("DEFAULT_MAP")
    return value


QUIET = Annotated[
    bool,
    typer.Option("-q", "--quiet", help="Print results and errors only: no progress, no warnings.", callback=_note),
]
VERBOSE = Annotated[
    bool,
    typer.Option("-v", "--verbose", help="Also print the project file, and how long each step took.", callback=_note),
]
COLOR = Annotated[
    Color,
    typer.Option("--color", help="When to use colors; auto: on a terminal.", envvar="AILB_COLOR", callback=_note),
]


@cache
def common() -> list[Parameter]:
    """Return the options that every command has; their values are kept in `output`."""
    app = typer.Typer(add_completion=False)

    @app.command()
    def options(quiet: QUIET = False, verbose: VERBOSE = False, color: COLOR = "auto") -> None:
        """Hold the options."""

    params = typer.main.get_command(app).params
    for param in params:
        param.expose_value = False
    return list(params)


class _AsTyped:
    """Converts nothing."""

    def coerce(self, value: object, **_: object) -> object:
        return value


@contextmanager
def _unconverted(ctx: Any) -> Iterator[None]:  # noqa: ANN401 - which module has it depends on Typer
    """Keep what is typed as text during completion: converters of Typer import pydantic, which costs 0.1 s."""
    params = ctx.command.get_params(ctx) if ctx.resilient_parsing else []
    for param in params:
        param.get_runtime_param = _AsTyped
    try:
        yield
    finally:
        for param in params:
            del param.get_runtime_param


class Verb(TyperCommand):
    """A command: its omitted arguments come from the project file, and its own module may change how it is parsed."""

    def __init__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401 - as in Typer
        super().__init__(*args, **more)
        params: list[Any] = self.params
        for param in params:
            param.get_help_record = partial(_help_record, param, param.get_help_record)
        # What a command passes on to another program is not its own.
        if not self.context_settings.get("ignore_unknown_options"):
            self.params = [*self.params, *common()]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Return the arguments of the usage line; those that a project file can give are in brackets."""
        omitted = {f"{{{param.metavar}}}" for param in self.params if key_of(param)}
        pieces = super().collect_usage_pieces(ctx)
        return [f"[{one[1:-1]}]" if one in omitted else one.replace("{", "").replace("}", "") for one in pieces]

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse the arguments after `words`; an error is seen by `refused` first."""
        ctx.default_map = Defaults(ctx)
        try:
            # A copy: what is parsed is taken out of the list.
            words = self.words(list(args))
            with _unconverted(ctx):
                rest = super().parse_args(ctx, [*self._omitted(ctx, words), *words])
            if output.verbose and ctx.default_map.project is not None:
                say_verbose(f"project file: {ctx.default_map.project.file}")
            return rest
        except Exception as error:
            param = getattr(error, "param", None)
            if isinstance(error, typer.BadParameter):
                # Pydantic, by which Typer converts values, puts this before the reason.
                error.message = error.message.removeprefix("Value error, ")
                if param is not None and not error.message:
                    error.message = hint(param)
            self.refused(args, error)
            raise

    def words(self, args: list[str]) -> list[str]:
        """Return what is parsed in place of the arguments."""
        return args

    def refused(self, args: list[str], error: Exception) -> None:
        """Change the error that parsing raised."""

    def _omitted(self, ctx: Context, args: list[str]) -> list[str]:
        """Return the values of the first arguments, where those that were given are the last ones.

        That is so inside a project where too few are given for all, and the first is no file: `explain spine1`. While
        a command line is being typed, none may be given yet.
        """
        arguments = [param for param in self.params if param.param_type_name == "argument"]
        first = [*takewhile(key_of, arguments)]
        last = arguments[len(first) :]
        if not first or not last:
            return []
        parsed, _, _ = self.make_parser(ctx).parse_args(list(args))
        given = [str(parsed[param.name]) for param in arguments if parsed.get(param.name) is not None]
        several = any(param.nargs < 0 for param in last)
        if (
            (len(given) > len(last) and not several)
            or not (given or ctx.resilient_parsing)
            or any(map(looks_like_file, given[:1]))
        ):
            return []
        values: list[Any] = (
            [completed(ctx, str(key_of(param))) for param in first]
            if ctx.resilient_parsing
            else [param.value_from_envvar(ctx) or ctx.default_map.get(param.name) for param in first]
        )
        return [str(value) for value in values] if all(values) else []


def _help_record(param: Any, record: Callable[[Any], tuple[str, str] | None], ctx: Any) -> tuple[str, str] | None:  # noqa: ANN401
    """Return name and help of a parameter; a required one may be in a project file."""
    name, text = record(ctx) or ("", "")
    if key_of(param):
        text = re.sub(r"required\]$", f"required unless {FILE} has it]", text)
    return (name.replace(" range>", ">"), text) if name else None


def looks_like_file(word: str) -> bool:
    """Return whether a word is a file, there or not, rather than the name of a device or run."""
    slash = "/" in word and PORT.search(word) is None
    return slash or word.endswith((".yaml", ".yml")) or Path(word).is_file()


class Commands(Mapping[str, Any]):
    """The commands of all sections by name; a module is imported when one of its commands is first used.

    `sections` and `parsed`: where a command, or the class that parses it, is: `module.name`. A Typer is a group.
    """

    def __init__(self, sections: Mapping[str, Mapping[str, str]], parsed: Mapping[str, str]) -> None:
        self._places = {name: (section, place) for section, rows in sections.items() for name, place in rows.items()}
        self._parsed = parsed
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - which module has it depends on Typer
        if name not in self._built:
            section, place = self._places[name]
            verb = _imported(place)
            if isinstance(verb, typer.Typer):
                # As of the program, which would hand it down to a group that it was built with.
                verb.rich_markup_mode = None
                command: Any = typer.main.get_group(verb)
            else:
                app = typer.Typer(add_completion=False, rich_markup_mode=None)
                app.command(name, cls=_imported(self._parsed[name]) if name in self._parsed else Verb)(verb)
                command = typer.main.get_command(app)
            command.rich_help_panel = section
            self._built[name] = command
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _imported(place: str) -> Any:  # noqa: ANN401
    module, _, name = place.partition(".")
    return getattr(import_module(f"ailb_gen.cli.{module}"), name)


class Verbs(TyperGroup):
    """A group of commands that `--help` lists by section."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse what stands before the command."""
        with _unconverted(ctx):
            return super().parse_args(ctx, args)

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the names of the commands; none is imported for it."""
        return list(self.commands)

    def format_commands(self, ctx: Context, formatter: Any) -> None:  # noqa: ANN401 - as in Typer
        """Write the commands in the order of their sections."""
        sections: dict[str, list[tuple[str, Command]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                sections.setdefault(str(getattr(command, "rich_help_panel", None) or "Commands"), []).append(
                    (name, command)
                )
        widest = max(len(name) for rows in sections.values() for name, _ in rows)
        for title, rows in sections.items():
            with formatter.section(title):
                room = formatter.width - 6 - widest
                formatter.write_dl([(name.ljust(widest), one.get_short_help_str(room)) for name, one in rows])


def verbs_of(command: Command, name: str = "") -> Iterator[tuple[str, Command]]:
    """Yield every command that is not a group, with its words: `lab up`."""
    below = getattr(command, "commands", None)
    if below is None:
        yield name, command
    for word, one in (below or {}).items():
        yield from verbs_of(one, f"{name} {word}".strip())
