"""NetBox as a source of truth: tables of endpoints and fields, over pynetbox."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ailb_gen.errors import UsageError
from ailb_gen.optional import without_extra
from ailb_gen.sot.dialect import (
    COLOR_FIELD,
    FABRIC_FIELD,
    TAG,
    Ids,
    RecordChange,
    SourceError,
    SourceScope,
    Stored,
    fabric_tag,
)
from ailb_gen.sot.records import KINDS, Id, Key, Ref, SourceRecord, Value, cable_key

if TYPE_CHECKING:
    from ailb_gen.sot.http import ServiceSession

# JSON of the service.
Row: TypeAlias = dict[str, Any]
# NetBox's own limit; a service with a lower one answers with shorter pages.
PAGE = 1000
# Requests at once.
CONNECTIONS = 8
# How much of a refusal is shown, in characters.
SHOWN = 400
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
    """Return the slug of a name, as NetBox's forms make it."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "-", name, flags=re.ASCII)).strip("-").lower()[:100]


@dataclass(frozen=True, slots=True)
class ApiField:
    """A field both ways: the neutral value of a row, and what a body gets for a value.

    `api`: the names of the fields in NetBox.
    """

    api: tuple[str, ...]
    read: Callable[[Row], Value]
    write: Callable[[Value, Ids], Row]


def _plain(name: str, empty: Value = "") -> ApiField:
    """Return a field whose values are the same on both sides; `empty` stands for null."""
    return ApiField((name,), lambda row: empty if row[name] is None else row[name], lambda value, ids: {name: value})


def _choice(name: str) -> ApiField:
    return ApiField((name,), lambda row: row[name]["value"] if row[name] else "", lambda value, ids: {name: value})


def _number(name: str, factor: int = 1) -> ApiField:
    """Return a field of numbers; null stands for none, and `factor` of theirs are one of ours."""
    return ApiField(
        (name,),
        lambda row: row[name] and row[name] // factor,
        lambda value, ids: {name: value * factor if isinstance(value, int) and value else None},
    )


def _ref(kind: str, name: str, key: Callable[[Row], Key]) -> ApiField:
    """Return a field that refers to an object; `key` makes the key of its nested form."""
    return ApiField(
        (name,),
        lambda row: Ref(kind, key(row[name])) if row[name] else None,
        lambda value, ids: {name: ids[value] if isinstance(value, Ref) else None},
    )


def _named(kind: str, name: str) -> ApiField:
    return _ref(kind, name, lambda nested: (nested["name"],))


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


def _json(name: str) -> ApiField:
    """JSON of free form; no text is null."""
    return ApiField(
        (name,),
        lambda row: _text(row[name]),
        lambda value, ids: {name: json.loads(value) if isinstance(value, str) and value else None},
    )


def _primary(row: Row) -> Value:
    nested = row["primary_ip4"] or row["primary_ip6"]
    return Ref("ip-address", (nested["address"],)) if nested else None


def _write_primary(value: Value, ids: Ids) -> Row:
    if not isinstance(value, Ref):
        return {"primary_ip4": None, "primary_ip6": None}
    return {"primary_ip6" if ":" in value.key[0] else "primary_ip4": ids[value]}


def _primary_mac(row: Row) -> Value:
    nested = row["primary_mac_address"]
    return Ref("mac-address", (*_interface(row), nested["mac_address"].lower())) if nested else None


def _interface(nested: Row) -> Key:
    return (nested["device"]["name"] or "", nested["name"])


def _assigned(row: Row) -> Value:
    held = row["assigned_object"]
    return Ref("interface", _interface(held)) if held and row["assigned_object_type"] == INTERFACE else None


def _write_assigned(value: Value, ids: Ids) -> Row:
    known = isinstance(value, Ref)
    return {
        "assigned_object_type": INTERFACE if known else None,
        "assigned_object_id": ids[value] if isinstance(value, Ref) else None,
    }


ASSIGNED = ApiField(("assigned_object_type", "assigned_object_id", "assigned_object"), _assigned, _write_assigned)


def _ends(row: Row) -> tuple[Ref, ...]:
    """Return the interfaces at the ends of a cable; other ends (circuits, patch panels) are left out."""
    ends = [*row["a_terminations"], *row["b_terminations"]]
    return tuple(sorted(Ref("interface", _interface(end["object"])) for end in ends if end["object_type"] == INTERFACE))


