"""Snapshots of real files, IPv6 and curly text: Batfish reads their text and routes nothing.

Here is what it says of the text: which lines it does not recognize, what is defined, named and used, interfaces and
VLANs. All but the lines that it does not recognize is said by the plain interpreter, which is given what is there
of IPv4 (addresses of loopbacks, as a rule) and no BGP.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from tests.batfish import plain_rows
from tests.batfish.plain import Snapshot
from tests.batfish.plain_model import DEFAULT_MTU, Device, Port
from tests.batfish.plain_text import Line, PlainError, match, set_lines
from tests.batfish.stand_in_curly import curly_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tests.batfish.plain_rows import Row

ROOT = "s_common statement set_line_tail set_line flat_juniper_configuration]"
IN_GROUP = f"b_group p_bgp s_protocols {ROOT}"
# The first words of the lines that were seen to be unrecognized, and where Batfish's parser was.
UNRECOGNIZED = {
    "policy-options as-list * members": f"[s_policy_options {ROOT}",
    "protocols bgp fabric-advertise route": f"[p_bgp s_protocols {ROOT}",
    "protocols bgp group * fabric-color": f"[{IN_GROUP}",
    "protocols bgp group * peer-as-list": f"[{IN_GROUP}",
    "protocols bgp group * dynamic-neighbor * peer-auto-discovery": f"[{IN_GROUP}",
    "protocols bgp group * family inet6 unicast extended-nexthop": (
        f"[bfi6_unicast bf_inet6 b_family b_common {IN_GROUP}"
    ),
}
COMMENT = "This syntax is unrecognized"


@dataclass(frozen=True, slots=True)
class Text:
    """A file: its format in Batfish's words, the device that it makes, and the lines that are not recognized."""

    form: str
    device: Device
    unrecognized: tuple[tuple[Line, str], ...]


@dataclass(frozen=True)
class Texts:
    """A snapshot of real files; `snapshot` is what the plain interpreter knows of them."""

    files: tuple[Text, ...]
    snapshot: Snapshot

    def without(self, nodes: Iterable[str] = (), interfaces: Iterable[tuple[str, str]] = ()) -> Texts:
        """Return the snapshot with switches and physical ports down."""
        return Texts(self.files, self.snapshot.without(nodes, interfaces))


def is_real(texts: Mapping[str, str]) -> bool:
    """Tell a snapshot of real files from an IPv4 shadow: it is curly, or has IPv6."""
    return any("inet6" in text or not _is_set(text) for text in texts.values())


def read_texts(texts: Mapping[str, str]) -> Texts:
    """Read a snapshot of real files. Raises PlainError."""
    files = tuple(_unique([_read(text, file) for file, text in sorted(texts.items())]))
    return Texts(files, Snapshot({one.device.name: one.device for one in files}))


def _unique(files: Sequence[Text]) -> Iterator[Text]:
    """Give devices of one name names of their own, made of the name and the file."""
    names = Counter(one.device.name for one in files)
    for one in files:
        name = f"{one.device.name}__{re.sub(r'[/.]', '_', one.device.file).lower()}"
        yield one if names[one.device.name] == 1 else replace(one, device=replace(one.device, name=name))


def ask(texts: Texts, question: str, **parameters: Any) -> list[Row]:
    """Answer a question as Batfish does for such files. Raises PlainError for what it fails to answer."""
    if question in OWN:
        return list(OWN[question](texts))
    if question in NEED_IPV4 and not any(texts.snapshot.links.direct.values()):
        raise PlainError(f"{question}: no IPv4 address anywhere")
    return plain_rows.ask(texts.snapshot, question, **parameters)


def file_parse_status(texts: Texts) -> Iterator[Row]:
    for one in texts.files:
        status = "PARTIALLY_UNRECOGNIZED" if one.unrecognized else "PASSED"
        values = (one.device.file, status, one.form, [one.device.name])
        yield dict(zip(plain_rows.COLUMNS["fileParseStatus"], values, strict=True))


def parse_warning(texts: Texts) -> Iterator[Row]:
    for one in texts.files:
        for line, context in one.unrecognized:
            values = (one.device.file, line.number, line.text, context, COMMENT)
            yield dict(zip(plain_rows.COLUMNS["parseWarning"], values, strict=True))


def init_issues(texts: Texts) -> Iterator[Row]:
    yield from plain_rows.issues({one.device.name: list(_warnings(one.device)) for one in texts.files})
    for one in texts.files:
        for line, context in one.unrecognized:
            lines = [f"{one.device.file}:[{line.number}]"]
            values = (None, lines, "Parse warning", COMMENT, line.text, context)
            yield dict(zip(plain_rows.COLUMNS["initIssues"], values, strict=True))


