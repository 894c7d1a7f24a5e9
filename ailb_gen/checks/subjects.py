"""The typed subjects of findings: data, from the place where a finding is made, by which causes are found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ailb_gen.addresses import Prefix, address_value

if TYPE_CHECKING:
    # Importing it takes long, and reports need no network.
    from ailb_gen.network.fabric import End

# Servers have their prefixes from leaves: 64 bits (RFC 4862).
SUBNET = 64
# Stands between alternatives of a statement (see `ailb_gen.checks.locate`).
OR = " | "
# Stands for any word of a statement.
ANY = "*"


class SubjectKind(StrEnum):
    """The kinds of things that findings are about."""

    DEVICE = "device"
    FILE = "file"
    PORT = "port"
    NIC = "nic"
    PREFIX = "prefix"
    TABLE = "table"
    GROUP = "group"
    COLOR = "color"
    COMMUNITY = "community"
    AS_LIST = "as-list"
    PREFIX_LIST = "prefix-list"
    POLICY = "policy"
    VLAN = "vlan"
    CLASS = "class"
    SCHEDULER = "scheduler"
    SCHEDULER_MAP = "scheduler-map"
    DROP_PROFILE = "drop-profile"
    CLASSIFIER = "classifier"
    PFC_PROFILE = "pfc-profile"
    SETTING = "setting"


class Subject(NamedTuple):
    """One thing that a finding is about: its kind, the device that has it (empty for the fabric's own), its name."""

    kind: SubjectKind
    device: str
    name: str


def device(name: str) -> Subject:
    """Return a whole switch or server as a subject."""
    return Subject(SubjectKind.DEVICE, name, name)


def file(path: str) -> Subject:
    """Return a file as a subject, by its path below the folder of its device or below the artifact directory."""
    return Subject(SubjectKind.FILE, "", path)


def port(device: str, interface: str) -> Subject:
    """Return a port of a switch as a subject; a logical interface stands for its port, an IRB is its unit."""
    name = interface if interface.startswith("irb") else interface.partition(".")[0]
    return Subject(SubjectKind.PORT, device, name)


# Subjects of one kind, by the device that has them and their name there. A NIC may be one of a folder that servers
# share, a setting is that of a server, by its key.
nic = partial(Subject, SubjectKind.NIC)
group = partial(Subject, SubjectKind.GROUP)
color = partial(Subject, SubjectKind.COLOR)
community = partial(Subject, SubjectKind.COMMUNITY)
as_list = partial(Subject, SubjectKind.AS_LIST)
prefix_list = partial(Subject, SubjectKind.PREFIX_LIST)
policy = partial(Subject, SubjectKind.POLICY)
forwarding_class = partial(Subject, SubjectKind.CLASS)
setting = partial(Subject, SubjectKind.SETTING)


def end(cable_end: End) -> Subject:
    """Return the end of a cable at a switch as a subject."""
    return port(cable_end.device, cable_end.port)


def table(device: str, number: object) -> Subject:
    """Return a routing table of a server as a subject."""
    return Subject(SubjectKind.TABLE, device, str(number))


def vlan(device: str, name: object) -> Subject:
    """Return a VLAN of a switch as a subject, by its name or its number."""
    return Subject(SubjectKind.VLAN, device, str(name))


def prefix(value: Prefix) -> Subject:
    """Return a prefix as a subject; an address, or a prefix that is too long, stands for its subnet."""
    length = min(value.length, SUBNET)
    return Subject(SubjectKind.PREFIX, "", str(Prefix(value.value >> (128 - length) << (128 - length), length)))


def prefixes(text: str) -> Iterator[Subject]:
    """Yield the subnet of an address or a prefix as written; nothing for other text."""
    value = address_value(text.partition("/")[0])
    if value is not None:
        yield prefix(Prefix(value, SUBNET))


# Where Junos defines what has a name: the words above the name.
_DEFINED: Mapping[tuple[str, ...], SubjectKind] = {
    ("interfaces",): SubjectKind.PORT,
    ("protocols", "router-advertisement", "interface"): SubjectKind.PORT,
    ("protocols", "bgp", "group"): SubjectKind.GROUP,
    ("protocols", "bgp", "fabric-advertise", "route"): SubjectKind.PREFIX,
    ("policy-options", "community"): SubjectKind.COMMUNITY,
    ("policy-options", "as-list"): SubjectKind.AS_LIST,
    ("policy-options", "prefix-list"): SubjectKind.PREFIX_LIST,
    ("policy-options", "policy-statement"): SubjectKind.POLICY,
    ("vlans",): SubjectKind.VLAN,
    ("class-of-service", "forwarding-classes", "class"): SubjectKind.CLASS,
    ("class-of-service", "schedulers"): SubjectKind.SCHEDULER,
    ("class-of-service", "scheduler-maps"): SubjectKind.SCHEDULER_MAP,
    ("class-of-service", "drop-profiles"): SubjectKind.DROP_PROFILE,
    ("class-of-service", "classifiers", "dscp"): SubjectKind.CLASSIFIER,
    ("class-of-service", "congestion-notification-profile"): SubjectKind.PFC_PROFILE,
}


def of_statement(device: str, statement: str) -> Iterator[Subject]:
    """Yield the subjects of a statement of a switch and of its alternatives: what they configure."""
    for choice in statement.split(OR):
        words = tuple(choice.split())
        for length in range(1, min(4, len(words) - 1) + 1):
            kind = _DEFINED.get(words[:length])
            if kind is not None and words[length] != ANY:
                yield from _named(kind, device, words[length], words[length + 1 :])
        for word, value in pairwise(words):
            if word in ("address", "prefix"):
                yield from prefixes(value)
            elif word == "members" and words[0] == "interfaces":
                yield vlan(device, value)


def _named(kind: SubjectKind, device: str, name: str, below: tuple[str, ...]) -> Iterator[Subject]:
    if kind is SubjectKind.PREFIX:
        yield from prefixes(name)
    elif kind is SubjectKind.PORT:
        yield port(device, f"irb.{below[1]}" if name == "irb" and below[:1] == ("unit",) and len(below) > 1 else name)
    else:
        yield Subject(kind, device, name)


def default_subjects(scope: str, part: str, statement: str) -> tuple[Subject, ...]:
    """Return the subjects of a finding that names none: its statement's, else the port of the device, else itself."""
    if statement:
        return tuple(dict.fromkeys(of_statement(scope, statement))) or (device(scope),)
    return (port(scope, part),) if part else (device(scope),)
