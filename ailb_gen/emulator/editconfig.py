"""RFC 6241's `edit-config`, `copy-config` and `delete-config`: changing the candidate, and errors.

An `edit-config` with an error changes nothing, unless `continue-on-error` asks for the rest.
Source: RFC 6241 section 7.2 and appendix A; Juniper's `<config-text>`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from lxml import etree

from ailb_gen.emulator.config_database import UserSession
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.load_config import load, load_set
from ailb_gen.emulator.load_operations import carry_out, check_protected, load_content, replace_candidate
from ailb_gen.emulator.messages import OK, RpcError, RpcRefusedError, refusal
from ailb_gen.emulator.outline import top
from ailb_gen.emulator.xml_codec import from_xml
from ailb_gen.junos.renaming import NOT_FOUND
from ailb_gen.junos.tokens import quote
from ailb_gen.junos.tree import DELETE, ENDS, Node, copy

OPERATIONS = ("merge", "replace", "create", "delete", "remove")
DEFAULTS = ("merge", "replace", "none")
ERROR_OPTIONS = ("stop-on-error", "continue-on-error", "rollback-on-error")
TEST_OPTIONS = ("set", "test-then-set", "test-only")


class Element(NamedTuple):
    """An element of `<config>`, the words that it stands for, and the operation that it names; nothing if none."""

    element: etree._Element
    path: tuple[str, ...]
    operation: str


def edit_config(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Answer `edit-config` and `copy-config`. Raises RpcRefusedError."""
    if operation.find("target/candidate") is None:
        raise refusal("only the candidate can be edited", "operation-not-supported", element="target")
    device.database.may_edit(session)
    whole = "replace" if operation.tag == "copy-config" else "merge"
    default = _option(operation, "default-operation", DEFAULTS, whole)
    on_error = _option(operation, "error-option", ERROR_OPTIONS, ERROR_OPTIONS[0])
    test = _option(operation, "test-option", TEST_OPTIONS, TEST_OPTIONS[0])
    before = device.database.edited_by(session)
    if operation.find("source/running") is not None:
        device.database.edit(session, device.database.active)
        return OK
    errors = _edit(device, session, operation, default, on_error == "continue-on-error")
    try:
        if test != "set":
            device.database.check_tree(device.database.edited_by(session))
    except RpcRefusedError:
        device.database.edit(session, before)
        raise
    if test == "test-only":
        device.database.edit(session, before)
    if errors:
        raise RpcRefusedError(*errors)
    return OK


