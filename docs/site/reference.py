"""Write the pages of docs/reference from the code: keys of files, what `simulate` knows, commands, errors, platforms.

Usage: python docs/site/reference.py DIRECTORY
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer.main

from ailb_gen.cli import app
from ailb_gen.errors import CODES, EXIT_CODES
from ailb_gen.intent.platforms import Profile, shipped, shipped_names
from ailb_gen.intent.schema import json_schema
from ailb_gen.intent.settings import Settings
from ailb_gen.sim.balancers import BALANCERS, HASHED, LEAST_LOADED, LEAST_LOADED_NEXT, MOST, SPREAD, Balancer, Parameter
from ailb_gen.sim.congestion import CONGESTION, CongestionControl
from ailb_gen.sim.scenario.models import json_schema as scenario_schema
from ailb_gen.study.what_if.models import json_schema as what_if_schema

Node = Mapping[str, Any]
# Typer's command; it has no public type.
Command = Any
MADE = "<!-- Made by `make reference`; edit the code instead. -->"


def main() -> None:
    """Write every page into the directory that the command line names."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (folder / f"{name}.md").write_text(make(), encoding="utf-8")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table, and an empty one; nothing without rows."""
    cells = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(row) + " |" for row in cells] + [""] if rows else []


def cell(text: str) -> str:
    """Return text for a cell of a table: one line, nothing that Markdown or HTML would read."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("*", "\\*")


def code(text: str) -> str:
    """Return text as code for a cell of a table, or nothing."""
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def page(title: str, intro: str, lines: Sequence[str]) -> str:
    """Return a page."""
    return "\n".join([MADE, f"# {title}", "", intro, "", *lines]).rstrip() + "\n"


# Keys of files


def keys() -> str:
    """Return the page of all keys of fabric.yaml."""
    intro = (
        "Every key with its values, its default and its meaning, as in the [JSON Schema](../fabric.schema.json) that "
        "`ailb-gen schema` prints. [fabric.yaml](../intent.md) explains how they work together, and which level wins."
    )
    # What is set for one object alone comes before what every level can set.
    return page("Keys of fabric.yaml", intro, _objects("fabric.yaml", json_schema(), last=Settings.model_fields))


def scenario() -> str:
    """Return the page of all keys of scenario files."""
    intro = (
        "Every key with its values, its default and its meaning, as in the [JSON Schema](../scenario.schema.json) that "
        "`ailb-gen schema scenario` prints. [Simulate](../simulate.md) explains what is simulated, and "
        "[the units](../simulate.md#units)."
    )
    return page("Keys of scenario files", intro, _objects("scenario", scenario_schema()))


def what_if() -> str:
    """Return the page of the keys of what-if files; keys that scenario files have too are on their page."""
    intro = (
        "Every key with its values, its default and its meaning, as in the [JSON Schema](../what-if.schema.json) that "
        "`ailb-gen schema what-if` prints. [What if](../what-if.md) explains what is computed, and "
        "[the units](../simulate.md#units)."
    )
    return page("Keys of what-if files", intro, _objects("what-if file", what_if_schema(), scenario_schema()))


def _objects(title: str, text: str, base: str = "{}", last: Container[str] = ()) -> list[str]:
    """Return the tables of a JSON Schema; those of objects that a base has too are on the page of scenario files."""
    schema = json.loads(text)
    defs: dict[str, Node] = schema["$defs"]
    shared = {name: node for name, node in json.loads(base).get("$defs", {}).items() if defs.get(name) == node}
    for name, node in shared.items():
        defs[name] = {**node, "page": "scenario.md"}
    lines = _object(title, {**schema, "description": ""}, defs, last)
    for name, node in _in_order(schema, defs):
        lines += [] if name in shared else _object(_title(name), node, defs, last)
    return lines


def _in_order(schema: Node, defs: Mapping[str, Node]) -> Iterator[tuple[str, Node]]:
    """Yield the objects that a file can hold, each where it is first used."""
    seen: set[str] = set()
    waiting = [schema]
    while waiting:
        for name in re.findall(r'"#/\$defs/(\w+)"', json.dumps(waiting.pop(0).get("properties"))):
            if name not in seen:
                seen.add(name)
                waiting.append(defs[name])
                yield name, defs[name]


def _object(title: str, node: Node, defs: Mapping[str, Node], last: Container[str]) -> list[str]:
    if not node.get("properties"):
        return []
    required = node.get("required", ())
    own = sorted(node["properties"].items(), key=lambda item: item[0] in last)
    rows = [
        [code(key), _value(value, defs), "required" if key in required else _default(value), _meaning(value, defs)]
        for key, value in own
    ]
    text = [node["description"], ""] if node.get("description") else []
    lines = [f"## {title}", "", *text, *table(("key", "value", "default", "meaning"), rows)]
    for key, value in own:
        # A mapping to text of which some keys are known.
        known = [[code(name), cell(one["description"])] for name, one in value.get("properties", {}).items()]
        lines += [f"### {key}", "", *table(("key", "what works, and why"), known)] if known else []
    return lines


def _title(name: str) -> str:
    """Return the heading of an object: `EgressQuantization` is `egress quantization`, `FlowsPart` `flows`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.removesuffix("Part")).lower()


