"""`ailb-gen init` and `ailb-gen schema`: a commented fabric file to start from, and the keys of files."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.example import SCHEMA_FILE, write_example
from ailb_gen.cli.options import FORCE, YES
from ailb_gen.cli.project import FILE, find_file
from ailb_gen.cli.reports import check_place
from ailb_gen.errors import ExitCode, IntentError, OutputError, Place, UsageError
from ailb_gen.paths import real

if TYPE_CHECKING:
    from ailb_gen.design.ports import Ports

T = TypeVar("T", int, str)
SPEED_GBPS, FIRST_HOST_PORT = 400, 16

TEXT = """\
# yaml-language-server: $schema=fabric.schema.json
# A GPU backend fabric. With the line above, an editor completes every key.
name: {name}
platform: {platform}  # or {{leaf: ..., spine: ...}}
stripes: {stripes}
rails: {rails}  # leaves per stripe, and GPU NICs per server
spines: {spines}
links_per_spine: {links}
# One color per uplink by default; fewer must divide the {uplinks} uplinks of a leaf evenly.
colors: {colors}
servers: {{count: {servers}, name: {pattern}}}  # per stripe
uplinks: {{speed: 400g, packing: {up}}}
downlinks: {{packing: {down}}}
host_ports: {{speed: 400g, first_port: {first_port}}}
addressing: {{pool: {pool}{layout}}}
# asn: {{leaves: 4200100001-4200199999, spines: 4200000001-4200000999}}
# management: {{gateway: 192.0.2.254, leaves: 192.0.2.11/24, spines: 192.0.2.1/24, servers: 192.0.2.101/24}}
# server_kinds: {{b200: {{host_ports: {{speed: 800g, first_port: 48}}}}}}  # for servers with "kind: b200"
# load_balancing: {{dlb: flowlet, glb: on}}
"""


PROJECT_TEXT = """\
# Values of arguments that a command omits: 'ailb-gen config' shows all. Paths are relative to this file.
fabric = {fabric}
artifacts = "generated"
# inventory = "inventory"
# reports = ["html=reports/{{verb}}.html"]
"""


def init(
    path: Annotated[
        Path | None,
        typer.Argument(
            help="File to write, by default fabric.yaml; with --example, a new directory.", metavar="FABRIC"
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the fabric.")] = None,
    platform: Annotated[
        str | None, typer.Option(help="Platform of leaves and spines.", autocompletion=complete.platform)
    ] = None,
    stripes: Annotated[int | None, typer.Option(help="Stripes.")] = None,
    rails: Annotated[int | None, typer.Option(help="Leaves per stripe.")] = None,
    spines: Annotated[int | None, typer.Option(help="Spines.")] = None,
    links: Annotated[int | None, typer.Option(help="Links per leaf-spine pair.")] = None,
    colors: Annotated[int | None, typer.Option(min=1, help="Colors; by default one per uplink.")] = None,
    servers: Annotated[int | None, typer.Option(help="Servers per stripe.")] = None,
    pool: Annotated[str | None, typer.Option(help="IPv6 pool of the prefixes.")] = None,
    example: Annotated[
        str | None,
        typer.Option(
            help="Copy an example, such as jvd, into a directory of its name, or into FABRIC.",
            autocompletion=complete.example,
        ),
    ] = None,
    force: FORCE = False,
    yes: YES = False,
) -> None:
    """Write a commented fabric.yaml to start from.

    On a terminal it prompts for missing options, unless --yes is given.
    """
    from ailb_gen.design.build import build
    from ailb_gen.intent.load import parse

    if example is not None:
        given = (name, platform, stripes, rails, spines, links, colors, servers, pool)
        if force or any(one is not None for one in given):
            raise UsageError("--example: an example is copied as it is; of the options it takes --yes only")
        write_example(example, path or Path(example))
        return
    path = path or Path("fabric.yaml")
    if path.exists() and not force:
        raise UsageError(f"{path}: the file exists already; --force overwrites it")
    check_place("FABRIC", path)
    ask = sys.stdin.isatty() and not yes
    answers: dict[str, Any] = {
        "name": _answer(ask, "name", "Name of the fabric", name, "fabric1"),
        "platform": _answer(ask, "platform", "Platform", platform, "qfx5240-64od"),
        "stripes": _answer(ask, "stripes", "Stripes", stripes, 2),
        "rails": _answer(ask, "rails", "Rails (leaves per stripe)", rails, 8),
        "spines": _answer(ask, "spines", "Spines", spines, 4),
        "links": _answer(ask, "links", "Links per leaf-spine pair", links, 1),
        "servers": _answer(ask, "servers", "Servers per stripe", servers, 2),
        "pool": _answer(ask, "pool", "IPv6 pool", pool, "fc00::/16"),
    }
    text = fabric_text(answers, colors)
    try:
        build(parse(text, str(path), path.parent))
    except IntentError as error:
        # Its lines are nowhere to be read; the keys are those of the options.
        place = Place(f"{path} (not written)", 0)
        raise IntentError(replace(problem, place=place) for problem in error.problems) from error
    typer.echo(_written(path, text, force))


def _written(path: Path, text: str, force: bool) -> str:
    """Write a fabric file, and beside it its schema and a project file where there is none; return what to tell."""
    from ailb_gen.intent.schema import json_schema

    folder = path.parent
    projects = find_file(real(folder))
    first = projects is None or projects.parent != real(folder)
    texts = {path: text}
    if force or not (folder / SCHEMA_FILE).exists():
        texts[folder / SCHEMA_FILE] = json_schema()
    if first:
        texts[folder / FILE] = PROJECT_TEXT.format(fabric=json.dumps(path.name))
    for file, content in texts.items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        except OSError as error:
            raise OutputError(f"{file}: cannot write the file: {error.strerror}") from error
    command = "ailb-gen generate" if first else f"ailb-gen generate {path} -o {folder / 'generated'}"
    change = f"cd {shlex.quote(str(folder))} && " if first and real(folder) != Path.cwd() else ""
    return f"{', '.join(map(str, texts))}: written; next: {change}{command}"


def _answer(ask: bool, key: str, question: str, given: T | None, default: T) -> T:
    """Return the value of an option, or an answer; ask again for what fabric.yaml would not take."""
    if given is not None:
        if ask and (wrong := _refusal(key, given)):
            raise UsageError(f"--{key}: {wrong}")
        return given
    try:
        answer: T = typer.prompt(question, default=default) if ask else default
        while ask and (wrong := _refusal(key, answer)):
            typer.echo(f"Error: {wrong}", err=True)
            answer = typer.prompt(question, default=default)
    except typer.Abort as error:
        raise typer.Exit(ExitCode.INTERRUPTED) from error
    return answer


def _refusal(key: str, answer: object) -> str:
    """Return why fabric.yaml does not take an answer, or nothing."""
    from pydantic import ValidationError

    from ailb_gen.intent.models import Fabric
    from ailb_gen.intent.platforms import shipped_names
    from ailb_gen.validation import REASONS, distinct

    if key == "platform" and answer not in shipped_names():
        return f"no platform is called {answer!r}; known: {', '.join(shipped_names())}"
    where = {"links": "links_per_spine", "pool": "addressing"}.get(key, key)
    value = {"pool": answer} if key == "pool" else answer
    try:
        Fabric.model_validate({"name": "f", "stripes": 1, "spines": 1, where: value})
    except ValidationError as error:
        first = distinct(error)[0]
        reader = REASONS.get(first["type"])
        return reader(first)[1] if reader else first["msg"]
    return ""


def _packing(ports: Ports, links: int, neighbors: int, room: int) -> tuple[str, int]:
    """Return how to lay links out so that they fit into `room` ports, and the ports they take."""
    from ailb_gen.intent.servers import Spread

    spread = ports.layout(Spread(packing="spread"), SPEED_GBPS, links).needed(neighbors)
    packed = ports.layout(Spread(packing="packed"), SPEED_GBPS, links).needed(neighbors)
    return ("spread", spread) if spread <= room else ("packed", packed)


def fabric_text(answers: dict[str, Any], colors: int | None) -> str:
    """Return the commented fabric file for the answers; ports are packed where one per neighbor is too much."""
    from ailb_gen.design.ports import Ports
    from ailb_gen.intent.platforms import shipped, shipped_names

    platform = answers["platform"] if answers["platform"] in shipped_names() else "generic"
    ports = Ports(platform, shipped(platform))
    links, leaves = answers["links"], answers["stripes"] * answers["rails"]
    up, taken = _packing(ports, links, answers["spines"], FIRST_HOST_PORT)
    down, _ = _packing(ports, links, leaves, len(ports.names))
    uplinks = answers["spines"] * links
    return TEXT.format(
        **{key: json.dumps(value) for key, value in answers.items()},
        uplinks=uplinks,
        colors=uplinks if colors is None else colors,
        up=up,
        down=down,
        first_port=max(FIRST_HOST_PORT, taken),
        layout=_layout(answers, uplinks if colors is None else colors),
        pattern=json.dumps(f"{answers['name']}-s{{s}}-{{i:02}}"),
    )


def _layout(answers: dict[str, Any], colors: int) -> str:
    """Return the fields of the address plan for a pool that the default ones do not fit; else nothing."""
    from ailb_gen.design.address_plan import fitting_layout, layout_text
    from ailb_gen.intent.plans import Addressing

    length = answers["pool"].rpartition("/")[2]
    if not length.isdecimal() or int(length) <= Addressing.model_fields["stripe"].default[0]:
        return ""
    layout = fitting_layout(int(length), [answers["stripes"], answers["rails"], colors])
    # A pool that is too long for any is refused by the design.
    return f", {layout_text(layout)}" if layout is not None else ""


SCHEMAS = {
    "fabric": "ailb_gen.intent.schema",
    "cluster": "ailb_gen.intent.cluster",
    "scenario": "ailb_gen.sim.scenario.models",
    "what-if": "ailb_gen.study.what_if.models",
}


def schema(
    kind: Annotated[
        Literal["fabric", "cluster", "scenario", "what-if"],
        typer.Argument(help="fabric, cluster, scenario or what-if."),
    ] = "fabric",
) -> None:
    """Print the JSON Schema of an input file.

    That is fabric.yaml, cluster.yaml, a scenario for simulate, or a file for study what-if.
    For editors and other programs.
    """
    typer.echo(import_module(SCHEMAS[kind]).json_schema(), nl=False)
