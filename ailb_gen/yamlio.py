"""YAML text to plain data that remembers where every key and value stood."""

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Any

import yaml

from ailb_gen.errors import IntentError, Place, Problem
from ailb_gen.textio import MAX_BYTES, text_problem

Path = tuple[str | int, ...]
MAX_NODES = 500_000
MAX_DEPTH = 100
NO_MAPPING = "mapping values are not allowed in this context"
COLON = re.compile(r":(?:\s|$)|^(?:#|$)")
GLUED = re.compile(r"\s*(?:- )?(?P<key>\w+):(?P<value>[^\s:/]\S*)\s*(?:#.*)?")
TAG = "tag:yaml.org,2002:"


@dataclass(slots=True)
class Source:
    """Plain data with the place of every path in it."""

    file: str
    data: Any
    places: dict[Path, Place] = field(default_factory=dict)

    def locate(self, path: Path) -> Place:
        """Return where `path` stands, or the nearest place above it that was written."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.places:
                return self.places[path[:end]]
        return Place(self.file)


# The core schema of YAML 1.2: `off`, `012` and `0:1:2` stay text, and so do numbers beyond any use.
SCALARS: dict[str, tuple[re.Pattern[str], str, Callable[[str], Any]]] = {
    "bool": (re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), "tTfF", lambda text: text.lower() == "true"),
    "int": (
        re.compile(r"^(?:[-+]?(?:0|[1-9][0-9]{0,29})|0x[0-9a-fA-F]{1,24})$"),
        "-+0123456789",
        lambda text: int(text, 16 if text.startswith("0x") else 10),
    ),
    "float": (
        re.compile(r"^[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$"),
        "-+.0123456789",
        float,
    ),
    "null": (re.compile(r"^(?:~|null|Null|NULL|)$"), "~nN", lambda text: None),
}
# What a YAML stream must not hold (YAML 1.2, section 5.1), and what ends a line in YAML 1.1 but not in 1.2: parsers
# differ in whether it belongs to a name.
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


class _CoreLoader(yaml.CSafeLoader):
    """YAML with the scalars above and nothing else."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


