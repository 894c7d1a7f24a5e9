"""Changing the candidate: Junos's `load-configuration`, rollbacks and the rescue configuration.

Attributes of Junos XML do more than a merge: activate, insert, rename, replace a pattern. Source: Juniper, "Junos XML
Management Protocol Developer Guide", `<load-configuration>` and its attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lxml import etree

from ailb_gen.emulator.config_database import UserSession
from ailb_gen.emulator.configuration import rollback_number
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.json_codec import from_json
from ailb_gen.emulator.load_config import ACTIONS, load, load_set
from ailb_gen.emulator.messages import OK, RpcError, RpcRefusedError, error_at, refusal
from ailb_gen.emulator.outline import top
from ailb_gen.emulator.xml_codec import Met, from_xml
from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos import check_result as kinds
from ailb_gen.junos.check import check
from ailb_gen.junos.check_result import Violation
from ailb_gen.junos.edit import insert
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.renaming import NOT_FOUND, rename, replace_pattern, statement_ends
from ailb_gen.junos.schema import Schema
from ailb_gen.junos.tree import INACTIVE, PROTECT, Node
from ailb_gen.junos.writer import set_lines

FORMATS = ("xml", "text", "json", "set")
CLEARS = {"active": INACTIVE, "unprotect": PROTECT}
LOAD_RESULTS = "load-configuration-results"
# Violations that Junos refuses while it reads; a commit check finds all others.
AT_LOAD = frozenset({kinds.UNKNOWN, kinds.MISSING, *kinds.VALUE_KINDS})
# A word, or a sign that is one by itself.
WORD = re.compile(r"[^\s{};\[\]\"#]+|[{};\[\]]")


def load_configuration(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Answer Junos's `load-configuration`. Raises RpcRefusedError."""
    device.database.may_edit(session)
    if operation.get("url") is not None:
        raise refusal("this emulator has no files to load", "operation-not-supported", element="url")
    past = operation.get("rollback", operation.get("rescue"))
    if past is not None:
        roll_back(device, session, past)
        return _results()
    form = operation.get("format", "xml")
    if form not in FORMATS:
        text = f"this emulator loads {', '.join(FORMATS)}, not {form}"
        raise refusal(text, "bad-attribute", element="format")
    try:
        return _results(*_loaded(device, session, operation, operation.get("action", "merge")))
    except RpcRefusedError as error:
        raise RpcRefusedError(*error.errors, wrapper=LOAD_RESULTS, counted=True) from error


def roll_back(device: EmulatedDevice, session: UserSession, which: str) -> None:
    """Make a configuration of the past the candidate: a number, or `rescue`. Raises RpcRefusedError."""
    database = device.database
    if which == "rescue":
        database.edit(session, database.rescue_tree())
    elif rollback_number(which) == 0:
        database.discard(session)
    else:
        database.edit(session, database.rollback_tree(rollback_number(which)))


def load_tree(
    device: EmulatedDevice,
    session: UserSession,
    loaded: Node,
    action: str,
    finish: Callable[[Node], None] | None = None,
) -> None:
    """Load a tree into the candidate of a session; `finish` is done to the result. Raises RpcRefusedError."""
    known = next((one for one in ACTIONS if one == action), None)
    if known is None:
        raise refusal(f"this emulator has no action {action}", "bad-attribute", element="action")
    try:
        tree = load(device.database.edited_by(session), loaded, known)
    except JunosSyntaxError as error:
        raise _refused(error, "") from error
    if finish is not None:
        finish(tree)
    if action in ("merge", "replace"):
        check_protected(device.database.edited_by(session), tree)
    replace_candidate(device, session, tree)


def load_text(device: EmulatedDevice, session: UserSession, text: str, action: str) -> None:
    """Load text in curly braces. Raises RpcRefusedError."""
    try:
        loaded = read_curly(text)
    except JunosSyntaxError as error:
        raise _refused(error, text) from error
    load_tree(device, session, loaded, action)


def load_commands(device: EmulatedDevice, session: UserSession, text: str) -> list[str]:
    """Carry out set commands and return the warnings. Raises RpcRefusedError."""
    try:
        tree, warnings = load_set(device.database.edited_by(session), text)
    except JunosSyntaxError as error:
        raise _refused(error, text) from error
    replace_candidate(device, session, tree)
    return warnings


def check_syntax(schema: Schema, before: Node, after: Node) -> None:
    """Raise RpcRefusedError for statements that a load has brought and that the models do not have."""

    def violations(tree: Node) -> dict[tuple[str, tuple[str, ...]], Violation]:
        found = check(tree, schema).findings
        return {(violation.kind, violation.path): violation for violation in found if violation.kind in AT_LOAD}

    old = violations(before)
    new = [violation for key, violation in violations(after).items() if key not in old]
    if new:
        raise RpcRefusedError(*map(_syntax_error, new))


