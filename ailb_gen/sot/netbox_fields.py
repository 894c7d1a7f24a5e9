"""Fields of NetBox's objects, read as neutral values and written from them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from zlib import crc32

from ailb_gen.sot.dialect import COLOR_FIELD, Ids
from ailb_gen.sot.records import Key, Ref, Value

# JSON of the service.
Row: TypeAlias = dict[str, Any]
# Names of colors in NetBox's palette (netbox/choices.py, ColorChoices).
PALETTE = {
    "red": "f44336", "pink": "e91e63", "fuchsia": "ff66ff", "purple": "9c27b0", "indigo": "3f51b5", "blue": "2196f3",
    "cyan": "00bcd4", "teal": "009688", "aqua": "00ffff", "green": "4caf50", "lime": "cddc39", "yellow": "ffeb3b",
    "amber": "ffc107", "orange": "ff9800", "brown": "795548", "gray": "9e9e9e", "grey": "9e9e9e", "black": "111111",
    "white": "ffffff",
}  # fmt: skip
CONTENT_TYPES = {"cable": "dcim.cable", "interface": "dcim.interface", "prefix": "ipam.prefix"}
KINDS_OF_TYPES = {content: kind for kind, content in CONTENT_TYPES.items()}
INTERFACE = CONTENT_TYPES["interface"]


def slug(name: str) -> str:
    """Return the slug of a name, as NetBox's forms make it; a name without any ASCII letter gets its checksum."""
    text = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "-", name, flags=re.ASCII)).strip("-").lower()[:100]
    return text or _checksum(name)


def tag_slug(name: str) -> str:
    """Return the slug of a tag; names that differ by a dot or in capitals have different ones."""
    text = slug(name)
    return text if text == name else f"{text[:90]}-{_checksum(name)}"


def _checksum(name: str) -> str:
    return f"{crc32(name.encode()):08x}"


@dataclass(frozen=True, slots=True)
class ApiField:
    """A field both ways: the neutral value of a row, and what a body gets for a value.

    `api`: the names of the fields in NetBox.
    """

    api: tuple[str, ...]
    read: Callable[[Row], Value]
    write: Callable[[Value, Ids], Row]


def plain_field(name: str, empty: Value = "") -> ApiField:
    """Return a field whose values are the same on both sides; `empty` stands for null."""
    return ApiField((name,), lambda row: empty if row[name] is None else row[name], lambda value, ids: {name: value})


def choice_field(name: str) -> ApiField:
    """Return a field of one of NetBox's choices."""
    return ApiField((name,), lambda row: row[name]["value"] if row[name] else "", lambda value, ids: {name: value})


def number_field(name: str, factor: int = 1) -> ApiField:
    """Return a field of numbers; null stands for none, and `factor` of theirs are one of ours."""
    return ApiField(
        (name,),
        lambda row: row[name] and row[name] // factor,
        lambda value, ids: {name: value * factor if isinstance(value, int) and value else None},
    )


def ref_field(kind: str, name: str, key: Callable[[Row], Key]) -> ApiField:
    """Return a field that refers to an object; `key` makes the key of its nested form."""
    return ApiField(
        (name,),
        lambda row: Ref(kind, key(row[name])) if row[name] else None,
        lambda value, ids: {name: ids[value] if isinstance(value, Ref) else None},
    )


def named_field(kind: str, name: str) -> ApiField:
    """Return a field that refers to an object by its name."""
    return ref_field(kind, name, lambda nested: (nested["name"],))


def _site(row: Row) -> Value:
    return Ref("site", (row["scope"]["name"],)) if row["scope_type"] == "dcim.site" and row["scope"] else None


SCOPED = ApiField(
    ("scope_type", "scope_id", "scope"),
    _site,
    lambda value, ids: {"scope_type": "dcim.site", "scope_id": ids[value]} if isinstance(value, Ref) else {},
)
COLOR = ApiField(
    ("custom_fields",),
    lambda row: row["custom_fields"].get(COLOR_FIELD) or "",
    lambda value, ids: {"custom_fields": {COLOR_FIELD: value or None}},
)


def _text(data: object) -> str:
    return "" if data is None else json.dumps(data, sort_keys=True, ensure_ascii=False)


def json_field(name: str) -> ApiField:
    """JSON of free form; no text is null."""
    return ApiField(
        (name,),
        lambda row: _text(row[name]),
        lambda value, ids: {name: json.loads(value) if isinstance(value, str) and value else None},
    )


def read_primary(row: Row) -> Value:
    """Return the primary address of a device."""
    nested = row["primary_ip4"] or row["primary_ip6"]
    return Ref("ip-address", (nested["address"],)) if nested else None


def write_primary(value: Value, ids: Ids) -> Row:
    """Set the primary address of a device, by its family, or none."""
    if not isinstance(value, Ref):
        return {"primary_ip4": None, "primary_ip6": None}
    return {"primary_ip6" if ":" in value.key[0] else "primary_ip4": ids[value]}


def read_primary_mac(row: Row) -> Value:
    """Return the primary MAC address of an interface."""
    nested = row["primary_mac_address"]
    return Ref("mac-address", (*interface_key(row), nested["mac_address"].lower())) if nested else None


def interface_key(nested: Row) -> Key:
    """Return the key of a nested interface; of a device without a name it has none."""
    return (nested["device"]["name"] or "", nested["name"])


def read_assigned(row: Row) -> Value:
    """Return the interface that an address is assigned to."""
    held = row["assigned_object"]
    return Ref("interface", interface_key(held)) if held and row["assigned_object_type"] == INTERFACE else None


def _write_assigned(value: Value, ids: Ids) -> Row:
    known = isinstance(value, Ref)
    return {
        "assigned_object_type": INTERFACE if known else None,
        "assigned_object_id": ids[value] if isinstance(value, Ref) else None,
    }


ASSIGNED = ApiField(("assigned_object_type", "assigned_object_id", "assigned_object"), read_assigned, _write_assigned)


def read_ends(row: Row) -> tuple[Ref, ...]:
    """Return the interfaces at the ends of a cable; other ends (circuits, patch panels) are left out."""
    ends = [*row["a_terminations"], *row["b_terminations"]]
    return tuple(
        sorted(Ref("interface", interface_key(end["object"])) for end in ends if end["object_type"] == INTERFACE)
    )


def write_ends(value: Value, ids: Ids) -> Row:
    """Set the two ends of a cable."""
    ends = value if isinstance(value, tuple) else ()
    ports = [[{"object_type": INTERFACE, "object_id": ids[end]}] for end in ends if isinstance(end, Ref)]
    return {"a_terminations": ports[0], "b_terminations": ports[1]}


def write_cable_color(value: Value, ids: Ids) -> Row:
    """Set the fabric's color, and NetBox's where it has one of that name."""
    return {**COLOR.write(value, ids), "color": PALETTE.get(str(value).lower(), "")}


NAME = ApiField(("name",), lambda row: row["name"] or "", lambda value, ids: {"name": value})
DESCRIPTION = plain_field("description")
