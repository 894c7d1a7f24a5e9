"""Nautobot's endpoints and fields: where each kind of records is, and how its values are read and written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from ailb_gen.sot.dialect import COLOR_FIELD, FABRIC_FIELD, TAG, Ids, SourceScope, fabric_tag, refused
from ailb_gen.sot.netbox_fields import COLOR, CONTENT_TYPES, INTERFACE, Row, write_cable_color, write_primary
from ailb_gen.sot.records import Id, Key, Ref, Value, cable_key

# IP addresses and prefixes of other namespaces are other worlds.
NAMESPACE = "Global"
SITE_TYPE = "Site"
# What our tags and location types must allow.
TAGGED_TYPES = (
    "dcim.device", "ipam.ipaddress", "ipam.prefix", "ipam.vlan", "ipam.vlangroup",
)  # fmt: skip
SITE_TYPES = ("dcim.device", "ipam.prefix", "ipam.vlan", "ipam.vlangroup")
BGP_TYPES = (
    "nautobot_bgp_models.autonomoussystem", "nautobot_bgp_models.bgproutinginstance",
    "nautobot_bgp_models.peerendpoint",
)  # fmt: skip
# Drivers of Nornir, NAPALM and Golden Config by platform.
DRIVERS = {"junos-evo": "juniper_junos", "linux": "linux"}


@dataclass(slots=True)
class KnownNames:
    """The names of the objects that rows mention by id; `site` is the id of the site.

    `refs`: records. `ports`: the interfaces of addresses.
    """

    refs: dict[Id, Ref] = field(default_factory=dict)
    ports: dict[Id, Ref] = field(default_factory=dict)
    statuses: dict[Id, str] = field(default_factory=dict)
    site: Id = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A field both ways: the neutral value of a row, and what a request says for a value."""

    read: Callable[[Row, KnownNames], Value]
    write: Callable[[Value, Ids], Row]


Columns: TypeAlias = Mapping[str, Column]


def _plain(name: str, empty: Value = "") -> Column:
    """Return a field whose values are the same here and there; `empty` stands for null."""
    return Column(lambda row, names: empty if row[name] is None else row[name], lambda value, ids: {name: value})


TEXT = _plain("description")
COLORED = Column(lambda row, names: COLOR.read(row), COLOR.write)


def _choice(name: str) -> Column:
    return Column(lambda row, names: row[name]["value"] if row[name] else "", lambda value, ids: {name: value})


def _speed(name: str) -> Column:
    """Return a field in Gb/s, which Nautobot has in kb/s."""
    return Column(
        lambda row, names: row[name] and row[name] // 1_000_000,
        lambda value, ids: {name: value * 1_000_000 if isinstance(value, int) and value else None},
    )


def mentioned(nested: Row | None, names: KnownNames) -> Ref | None:
    """Return what a nested object is; None if it was not read."""
    return names.refs.get(nested["id"]) if nested else None


def _ref(name: str) -> Column:
    return Column(
        lambda row, names: mentioned(row[name], names),
        lambda value, ids: {name: ids[value] if isinstance(value, Ref) else None},
    )


def _status(row: Row, names: KnownNames) -> str:
    return names.statuses.get(row["status"]["id"], "").lower() if row["status"] else ""


def _located(row: Row, names: KnownNames) -> Value:
    """Return our site if an object is there, else the first known one."""
    places = [place["id"] for place in row["locations"]]
    return names.refs.get(names.site if names.site in places else places[0]) if places else None


LOCATED = Column(_located, lambda value, ids: {"location": ids[value] if isinstance(value, Ref) else None})
STATUS = Column(_status, lambda value, ids: {"status": {"name": str(value).capitalize()}})
# Prefixes that are containers of others have a type of their own.
PREFIX_STATUS = Column(
    lambda row, names: "container" if row["type"]["value"] == "container" else _status(row, names),
    lambda value, ids: (
        {"type": "container"} if value == "container" else {"type": "network", **STATUS.write(value, ids)}
    ),
)


def _json(name: str) -> Column:
    """JSON of free form; no text is null."""
    return Column(
        lambda row, names: "" if row[name] is None else json.dumps(row[name], sort_keys=True, ensure_ascii=False),
        lambda value, ids: {name: json.loads(value) if isinstance(value, str) and value else None},
    )


def _primary(row: Row, names: KnownNames) -> Value:
    return mentioned(row["primary_ip4"], names) or mentioned(row["primary_ip6"], names)


def _mac(row: Row, names: KnownNames) -> Value:
    mac, own = row["mac_address"], names.refs.get(row["id"])
    return Ref("mac-address", (*own.key, mac.lower())) if mac and own else None


def _write_mac(value: Value, ids: Ids) -> Row:
    return {"mac_address": value.key[2] if isinstance(value, Ref) else None}


