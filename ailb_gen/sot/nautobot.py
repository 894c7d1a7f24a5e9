"""Nautobot as a source of truth: reading, and writing in bulk, over pynautobot."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ailb_gen.sot.dialect import TAG, Ids, RecordChange, SourceError, SourceScope, Stored, fabric_tag
from ailb_gen.sot.nautobot_bgp import FIELDS as BGP_FIELDS
from ailb_gen.sot.nautobot_bgp import BgpSessions
from ailb_gen.sot.nautobot_tables import (
    BGP_TYPES,
    RESOURCES,
    SITE_TYPE,
    SITE_TYPES,
    TAGGED_TYPES,
    Column,
    KnownNames,
    assigned,
    naming,
)
from ailb_gen.sot.netbox_fields import Row
from ailb_gen.sot.records import KINDS, Id, Ref, SourceRecord, Value
from ailb_gen.sot.rest import PAGE, TEMPLATES, RestDialect, our_tags, whose_mark

# Rows have no lists of related objects otherwise.
FULL = {"exclude_m2m": "false"}
# Ids in one URL, which may have 4 KB (uWSGI's buffer-size).
IDS = 50
# Reading pages again when objects appeared or vanished meanwhile.
READINGS = 3
BGP_PLUGIN = "nautobot_bgp_models"
# Kinds without tags of ownership: shared ones, and contexts, whose tags mean something else.
UNTAGGED = ("config-context", *(kind for kind, row in KINDS.items() if row.shared))
# What a fabric has most of has its fabric in a custom field; Nautobot 3.2 also loses the tags of a new cable.
MARKED = ("interface", "cable")
ASSIGNMENTS = "ipam/ip-address-to-interface"
# Prefixes get their parents when they are stored; two requests at once do not see each other's.
SERIAL = ("prefix", "bgp-session")


class Nautobot(RestDialect):
    """A Nautobot, reached with a token. Raises MissingExtraError without pynautobot."""

    name, client, oldest = "Nautobot", "pynautobot", (2, 4)
    untagged, marked = UNTAGGED, MARKED

    def __init__(self, url: str, token: str) -> None:
        super().__init__(url, token)
        self._names = KnownNames()
        self._has_bgp: bool | None = None
        self._bgp = BgpSessions(self._by_id, self._send, self._names)
        self._locks = {kind: threading.Lock() for kind in SERIAL}
        self._were_read: set[str] = set()
        # Ids of objects without a name of ours.
        self._nameless: set[Id] = set()
        # The id of the fabric's tag, empty if there is none yet, and those of others.
        self._tag: Id = ""
        self._other_tags: frozenset[Id] = frozenset()

    def kinds(self) -> Mapping[str, frozenset[str]]:
        """Return the kinds of records that this Nautobot can hold: AS numbers and sessions need the BGP models."""
        if self._has_bgp is None:
            status = self._status()
            self._has_bgp = BGP_PLUGIN in (status.get("nautobot-apps") or status.get("plugins") or {})
        found = {kind: frozenset(row.fields) for kind, row in RESOURCES.items()}
        found["device-type"] |= {"ports"}
        if not self._has_bgp:
            del found["asn"]
            return found
        return found | {"bgp-session": BGP_FIELDS}

    def _status(self) -> Row:
        """Return the answer about versions. Raises UsageError if that is no Nautobot, or an old one."""
        with self._request("status", {}) as request:
            status = request.get()
        self._release(status)
        return dict(status)

    def read(self, kinds: Sequence[str], scope: SourceScope) -> Iterator[Stored]:
        """Yield the stored records of these kinds; several may have the same key."""
        known = self.kinds()
        asked = [kind for kind in KINDS if kind in kinds and kind in known]
        needed = _needed(asked) - self._were_read
        rows: dict[str, list[Row]] = {}
        self._learn_site(scope)
        tags = {row["name"]: row["id"] for row in self._rows("extras/tags", {"name__isw": f"{TAG}-"})}
        self._tag = tags.pop(fabric_tag(scope.fabric), "")
        self._other_tags = frozenset(tags.values())
        for kind in (kind for kind in KINDS if kind in asked or kind in needed):
            if kind != "bgp-session":
                rows[kind] = list(self._fetch(kind, scope))
        self._were_read |= rows.keys()
        for kind in asked:
            if kind == "bgp-session":
                devices = [row["id"] for row in rows.get("device", ())]
                yield from self._bgp.read(devices, self._tag, self._other_tags)
                continue
            templates = self._templates(rows[kind]) if kind == "device-type" and scope.models else {}
            for row in rows[kind]:
                yield self._stored(kind, row, scope, templates)

    def _learn_site(self, scope: SourceScope) -> None:
        """Read the id of the site, and the names of statuses."""
        found = list(self._rows("dcim/locations", {"name": scope.site}))
        if len(found) > 1:
            raise SourceError(f"Nautobot has {len(found)} locations with the name of the site; rename all but one")
        self._names.site = found[0]["id"] if found else ""
        if not self._names.statuses:
            self._names.statuses |= {row["id"]: row["name"] for row in self._rows("extras/statuses", {})}

    def _fetch(self, kind: str, scope: SourceScope) -> Iterator[Row]:
        """Yield the rows of a kind that have a key, each once, and note their names."""
        place = RESOURCES[kind]
        queries = [*place.queries(scope, self._names.site)]
        if self._tag and kind not in (*UNTAGGED, *MARKED):
            queries.append({"tags": self._tag})
        full = FULL if place.full else {}
        known: set[Id] = set()
        for query in queries:
            page = list(self._rows(place.path, {**query, **full}))
            if kind == "cable":
                self._learn_ends(page)
            if kind == "interface":
                self._check_owners(page)
            for row in page:
                key = place.key(row, self._names)
                if key is None:
                    self._nameless.add(row["id"])
                elif row["id"] not in known:
                    known.add(row["id"])
                    self._names.refs[row["id"]] = Ref(kind, key)
                    if kind == "ip-address" and (port := assigned(row, self._names)):
                        self._names.ports[row["id"]] = port
                    yield row

    def _learn_ends(self, cables: Iterable[Row]) -> None:
        """Read the interfaces at ends of cables that are in other places."""
        ends = ((row[f"termination_{side}_type"], row[f"termination_{side}_id"]) for row in cables for side in "ab")
        ids = sorted({end for kind, end in ends if kind == "dcim.interface" and end and end not in self._names.refs})
        for row in self._by_id("dcim/interfaces", ids, depth=1):
            device = row["device"] or {}
            self._names.refs[row["id"]] = Ref("interface", (device.get("name") or "", row["name"]))

    def _check_owners(self, ports: Iterable[Row]) -> None:
        """Check that the devices of ports were read. Raises SourceError."""
        owners = {row["device"]["id"] for row in ports if row["device"]}
        if hidden := owners - self._names.refs.keys() - self._nameless:
            raise SourceError(
                f"Nautobot hides {len(hidden)} devices whose interfaces it shows: the token may see only a part, or "
                "something changed meanwhile; check its permissions, and run it again"
            )

    def _by_id(self, path: str, ids: Sequence[Id], name: str = "id", *, depth: int = 0) -> Iterator[Row]:
        """Yield the rows whose field has one of these ids."""
        for start in range(0, len(ids), IDS):
            yield from self._rows(path, {name: list(ids[start : start + IDS]), "depth": depth})

    def _stored(
        self, kind: str, row: Row, scope: SourceScope, templates: Mapping[Id, Sequence[tuple[str, str]]]
    ) -> Stored:
        fields = {name: column.read(row, self._names) for name, column in RESOURCES[kind].fields.items()}
        if kind == "device-type":
            fields["ports"] = tuple(sorted(templates.get(row["id"], ())))
        if kind in MARKED:
            whose = whose_mark(row, scope)
        else:
            tags = {one["id"] for one in row.get("tags", ())}
            whose = self._tag in tags, not self._other_tags.isdisjoint(tags)
        return Stored(SourceRecord(kind, self._names.refs[row["id"]].key, fields), row["id"], *whose)

    def _templates(self, types: Sequence[Row]) -> Mapping[Id, list[tuple[str, str]]]:
        """Return the ports of device types by the type's id: name and type of each."""
        found: dict[Id, list[tuple[str, str]]] = defaultdict(list)
        for row in self._by_id(TEMPLATES, [one["id"] for one in types], "device_type"):
            found[row["device_type"]["id"]].append((row["name"], row["type"]["value"]))
        return found

    def create(self, kind: str, records: Sequence[SourceRecord], ids: Ids, scope: SourceScope) -> list[Id]:
        """Create records of one kind in one request, with the tags of the fabric; return their ids in order."""
        with self._alone(kind):
            if kind == "bgp-session":
                return self._bgp.create(records, ids, our_tags(ids, scope))
            if kind == "site":
                self._ensure_site_type()
            late = KINDS[kind].late
            bodies = []
            for record in records:
                place = RESOURCES[kind]
                values = {name: value for name, value in record.fields.items() if name not in late}
                body = {**place.fixed, **place.body(record.key), **self._body(kind, values, ids)}
                if kind == "tag":
                    body["content_types"] = [*TAGGED_TYPES, *(BGP_TYPES if self._has_bgp else ())]
                bodies.append({**body, **self._owning(kind, ids, scope, (), body)})
            with naming([record.ref for record in records]):
                rows = self._send("post", RESOURCES[kind].path, bodies)
        made: list[Id] = [row["id"] for row in rows]
        for number, record in zip(made, records, strict=True):
            self._names.refs[number] = record.ref
            if kind == "device-type":
                self._add_ports(number, record.fields.get("ports"))
            if kind == "site":
                self._names.site = number
        if kind == "ip-address":
            self._assign(list(zip(made, (record.fields.get("interface") for record in records), strict=True)), ids)
        return made

    @contextmanager
    def _alone(self, kind: str) -> Iterator[None]:
        """Hold back other requests of a kind that is written one request after the other."""
        if kind not in self._locks:
            yield
            return
        with self._locks[kind]:
            yield

    def _ensure_site_type(self) -> None:
        """Create the type of our locations, if there is none of that name."""
        if not any(True for _ in self._rows("dcim/location-types", {"name": SITE_TYPE})):
            self._send("post", "dcim/location-types", [{"name": SITE_TYPE, "content_types": list(SITE_TYPES)}])

    def _assign(self, pairs: Sequence[tuple[Id, Value]], ids: Ids) -> None:
        """Assign addresses, by their ids, to interfaces."""
        bodies = [{"ip_address": number, "interface": ids[ref]} for number, ref in pairs if isinstance(ref, Ref)]
        if bodies:
            self._send("post", ASSIGNMENTS, bodies)

    def update(self, kind: str, changes: Sequence[RecordChange], ids: Ids, scope: SourceScope) -> None:
        """Set fields of stored records of one kind in one request; other fields and tags stay."""
        with self._alone(kind):
            if kind == "bgp-session":
                self._bgp.update(changes, ids, our_tags(ids, scope))
                return
            refs = {change.stored.id: change.stored.record.ref for change in changes}
            if bodies := self._changed(kind, changes, ids, scope):
                with naming([refs[body["id"]] for body in bodies]):
                    self._send("patch", RESOURCES[kind].path, bodies)
        if kind == "ip-address":
            self._reassign([change for change in changes if "interface" in change.fields], ids)

    def _reassign(self, changes: Sequence[RecordChange], ids: Ids) -> None:
        """Move addresses to other interfaces."""
        numbers = [change.stored.id for change in changes]
        old = [{"id": row["id"]} for row in self._by_id(ASSIGNMENTS, numbers, "ip_address")]
        if old:
            self._send("delete", ASSIGNMENTS, old)
        self._assign([(change.stored.id, change.fields["interface"]) for change in changes], ids)

    def _fields(self, kind: str) -> Mapping[str, Column]:
        return RESOURCES[kind].fields

    def _tagged(self, kind: str, ids: Sequence[Id]) -> Iterator[Row]:
        return self._by_id(RESOURCES[kind].path, ids)

    def delete(self, kind: str, stored: Sequence[Stored]) -> None:
        """Delete stored records of one kind in one request; those that are gone already are no error."""
        if kind == "bgp-session":
            self._bgp.delete(stored, self._tag)
        else:
            self._send("delete", RESOURCES[kind].path, [{"id": one.id} for one in stored])

    def _rows(self, path: str, query: Row) -> Iterator[Row]:
        """Yield the rows of a query, page by page. Raises SourceError if they change all the time."""
        for _ in range(READINGS):
            found = self._pages(path, query)
            if found is not None:
                yield from found
                return
        raise SourceError(f"{self._api.base_url}/{path}/: objects come and go while they are read; try again later")

    def _pages(self, path: str, query: Row) -> list[Row] | None:
        """Return all rows of a query; None if their number changed between pages, as one may have been skipped."""
        rows: list[Row] = []
        count = None
        while True:
            page = {"limit": PAGE, "offset": len(rows), "sort": "id"}
            with self._request(path, query) as request:
                answer = request._make_call(add_params=page)
            if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
                raise SourceError(
                    f"{self._api.base_url}/{path}/: the answer is no list of objects: is a Nautobot there?"
                )
            if count not in (None, answer["count"]):
                return None
            count = answer["count"]
            rows += answer["results"]
            if len(rows) >= count or not answer["results"]:
                return rows


def _needed(kinds: Iterable[str]) -> set[str]:
    """Return the kinds that records of some kinds mention, and those that they mention."""
    found: set[str] = set()
    left = set(kinds)
    while left:
        kind = left.pop()
        needs = ("device", "interface", "ip-address", "asn") if kind == "bgp-session" else RESOURCES[kind].needs
        left |= set(needs) - found
        found |= set(needs)
    return found
