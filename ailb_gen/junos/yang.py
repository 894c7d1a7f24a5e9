"""Juniper's YANG models to compact groupings of statements, with pyang as the parser.

The models are some 300,000 lines that expand to millions of statements, because every `uses` copies a grouping. Here
each grouping is kept once and referred to by number; nothing is expanded. Only the parser of pyang is used: its
validation expands everything and takes a minute where parsing takes seconds. `statements` describes what is made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from pyang import context, error, repository, yang_parser  # type: ignore[import-untyped]

from ailb_gen.errors import UsageError
from ailb_gen.garbage import no_garbage_collection
from ailb_gen.junos.statements import (
    CHOICE,
    CONTAINER,
    LEAF,
    LEAF_LIST,
    LIST,
    NOKEYWORD,
    ONE_LINE,
    PLAIN,
    PRESENCE,
    USES,
    Json,
)
from ailb_gen.junos.values import compile_type

_FEATURES = {"nokeyword": NOKEYWORD, "oneliner": ONE_LINE, "oneliner-plus": ONE_LINE}
_KINDS = {"container": CONTAINER, "list": LIST, "leaf": LEAF, "leaf-list": LEAF_LIST}
_WILDCARD = "<.*>|$.*"
_LARGE = 2000  # characters of JSON


class Statement(Protocol):
    """The used attributes of a statement of pyang."""

    pos: Any
    keyword: Any
    raw_keyword: Any
    arg: Any
    substmts: list[Statement]

    def search(self, keyword: str) -> list[Statement]:
        """Return the statements below with a keyword."""

    def search_one(self, keyword: str, arg: str | None = None) -> Any:  # noqa: ANN401 - a statement or None
        """Return the first of them."""


class Builder:
    """Turns parsed modules into numbered groupings; only what `configuration` reaches gets a number."""

    def __init__(self, modules: dict[str, Statement]) -> None:
        self.modules = modules
        self.groupings: list[Json] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._imports = {
            name: {_argument(one, "prefix"): str(one.arg) for one in module.search("import")}
            | {_argument(module, "prefix"): name}
            for name, module in modules.items()
        }
        self._definitions = {
            (name, kind): {str(one.arg): one for one in module.search(kind)}
            for name, module in modules.items()
            for kind in ("grouping", "typedef")
        }
        # A module may nowhere say which names the text leaves out.
        self._plain = {
            name: 0 if any(_features(one)[0] & ~PRESENCE for one in _below(module)) else PLAIN
            for name, module in modules.items()
        }

    def build(self) -> Json:
        """Return the children of `configuration` with what all modules add to them."""
        home = next((name for name in self.modules if name.endswith("-conf-root")), "")
        configuration = self.modules[home].search_one("container", "configuration") if home else None
        children = self._children(configuration, home) if configuration is not None else []
        groups = next((child for child in children if child[0] == LIST and child[1] == "groups"), None)
        if groups is None:
            raise UsageError("junos-conf-root: there is no list configuration groups; the models are damaged")
        for name, module in self.modules.items():
            for augment in module.search("augment"):
                into = [step.rpartition(":")[2] for step in str(augment.arg).strip("/").split("/")]
                if into == ["configuration"]:
                    children += self._children(augment, name)
                elif into == ["configuration", "groups"]:
                    groups[4] += self._children(augment, name)
        return children

    def _find(self, kind: str, reference: str, home: str) -> tuple[Statement, str]:
        prefix, _, name = reference.rpartition(":")
        module = self._imports[home].get(prefix, home) if prefix else home
        try:
            return self._definitions[module, kind][name], module
        except KeyError:
            raise UsageError(f"{home}: {kind} {reference} is not in the models; the directory is incomplete") from None

    def _grouping(self, reference: str, home: str) -> int:
        statement, module = self._find("grouping", reference, home)
        key = (module, str(statement.arg))
        if key not in self._numbers:
            # The number comes first: groupings may refer to themselves.
            self._numbers[key] = number = len(self.groupings)
            self.groupings.append(None)
            self.groupings[number] = self._children(statement, module)
        return self._numbers[key]

    def _children(self, parent: Statement, home: str) -> list[Json]:
        children: list[Json] = []
        for statement in parent.substmts:
            keyword = statement.keyword
            if keyword == "uses":
                children.append([USES, self._grouping(str(statement.arg), home)])
            elif keyword == "choice":
                cases = [self._case(case, home) for case in statement.substmts]
                children.append([CHOICE, statement.arg, [case for case in cases if case]])
            elif keyword in _KINDS:
                children.append(self._statement(statement, home))
        return children

    def _outlined(self, children: list[Json]) -> list[Json]:
        """Make a grouping of what is large, so that reading a branch of the schema reads little else."""
        if len(json.dumps(children)) < _LARGE:
            return children
        self.groupings.append(children)
        return [[USES, len(self.groupings) - 1]]

    def _case(self, case: Statement, home: str) -> list[Json]:
        if case.keyword == "case":
            return self._children(case, home)
        return [self._statement(case, home)] if case.keyword in _KINDS else []

    def _statement(self, statement: Statement, home: str) -> Json:
        kind = _KINDS[statement.keyword]
        flags, musts = self._all_features(statement, home)
        made: list[Json] = [kind, str(statement.arg), flags | self._plain[home], musts]
        if kind in {CONTAINER, LIST}:
            made.append(self._outlined(self._children(statement, home)))
        else:
            made.append(self._type(_need(statement, "type"), home))
        if kind == LIST:
            made.append(_argument(statement, "key").split())
        if kind in {LIST, LEAF_LIST}:
            most = statement.search_one("max-elements")
            made.append(int(most.arg) if most is not None and str(most.arg).isdecimal() else 0)
        return made

    def _all_features(self, statement: Statement, home: str) -> tuple[int, list[list[str]]]:
        """Return flags and constraints, with those of the groupings that a statement is made of."""
        flags, musts = _features(statement)
        for use in statement.search("uses"):
            more_flags, more_musts = self._all_features(*self._find("grouping", str(use.arg), home))
            flags, musts = flags | more_flags, musts + more_musts
        return flags, musts

    def _type(self, statement: Statement, home: str) -> Json:
        name = str(statement.arg)
        if name == "union":
            return ["union", [self._type(member, home) for member in statement.search("type")]]
        if name == "enumeration":
            enums = statement.search("enum")
            musts = {str(enum.arg): found for enum in enums if (found := _features(enum)[1])}
            return ["enumeration", [str(enum.arg) for enum in enums], musts]
        if name == "string":
            return _string_type(statement)
        if ":" in name or ((home, "typedef") in self._definitions and name in self._definitions[home, "typedef"]):
            definition, module = self._find("typedef", name, home)
            if module.endswith("-common-types"):
                return ["junos", str(definition.arg)]
            return self._type(_need(definition, "type"), module)
        bounds = statement.search_one("range")
        return _readable([name, str(bounds.arg)], statement) if bounds is not None else [name]


def _need(statement: Statement, keyword: str) -> Statement:
    """Return what a statement must have. Raises UsageError."""
    found: Statement | None = statement.search_one(keyword)
    if found is None:
        raise UsageError(f"{statement.pos}: {statement.keyword} {statement.arg} has no {keyword}; the model is damaged")
    return found


def _argument(statement: Statement, keyword: str) -> str:
    return str(_need(statement, keyword).arg)


def _readable(made: Json, statement: Statement) -> Json:
    """Return a type with bounds if they are some. Raises UsageError."""
    try:
        compile_type(made, lambda pattern, reason: None)
    except ValueError:
        raise UsageError(f"{statement.pos}: {made[1]!r} is not a range; the model is damaged") from None
    return made


def _string_type(statement: Statement) -> Json:
    patterns = []
    for one in statement.substmts:
        if one.keyword == "pattern" and one.arg == _WILDCARD:
            return ["wildcard"]
        if one.keyword == "pattern":
            patterns.append(["xsd", str(one.arg), ""])
        elif one.raw_keyword[-1] == "posix-pattern":
            patterns.append(["posix", str(one.arg), ""])
        elif one.raw_keyword[-1] == "pattern-message" and patterns:
            patterns[-1][2] = _message(one)
    length = statement.search_one("length")
    return _readable(["string", str(length.arg) if length is not None else "", patterns], statement)


def _features(statement: Statement) -> tuple[int, list[list[str]]]:
    """Return the flags and the commit constraints of one statement."""
    flags, musts = 0, []
    for one in statement.substmts:
        if one.keyword == "presence":
            flags |= PRESENCE
        if not isinstance(one.keyword, tuple):
            continue
        if one.keyword[1] == "cli-feature":
            flags |= _FEATURES.get(str(one.arg), 0)
        elif one.keyword[1] == "must":
            musts.append([str(one.arg), ""])
        elif one.keyword[1] == "must-message" and musts:
            musts[-1][1] = _message(one)
    return flags, musts


def _message(statement: Statement) -> str:
    """Return Juniper's message; its quotes have backslashes that YANG does not take away."""
    return str(statement.arg).replace("\\'", "'")