def assigned(row: Row, names: KnownNames) -> Ref | None:
    """Return the interface of an address; the first one by name if it has several."""
    known = [ref for ref in (names.refs.get(port["id"]) for port in row["interfaces"]) if ref]
    return min(known, default=None)


def _ends(row: Row, names: KnownNames) -> tuple[Ref, ...]:
    """Return the known interfaces at the ends of a cable."""
    ends = [row["termination_a_id"], row["termination_b_id"]]
    return tuple(sorted(names.refs[end] for end in ends if end in names.refs))


def _write_ends(value: Value, ids: Ids) -> Row:
    ends = [ids[end] for end in value if isinstance(end, Ref)] if isinstance(value, tuple) else []
    sides = {f"termination_{side}_id": end for side, end in zip("ab", ends, strict=True)}
    return {"termination_a_type": INTERFACE, "termination_b_type": INTERFACE, **sides}


def _tag_of(row: Row, names: KnownNames) -> Value:
    return mentioned(row["tags"][0], names) if len(row["tags"]) == 1 else None


@dataclass(frozen=True, slots=True)
class Resource:
    """Where a kind is: its path, its fields, which rows are read, the key of a row, what a key says in a request.

    `queries` get the scope and the id of its site; each gives rows. `key` is None for a row that no key can name.
    `needs`: the kinds that rows mention. `fixed`: what a new object gets as well. `full`: rows are read with lists of
    related objects.
    """

    path: str
    fields: Columns
    queries: Callable[[SourceScope, Id], Sequence[Row]]
    key: Callable[[Row, KnownNames], Key | None] = lambda row, names: (row["name"],) if row["name"] else None
    body: Callable[[Key], Row] = lambda key: {"name": key[0]}
    needs: tuple[str, ...] = ()
    fixed: Row = field(default_factory=dict)
    full: bool = False


def _everything(scope: SourceScope, site: Id) -> Sequence[Row]:
    return ({},)


def _of_site(scope: SourceScope, site: Id) -> Sequence[Row]:
    return ({"location": site},) if site else ()


def _inside(nested: str, name: str) -> Callable[[Row, KnownNames], Key | None]:
    """Return the key of what is in something else: that one's key, and a name."""

    def key(row: Row, names: KnownNames) -> Key | None:
        parent = mentioned(row[nested], names)
        return (*parent.key, str(row[name])) if parent else None

    return key


def _vlan_of(row: Row, names: KnownNames) -> Key | None:
    group = mentioned(row["vlan_group"], names)
    return (group.key[0] if group else "", str(row["vid"]))


def _cable_of(row: Row, names: KnownNames) -> Key | None:
    """Return the key of a cable with an interface at an end; another end has only its kind, as `another frontport`."""
    ends = _ends(row, names)
    if len(ends) == 2:
        return cable_key(*ends[0].key, *ends[1].key)
    kinds = [row[f"termination_{side}_type"] for side in "ab" if row[f"termination_{side}_id"] not in names.refs]
    if not ends or not kinds or not kinds[0]:
        return None
    device, port = ends[0].key
    return cable_key(device, port, "another", kinds[0].rpartition(".")[2])


ACTIVE = {"status": {"name": "Active"}}
SPACE = {"namespace": {"name": NAMESPACE}}

