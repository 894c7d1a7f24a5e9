"""Requests about the configuration, and the phase of a change to which a request belongs.

Source: RFC 6241; Juniper, "Junos XML Management Protocol Developer Guide".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from xml.sax.saxutils import escape

from lxml import etree

from ailb_gen.emulator.config_database import DEFAULT_MINUTES, MOST_MINUTES, UserSession
from ailb_gen.emulator.configuration import ATTRIBUTES as VALUES
from ailb_gen.emulator.configuration import (
    get,
    get_config,
    get_configuration,
    get_schema,
    output,
    rollback_number,
    rollback_words,
    shown,
    with_version,
)
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.editconfig import delete_config, edit_config
from ailb_gen.emulator.load_operations import load_configuration
from ailb_gen.emulator.messages import OK, RpcError, refusal
from ailb_gen.emulator.operations import check_named, run
from ailb_gen.emulator.operations.commands import OPERATIONS, resolve, rpc_of
from ailb_gen.emulator.pipes import FILTERS, TypedLine, check_displays, read_line
from ailb_gen.emulator.show_compare import patch
from ailb_gen.emulator.show_configuration import only, show_tree
from ailb_gen.junos.tree import Node
from ailb_gen.junos.writer import to_curly

MOST_SECONDS = 4294967295


class Request(NamedTuple):
    """A request about the configuration: its answer, the elements and the attributes that it takes, and its phase.

    None takes any. The phase is that of a change, for faults.
    """

    answer: Callable[[EmulatedDevice, UserSession, etree._Element], str]
    options: str | None = ""
    phase: str = "verify"
    attributes: str | None = None


def answer(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Carry out an operation and return the content of its reply. Raises RpcRefusedError."""
    request = REQUESTS.get(str(operation.tag))
    if request is not None:
        _check_options(operation, request)
        return request.answer(device, session, operation)
    if (operation.tag not in OPERATIONS or "." in str(operation.tag)) and operation.tag != "command":
        raise refusal("syntax error", element=str(operation.tag))
    if operation.tag == "command":
        return _command(device, session, operation)
    return run(device, operation, operation.get("format", "xml").strip().lower())


def phase_of(device: EmulatedDevice, operation: etree._Element) -> str:
    """Return the phase of a change to which an operation belongs, for faults."""
    tag = str(operation.tag)
    if tag in ("commit", "commit-configuration"):
        if operation.find("check") is not None:
            return "check"
        confirming = device.database.pending is not None and operation.find("confirmed") is None
        return "confirm" if confirming else "commit"
    if tag == "load-configuration" and operation.get("rollback") is not None:
        return "rollback"
    if tag == "get-configuration" and operation.get("compare") is not None:
        return "compare"
    return REQUESTS[tag].phase if tag in REQUESTS else "verify"