def delete_config(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Answer `delete-config`: the candidate holds nothing then. Raises RpcRefusedError."""
    if operation.find("target/candidate") is None:
        raise refusal("only the candidate can be deleted", "operation-not-supported", element="target")
    device.database.edit(session, Node(""))
    return OK


def _option(operation: etree._Element, name: str, known: tuple[str, ...], default: str) -> str:
    text = (operation.findtext(name) or default).strip()
    if text not in known:
        raise refusal(f"{name} is {', '.join(known)}, not {text!r}", "invalid-value", element=name)
    return text


def _edit(
    device: EmulatedDevice, session: UserSession, operation: etree._Element, default: str, go_on: bool
) -> list[RpcError]:
    """Change the candidate; return the errors that did not stop it. Raises RpcRefusedError."""
    paths = ("config-text/*", "config/*", "source/config/*")
    content = next((found for path in paths for found in operation.iterfind(path)), None)
    if content is None:
        raise refusal("only a <config> in the request can be loaded", "operation-not-supported")
    if content.tag == "configuration":
        if content.get("operation") in ("replace", "create"):
            default = "replace"
        return _edit_xml(device, session, content, default, go_on)
    if default == "none":
        text = "default-operation none needs XML: no other format can name an operation"
        raise refusal(text, "operation-not-supported", element="default-operation")
    load_content(device, session, content, "override" if default == "replace" else "merge")
    return []


def _edit_xml(
    device: EmulatedDevice, session: UserSession, content: etree._Element, default: str, go_on: bool
) -> list[RpcError]:
    before = device.database.edited_by(session)
    met: list[tuple[etree._Element, tuple[str, ...]]] = []
    loaded = from_xml(content, top(device.schema), met=met)
    elements = [Element(element, path, str(element.get("operation", ""))) for element, path in met]
    errors = list(_errors(before, elements, content, default))
    if errors and not go_on:
        raise RpcRefusedError(errors[0][1])
    for path, _ in errors:
        _take_out(loaded, path)
    if default == "none":
        loaded = _named(loaded, elements)
    gone = [one for one in elements if one.operation in ("delete", "remove") and before.get(*one.path) is not None]
    commands = "".join(f"delete {' '.join(map(quote, one.path))}\n" for one in gone)
    if default == "replace":
        tree = load(before, loaded, "override")
    else:
        kept, warnings = load_set(before, commands)
        if stopped := [text for text in warnings if text != NOT_FOUND]:
            raise refusal(stopped[0], "operation-failed", "application")
        tree = load(kept, _without_deleted(loaded), "replace")
    carry_out(tree, content, met, before)
    if default != "replace":
        check_protected(before, tree)
    replace_candidate(device, session, tree)
    return [error for _, error in errors]


def _errors(
    before: Node, elements: list[Element], content: etree._Element, default: str
) -> Iterator[tuple[tuple[str, ...], RpcError]]:
    for element in elements:
        there = before.get(*element.path) is not None
        if element.operation and element.operation not in OPERATIONS:
            text = f"operation is {', '.join(OPERATIONS)}, not {element.operation!r}"
            yield element.path, _error("bad-attribute", text, element, content)
        elif element.operation == "delete" and not there:
            yield element.path, _error("data-missing", "statement not found", element, content)
        elif element.operation == "create" and there:
            yield element.path, _error("data-exists", "statement already exists", element, content)
        elif default == "none" and not there and not _inherits(element.element):
            yield element.path, _error("data-missing", "statement not found", element, content)


def _error(tag: str, text: str, one: Element, content: etree._Element) -> RpcError:
    path = f"/{content.tag}{_xpath(one.element, content)}"
    return RpcError(text, tag, "application", path=path, element=str(one.element.tag))


def _xpath(element: etree._Element, top_element: etree._Element) -> str:
    """Return the path of an element below `<configuration>`; an entry of a list by its `name`."""
    steps: list[str] = []
    for step in takewhile(lambda step: step is not top_element, (element, *element.iterancestors())):
        name = step.findtext("name")
        steps.insert(0, f"/{step.tag}[name='{name.strip()}']" if name is not None else f"/{step.tag}")
    return "".join(steps)


def _inherits(element: etree._Element) -> bool:
    """Return whether an element, or one around it, names an operation."""
    return any(step.get("operation") is not None for step in (element, *element.iterancestors()))


def _take_out(root: Node, path: tuple[str, ...]) -> None:
    above = root.get(*path[:-1])
    if above is not None:
        above.children.pop(path[-1], None)


def _named(loaded: Node, elements: list[Element]) -> Node:
    """Return the part of a tree that operations name: with the default operation `none` nothing else counts."""
    result = Node("", 0, loaded.flags)
    for one in elements:
        found = loaded.get(*one.path) if one.operation else None
        if found is None:
            continue
        target, source = result, loaded
        for word in one.path[:-1]:
            source = source.children[word]
            target = target.children.setdefault(word, Node(word, source.line, source.flags))
        target.children.setdefault(found.word, copy(found))
    return result


def _without_deleted(root: Node) -> Node:
    """Return a tree without statements that are tagged to be deleted, and without words that stood only for that."""
    result = Node(root.word, root.line, root.flags & ~DELETE)
    result.comment = root.comment
    for child in root:
        if not child.flags & DELETE:
            kept = _without_deleted(child)
            if kept.children or not child.children or _is_complete(child):
                result.children[child.word] = kept
    return result


def _is_complete(node: Node) -> bool:
    """Return whether a statement is complete without children, and not empty because they were deleted."""
    return bool(node.flags & ENDS) and not any(child.flags & DELETE for child in node)