RESOURCES: dict[str, Resource] = {
    "tag": Resource(
        "extras/tags",
        {"description": TEXT, "color": _plain("color")},
        lambda scope, site: ({"name": [TAG, fabric_tag(scope.fabric)]},),
    ),
    "custom-field": Resource(
        "extras/custom-fields",
        {
            "description": TEXT,
            "kinds": Column(
                lambda row, names: tuple(sorted(row["content_types"])),
                lambda value, ids: (
                    {"content_types": [CONTENT_TYPES[str(one)] for one in value]} if isinstance(value, tuple) else {}
                ),
            ),
        },
        _everything,
        key=lambda row, names: (row["key"],) if row["key"] in (COLOR_FIELD, FABRIC_FIELD) else None,
        body=lambda key: {"key": key[0], "label": key[0], "type": "text"},
    ),
    "site": Resource(
        "dcim/locations",
        {},
        lambda scope, site: ({"name": scope.site},),
        fixed={**ACTIVE, "location_type": {"name": SITE_TYPE}},
    ),
    "manufacturer": Resource("dcim/manufacturers", {}, _everything),
    "device-role": Resource(
        "extras/roles",
        {"color": _plain("color")},
        lambda scope, site: ({"content_types": "dcim.device"},),
        fixed={"content_types": ["dcim.device"]},
    ),
    "device-type": Resource(
        "dcim/device-types",
        {"manufacturer": _ref("manufacturer")},
        lambda scope, site: ({"model": list(scope.models)} if scope.models else {},),
        key=_inside("manufacturer", "model"),
        body=lambda key: {"model": key[1]},
        needs=("manufacturer",),
    ),
    "platform": Resource(
        "dcim/platforms",
        {"manufacturer": _ref("manufacturer")},
        _everything,
        body=lambda key: {"name": key[0], "network_driver": DRIVERS.get(key[0], "")},
        needs=("manufacturer",),
    ),
    "asn": Resource(
        "plugins/bgp/autonomous-systems",
        {"description": TEXT},
        lambda scope, site: [{"asn__gte": first, "asn__lte": last} for first, last in scope.asns],
        key=lambda row, names: (str(row["asn"]),),
        body=lambda key: {"asn": int(key[0])},
        fixed=ACTIVE,
    ),
    "vlan-group": Resource("ipam/vlan-groups", {"site": _ref("location")}, _of_site, needs=("site",)),
    "vlan": Resource(
        "ipam/vlans",
        {"group": _ref("vlan_group"), "site": LOCATED, "name": _plain("name"), "description": TEXT},
        _of_site,
        key=_vlan_of,
        body=lambda key: {"vid": int(key[1])},
        full=True,
        needs=("site", "vlan-group"),
        fixed=ACTIVE,
    ),
    "device": Resource(
        "dcim/devices",
        {
            "site": _ref("location"),
            "role": _ref("role"),
            "type": _ref("device_type"),
            "platform": _ref("platform"),
            "status": STATUS,
            "context": _json("local_config_context_data"),
            "primary_ip": Column(_primary, write_primary),
        },
        _of_site,
        needs=("site", "device-role", "device-type", "platform", "ip-address"),
    ),
    "interface": Resource(
        "dcim/interfaces",
        {
            "device": _ref("device"),
            "type": _choice("type"),
            "enabled": _plain("enabled"),
            "mtu": _plain("mtu", None),
            "speed": _speed("speed"),
            "description": TEXT,
            "management": _plain("mgmt_only"),
            "color": COLORED,
            "mode": _choice("mode"),
            "vlan": _ref("untagged_vlan"),
            "primary_mac": Column(_mac, _write_mac),
        },
        _of_site,
        key=_inside("device", "name"),
        body=lambda key: {"name": key[1]},
        needs=("device", "vlan"),
        fixed=ACTIVE,
    ),
    "prefix": Resource(
        "ipam/prefixes",
        {"site": LOCATED, "status": PREFIX_STATUS, "description": TEXT, "vlan": _ref("vlan"), "color": COLORED},
        lambda scope, site: [{"within_include": network, "namespace": NAMESPACE} for network in scope.networks],
        key=lambda row, names: (row["prefix"],),
        body=lambda key: {"prefix": key[0]},
        full=True,
        needs=("site", "vlan"),
        fixed={**ACTIVE, **SPACE},
    ),
    "ip-address": Resource(
        "ipam/ip-addresses",
        # The interface is another object, see Nautobot.create.
        {"interface": Column(assigned, lambda value, ids: {}), "description": TEXT},
        lambda scope, site: ({"prefix": list(scope.networks), "namespace": NAMESPACE},) if scope.networks else (),
        key=lambda row, names: (row["address"],),
        body=lambda key: {"address": key[0]},
        full=True,
        needs=("interface",),
        fixed={**ACTIVE, **SPACE},
    ),
    "cable": Resource(
        "dcim/cables",
        {"ends": Column(_ends, _write_ends), "status": STATUS, "color": Column(COLORED.read, write_cable_color)},
        lambda scope, site: ({"location_id": site},) if site else (),
        key=_cable_of,
        body=lambda key: {},
        needs=("interface",),
    ),
    "config-context": Resource(
        "extras/config-contexts",
        {
            "description": TEXT,
            "data": _json("data"),
            # The tags of a context are those of the devices that it holds for.
            "tag": Column(_tag_of, lambda value, ids: {"tags": [ids[value]]} if isinstance(value, Ref) else {}),
        },
        lambda scope, site: ({"name": fabric_tag(scope.fabric)},),
        needs=("tag",),
    ),
}


@contextmanager
def naming(refs: Sequence[Ref]) -> Iterator[None]:
    """Name the objects that a bulk request could not create: the answer has an item for each."""
    from ailb_gen.sot.http import RefusedError

    try:
        yield
    except RefusedError as error:
        items = error.body if isinstance(error.body, list) and len(error.body) == len(refs) else []
        reasons: dict[Ref, object] = {ref: item for ref, item in zip(refs, items, strict=False) if item}
        if not reasons and len(refs) == 1:
            reasons = {refs[0]: error.body}
        if not reasons:
            raise
        raise refused("Nautobot", reasons) from error
