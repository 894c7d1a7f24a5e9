"""NetBox as a source of truth: reading, and writing in bulk, over pynetbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, count

from ailb_gen.sot.dialect import TAG, Ids, RecordChange, SourceScope, Stored, fabric_tag, refused
from ailb_gen.sot.netbox_fields import ApiField, Row, tag_slug
from ailb_gen.sot.netbox_tables import ENDPOINTS, MARKED, SLUGGED, UNTAGGED
from ailb_gen.sot.records import KINDS, Id, Key, Ref, SourceRecord, Value
from ailb_gen.sot.rest import PAGE, TEMPLATES, RestDialect, whose_mark


class NetBox(RestDialect):
    """A NetBox, reached with a token. Raises MissingExtraError without pynetbox."""

    name, client, oldest = "NetBox", "pynetbox", (4, 2)
    untagged, marked = UNTAGGED, MARKED

    def __init__(self, url: str, token: str) -> None:
        super().__init__(url, token)
        self._plugins: frozenset[str] | None = None
        self._cursors = False
        # The neutral names of objects whose nested form does not say all of them.
        self._vlans: dict[Id, Ref] = {}
        self._macs: list[tuple[Id, Key]] = []
        # Slugs in use, by kind.
        self._slugs: set[tuple[str, str]] = set()

    def kinds(self) -> Mapping[str, frozenset[str]]:
        """Return the kinds of records that this NetBox can hold: BGP sessions need the plug-in netbox-bgp."""
        if self._plugins is None:
            self._cursors = self._release(next(self._rows("status", {}), None)) >= (4, 6)
            found = self._rows("plugins", {})
            self._plugins = frozenset(name for row in found for name in row)
        left_out = () if "bgp" in self._plugins else ("bgp-session",)
        return {kind: frozenset(KINDS[kind].fields) for kind in ENDPOINTS if kind not in left_out}

    def read(self, kinds: Sequence[str], scope: SourceScope) -> Iterator[Stored]:
        """Yield the stored records of these kinds; several may have the same key."""
        known = self.kinds()
        site = next((row["id"] for row in self._rows("dcim/sites", {"name": scope.site, "fields": "id"})), 0)
        # A tag that does not exist is an error to NetBox.
        ours = tag_slug(fabric_tag(scope.fabric))
        tags = [{"tag": ours}] if any(self._rows("extras/tags", {"slug": ours, "fields": "id"})) else []
        if "mac-address" in kinds and "interface" not in kinds:
            raise ValueError("MAC addresses are read with the interfaces that have them")
        for kind in (kind for kind in KINDS if kind in kinds and kind in known):
            queries = ENDPOINTS[kind].queries(scope, site)
            everything = kind in UNTAGGED or kind in MARKED or {} in queries
            yield from self._read(kind, scope, [*queries, *([] if everything else tags)])

    def _read(self, kind: str, scope: SourceScope, queries: Sequence[Row]) -> Iterator[Stored]:
        place = ENDPOINTS[kind]
        fields = place.api + (",mac_addresses" if kind == "interface" else ",slug" if kind in SLUGGED else "")
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
            if kind in SLUGGED:
                self._slugs.add((kind, row["slug"]))
            yield Stored(record, row["id"], *(whose_mark if kind in MARKED else _whose)(row, scope))
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
            body = {**ENDPOINTS[kind].body(record.key, ids), **self._body(kind, values, ids)}
            if kind in SLUGGED:
                body["slug"] = self._free_slug(kind, body["slug"])
            bodies.append({**body, **self._owning(kind, ids, scope, (), body)})
        # The answer has the fields of the request and no more: rendering them all takes as long as storing them.
        fields = ",".join(sorted({"id", *(name for body in bodies for name in body)}))
        with _naming([record.ref for record in records]):
            rows = self._send("post", ENDPOINTS[kind].path, bodies, {"fields": fields})
        made: list[Id] = [row["id"] for row in rows]
        if kind == "device-type":
            for number, record in zip(made, records, strict=True):
                self._add_ports(number, record.fields.get("ports"))
        if kind == "vlan":
            self._vlans |= {number: record.ref for number, record in zip(made, records, strict=True)}
        return made

    def _free_slug(self, kind: str, wanted: str) -> str:
        """Return a slug that no other object has: a role `Server` there has that of ours."""
        names = chain([wanted], (f"{wanted[:90]}-{number}" for number in count(2)))
        return next(one for one in names if (kind, one) not in self._slugs)

    def update(self, kind: str, changes: Sequence[RecordChange], ids: Ids, scope: SourceScope) -> None:
        """Set fields of stored records of one kind in one request; other fields and tags stay."""
        refs = {change.stored.id: change.stored.record.ref for change in changes}
        if bodies := self._changed(kind, changes, ids, scope):
            with _naming([refs[body["id"]] for body in bodies], [body["id"] for body in bodies]):
                self._send("patch", ENDPOINTS[kind].path, bodies)

    def _fields(self, kind: str) -> Mapping[str, ApiField]:
        return ENDPOINTS[kind].fields

    def _tagged(self, kind: str, ids: Sequence[Id]) -> Iterator[Row]:
        return self._rows(ENDPOINTS[kind].path, {"id": list(ids), "fields": "id,tags"})

    def delete(self, kind: str, stored: Sequence[Stored]) -> None:
        """Delete stored records of one kind in one request; those that are gone already are no error."""
        ids = [one.id for one in stored]
        path = ENDPOINTS[kind].path
        left = {row["id"] for row in self._rows(path, {"id": ids, "fields": "id"})}
        if left:
            self._send("delete", path, [{"id": number} for number in left])

    def _rows(self, path: str, query: Row) -> Iterator[Row]:
        """Yield the rows of a query, page by page; with cursors nothing is left out when objects vanish meanwhile."""
        order = {} if self._cursors else {"ordering": "id"}
        pages = "cursor" if self._cursors else "offset"
        with self._request(path, {**query, **order}, limit=PAGE, pagination=pages) as request:
            yield from request.get()


def _whose(row: Row, scope: SourceScope) -> tuple[bool, bool]:
    """Return whether an object has the tag of our fabric, and that of another: tags of a context are slugs."""
    ours = tag_slug(fabric_tag(scope.fabric))
    tags = [tag if isinstance(tag, str) else tag["slug"] for tag in row.get("tags", ())]
    return ours in tags, any(one.startswith(f"{TAG}-") and one != ours for one in tags)


@contextmanager
def _naming(refs: Sequence[Ref], ids: Sequence[Id] = ()) -> Iterator[None]:
    """Name the objects that a bulk request could not write: the answer counts them from 0, or has their ids."""
    from ailb_gen.sot.http import RefusedError

    try:
        yield
    except RefusedError as error:
        found = error.body.get("errors") if isinstance(error.body, dict) else None
        errors = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        reasons = {}
        for one in errors:
            place = one.get("index", ids.index(one["id"]) if one.get("id") in ids else None)
            if isinstance(place, int) and 0 <= place < len(refs):
                reasons[refs[place]] = one.get("errors")
        if not reasons:
            raise
        raise refused(NetBox.name, reasons) from error