def _command(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Answer `<command>`, a line of the command line. Raises RpcRefusedError."""
    text = " ".join((operation.text or "").split())
    form = operation.get("format", "xml").strip().lower()
    line = read_line(text)
    return f"{_shown(device, session, line, form)}{_ignored(line)}"


def _shown(device: EmulatedDevice, session: UserSession, line: TypedLine, form: str) -> str:
    """Return the output of a command, before any filter of lines. Raises RpcRefusedError."""
    if line.words[:2] == ("show", "configuration"):
        return _shown_configuration(device, line, form)
    if line.display("json", "xml"):
        form = "json" if line.display("json") else "xml"
    request = _request(line.words, form)
    if request is not None:
        known = ("json", "xml") if request.find("compare") is None else ()
        line.check_forms("this emulator has no '{}' of this command over NETCONF", *known)
        return REQUESTS[str(request.tag)].answer(device, session, request)
    if line.display("xml") and line.pipes[0].words[1:2] == ("rpc",):
        rpc = rpc_of(line.text)
        check_named(rpc)
        return f"<rpc>\n{etree.tostring(rpc, encoding='unicode')}</rpc>\n"
    check_displays(line)
    return run(device, rpc_of(line.text), form)


def _ignored(line: TypedLine) -> str:
    """Return a comment that names filters of lines, empty without one: Junos takes them here, and ignores them.

    Source: ncclient issue 82; PyEZ's `EmulatedDevice.cli`; NAPALM's `cli`, which filters on its own for that reason.
    """
    names = [pipe.name for pipe in line.pipes if pipe.name in FILTERS]
    return f"<!-- ignored over NETCONF, as on Junos: {', '.join(names)} -->\n" if names else ""


def _request(words: tuple[str, ...], form: str) -> etree._Element | None:
    """Return the request that a command about configurations stands for, None for any other. Raises RpcRefusedError."""
    names, rest = resolve(words, COMMANDS)
    tag = COMMANDS.get(tuple(names))
    if tag is None:
        return None
    request = etree.Element(tag, {"format": form})
    if tag == "get-rollback-information":
        number, base = rollback_words(rest)
        etree.SubElement(request, "rollback").text = str(number)
        if base is not None:
            etree.SubElement(request, "compare").text = str(base)
    elif rest:
        raise refusal("syntax error", element=rest[0])
    return request


def _shown_configuration(device: EmulatedDevice, line: TypedLine, form: str) -> str:
    displays = tuple(pipe for pipe in line.pipes if pipe.name in ("display", "compare"))
    if not displays and form in ("xml", "json"):
        whole = with_version(device, device.database.active)
        return shown(device, device.database.active, form, whole=only(whole, line.words[2:]))
    text = show_tree(device, device.database.active, line.words[2:], TypedLine(line.words, line.text, displays))
    return output(f"\n{text}")


def _lock(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Answer `lock`, `unlock`, and Junos's own names of both. Raises RpcRefusedError."""
    _check_target(operation)
    tag = str(operation.tag)
    (device.database.lock if tag.startswith("lock") else device.database.unlock)(session)
    return OK if tag in ("lock", "unlock") else ""


def _check_target(operation: etree._Element) -> None:
    """Refuse every datastore but the candidate, the only one that a client can change on Junos."""
    for target in operation.iterfind("target/*"):
        if target.tag != "candidate":
            raise refusal(f"target {target.tag} is not supported", "invalid-value")


def _open(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Open the shared candidate, for oneself with `<exclusive/>`, or a private copy with `<private/>`."""
    kind = next((str(child.tag) for child in operation), "")
    if kind == "private":
        device.database.open_private(session)
        return RpcError("uncommitted changes will be discarded on exit", severity="warning").xml()
    if kind not in ("", "exclusive"):
        raise refusal(f"this emulator has no {kind} copy of the configuration", "operation-not-supported", element=kind)
    if kind:
        device.database.lock(session)
    return ""


def _close(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    device.database.end(session)
    return ""


def _set_rescue(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Save the active configuration as the rescue configuration, or delete that. Raises RpcRefusedError."""
    saves = operation.tag == "request-save-rescue-configuration"
    device.database.set_rescue(device.database.active_text if saves else "")
    engine = "<routing-engine>\n<name>re0</name>\n<success/>\n</routing-engine>\n"
    return f"<rescue-management-results>\n{engine}</rescue-management-results>\n"


def _rescue_information(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Answer `show system configuration rescue`, in text or XML. Raises RpcRefusedError."""
    body = _information(device, device.database.rescue_tree(), operation)
    return f"<rescue-information>\n{body}</rescue-information>\n"


def _information(device: EmulatedDevice, tree: Node, operation: etree._Element) -> str:
    """Return a configuration of the past in the form that a request asks for. Raises RpcRefusedError."""
    form = (operation.findtext("format") or operation.get("format") or "xml").strip().lower()
    if form not in ("text", "ascii", "xml", "json"):
        raise refusal(f"this emulator has no format {form}", "invalid-value", element="format")
    if form in ("text", "ascii"):
        return output(f"\n{to_curly(with_version(device, tree))}")
    return f"<configuration-information>\n{shown(device, tree, form)}</configuration-information>\n"


def _commit(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Answer Junos's `commit-configuration` and RFC 6241's `commit`: `confirm-timeout` in minutes, and in seconds."""
    if operation.find("at-time") is not None:
        raise refusal("this emulator commits only at once", "operation-not-supported", element="at-time")
    if operation.find("check") is not None:
        # Like a commit, this confirms one that waits (CLI User Guide, `commit confirmed`).
        device.database.check(session)
        device.database.confirm()
        return OK
    unit_s, most = (1, MOST_SECONDS) if operation.tag == "commit" else (60, MOST_MINUTES)
    seconds = 0
    if operation.find("confirmed") is not None:
        seconds = unit_s * _number(operation, "confirm-timeout", DEFAULT_MINUTES * 60 // unit_s, most)
    log = operation.findtext("log") or ""
    device.database.commit(session, log, seconds * device.minute_s / 60, seconds // 60)
    if operation.tag == "commit" or (operation.find("detail") is None and operation.get("detail") is None):
        return OK
    return (
        '<commit-results>\n<routing-engine junos:style="show-name">\n<name>re0</name>\n'
        "<commit-success/>\n</routing-engine>\n</commit-results>\n"
    )


def _check_options(operation: etree._Element, request: Request) -> None:
    """Refuse an option that a request does not take, such as RFC 6241's `persist`. Raises RpcRefusedError."""
    options, attributes = request.options, request.attributes
    for child in operation.iterchildren(etree.Element):
        if options is not None and child.tag not in options.split():
            raise refusal("syntax error", "unknown-element", element=str(child.tag))
    for name in operation.attrib:
        if attributes is not None and name not in attributes.split():
            raise refusal("syntax error", "bad-attribute", element=str(name))


def _add_package(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """Answer `request system software add`, with its result: 0 is success."""
    path = (operation.findtext("package-name") or "").strip()
    wrong = device.software.install(path, device.now())
    rows = wrong.splitlines() or [
        *(() if operation.find("no-validate") is not None else ("Validating existing configs ...",)),
        f"Adding software image {path} ...",
        "NOTE: A reboot is required to start using the new software.",
    ]
    ignoring = "<cli>\n<ignore-signals>\nhup\n</ignore-signals>\n</cli>\n"
    body = "".join(f"{row}\n" for row in rows)
    return f"{ignoring}<output>\n{escape(body)}</output>\n<package-result>{int(bool(wrong))}</package-result>\n"


def _validate(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    """RFC 6241's validate, which confirms nothing."""
    if operation.find("source/candidate") is None:
        raise refusal("only the candidate can be validated", "operation-not-supported", element="source")
    device.database.check(session)
    return OK


def _number(operation: etree._Element, name: str, default: int, most: int) -> int:
    text = (operation.findtext(name) or str(default)).strip()
    if not text.isdecimal() or not 0 < int(text) <= most:
        raise refusal(f"Invalid numeric value: '{text}'", "invalid-value", element=name)
    return int(text)


def _discard(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    device.database.discard(session)
    return OK


def _rollback_information(device: EmulatedDevice, session: UserSession, operation: etree._Element) -> str:
    tree = device.database.rollback_tree(rollback_number(operation.findtext("rollback") or "0"))
    against = operation.findtext("compare")
    if against is None:
        return f"<rollback-information>\n{_information(device, tree, operation)}</rollback-information>\n"
    body = output("\n" + patch(device.database.rollback_tree(rollback_number(against)), tree))
    return f"<rollback-information>\n{body}</rollback-information>\n"


COMMIT = "at-time check confirm-timeout confirmed detail force-synchronize full log no-synchronize synchronize"
# No device here has commit scripts; PyEZ rolls back with `compare`.
READ = f"{' '.join(VALUES)} commit-scripts compare database format rollback use-fast-diff"
LOADED = "configuration configuration-json configuration-set configuration-text"
LOAD = "action compare format rescue rollback url"
REQUESTS = {
    "close-configuration": Request(_close, phase="unlock"),
    "commit": Request(_commit, COMMIT),
    "commit-configuration": Request(_commit, COMMIT),
    "copy-config": Request(edit_config, "config source target", "load"),
    "delete-config": Request(delete_config, "target", "load"),
    "discard-changes": Request(_discard, phase="rollback"),
    "edit-config": Request(edit_config, "config config-text default-operation error-option target test-option", "load"),
    "get": Request(get, "filter"),
    "get-config": Request(get_config, "filter source", "running"),
    "get-configuration": Request(get_configuration, "configuration", "running", READ),
    "get-rescue-information": Request(_rescue_information, "format"),
    "get-rollback-information": Request(_rollback_information, "compare format rollback"),
    "get-schema": Request(get_schema, "format identifier version"),
    "load-configuration": Request(load_configuration, LOADED, "load", LOAD),
    "lock": Request(_lock, "target", "lock"),
    "lock-configuration": Request(_lock, phase="lock"),
    "open-configuration": Request(_open, None),
    "request-delete-rescue-configuration": Request(_set_rescue),
    "request-save-rescue-configuration": Request(_set_rescue),
    "request-package-add": Request(_add_package, "no-validate package-name", "install"),
    "unlock": Request(_lock, "target", "unlock"),
    "unlock-configuration": Request(_lock, phase="unlock"),
    "validate": Request(_validate, "source", "check"),
}
# Commands about the configuration, and their requests.
COMMANDS = {
    ("request", "system", "configuration", "rescue", "delete"): "request-delete-rescue-configuration",
    ("request", "system", "configuration", "rescue", "save"): "request-save-rescue-configuration",
    ("show", "system", "configuration", "rescue"): "get-rescue-information",
    ("show", "system", "rollback"): "get-rollback-information",
}