def _write_ends(value: Value, ids: Ids) -> Row:
    ends = value if isinstance(value, tuple) else ()
    ports = [[{"object_type": INTERFACE, "object_id": ids[end]}] for end in ends if isinstance(end, Ref)]
    return {"a_terminations": ports[0], "b_terminations": ports[1]}


def _write_cable_color(value: Value, ids: Ids) -> Row:
    return {**COLOR.write(value, ids), "color": PALETTE.get(str(value).lower(), "")}


NAME = ApiField(("name",), lambda row: row["name"] or "", lambda value, ids: {"name": value})
DESCRIPTION = _plain("description")


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
    """Return the key of a cable with an interface at either end and no more."""
    ends = _ends(row)
    plain = len(ends) == 2 == len(row["a_terminations"]) + len(row["b_terminations"])
    return cable_key(*ends[0].key, *ends[1].key) if plain else None


def _vlan_of(row: Row) -> Key:
    return ((row["group"] or {}).get("name", ""), str(row["vid"]))


ENDPOINTS: dict[str, NetBoxEndpoint] = {
    "tag": NetBoxEndpoint(
        "extras/tags", {"description": DESCRIPTION, "color": _plain("color")}, _tag_names, tagged=False
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
    "device-role": NetBoxEndpoint("dcim/device-roles", {"color": _plain("color")}, _everything),
    "device-type": NetBoxEndpoint(
        "dcim/device-types",
        {"manufacturer": _named("manufacturer", "manufacturer")},
        lambda scope, site: ({"model": list(scope.models)} if scope.models else {},),
        key=lambda row: (row["manufacturer"]["name"], row["model"]),
        key_fields=("manufacturer", "model"),
        body=lambda key, ids: {"model": key[1], "slug": slug(" ".join(key))},
    ),
    "platform": NetBoxEndpoint("dcim/platforms", {"manufacturer": _named("manufacturer", "manufacturer")}, _everything),
    "rir": NetBoxEndpoint(
        "ipam/rirs", {}, _everything, body=lambda key, ids: {"name": key[0], "slug": slug(key[0]), "is_private": True}
    ),
    "asn": NetBoxEndpoint(
        "ipam/asns",
        {"rir": _named("rir", "rir"), "description": DESCRIPTION},
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
            "group": _named("vlan-group", "group"),
            "site": _named("site", "site"),
            "name": _plain("name"),
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
            "site": _named("site", "site"),
            "role": _named("device-role", "role"),
            "type": _ref(
                "device-type", "device_type", lambda nested: (nested["manufacturer"]["name"], nested["model"])
            ),
            "platform": _named("platform", "platform"),
            "status": _choice("status"),
            "context": _json("local_context_data"),
            "primary_ip": ApiField(("primary_ip4", "primary_ip6"), _primary, _write_primary),
        },
        _of_site,
        body=lambda key, ids: {"name": key[0]},
    ),
    "interface": NetBoxEndpoint(
        "dcim/interfaces",
        {
            "device": _named("device", "device"),
            "type": _choice("type"),
            "enabled": _plain("enabled"),
            "mtu": _plain("mtu", None),
            "speed": _number("speed", 1_000_000),
            "description": DESCRIPTION,
            "management": _plain("mgmt_only"),
            "color": COLOR,
            "mode": _choice("mode"),
            "vlan": _ref("vlan", "untagged_vlan", lambda nested: ("", str(nested["vid"]))),
            "primary_mac": ApiField(
                ("primary_mac_address",),
                _primary_mac,
                lambda value, ids: {"primary_mac_address": ids[value] if isinstance(value, Ref) else None},
            ),
        },
        _of_site,
        key=lambda row: _interface(row) if row["device"]["name"] else None,
        key_fields=("device", "name"),
        body=lambda key, ids: {"name": key[1]},
    ),
    "mac-address": NetBoxEndpoint(
        "dcim/mac-addresses",
        {"interface": ASSIGNED},
        # What interfaces of the site have is read with the interfaces.
        lambda scope, site: (),
        key=lambda row: (*ref.key, row["mac_address"].lower()) if isinstance(ref := _assigned(row), Ref) else None,
        key_fields=("mac_address",),
        body=lambda key, ids: {"mac_address": key[2]},
    ),
    "prefix": NetBoxEndpoint(
        "ipam/prefixes",
        {
            "site": SCOPED,
            "status": _choice("status"),
            "description": DESCRIPTION,
            "vlan": _ref("vlan", "vlan", lambda nested: ("", str(nested["vid"]))),
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
            "ends": ApiField(("a_terminations", "b_terminations"), _ends, _write_ends),
            "status": _choice("status"),
            "color": ApiField((*COLOR.api, "color"), COLOR.read, _write_cable_color),
        },
        _of_site,
        key=_cable_of,
        key_fields=(),
        body=lambda key, ids: {},
    ),
    "bgp-session": NetBoxEndpoint(
        "plugins/bgp/session",
        {
            "device": _named("device", "device"),
            "site": _named("site", "site"),
            "local_address": _ref("ip-address", "local_address", lambda nested: (nested["address"],)),
            "remote_address": _ref("ip-address", "remote_address", lambda nested: (nested["address"],)),
            "local_asn": _ref("asn", "local_as", lambda nested: (str(nested["asn"]),)),
            "remote_asn": _ref("asn", "remote_as", lambda nested: (str(nested["asn"]),)),
            "status": _choice("status"),
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
            "data": _json("data"),
            # The tags of a context are those of the devices that it holds for.
            "tag": ApiField(
                ("tags",),
                lambda row: Ref("tag", (row["tags"][0],)) if len(row["tags"]) == 1 else None,
                lambda value, ids: {"tags": [slug(value.key[0])]} if isinstance(value, Ref) else {},
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
TEMPLATES = "dcim/interface-templates"


class NetBox:
    """A NetBox (at least 4.2), reached with a token. Raises UsageError without pynetbox."""

    name = "NetBox"

    def __init__(self, url: str, token: str) -> None:
        try:
            import pynetbox
        except ImportError as error:
            raise without_extra("inventory", "the package pynetbox is not installed", "netbox") from error
        from ailb_gen.sot.http import ServiceSession

        self.session: ServiceSession = ServiceSession(url, token, CONNECTIONS)
        # Tokens of version 2 are sent in another way, which pynetbox knows.
        self._api = pynetbox.api(url, token=token)
        self._api.http_session = self.session
        self._plugins: frozenset[str] | None = None
        self._cursors = False
        # The neutral names of objects whose nested form does not say all of them.
        self._vlans: dict[Id, Ref] = {}
        self._macs: list[tuple[Id, Key]] = []

    def __repr__(self) -> str:
        return f"NetBox({self._api.base_url!r})"

    def kinds(self) -> Mapping[str, frozenset[str]]:
        """Return the kinds of records that this NetBox can hold: BGP sessions need the plug-in netbox-bgp."""
        if self._plugins is None:
            self._check_version()
            found = self._rows("plugins", {})
            self._plugins = frozenset(name for row in found for name in row)
        left_out = () if "bgp" in self._plugins else ("bgp-session",)
        return {kind: frozenset(KINDS[kind].fields) for kind in ENDPOINTS if kind not in left_out}

    def _check_version(self) -> None:
        status: object = next(self._rows("status", {}))
        version = str(status.get("netbox-version", "")) if isinstance(status, dict) else ""
        if not (found := re.match(r"(\d+)\.(\d+)", version)):
            raise UsageError(f"{self._api.base_url}: no NetBox answers there")
        if (release := tuple(map(int, found.groups()))) < (4, 2):
            raise UsageError(f"{self._api.base_url}: this is NetBox {version[:20]}; 4.2 or later is needed")
        self._cursors = release >= (4, 6)

    def read(self, kinds: Sequence[str], scope: SourceScope) -> Iterator[Stored]:
        """Yield the stored records of these kinds; several may have the same key."""
        known = self.kinds()
        site = next((row["id"] for row in self._rows("dcim/sites", {"name": scope.site, "fields": "id"})), 0)
        # A tag that does not exist is an error to NetBox.
        ours = slug(fabric_tag(scope.fabric))
        tags = [{"tag": ours}] if any(self._rows("extras/tags", {"slug": ours, "fields": "id"})) else []
        if "mac-address" in kinds and "interface" not in kinds:
            raise ValueError("MAC addresses are read with the interfaces that have them")
        for kind in (kind for kind in KINDS if kind in kinds and kind in known):
            queries = ENDPOINTS[kind].queries(scope, site)
            everything = kind in UNTAGGED or kind in MARKED or {} in queries
            yield from self._read(kind, scope, [*queries, *([] if everything else tags)])

    def _read(self, kind: str, scope: SourceScope, queries: Sequence[Row]) -> Iterator[Stored]:
        place = ENDPOINTS[kind]
        fields = place.api + (",mac_addresses" if kind == "interface" else "")
        macs: list[tuple[Id, Key]] = []
        templates = self._templates(scope) if kind == "device-type" else {}
        known: set[Id] = set()
        for row in (row for query in queries for row in self._rows(place.path, {**query, "fields": fields})):
            if row["id"] in known or (key := place.key(row)) is None:
                continue
            known.add(row["id"])
            macs += [(mac["id"], (*key, mac["mac_address"].lower())) for mac in row.get("mac_addresses") or ()]
            values = {name: self._resolved(row, field) for name, field in place.fields.items()}
            if kind == "device-type":
                values["ports"] = tuple(sorted(templates.get(row["id"], ())))
            record = SourceRecord(kind, key, values)
            if kind == "vlan":
                self._vlans[row["id"]] = record.ref
            yield Stored(record, row["id"], _owned(kind, row, scope))
        if kind == "interface":
            self._macs = macs
        if kind == "mac-address":
            yield from self._other_macs(known)

    def _resolved(self, row: Row, field: ApiField) -> Value:
        """Return a value; a nested VLAN does not say its group."""
        value = field.read(row)
        if isinstance(value, Ref) and value.kind == "vlan":
            return self._vlans.get(row[field.api[0]]["id"], value)
        return value

    def _other_macs(self, known: set[Id]) -> Iterator[Stored]:
        """Yield the MAC addresses that interfaces have and that are not ours: they were read with the interfaces."""
        for number, key in self._macs:
            if number not in known:
                yield Stored(SourceRecord("mac-address", key, {"interface": Ref("interface", key[:2])}), number, False)

    def _templates(self, scope: SourceScope) -> Mapping[Id, list[tuple[str, str]]]:
        """Return the ports of device types by the type's id: name and type of each."""
        types = {"model": list(scope.models)} if scope.models else {}
        found: dict[Id, list[tuple[str, str]]] = {
            row["id"]: [] for row in self._rows("dcim/device-types", {**types, "fields": "id"})
        }
        if found:
            query = {"device_type_id": list(found)} if scope.models else {}
            for row in self._rows(TEMPLATES, {**query, "fields": "device_type,name,type"}):
                if row["device_type"]:
                    found.setdefault(row["device_type"]["id"], []).append((row["name"], row["type"]["value"]))
        return found

    def create(self, kind: str, records: Sequence[SourceRecord], ids: Ids, scope: SourceScope) -> list[Id]:
        """Create records of one kind in one request, with the tags of the fabric; return their ids in order."""
        late = KINDS[kind].late
        bodies = []
        for record in records:
            values = {name: value for name, value in record.fields.items() if name not in late}
            body = {**ENDPOINTS[kind].body(record.key, ids), **_body(kind, values, ids)}
            bodies.append({**body, **self._owning(kind, ids, scope, (), body)})
        path = ENDPOINTS[kind].path
        # The answer has the fields of the request and no more: rendering them all takes as long as storing them.
        fields = ",".join(sorted({"id", *(name for body in bodies for name in body)}))
        with _naming([record.ref for record in records]):
            rows = self._call(path, {"fields": fields}, lambda request: request.post(bodies))
        made: list[Id] = [row["id"] for row in rows]
        if kind == "device-type":
            for number, record in zip(made, records, strict=True):
                self._add_ports(number, record.fields.get("ports"))
        if kind == "vlan":
            self._vlans |= {number: record.ref for number, record in zip(made, records, strict=True)}
        return made

    def _owning(self, kind: str, ids: Ids, scope: SourceScope, tags: Sequence[Id], fields: Row) -> Row:
        """Return what makes an object ours: its tags, with those that it has already, or a custom field."""
        if kind in UNTAGGED:
            return {}
        if kind in MARKED:
            return {"custom_fields": {**fields.get("custom_fields", {}), FABRIC_FIELD: scope.fabric}}
        ours = [ids[Ref("tag", (name,))] for name in (TAG, fabric_tag(scope.fabric))]
        return {"tags": [*tags, *ours]}

    def _add_ports(self, number: Id, ports: Value) -> None:
        bodies = [
            {"device_type": number, "name": port[0], "type": port[1]}
            for port in (ports if isinstance(ports, tuple) else ())
            if isinstance(port, tuple)
        ]
        if bodies:
            self._call(TEMPLATES, {}, lambda request: request.post(bodies))

    def update(self, kind: str, changes: Sequence[RecordChange], ids: Ids, scope: SourceScope) -> None:
        """Set fields of stored records of one kind in one request; other fields and tags stay."""
        bodies = []
        tags = self._tags_of(kind, [change.stored.id for change in changes if change.adopt])
        for change in changes:
            values = dict(change.fields)
            if (ports := values.pop("ports", None)) is not None:
                self._add_ports(change.stored.id, ports)
            body = _body(kind, values, ids)
            if change.adopt:
                body |= self._owning(kind, ids, scope, tags.get(change.stored.id, ()), body)
            if body:
                bodies.append({"id": change.stored.id, **body})
        if bodies:
            with _naming([change.stored.record.ref for change in changes], [change.stored.id for change in changes]):
                self._call(ENDPOINTS[kind].path, {}, lambda request: request.patch(bodies))

    def _tags_of(self, kind: str, ids: Sequence[Id]) -> Mapping[Id, list[Id]]:
        """Return the tags that objects have."""
        if not ids or kind in (*UNTAGGED, *MARKED):
            return {}
        rows = self._rows(ENDPOINTS[kind].path, {"id": list(ids), "fields": "id,tags"})
        return {row["id"]: [tag["id"] for tag in row["tags"]] for row in rows}

    def delete(self, kind: str, stored: Sequence[Stored]) -> None:
        """Delete stored records of one kind in one request; those that are gone already are no error."""
        ids = [one.id for one in stored]
        path = ENDPOINTS[kind].path
        left = {row["id"] for row in self._rows(path, {"id": ids, "fields": "id"})}
        if left:
            self._call(path, {}, lambda request: request.delete([{"id": number} for number in left]))

    def _rows(self, path: str, query: Row) -> Iterator[Row]:
        """Yield the rows of a query, page by page; with cursors nothing is left out when objects vanish meanwhile."""
        order = {} if self._cursors else {"ordering": "id"}
        yield from self._call(path, {**query, **order}, lambda request: request.get())

    def _call(self, path: str, query: Row, what: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - JSON
        """Do something with a request of pynetbox. Raises SourceError."""
        from pynetbox.core.query import ContentError, Request

        request = Request(
            base=f"{self._api.base_url}/{path}/",
            http_session=self.session,
            token=self._api.token,
            filters=query,
            limit=PAGE,
            pagination="cursor" if self._cursors else "offset",
        )
        try:
            return what(request)
        except ContentError as error:
            raise SourceError(f"{request.base}: the answer is not JSON: is a NetBox there?") from error


def _owned(kind: str, row: Row, scope: SourceScope) -> bool:
    """Return whether an object is the fabric's: the tags of a context are slugs, those of others objects."""
    if kind in MARKED:
        return bool(row["custom_fields"].get(FABRIC_FIELD) == scope.fabric)
    ours = slug(fabric_tag(scope.fabric))
    return any(ours in (tag if isinstance(tag, str) else tag["slug"],) for tag in row.get("tags", ()))


@contextmanager
def _naming(refs: Sequence[Ref], ids: Sequence[Id] = ()) -> Iterator[None]:
    """Name the first object that a bulk request could not write: the answer counts them from 0, or has their ids."""
    from ailb_gen.sot.http import RefusedError

    try:
        yield
    except RefusedError as error:
        found = error.body.get("errors") if isinstance(error.body, dict) else None
        errors = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        first = errors[0] if errors else {}
        place = first.get("index", ids.index(first["id"]) if first.get("id") in ids else None)
        if not isinstance(place, int) or not 0 <= place < len(refs):
            raise
        text = "".join(one if one.isprintable() else "?" for one in json.dumps(first.get("errors")))[:SHOWN]
        more = f" ({len(errors) - 1} more objects of this request, too)" if len(errors) > 1 else ""
        raise SourceError(f"{refs[place]}: NetBox refuses it: {text}{more}") from error


def _body(kind: str, values: Mapping[str, Value], ids: Ids) -> Row:
    """Return what a request says about fields of a record."""
    body: Row = {}
    for name, value in values.items():
        if (field := ENDPOINTS[kind].fields.get(name)) is not None:
            body |= field.write(value, ids)
    return body