def check_protected(before: Node, after: Node) -> None:
    """Raise RpcRefusedError if a load changes a statement that is protected, and that it does not unprotect."""
    stack: list[tuple[Node, Node | None, tuple[str, ...]]] = [(before, after, ())]
    while stack:
        old, new, path = stack.pop()
        if path and old.flags & PROTECT:
            same = new is not None and list(set_lines([old], [])) == list(set_lines([new], []))
            if not same and (new is None or new.flags & PROTECT):
                text = f"[{' '.join(path)}] is protected, it cannot be changed"
                raise refusal(text, element=path[-1])
            continue
        stack += [(one, new.children.get(one.word) if new is not None else None, (*path, one.word)) for one in old]


def _syntax_error(violation: Violation) -> RpcError:
    reason = "" if violation.kind == kinds.UNKNOWN else f": {violation.juniper or violation.message}"
    return error_at(violation.path, f"syntax error{reason}")


def _refused(error: JunosSyntaxError, text: str) -> RpcRefusedError:
    """Answer text that cannot be read, with the word or sign at its place."""
    rows = text.splitlines()
    line = rows[error.line - 1] if 0 < error.line <= len(rows) else ""
    found = WORD.match(line, max(error.column - 1, 0))
    message = f"syntax error: line {error.line}, column {error.column}: {error.reason}"
    return refusal(message, element=found.group() if found is not None else "")


def replace_candidate(device: EmulatedDevice, session: UserSession, tree: Node) -> None:
    """Make a tree the candidate of a session, if the models know its new statements. Raises RpcRefusedError."""
    tree.children.pop("version", None)
    if device.schema is not None:
        check_syntax(device.schema, device.database.edited_by(session), tree)
    device.database.edit(session, tree)


def _results(*warnings: str) -> str:
    errors = "".join(RpcError(text, severity="warning").xml() for text in warnings)
    return f"<{LOAD_RESULTS}>\n{errors}{OK}</{LOAD_RESULTS}>\n"


def _loaded(device: EmulatedDevice, session: UserSession, operation: etree._Element, action: str) -> list[str]:
    content = next(iter(operation), None)
    if content is None:
        raise refusal("syntax error, nothing to load", "missing-element")
    if action == "set" or content.tag == "configuration-set":
        return load_commands(device, session, content.text or "")
    load_content(device, session, content, action)
    return []


def load_content(device: EmulatedDevice, session: UserSession, content: etree._Element, action: str) -> None:
    """Load the text, XML or JSON of an element. Raises RpcRefusedError."""
    if content.tag in ("configuration-text", "config-text"):
        load_text(device, session, content.text or "", action)
        return
    if content.tag == "configuration-json":
        content = from_json(content.text or "")
    elif content.tag != "configuration":
        text = f"this emulator cannot load {content.tag}"
        raise refusal(text, "operation-not-supported", element=str(content.tag))
    met: Met = []
    loaded = from_xml(content, top(device.schema), met=met)
    before = device.database.edited_by(session)
    load_tree(device, session, loaded, action, lambda tree: carry_out(tree, content, met, before))


def carry_out(tree: Node, content: etree._Element, met: Met, before: Node) -> None:
    """Apply the attributes of a `<configuration>` that has been loaded on top of `before` to a tree, in place.

    `met` are its elements, each with the words that it stands for. Raises RpcRefusedError.
    """
    for element, path in [(content, ()), *met]:
        try:
            if element.get("rename") is not None and not before.has(*path):
                raise ValueError(NOT_FOUND)
            _carry_out(tree, element, path)
        except ValueError as error:
            raise refusal(str(error), "bad-attribute", element=str(element.tag)) from error


def _carry_out(tree: Node, element: etree._Element, path: tuple[str, ...]) -> None:
    """Apply the attributes of one element. Raises ValueError."""
    for name, flag in CLEARS.items():
        node = tree.get(*path)
        if element.get(name) == name and node is not None:
            node.flags &= ~flag
    pattern = element.get("replace-pattern")
    if pattern is not None:
        replace_pattern(tree, path, pattern, str(element.get("with", "")), _upto(element.get("upto", "0")))
    name = str(element.get("name", ""))
    keyword = path[([0, *statement_ends(path)])[-2] : -1] if path else ()
    if element.get("rename") is not None:
        rename(tree, [*path, "to", *keyword, name])
    place = element.get("insert")
    if place in ("before", "after"):
        insert(tree, [*path, place, *keyword, name])
    elif place in ("first", "last"):
        others = [word for word in tree.get(*path[:-1]) or () if word.word != path[-1]]
        if others:
            at, other = ("before", others[0]) if place == "first" else ("after", others[-1])
            insert(tree, [*path, at, *keyword, other.word])
    elif place is not None:
        raise ValueError(f"insert is first, last, before or after, not {place!r}")


def _upto(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"upto is a number, not {text!r}")
    return int(text)