def _meaning(value: Node, defs: Mapping[str, Node]) -> str:
    """Return what a key means; a key that holds one object means what the object does."""
    found = re.findall(r"#/\$defs/(\w+)", json.dumps(value))
    return cell(str(value.get("description") or (defs[found[0]]["description"] if found else "")))


def _default(value: Node) -> str:
    """Return the default of a key; that of an object is in its own table."""
    default = value.get("default")
    hidden = default in (None, {}, [], "") or (isinstance(default, dict) and "$ref" in value)
    return "" if hidden else code(_flow(default))


def _flow(value: object) -> str:
    """Return a value as a file would have it, in one line."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(one)}" for key, one in value.items() if one is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return str(value)


def _value(node: Node, defs: Mapping[str, Node]) -> str:
    """Return which values a key takes."""
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        link = f"[{_title(name)}]({defs[name].get('page', '')}#{_title(name).replace(' ', '-')})"
        return link if defs[name].get("properties") else "text"
    choices = node.get("anyOf") or node.get("oneOf")
    if choices:
        if any(choice.get("type") == "boolean" for choice in choices):
            return "`on`, `off`"
        values = dict.fromkeys(_value(one, defs) for one in choices if one.get("type") != "null")
        text = ", or ".join(values)
        one, several, many = text.partition(", or list of ")
        return f"{one}, or a list of these" if several and many == one else text
    if "enum" in node or "const" in node:
        return ", ".join(code(str(one)) for one in node.get("enum", [node.get("const")]))
    if node.get("type") in ("array", "object"):
        return _many(node, defs)
    return _number(node) if node.get("type") in ("integer", "number") else _text(node)


def _many(node: Node, defs: Mapping[str, Node]) -> str:
    """Return the values of a list or of a mapping."""
    inner = [node.get("items"), *node.get("patternProperties", {}).values(), node.get("additionalProperties")]
    values = [_value(one, defs) for one in inner if isinstance(one, dict)]
    kind, between = ("list", "of") if node["type"] == "array" else ("mapping", "to")
    return f"{kind} {between} {values[0]}" if values else kind


def _text(node: Node) -> str:
    if not node:
        return "any value"
    return "text" + (f", such as {code(str(node['examples'][0]))}" if node.get("examples") else "")


def _number(node: Node) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and high is not None:
        return f"{low} to {high}"
    return f"number ≥ {low}" if low is not None else "number"


# Load balancers

_FLOWS = {
    HASHED: "one path, by hash",
    LEAST_LOADED: "one path, the least loaded",
    LEAST_LOADED_NEXT: "one path, the least loaded over two links",
    SPREAD: "all paths, evenly",
}


def balancers() -> str:
    """Return the page of the simulator's load balancers and their parameters."""
    rows = [[code(one.name), cell(one.text), _FLOWS[one.rule], cell(one.source)] for one in BALANCERS.values()]
    lines = table(("name", "what it does", "`level: flow`", "source"), rows)
    intro = (
        "The load balancers of [`simulate`](../simulate.md) and [`study what-if`](../what-if.md). Parameters go into "
        "`balancer: {name: …, parameters: {…}}`. With files, those of DLB are as the files configure them."
    )
    return page("Load balancers", intro, [*lines, *_parameters("load balancers", BALANCERS)])


def congestion_control() -> str:
    """Return the page of the simulator's congestion control and its parameters."""
    rows = [[code(one.name), cell(one.text), one.signal, cell(one.source)] for one in CONGESTION.values()]
    lines = table(("name", "what it does", "goes by", "source"), rows)
    intro = (
        "The congestion control of hosts in [`simulate`](../simulate.md) and [`study what-if`](../what-if.md). "
        "Parameters go into `congestion: {name: …, parameters: {…}}`; those of DCQCN are also [keys with "
        "units](scenario.md#congestion)."
    )
    return page("Congestion control", intro, [*lines, *_parameters("congestion control", CONGESTION)])


def _parameters(title: str, declared: Mapping[str, Balancer] | Mapping[str, CongestionControl]) -> list[str]:
    """Return the lines of the parameters of all that is declared, each once."""
    users: dict[Parameter, list[str]] = {}
    for one in declared.values():
        for parameter in one.parameters:
            users.setdefault(parameter, []).append(code(one.name))
    parameters = [
        [
            code(parameter.name),
            f"{parameter.default:,.10g}",
            _range(parameter),
            parameter.unit,
            cell(parameter.text),
            ", ".join(names),
        ]
        for parameter, names in users.items()
    ]
    head = ("parameter", "default", "range", "unit", "meaning", title)
    return ["## Parameters", "", *table(head, parameters)]


