"""Reading and changing the configuration: Junos's `get-configuration` and `load-configuration`, and RFC 6241's ways."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from lxml import etree

from ailb_gen.emulator.compare import patch
from ailb_gen.emulator.jsonform import from_json, to_json
from ailb_gen.emulator.loading import ACTIONS, load, load_set
from ailb_gen.emulator.messages import OK, RefusedError, RpcError
from ailb_gen.emulator.xmlform import from_xml, select, to_xml, top
from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.tree import ENDS, Node
from ailb_gen.junos.writer import to_curly, to_set

if TYPE_CHECKING:
    from ailb_gen.emulator.device import Device
    from ailb_gen.emulator.loading import Action
    from ailb_gen.emulator.store import Session

FORMATS = ("text", "set", "xml", "json")
LOAD_RESULTS = "load-configuration-results"


def get_configuration(device: Device, session: Session, operation: etree._Element) -> str:
    """Junos's own way to read a configuration, or to compare two. Raises RefusedError."""
    database = operation.get("database", "candidate")
    if database not in ("candidate", "committed"):
        raise RefusedError(RpcError(f"this emulator has no {database} database", "invalid-value", element="database"))
    tree = device.store.candidate if database == "candidate" else device.store.active
    if operation.get("compare") is not None:
        return _compared(device, operation, tree)
    form = operation.get("format", "xml").lower()
    if form not in FORMATS:
        raise RefusedError(
            RpcError(
                f"this emulator has no format {form}, only {', '.join(FORMATS)}", "invalid-value", element="format"
            )
        )
    wanted = operation.find("configuration")
    return shown(device, tree, form, from_xml(wanted, top(device.schema), True) if wanted is not None else None)


def get_config(device: Device, session: Session, operation: etree._Element) -> str:
    """RFC 6241's way to read a configuration. Raises RefusedError."""
    source = next(iter(operation.iterfind("source/*")), None)
    name = str(source.tag) if source is not None else ""
    if name not in ("candidate", "running"):
        raise RefusedError(RpcError(f"source {name!r} is neither candidate nor running", "invalid-value", element=name))
    wanted = operation.find("filter/configuration")
    known = top(device.schema)
    tree = device.store.candidate if name == "candidate" else device.store.active
    body = shown(device, tree, "xml", from_xml(wanted, known, True) if wanted is not None else None)
    return f"<data>\n{body}</data>\n"


def shown(device: Device, tree: Node, form: str, wanted: Node | None = None) -> str:
    """Return a configuration as it stands in a reply; `wanted` selects a part of it. Raises RefusedError."""
    whole = with_version(device, tree)
    if wanted is not None:
        whole = select(whole, wanted)
    if form in ("xml", "json"):
        known = top(device.schema)
        element = to_xml(whole, known)
        if form == "json":
            return escape(to_json(element, known))
        made = etree.tostring(element, encoding="unicode")
        return made.replace("<configuration", f"<configuration{_attributes(device, tree)}", 1)
    text = to_set(whole, comments=False) if form == "set" else f"{_head(device, tree)}{to_curly(whole)}"
    return f"<configuration-{form}>\n{escape(text)}</configuration-{form}>\n"


def with_version(device: Device, tree: Node) -> Node:
    """Return a tree with the statement that Junos itself puts at its head."""
    root = Node(tree.word, tree.line, tree.flags)
    version = root.children["version"] = Node("version", 1)
    version.children[device.version] = Node(device.version, 1, ENDS)
    root.children |= {word: child for word, child in tree.children.items() if word != "version"}
    return root


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _head(device: Device, tree: Node) -> str:
    """Return the comment with which Junos begins a configuration."""
    newest = device.commits()[0]
    if tree is not device.store.active:
        return f"## Last changed: {_time(device.now())}\n"
    return f"## Last commit: {_time(newest.when)} by {newest.user}\n"


def _attributes(device: Device, tree: Node) -> str:
    newest = device.commits()[0]
    if tree is not device.store.active:
        now = device.now()
        return f' junos:changed-seconds="{int(now)}" junos:changed-localtime="{_time(now)}"'
    return (
        f' junos:commit-seconds="{int(newest.when)}" junos:commit-localtime="{_time(newest.when)}"'
        f' junos:commit-user="{escape(newest.user)}"'
    )