def vi_conversion_status(texts: Texts) -> Iterator[Row]:
    for one in texts.files:
        yield {"Node": one.device.name, "Status": "WARNINGS" if any(_warnings(one.device)) else "PASSED"}


OWN = {
    "fileParseStatus": file_parse_status,
    "parseWarning": parse_warning,
    "initIssues": init_issues,
    "viConversionStatus": vi_conversion_status,
}
NEED_IPV4 = ("detectLoops", "multipathConsistency")


def _warnings(device: Device) -> Iterator[str]:
    """Give the warnings of a file: it takes `color:0:1` for a wildcard, which nothing can add."""
    yield from plain_rows.warnings(device)
    standard = {one[0] for one in _each(device.lines, "policy-options community * members #:#")}
    other = {one[0] for one in _each(device.lines, "policy-options community * members *")} - standard
    for *_, added in _each(device.lines, "policy-options policy-statement * term * then community add *"):
        if added in other:
            yield f"FATAL: '{added}' community contains no non-wildcard members in an add action"


def _each(lines: Iterable[Line], pattern: str) -> list[tuple[str, ...]]:
    """Return what the lines of a kind keep."""
    words = pattern.split()
    return [found for line in lines if (found := match(words, line.words)) is not None]


def _is_set(text: str) -> bool:
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return next(lines, "").startswith("set ")


def _read(text: str, file: str) -> Text:
    form, lines = ("FLAT_JUNIPER", set_lines) if _is_set(text) else ("JUNIPER", curly_lines)
    known, unknown = [], []
    for line in lines(text, file):
        context = _context(line)
        if context is None:
            known.append(line)
        else:
            unknown.append((line, context))
    return Text(form, _device(file, known), tuple(unknown))


def _context(line: Line) -> str | None:
    for pattern, context in UNRECOGNIZED.items():
        words = pattern.split()
        if match(words, line.words[: len(words)]) is not None:
            return context
    return None


def _device(file: str, lines: Sequence[Line]) -> Device:
    name, router_id = _each(lines, "system host-name *"), _each(lines, "routing-options router-id *")
    return Device(
        # A file without a name gives its own.
        name=(name[-1][0] if name else PurePosixPath(file).stem).lower(),
        file=file,
        lines=tuple(lines),
        ports=tuple(_ports(lines)),
        vlans={vlan: int(number) for vlan, number in _each(lines, "vlans * vlan-id #")},
        gateways={irb: vlan for vlan, irb in _each(lines, "vlans * l3-interface *")},
        communities={},
        neighbors=(),
        router_id=IPv4Address(router_id[-1][0] if router_id else "0.0.0.0"),
        asn=None,
    )


def _ports(lines: Sequence[Line]) -> Iterator[Port]:
    physical: dict[str, list[tuple[str, ...]]] = {}
    for line in lines:
        if line.words[0] == "interfaces" and len(line.words) > 1:
            physical.setdefault(line.words[1], []).append(line.words[2:])
    for name, mine in physical.items():
        port = _port(name, name, mine, None)
        if name != "irb":
            yield port
        units: dict[str, list[tuple[str, ...]]] = {}
        for words in mine:
            if words[0] == "unit":
                units.setdefault(words[1], []).append(words[2:])
        for unit, said in units.items():
            yield _port(f"{name}.{unit}", name, said, port)


def _port(name: str, physical: str, mine: Sequence[tuple[str, ...]], parent: Port | None) -> Port:
    """Make a port of its lines; a unit has its MTU from its family, and the rest from its physical port."""

    def each(pattern: str) -> list[tuple[str, ...]]:
        return [found for words in mine if (found := match(pattern.split(), words)) is not None]

    mtu = each("family inet6|inet mtu #") or each("mtu #")
    description = each("description *")
    members = tuple(member for (member,) in each("family ethernet-switching vlan members *"))
    mode = each("family ethernet-switching interface-mode *")
    switched = any(words[:2] == ("family", "ethernet-switching") for words in mine)
    return Port(
        name=name,
        physical=physical,
        mtu=int(mtu[-1][-1]) if mtu else parent.mtu if parent else DEFAULT_MTU,
        description=description[-1][0] if description else parent.description if parent else None,
        disabled=("disable",) in mine or (parent is not None and parent.disabled),
        addresses=tuple(IPv4Interface(address) for (address,) in each("family inet address *")),
        mode=mode[-1][0] if mode else "access" if switched else None,
        members=members,
    )