def _below(statement: Statement) -> Iterator[Statement]:
    stack = [statement]
    while stack:
        one = stack.pop()
        yield one
        stack += one.substmts


def build(texts: list[tuple[Path, str]], advance: Callable[[int], None]) -> list[Json]:
    """Return the children of `configuration`, and behind them the groupings 0, 1, …; `advance` gets characters done.

    Raises UsageError for what is not YANG and for models that refer to others outside the folder.
    """
    try:
        # Millions of objects are made and none is garbage before the end.
        with no_garbage_collection():
            builder = Builder(_parse(texts, advance))
            return [builder.build(), *builder.groupings]
    except RecursionError:
        raise UsageError("a grouping of the models uses itself; the directory is damaged") from None


def _parse(texts: list[tuple[Path, str]], advance: Callable[[int], None]) -> dict[str, Statement]:
    state = context.Context(repository.FileRepository("", use_env=False, no_path_recurse=True))
    modules = {}
    for path, text in texts:
        try:
            module = yang_parser.YangParser().parse(state, str(path), text)
        except (IndexError, TypeError) as reason:
            # pyang's reader of words runs over the end of a text that is cut off.
            raise UsageError(f"{path}: not a YANG module: it is truncated") from reason
        for position, tag, arguments in state.errors:
            if error.is_error(error.err_level(tag)):
                raise UsageError(f"{position}: not a YANG model: {error.err_to_str(tag, arguments)}")
        state.errors.clear()
        if module is None or module.keyword != "module":
            raise UsageError(f"{path}: not a YANG module")
        modules[str(module.arg)] = module
        advance(len(text))
    return modules
