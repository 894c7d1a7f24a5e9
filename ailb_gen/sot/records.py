"""Neutral records: the objects of a source of truth by their natural names, without its ids and field names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

Key: TypeAlias = tuple[str, ...]
# The id of an object in its service: a number (NetBox), a UUID (Nautobot).
Id: TypeAlias = int | str


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """A reference to another record by its kind and key."""

    kind: str
    key: Key

    def __str__(self) -> str:
        return f"{self.kind} {label(self.kind, self.key)}"


# JSON of free form (contexts, the data of a config context) is text with sorted keys.
Value: TypeAlias = str | int | bool | Ref | tuple["Value", ...] | None


@dataclass(frozen=True, slots=True)
class RecordKind:
    """A kind of records: the names that its key consists of, and the fields that records of it may have.

    `shared`: other fabrics and people use such objects, too. What exists is used and never changed; it is not deleted.
    `late`: fields that refer to kinds created later; they are written at the end. `inside`: the kind of the record that
    such an object is a part of, whose key is the beginning of its own; who owns that may change it.
    """

    key: tuple[str, ...]
    fields: tuple[str, ...]
    shared: bool = False
    late: tuple[str, ...] = ()
    inside: str = ""


# In the order of dependency: what stands later may refer to what stands before. Deletes go the other way.
KINDS: dict[str, RecordKind] = {
    # color: six hexadecimal digits.
    "tag": RecordKind(("name",), ("description", "color"), shared=True),
    # type: text; kinds: the kinds that have the field.
    "custom-field": RecordKind(("name",), ("description", "kinds"), shared=True),
    "site": RecordKind(("name",), (), shared=True),
    "manufacturer": RecordKind(("name",), (), shared=True),
    "device-role": RecordKind(("name",), ("color",), shared=True),
    # ports: pairs of name and type of every physical port; creating a device creates these interfaces.
    "device-type": RecordKind(("manufacturer", "model"), ("manufacturer", "ports"), shared=True),
    "platform": RecordKind(("name",), ("manufacturer",), shared=True),
    "rir": RecordKind(("name",), (), shared=True),
    "asn": RecordKind(("number",), ("rir", "description")),
    "vlan-group": RecordKind(("name",), ("site",)),
    "vlan": RecordKind(("group", "id"), ("group", "site", "name", "description")),
    # context: JSON of what a template needs; asn and stripe are in it. status: active, planned, offline and so on.
    "device": RecordKind(
        ("device",),
        ("site", "role", "type", "platform", "status", "context", "primary_ip"),
        late=("primary_ip",),
    ),
    # type: as in NetBox's choices; mtu in bytes, speed in Gb/s; vlan: the untagged (native) one; color: the fabric's.
    "interface": RecordKind(
        ("device", "port"),
        (
            "device",
            "type",
            "enabled",
            "mtu",
            "speed",
            "description",
            "management",
            "color",
            "mode",
            "vlan",
            "primary_mac",
        ),
        late=("primary_mac",),
        inside="device",
    ),
    "mac-address": RecordKind(("device", "port", "mac"), ("interface",)),
    # status: active, or container of other prefixes.
    "prefix": RecordKind(("prefix",), ("site", "status", "description", "vlan", "color")),
    # With its prefix length.
    "ip-address": RecordKind(("address",), ("interface", "description")),
    # Both ends in order; color: the fabric's, empty for cables of servers.
    "cable": RecordKind(("a_device", "a_port", "b_device", "b_port"), ("ends", "status", "color")),
    "bgp-session": RecordKind(
        ("device", "name"),
        ("device", "site", "local_address", "remote_address", "local_asn", "remote_asn", "status", "description"),
    ),
    # data: JSON; tag: the devices that it holds for.
    "config-context": RecordKind(("name",), ("description", "data", "tag")),
}
ORDER = {kind: number for number, kind in enumerate(KINDS)}


def label(kind: str, key: Key) -> str:
    """Return a key as people read it: `leaf1 et-0/0/0`, `leaf1 et-0/0/0 - spine1 et-0/0/1`."""
    return f"{key[0]} {key[1]} - {key[2]} {key[3]}" if kind == "cable" else " ".join(key)


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """An object: its kind, its natural key and its fields. Without a field nothing is said about it.

    `shared`: this object alone is treated as one of a shared kind, such as a management network.
    """

    kind: str
    key: Key
    fields: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    shared: bool = False

    def __post_init__(self) -> None:
        kind = KINDS[self.kind]
        if len(self.key) != len(kind.key) or not self.fields.keys() <= set(kind.fields):
            raise ValueError(f"not a {self.kind}: {self.key}, {sorted(self.fields)}")

    def __str__(self) -> str:
        return f"{self.kind} {label(self.kind, self.key)}"

    @property
    def ref(self) -> Ref:
        """The reference to this record."""
        return Ref(self.kind, self.key)

    @property
    def sort_key(self) -> tuple[int, Key]:
        """Its place among all records: by dependency, then by name."""
        return ORDER[self.kind], self.key

    @property
    def is_shared(self) -> bool:
        """Whether others may use the object, too."""
        return self.shared or KINDS[self.kind].shared


def cable_key(device: str, port: str, other: str, other_port: str) -> Key:
    """Return the key of the cable between two ports."""
    ends = sorted([(device, port), (other, other_port)])
    return (*ends[0], *ends[1])


def cable_ends(key: Key) -> tuple[Ref, Ref]:
    """Return the interfaces at the ends of a cable."""
    return Ref("interface", key[:2]), Ref("interface", key[2:])
