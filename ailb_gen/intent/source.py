"""YAML text to plain data that remembers where every key and value stood."""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from ailb_gen.errors import IntentError, Place, Problem

Path = tuple[str | int, ...]
MAX_NODES = 2_000_000
MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 100
PLAIN_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("map", "seq", "str", "int", "float", "bool", "null"))


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


class _CoreLoader(yaml.CSafeLoader):
    """YAML with the core schema of YAML 1.2: `off`, `012` and `0:1:2` stay text."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^(?:[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+)$", "-+0123456789"),
    ("float", r"^[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$", "-+.0123456789"),
    ("null", r"^(?:~|null|Null|NULL|)$", "~nN"),
    ("merge", r"^<<$", "<"),
):
    _CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), [*_first])
_CoreLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("^$"), [""])


def text_problem(file: str, code: str, reason: str, line: int = 1, column: int = 1, hint: str = "") -> IntentError:
    """Make the error for a file that cannot be read at all."""
    return IntentError([Problem(code, Place(file, line, column), "", reason, hint)])


class _Builder:
    """Walks the node graph once, building data and places and collecting problems."""

    def __init__(self, loader: _CoreLoader, file: str) -> None:
        self.loader, self.file = loader, file
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
        if node.tag not in PLAIN_TAGS:
            reason = f"the tag {node.tag!r} is not supported"
            self.problems.append(Problem("yaml-syntax", self.place(node), dotted(path), reason, "write a plain value"))
            return None
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child, (*path, index)) for index, child in enumerate(node.value)]
        return self.scalar(node, path)

    def scalar(self, node: yaml.Node, path: Path) -> Any:
        try:
            return self.loader.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            reason = getattr(error, "problem", None) or str(error)
            self.problems.append(Problem("yaml-syntax", self.place(node), dotted(path), f"not plain YAML: {reason}"))
            return None

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
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


def read_yaml(text: str, file: str) -> Source:
    """Parse one YAML document.

    Raises IntentError with every syntax error, duplicate key and unusable key that was found.
    """
    if len(text) > MAX_BYTES:
        raise text_problem(file, "too-large", f"the file is larger than {MAX_BYTES >> 20} MiB")
    try:
        loader = _CoreLoader(text)
        try:
            node = loader.get_single_node()
            builder = _Builder(loader, file)
            data = builder.build(node, ()) if node else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        reason = f"not valid YAML: {error.problem or error.context}"
        raise text_problem(file, "yaml-syntax", reason, *where) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise text_problem(file, "yaml-syntax", f"not valid YAML: {_first_line(error)}") from error
    if builder.problems:
        raise IntentError(builder.problems)
    return Source(file, data, builder.places)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
