"""Reading the configuration: Junos's `get-configuration`, RFC 6241's `get-config` and `get`, and RFC 6022's state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from ailb_gen.emulator.config_database import UserSession
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.json_codec import to_json
from ailb_gen.emulator.messages import CAPABILITIES, refusal
from ailb_gen.emulator.operations import as_xml
from ailb_gen.emulator.operations.build import date, element, fill
from ailb_gen.emulator.outline import top
from ailb_gen.emulator.show_compare import patch
from ailb_gen.emulator.xml_codec import from_xml, select, to_xml
from ailb_gen.errors import UsageError
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.tree import ENDS, Node
from ailb_gen.junos.writer import to_curly, to_set

# Values of the attributes of `get-configuration`. NAPALM asks for the names of groups, which are left out.
ATTRIBUTES = {
    "changed": ("changed",),
    "groups": ("groups",),
    "inherit": ("inherit", "defaults"),
    "interface-ranges": ("interface-ranges",),
}
# Becomes `junos:changed`.
CHANGED = "junos-changed"
MONITORING = "urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring"
FORMATS = ("text", "set", "xml", "json")
# The default namespace of `<configuration>` over NETCONF, unless a device is `rfc-compliant`.
SPACE = "http://xml.juniper.net/xnm/1.1/xnm"


def get_configuration(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Answer Junos's `get-configuration`, which reads a configuration, or compares two. Raises RpcRefusedError."""
    database = operation.get("database", "candidate")
    if database not in ("candidate", "committed"):
        raise refusal(f"this emulator has no {database} database", "invalid-value", element="database")
    tree = device.database.edited_by(session) if database == "candidate" else device.database.active
    if operation.get("compare") is not None:
        return _compared(device, operation, tree)
    _check_attributes(operation)
    selection = operation.find("configuration")
    part = from_xml(selection, top(device.schema), True) if selection is not None else None
    before = device.database.active if operation.get("changed") is not None and database == "candidate" else None
    if operation.get("inherit") is not None:
        tree, before = inherited(tree), inherited(before) if before is not None else None
    return shown(device, tree, _format(operation), part, before=before)


def _check_attributes(operation: etree._Element) -> None:
    for name, known in ATTRIBUTES.items():
        value = operation.get(name)
        if value is not None and value not in known:
            text = f"{name} is {' or '.join(known)}, not {value!r}"
            raise refusal(text, "bad-attribute", element=name)


