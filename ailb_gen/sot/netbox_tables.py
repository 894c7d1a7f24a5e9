"""Where each kind of records is in NetBox: endpoints, queries, keys and fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.sot.dialect import COLOR_FIELD, FABRIC_FIELD, TAG, Ids, SourceScope, fabric_tag
from ailb_gen.sot.netbox_fields import (
    ASSIGNED,
    COLOR,
    CONTENT_TYPES,
    DESCRIPTION,
    KINDS_OF_TYPES,
    SCOPED,
    ApiField,
    Row,
    choice_field,
    interface_key,
    json_field,
    named_field,
    number_field,
    plain_field,
    read_assigned,
    read_ends,
    read_primary,
    read_primary_mac,
    ref_field,
    slug,
    tag_slug,
    write_cable_color,
    write_ends,
    write_primary,
)
from ailb_gen.sot.records import Id, Key, Ref, cable_key


@dataclass(frozen=True, slots=True)
class NetBoxEndpoint:
    """Where a kind is: its path, its fields, the key of a row, what its key says in a body, and which rows are read.

    `queries` get the scope and the id of its site; each gives rows. `key` is None for a row that no key can name.
    `tagged`: rows have tags.
    """

    path: str
    fields: Mapping[str, ApiField]
    queries: Callable[[SourceScope, Id], Sequence[Row]]
    key: Callable[[Row], Key | None] = lambda row: (row["name"],) if row["name"] else None
    key_fields: tuple[str, ...] = ("name",)
    body: Callable[[Key, Ids], Row] = lambda key, ids: {"name": key[0], "slug": slug(key[0])}
    tagged: bool = True

    @property
    def api(self) -> str:
        """The names of all fields, as the parameter `fields` takes them."""
        names = {"id", *self.key_fields, *(name for field in self.fields.values() for name in field.api)}
        return ",".join(sorted(names | ({"tags"} if self.tagged else set())))


def _everything(scope: SourceScope, site: Id) -> Sequence[Row]:
    return ({},)


def _of_site(scope: SourceScope, site: Id) -> Sequence[Row]:
    return ({"site_id": site},) if site else ()


def _tag_names(scope: SourceScope, site: Id) -> Sequence[Row]:
    return ({"name": [TAG, fabric_tag(scope.fabric)]},)


def _cable_of(row: Row) -> Key | None:
    """Return the key of a cable with an interface at an end: two ends, whatever they are."""
    ends = [end["object"] for end in (*row["a_terminations"], *row["b_terminations"])]
    if not read_ends(row) or len(ends) < 2:
        return None
    names = [((end.get("device") or {}).get("name") or "", end.get("name") or end["display"]) for end in ends]
    return cable_key(*names[0], *names[-1])


def _vlan_of(row: Row) -> Key:
    return ((row["group"] or {}).get("name", ""), str(row["vid"]))


ENDPOINTS: dict[str, NetBoxEndpoint] = {
    "tag": NetBoxEndpoint(
        "extras/tags",
        {"description": DESCRIPTION, "color": plain_field("color")},
        _tag_names,
        tagged=False,
        body=lambda key, ids: {"name": key[0], "slug": tag_slug(key[0])},
    ),
    "custom-field": NetBoxEndpoint(
        "extras/custom-fields",
        {
            "description": DESCRIPTION,
            "kinds": ApiField(
                ("object_types",),
                lambda row: tuple(sorted(KINDS_OF_TYPES.get(one, one) for one in row["object_types"])),
                lambda value, ids: (
                    {"object_types": [CONTENT_TYPES[str(one)] for one in value]} if isinstance(value, tuple) else {}
                ),
            ),
        },
        lambda scope, site: ({"name": [COLOR_FIELD, FABRIC_FIELD]},),
        body=lambda key, ids: {"name": key[0], "type": "text"},
        tagged=False,
    ),
    "site": NetBoxEndpoint("dcim/sites", {}, lambda scope, site: ({"name": scope.site},)),
    "manufacturer": NetBoxEndpoint("dcim/manufacturers", {}, _everything),
    "device-role": NetBoxEndpoint("dcim/device-roles", {"color": plain_field("color")}, _everything),
    "device-type": NetBoxEndpoint(
        "dcim/device-types",
        {"manufacturer": named_field("manufacturer", "manufacturer")},
        lambda scope, site: ({"model": list(scope.models)} if scope.models else {},),
        key=lambda row: (row["manufacturer"]["name"], row["model"]),
        key_fields=("manufacturer", "model"),
        body=lambda key, ids: {"model": key[1], "slug": slug(" ".join(key))},
    ),
    "platform": NetBoxEndpoint(
        "dcim/platforms", {"manufacturer": named_field("manufacturer", "manufacturer")}, _everything
    ),
    "rir": NetBoxEndpoint(
        "ipam/rirs", {}, _everything, body=lambda key, ids: {"name": key[0], "slug": slug(key[0]), "is_private": True}
    ),
    "asn": NetBoxEndpoint(
        "ipam/asns",
        {"rir": named_field("rir", "rir"), "description": DESCRIPTION},
        lambda scope, site: [{"asn__gte": first, "asn__lte": last} for first, last in scope.asns],
        key=lambda row: (str(row["asn"]),),
        key_fields=("asn",),
        body=lambda key, ids: {"asn": int(key[0])},
    ),
    "vlan-group": NetBoxEndpoint(
        "ipam/vlan-groups", {"site": SCOPED}, lambda scope, site: ({"site": site},) if site else ()
    ),
    "vlan": NetBoxEndpoint(
        "ipam/vlans",
        {
            "group": named_field("vlan-group", "group"),
            "site": named_field("site", "site"),
            "name": plain_field("name"),
            "description": DESCRIPTION,
        },
        _of_site,
        key=_vlan_of,
        key_fields=("vid", "group"),
        body=lambda key, ids: {"vid": int(key[1])},
    ),
    "device": NetBoxEndpoint(
        "dcim/devices",
        {
            "site": named_field("site", "site"),
            "role": named_field("device-role", "role"),
            "type": ref_field(
                "device-type", "device_type", lambda nested: (nested["manufacturer"]["name"], nested["model"])
            ),
            "platform": named_field("platform", "platform"),
            "status": choice_field("status"),
            "context": json_field("local_context_data"),
            "primary_ip": ApiField(("primary_ip4", "primary_ip6"), read_primary, write_primary),
        },
        _of_site,
        body=lambda key, ids: {"name": key[0]},
    ),
    "interface": NetBoxEndpoint(
        "dcim/interfaces",
        {
            "device": named_field("device", "device"),
            "type": choice_field("type"),
            "enabled": plain_field("enabled"),
            "mtu": plain_field("mtu", None),
            "speed": number_field("speed", 1_000_000),
            "description": DESCRIPTION,
            "management": plain_field("mgmt_only"),
            "color": COLOR,
            "mode": choice_field("mode"),
            "vlan": ref_field("vlan", "untagged_vlan", lambda nested: ("", str(nested["vid"]))),
            "primary_mac": ApiField(
                ("primary_mac_address",),
                read_primary_mac,
                lambda value, ids: {"primary_mac_address": ids[value] if isinstance(value, Ref) else None},
            ),
        },
        _of_site,
        key=lambda row: interface_key(row) if row["device"]["name"] else None,
        key_fields=("device", "name"),
        body=lambda key, ids: {"name": key[1]},
    ),
    "mac-address": NetBoxEndpoint(
        "dcim/mac-addresses",
        {"interface": ASSIGNED},
        # What interfaces of the site have is read with the interfaces.
        lambda scope, site: (),
        key=lambda row: (*ref.key, row["mac_address"].lower()) if isinstance(ref := read_assigned(row), Ref) else None,
        key_fields=("mac_address",),
        body=lambda key, ids: {"mac_address": key[2]},
    ),
    "prefix": NetBoxEndpoint(
        "ipam/prefixes",
        {
            "site": SCOPED,
            "status": choice_field("status"),
            "description": DESCRIPTION,
            "vlan": ref_field("vlan", "vlan", lambda nested: ("", str(nested["vid"]))),
            "color": COLOR,
        },
        lambda scope, site: [{"within_include": network, "vrf_id": "null"} for network in scope.networks],
        key=lambda row: (row["prefix"],),
        key_fields=("prefix",),
        body=lambda key, ids: {"prefix": key[0]},
    ),
    "ip-address": NetBoxEndpoint(
        "ipam/ip-addresses",
        {"interface": ASSIGNED, "description": DESCRIPTION},
        lambda scope, site: ({"parent": list(scope.networks), "vrf_id": "null"},) if scope.networks else (),
        key=lambda row: (row["address"],),
        key_fields=("address",),
        body=lambda key, ids: {"address": key[0]},
    ),
    "cable": NetBoxEndpoint(
        "dcim/cables",
        {
            "ends": ApiField(("a_terminations", "b_terminations"), read_ends, write_ends),
            "status": choice_field("status"),
            "color": ApiField((*COLOR.api, "color"), COLOR.read, write_cable_color),
        },
        _of_site,
        key=_cable_of,
        key_fields=(),
        body=lambda key, ids: {},
    ),
    "bgp-session": NetBoxEndpoint(
        "plugins/bgp/session",
        {
            "device": named_field("device", "device"),
            "site": named_field("site", "site"),
            "local_address": ref_field("ip-address", "local_address", lambda nested: (nested["address"],)),
            "remote_address": ref_field("ip-address", "remote_address", lambda nested: (nested["address"],)),
            "local_asn": ref_field("asn", "local_as", lambda nested: (str(nested["asn"]),)),
            "remote_asn": ref_field("asn", "remote_as", lambda nested: (str(nested["asn"]),)),
            "status": choice_field("status"),
            "description": DESCRIPTION,
        },
        _of_site,
        key=lambda row: (row["device"]["name"] or "", row["name"] or "") if row["device"] else None,
        key_fields=("device", "name"),
        body=lambda key, ids: {"name": key[1]},
    ),
    "config-context": NetBoxEndpoint(
        "extras/config-contexts",
        {
            "description": DESCRIPTION,
            "data": json_field("data"),
            # The tags of a context are those of the devices that it holds for.
            "tag": ApiField(
                ("tags",),
                lambda row: Ref("tag", (row["name"],)) if row["tags"] == [tag_slug(row["name"])] else None,
                lambda value, ids: {"tags": [tag_slug(value.key[0])]} if isinstance(value, Ref) else {},
            ),
        },
        lambda scope, site: ({"name": fabric_tag(scope.fabric)},),
        body=lambda key, ids: {"name": key[0]},
    ),
}
# Their tags mean something else, or they have none.
UNTAGGED = ("tag", "custom-field", "config-context")
# What a fabric has a hundred thousand of has its fabric in a custom field: two tags double the time that NetBox needs.
MARKED = ("interface",)
# No two have the same slug.
SLUGGED = ("site", "manufacturer", "device-role", "device-type", "platform", "rir", "vlan-group")