class _TextLoader(yaml.CSafeLoader):
    """YAML whose scalars are text, and nothing else."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


for _kind, (_pattern, _first, _) in SCALARS.items():
    _CoreLoader.add_implicit_resolver(f"{TAG}{_kind}", _pattern, [*_first])
_CoreLoader.add_implicit_resolver(f"{TAG}null", re.compile("^$"), [""])
_CoreLoader.add_implicit_resolver(f"{TAG}merge", re.compile("^<<$"), ["<"])


class _SourceBuilder:
    """Walks the node graph once, building data and places and collecting problems."""

    def __init__(self, file: str, typed: bool) -> None:
        self.file = file
        self.typed = typed
        self.places: dict[Path, Place] = {}
        self.problems: list[Problem] = []
        self.count = 0

    def place(self, node: yaml.Node) -> Place:
        return Place(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def build(self, node: yaml.Node, path: Path) -> Any:
        self.count += 1
        if self.count > MAX_NODES:
            reason = f"the document expands to more than {MAX_NODES:,} values"
            raise IntentError([Problem("too-large", self.place(node), "", reason, "use fewer aliases")])
        if len(path) > MAX_DEPTH:
            raise IntentError([Problem("too-large", self.place(node), "", f"nested deeper than {MAX_DEPTH} levels")])
        self.places.setdefault(path, self.place(node))
        kind = node.tag.removeprefix(TAG)
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [self.build(child, (*path, index)) for index, child in enumerate(node.value)]
        return self.scalar(node, path)

    def scalar(self, node: yaml.Node, path: Path) -> Any:
        kind, text = node.tag.removeprefix(TAG), node.value
        if isinstance(text, str) and (kind == "str" or not self.typed):
            return text
        if kind in SCALARS and isinstance(text, str) and SCALARS[kind][0].match(text):
            return SCALARS[kind][2](text)
        reason, hint = f"the tag {node.tag!r} is not supported here", "write a plain value"
        self.problems.append(Problem("yaml-syntax", self.place(node), dotted(path), reason, hint))
        return None

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == f"{TAG}merge":
                reason = "merge keys are not supported"
                self.problems.append(
                    Problem("yaml-syntax", self.place(key_node), dotted(path), reason, "write the keys out")
                )
                continue
            key = self.scalar(key_node, path) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str | int) or isinstance(key, bool):
                reason = "a key must be text or a number"
                self.problems.append(Problem("yaml-syntax", self.place(key_node), dotted(path), reason))
                continue
            where = (*path, key)
            if key in result:
                first = self.places[where]
                reason = f"this key is written twice; the first is in line {first.line}"
                self.problems.append(Problem("duplicate-key", self.place(key_node), dotted(where), reason))
                continue
            self.places[where] = self.place(key_node)
            result[key] = self.build(value_node, where)
        return result


def dotted(path: Path) -> str:
    """Write a path as an engineer would: `overrides.leaves.stripe1-leaf1.ports[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text


def _check_text(text: str, file: str) -> None:
    if len(text) > MAX_BYTES:
        raise text_problem(file, "too-large", f"the file is larger than {MAX_BYTES >> 20} MiB")
    found = UNPRINTABLE.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        raise text_problem(file, "yaml-syntax", f"a control character {found.group()!r}", line, column)


def _check_size(text: str, file: str) -> None:
    """Refuse deep nesting and too many values on the flat stream of events.

    Building nodes recurses in C and would overrun the stack, and a node takes a kilobyte.
    """
    depth = count = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            continue
        count += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        if depth > MAX_DEPTH or count > MAX_NODES:
            mark = event.start_mark
            where = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            reason = (
                f"nested deeper than {MAX_DEPTH} levels" if depth > MAX_DEPTH else f"more than {MAX_NODES:,} values"
            )
            raise text_problem(file, "too-large", reason, *where)


def _start(text: str, error: yaml.MarkedYAMLError) -> tuple[int, int]:
    """Return where an error begins: at a key without its colon, or at quotes that are closed lines later."""
    mark = error.problem_mark or error.context_mark
    place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    if error.context == "while scanning a simple key" and error.context_mark:
        return error.context_mark.line + 1, error.context_mark.column + 1
    above = text.split("\n")[place[0] - 2].strip().removeprefix("- ") if place[0] > 1 else ""
    if error.problem == NO_MAPPING and COLON.search(above) is None:
        # Without a blank behind its colon the line above is text that goes on.
        return place[0] - 1, 1
    last = None
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            last = event
    except yaml.MarkedYAMLError:
        if isinstance(last, yaml.ScalarEvent) and last.style in ("'", '"') and last.start_mark and last.end_mark:
            start = last.start_mark
            return (start.line + 1, start.column + 1) if start.line < last.end_mark.line else place
    return place


def space_after_colon(text: object, keys: Container[str] | None = None) -> str:
    """Return the hint for a text such as `spines:4`, which YAML does not take for a key and its value, or nothing.

    With `keys`, only for one of them.
    """
    found = GLUED.fullmatch(text) if isinstance(text, str) else None
    if found is None or (keys is not None and found["key"] not in keys):
        return ""
    return f"put a space after the colon: '{found['key']}: {found['value']}'"


def read_yaml(text: str, file: str, typed: bool = True) -> Source:
    """Parse one YAML document; unless `typed`, every scalar is text, as programs have it that know what they expect.

    Raises IntentError with every syntax error, duplicate key and unusable key that was found.
    """
    _check_text(text, file)
    builder = _SourceBuilder(file, typed)
    try:
        _check_size(text, file)
        loader = _CoreLoader(text) if typed else _TextLoader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
        data = builder.build(node, ()) if node else None
    except yaml.MarkedYAMLError as error:
        where = _start(text, error)
        reason = f"not valid YAML: {error.problem or error.context}"
        # The error may be noticed in the line below.
        lines = text.split("\n")[max(0, where[0] - 2) : where[0]]
        hint = next(filter(None, map(space_after_colon, reversed(lines))), "")
        raise text_problem(file, "yaml-syntax", reason, *where, hint) from error
    if builder.problems:
        raise IntentError(builder.problems)
    return Source(file, data, builder.places)