def get_config(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Answer RFC 6241's `get-config`. Raises RpcRefusedError."""
    source = next(iter(operation.iterfind("source/*")), None)
    name = str(source.tag) if source is not None else ""
    if name not in ("candidate", "running"):
        raise refusal(f"source {name!r} is neither candidate nor running", "invalid-value", element=name)
    tree = device.database.edited_by(session) if name == "candidate" else device.database.active
    return f"<data>\n{_filtered(device, tree, operation)}</data>\n"


def get(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """RFC 6241's `get`: the active configuration, who edits it, and RFC 6022's state. Raises RpcRefusedError."""
    found = _filter(operation)
    requested = {str(child.tag) for child in found} if found is not None else {"configuration"}
    body = "" if found is None else _state(device, found)
    if "configuration" in requested:
        body = f"{_filtered(device, device.database.active, operation)}{_status(device)}{body}"
    return f"<data>\n{body}</data>\n"


def _filtered(device: EmulatedDevice, tree: Node, operation: etree._Element) -> str:
    """Return the part that the filter (RFC 6241 section 6) selects, in the requested format. Raises RpcRefusedError."""
    found = _filter(operation)
    selection = found.find("configuration") if found is not None else None
    form = _format(operation)
    if found is not None and selection is None:
        # A filter that names no part of the configuration selects none (RFC 6241 section 6.4.2).
        return ""
    part = from_xml(selection, top(device.schema), True) if selection is not None else None
    return shown(device, tree, form, part)


def _filter(operation: etree._Element) -> etree._Element | None:
    found = operation.find("filter")
    if found is not None and found.get("type", "subtree") != "subtree":
        raise refusal("only subtree filters are supported", "bad-attribute", element="filter")
    return found


def _format(operation: etree._Element) -> str:
    form = operation.get("format", "xml").lower()
    if form not in FORMATS:
        raise refusal(
            f"this emulator has no format {form}, only {', '.join(FORMATS)}", "invalid-value", element="format"
        )
    return form


def _status(device: EmulatedDevice) -> str:
    """Return who edits the configuration, as at the head of `show configuration`."""
    rows = [
        fill("database-status", session=one, exclusive=element("exclusive") if one is device.database.holder else None)
        for one in device.database.editors()
    ]
    return as_xml(element("database-status-information", *rows))


def shown(
    device: EmulatedDevice,
    tree: Node,
    form: str,
    selection: Node | None = None,
    whole: Node | None = None,
    before: Node | None = None,
) -> str:
    """Return a configuration as content of a reply; `selection` selects a part of it, `whole` is the part itself.

    In XML elements that differ from `before` are marked `junos:changed`. Raises RpcRefusedError.
    """
    whole = whole or with_version(device, tree)
    if selection is not None:
        whole = select(whole, selection)
    if form in ("xml", "json"):
        known = top(device.schema)
        element = to_xml(whole, known)
        if form == "json":
            return escape(to_json(element, known, attributes(device, tree)))
        if before is not None:
            old = with_version(device, before)
            _mark_changed(element, to_xml(select(old, selection) if selection is not None else old, known))
        made = etree.tostring(element, encoding="unicode").replace(f"{CHANGED}=", "junos:changed=")
        return with_attributes(made, {"xmlns": SPACE, **attributes(device, tree)})
    text = to_set(whole, comments=False) if form == "set" else f"{head(device, tree)}{to_curly(whole)}"
    return f"<configuration-{form}>\n{escape(text)}</configuration-{form}>\n"


def _mark_changed(new: etree._Element, old: etree._Element) -> bool:
    """Set CHANGED on every element below `new` that is not so below `old`, and around it; return whether there is one.

    A missing element is a change of the element around it.
    """
    mine, before = _by_identity(new), _by_identity(old)
    changed = bool(before.keys() - mine.keys())
    for key, child in mine.items():
        twin = before.get(key)
        if twin is None or _mark_changed(child, twin) or sorted(child.items()) != sorted(twin.items()):
            child.set(CHANGED, "changed")
            changed = True
    return changed


def _by_identity(element: etree._Element) -> dict[tuple[str, str], etree._Element]:
    """Return the children of an element by their identity: the name, and a value or the key of an entry."""
    counts = Counter(str(child.tag) for child in element)
    found: dict[tuple[str, str], etree._Element] = {}
    for child in element:
        key = child.findtext("name") or "" if len(child) else child.text or ""
        if len(child) and not key and counts[str(child.tag)] > 1:
            key = etree.tostring(child, encoding="unicode")
        found[str(child.tag), key] = child
    return found


def with_version(device: EmulatedDevice, tree: Node) -> Node:
    """Return a tree with the statement that Junos itself puts at its head."""
    root = Node(tree.word, tree.line, tree.flags)
    version = root.children["version"] = Node("version", 1)
    version.children[device.version] = Node(device.version, 1, ENDS)
    root.children |= {word: child for word, child in tree.children.items() if word != "version"}
    return root


def head(device: EmulatedDevice, tree: Node) -> str:
    """Return the comment with which Junos begins a configuration."""
    newest = device.commits()[0]
    if tree is not device.database.active:
        return f"## Last changed: {date(device.now())}\n"
    return f"## Last commit: {date(newest.when)} by {newest.user}\n"


def attributes(device: EmulatedDevice, tree: Node) -> dict[str, str]:
    """Return the attributes of `<configuration>`: the time of the change, or time and user of the commit."""
    newest = device.commits()[0]
    if tree is not device.database.active:
        now = device.now()
        return {"junos:changed-seconds": str(int(now)), "junos:changed-localtime": date(now)}
    return {
        "junos:commit-seconds": str(int(newest.when)),
        "junos:commit-localtime": date(newest.when),
        "junos:commit-user": newest.user,
    }


def with_attributes(text: str, found: Mapping[str, str]) -> str:
    """Return the text of `<configuration>` with attributes."""
    written = "".join(f" {name}={quoteattr(value)}" for name, value in found.items())
    return text.replace("<configuration", f"<configuration{written}", 1)


def _compared(device: EmulatedDevice, operation: etree._Element, tree: Node) -> str:
    """Answer `compare="rollback"`, or `compare="configuration"` for a comparison with the active one."""
    if operation.get("format", "text") != "text":
        raise refusal("this emulator compares only in text", "invalid-value", element="format")
    if operation.get("compare") not in ("rollback", "configuration"):
        raise refusal("compare is rollback or configuration", "bad-attribute", element="compare")
    number = operation.get("rollback", "0") if operation.get("compare") == "rollback" else "0"
    old = device.database.rollback_tree(rollback_number(number))
    return output("\n" if old is tree else f"\n{patch(old, tree)}")


def output(text: str) -> str:
    """Return a configuration as text, or a comparison, as content of a reply."""
    return (
        f"<configuration-information>\n<configuration-output>{escape(text)}</configuration-output>\n"
        "</configuration-information>\n"
    )


def inherited(tree: Node) -> Node:
    """Return a tree with its groups applied. Raises RpcRefusedError for groups that apply each other in a circle."""
    try:
        return effective(tree)
    except UsageError as error:
        raise refusal(str(error)) from error


def rollback_words(words: Sequence[str]) -> tuple[int, int | None]:
    """Read the words behind `show system rollback`: a number, or `compare` and two; the second one is shown.

    Returns the number of the shown configuration, and of the one that it is compared with. Raises RpcRefusedError.
    """
    first, *others = words or ("0",)
    if len(first) > 1 and "compare".startswith(first):
        if len(others) != 2:
            raise refusal("syntax error, compare takes the numbers of two rollbacks", element=first)
        return rollback_number(others[1]), rollback_number(others[0])
    if others:
        raise refusal("syntax error", element=others[0])
    return rollback_number(first), None


def rollback_number(text: str) -> int:
    """Read the number of a rollback. Raises RpcRefusedError."""
    if not text.strip().isdecimal() or int(text) > 49:
        raise refusal(f"invalid rollback value: {text}", "invalid-value", element="rollback")
    return int(text)


def _state(device: EmulatedDevice, selection: etree._Element) -> str:
    """Return `<netconf-state>` if a filter selects it, with the parts that it names."""
    found = selection.find("netconf-state")
    if found is None:
        return ""
    holder, names = device.database.holder, {str(child.tag) for child in found}
    made = fill(
        "netconf-state",
        capabilities=[("capability", name) for name in CAPABILITIES],
        locks=fill("locks", holder=holder) if holder is not None else None,
        sessions=[
            fill("session", session=one, transport="netconf-ssh" if one.client == "netconf" else "cli")
            for one in device.sessions.values()
        ],
    )
    made.set("xmlns", MONITORING)
    for part in [part for part in made if names and part.tag not in names]:
        made.remove(part)
    return as_xml(made)


def get_schema(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Answer RFC 6022's `get-schema`: the device has none to give away. Raises RpcRefusedError."""
    name = (operation.findtext("identifier") or "").strip()
    raise refusal(f"no schema {name!r} on this device", "invalid-value", "application", element=name)