def _compared(device: Device, operation: etree._Element, tree: Node) -> str:
    """Answer `compare="rollback"`, or `compare="configuration"` for a comparison with the active one."""
    if operation.get("format", "text") != "text":
        raise RefusedError(RpcError("this emulator compares only in text", "invalid-value", element="format"))
    number = operation.get("rollback", "0") if operation.get("compare") == "rollback" else "0"
    old = device.store.rollback_tree(rollback_number(number))
    text = "\n" if old is tree else f"\n{patch(old, tree)}"
    return (
        "<configuration-information>\n<configuration-output>"
        f"{escape(text)}</configuration-output>\n</configuration-information>\n"
    )


def rollback_number(text: str) -> int:
    """Read the number of a rollback. Raises RefusedError."""
    if not text.strip().isdecimal() or int(text) > 49:
        raise RefusedError(RpcError(f"invalid rollback value: {text}", "invalid-value", element="rollback"))
    return int(text)


def load_configuration(device: Device, session: Session, operation: etree._Element) -> str:
    """Junos's own way to change the candidate. Raises RefusedError."""
    device.store.may_edit(session)
    if operation.get("url") is not None:
        raise RefusedError(RpcError("this emulator has no files to load", "operation-not-supported", element="url"))
    if operation.get("rollback") is not None:
        return _rolled_back(device, session, rollback_number(str(operation.get("rollback"))))
    if operation.get("rescue") is not None:
        raise RefusedError(RpcError("No rescue configuration is set", element="rescue"))
    return _loaded(device, session, operation, operation.get("action", "merge"))


def _rolled_back(device: Device, session: Session, number: int) -> str:
    if number == 0:
        device.store.discard(session)
    else:
        device.store.edit(session, device.store.rollback_tree(number))
    return f"<{LOAD_RESULTS}>\n{OK}</{LOAD_RESULTS}>\n"


def _loaded(device: Device, session: Session, holder: etree._Element, action: str) -> str:
    """Load what an element holds; the reply has the warnings. Raises RefusedError."""
    warnings: list[str] = []
    try:
        content = next(iter(holder), None)
        if content is None:
            raise RefusedError(RpcError("syntax error, nothing to load", "missing-element"))
        if action == "set" or content.tag == "configuration-set":
            tree, warnings = load_set(device.store.candidate, content.text or "")
        elif action in ACTIONS:
            tree = load(device.store.candidate, _content(device, content), _action(action))
        else:
            raise RefusedError(RpcError(f"this emulator has no action {action}", "invalid-value", element="action"))
    except RefusedError as error:
        raise RefusedError(*error.errors, wrapper=LOAD_RESULTS, counted=True) from error
    except JunosSyntaxError as error:
        said = RpcError(f"syntax error: line {error.line}, column {error.column}: {error.reason}")
        raise RefusedError(said, wrapper=LOAD_RESULTS, counted=True) from error
    tree.children.pop("version", None)
    device.store.edit(session, tree)
    said_too = "".join(RpcError(text, severity="warning").xml() for text in warnings)
    return f"<{LOAD_RESULTS}>\n{said_too}{OK}</{LOAD_RESULTS}>\n"


def _action(action: str) -> Action:
    return next(known for known in ACTIONS if known == action)


def _content(device: Device, content: etree._Element) -> Node:
    """Return the tree that is to be loaded. Raises RefusedError, JunosSyntaxError."""
    if content.tag in ("configuration-text", "config-text"):
        return read_curly(content.text or "")
    if content.tag == "configuration":
        return from_xml(content, top(device.schema))
    if content.tag == "configuration-json":
        return from_xml(from_json(content.text or ""), top(device.schema))
    raise RefusedError(
        RpcError(f"this emulator cannot load {content.tag}", "operation-not-supported", element=str(content.tag))
    )


def edit_config(device: Device, session: Session, operation: etree._Element) -> str:
    """RFC 6241's edit-config and copy-config, with Juniper's `<config-text>`. Raises RefusedError."""
    device.store.may_edit(session)
    if operation.find("target/candidate") is None:
        raise RefusedError(RpcError("only the candidate can be edited", "operation-not-supported", element="target"))
    holder = operation.find("config")
    if holder is None:
        holder = operation.find("config-text")
    if holder is None:
        holder = operation.find("source/config")
    if holder is None:
        raise RefusedError(RpcError("only a <config> in the request can be loaded", "operation-not-supported"))
    whole = "override" if operation.tag == "copy-config" else "merge"
    action = (operation.findtext("default-operation") or whole).strip()
    # `replace` tags count with every default operation (RFC 6241 section 7.2).
    _loaded(
        device,
        session,
        holder,
        "override" if action == "replace" else "replace" if action in ("merge", "none") else action,
    )
    return OK