def _range(parameter: Parameter) -> str:
    if parameter.most == MOST:
        return f"≥ {parameter.least:,.10g}"
    return f"{parameter.least:,.10g} to {parameter.most:,.10g}"


# Commands


def commands() -> str:
    """Return the page of all commands with their arguments and options."""
    root = typer.main.get_command(app)
    lines = [line for name, command in _leaves("ailb-gen", root) for line in _command(name, command)]
    intro = "Every command with its arguments and options, as `ailb-gen COMMAND --help` prints them."
    return page("Commands", intro, lines)


def _leaves(name: str, command: Command) -> Iterator[tuple[str, Command]]:
    """Yield every command that does something, with its full name."""
    inner = getattr(command, "commands", None)
    if not inner:
        yield name, command
    for one, child in (inner or {}).items():
        yield from _leaves(f"{name} {one}", child)


def _command(name: str, command: Command) -> list[str]:
    context = command.context_class(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    text = paragraphs(inspect.cleandoc(command.help or ""))
    rows: dict[str, list[list[str]]] = {"argument": [], "option": []}
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record and param.name != "help":
            rows[param.param_type_name].append([code(record[0]), cell(record[1])])
    parts = [f"## {name}", "", "```text", usage, "```", "", *text, ""]
    for kind, found in rows.items():
        parts += table((kind, "meaning"), found)
    return parts


def paragraphs(text: str) -> list[str]:
    """Return paragraphs as Markdown lines, nothing in them read as Markdown or HTML."""
    return [
        line.replace("<", "&lt;").replace("*", "\\*").replace("\f", "").replace("\b", "") for line in text.splitlines()
    ]


# Errors


def errors() -> str:
    """Return the page of exit codes and codes of problems."""
    lines = ["## Exit codes", ""]
    lines += table(
        ("code", "name", "meaning"), [[str(int(one)), one.name, cell(text)] for one, text in EXIT_CODES.items()]
    )
    lines += [*ERRORS.splitlines(), ""]
    lines += table(("code", "meaning"), [[code(name), cell(text)] for name, text in CODES.items()])
    intro = "How commands exit, how they report errors in files, and every code of an error or a warning."
    return page("Errors and exit codes", intro, lines)


ERRORS = """\
`plan --exit-code` exits with 0 for no changes, 2 for changes and 1 for bad input.

## Form

```text
FILE:LINE:COLUMN: error[CODE]: PATH: REASON; WHAT TO DO
```

All problems of a stage are printed at once, in the order of the file: first syntax; then keys and values; then, once
these are right, contradictions between them. When further checks follow, a last line lists them: `note: the design
(names, numbers, links, ports) is checked once these errors are fixed`. Four or more problems of one kind at one place
become one line with a count. In a CSV file the column counts cells. Warnings have the same form and do not stop
anything. Errors about plans and their signatures have this form without line, column and path.

Errors about devices name the device, the step, the reason and the remedy ([deploy](../deploy.md)). Errors about
templates, output and Batfish have no code: they name the template and its line; the path and the reason; or the
request, the address of the service, the reason and the remedy.

## Codes
"""


# Platforms


def platforms() -> str:
    """Return the page of the shipped platform profiles."""
    rows = [
        [code(name), cell(profile.description), code(profile.management_interface), cell(_ports(profile))]
        for name in shipped_names()
        for profile in [shipped(name)]
    ]
    lines = table(("platform", "ports", "management port", "port names, native speed"), rows)
    for name in shipped_names():
        speeds = [
            [
                cell(f"{group.type}-{group.fpcs[0]}/{group.pic}/{_span(group.ports)}"),
                f"{speed}g",
                ", ".join(map(str, counts)),
            ]
            for group in shipped(name).port_groups
            for speed, counts in sorted(group.speeds.items(), reverse=True)
        ]
        lines += [f"## {name}", "", *table(("ports", "speed", "sub-ports"), speeds)]
    intro = (
        "The switches whose ports the program knows. `sub-ports` is the value of `number-of-sub-ports` at that speed; "
        "1 is the unsplit port. [A profile of your own](../intent.md#ports) has the same form. Check it with the "
        "vendor's port checker for your release: not every combination of adjacent ports is possible."
    )
    return page("Platforms", intro, lines)


def _ports(profile: Profile) -> str:
    return "; ".join(
        f"{group.type}-{_span(group.fpcs)}/{group.pic}/{_span(group.ports)}, {group.native}g"
        for group in profile.port_groups
    )


def _span(span: tuple[int, int]) -> str:
    return str(span[0]) if span[0] == span[1] else f"{span[0]}-{span[1]}"


PAGES = {
    "keys": keys,
    "scenario": scenario,
    "what-if": what_if,
    "load-balancers": balancers,
    "congestion-control": congestion_control,
    "commands": commands,
    "errors": errors,
    "platforms": platforms,
}

if __name__ == "__main__":
    main()
