"""The state that RFC 6022 defines: capabilities, datastores, sessions; and what `get-schema` answers."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.sax.saxutils import escape

from lxml import etree

from ailb_gen.emulator.config_database import Session
from ailb_gen.emulator.device import Device
from ailb_gen.emulator.messages import CAPABILITIES, refusal

MONITORING = "urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring"


def state(device: Device, selection: etree._Element) -> str:
    """Return `<netconf-state>` if a filter selects it, with the parts that it names."""
    found = selection.find("netconf-state")
    if found is None:
        return ""
    names = {str(child.tag) for child in found} or set(_PARTS)
    body = "".join(part(device) for name, part in _PARTS.items() if name in names)
    return f'<netconf-state xmlns="{MONITORING}">\n{body}</netconf-state>\n'


def get_schema(device: Device, session: Session, operation: etree._Element) -> str:
    """Answer RFC 6022's `get-schema`: the device has none to give away. Raises RefusedError."""
    name = (operation.findtext("identifier") or "").strip()
    raise refusal(f"no schema {name!r} on this device", "invalid-value", "application", element=name)


def _capabilities(device: Device) -> str:
    rows = "".join(f"<capability>{escape(name)}</capability>\n" for name in CAPABILITIES)
    return f"<capabilities>\n{rows}</capabilities>\n"


def _datastores(device: Device) -> str:
    holder = device.database.holder
    lock = ""
    if holder is not None:
        lock = (
            f"<locks>\n<global-lock>\n<locked-by-session>{holder.number}</locked-by-session>\n"
            f"<locked-time>{_iso(holder.since)}</locked-time>\n</global-lock>\n</locks>\n"
        )
    names = {"running": "", "candidate": lock}
    rows = "".join(f"<datastore>\n<name>{name}</name>\n{held}</datastore>\n" for name, held in names.items())
    return f"<datastores>\n{rows}</datastores>\n"


def _schemas(device: Device) -> str:
    return "<schemas>\n</schemas>\n"


def _sessions(device: Device) -> str:
    rows = "".join(
        f"<session>\n<session-id>{one.number}</session-id>\n"
        f"<transport>{'netconf-ssh' if one.client == 'netconf' else 'cli'}</transport>\n"
        f"<username>{escape(one.user)}</username>\n<login-time>{_iso(one.since)}</login-time>\n</session>\n"
        for one in device.sessions.values()
    )
    return f"<sessions>\n{rows}</sessions>\n"


def _iso(when: float) -> str:
    return datetime.fromtimestamp(int(when), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_PARTS = {"capabilities": _capabilities, "datastores": _datastores, "schemas": _schemas, "sessions": _sessions}
