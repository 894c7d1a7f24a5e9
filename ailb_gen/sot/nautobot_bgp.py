"""BGP sessions in Nautobot's BGP models: a session record is one endpoint of a peering, its remote end the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ailb_gen.sot.dialect import Ids, RecordChange, Stored
from ailb_gen.sot.nautobot_tables import ACTIVE, STATUS, KnownNames, mentioned
from ailb_gen.sot.netbox_fields import Row
from ailb_gen.sot.records import Id, Key, Ref, SourceRecord, Value

INSTANCES = "plugins/bgp/routing-instances"
PEERINGS = "plugins/bgp/peerings"
ENDPOINTS = "plugins/bgp/peer-endpoints"
# The other end has its own address and AS number: they are read here, and written with that end's record.
FIELDS = frozenset(("device", "local_address", "remote_address", "local_asn", "remote_asn", "status", "description"))

# Yields the rows of a path whose field, the third argument, has one of some ids.
ById = Callable[[str, Sequence[Id], str], Iterator[Row]]
# Sends objects with a method to a path, and returns those of the answer.
Send = Callable[[str, str, Sequence[Row]], list[Row]]


class BgpSessions:
    """The sessions of a site: `by_id` reads, `send` writes, `names` has the names of everything read before."""

    def __init__(self, by_id: ById, send: Send, names: KnownNames) -> None:
        self._by_id, self._send, self._names = by_id, send, names

    def read(self, devices: Sequence[Id], tag: Id, others: frozenset[Id]) -> Iterator[Stored]:
        """Yield the sessions of devices, by their ids; `tag` is that of our fabric, `others` are those of others."""
        instances = {row["id"]: row for row in self._by_id(INSTANCES, devices, "device_id")}
        ends = {row["id"]: row for row in self._by_id(ENDPOINTS, devices, "device_id")}
        status = {row["id"]: row for row in self._by_id(PEERINGS, _of(ends.values(), "peering"), "id")}
        for row in ends.values():
            instance = instances[row["routing_instance"]["id"]]
            device = mentioned(instance["device"], self._names)
            peer = ends.get(row["peer"]["id"]) if row["peer"] else None
            if device is None:
                continue
            fields: dict[str, Value] = {
                "device": device,
                "local_address": mentioned(row["source_ip"], self._names),
                "remote_address": mentioned(peer["source_ip"], self._names) if peer else None,
                "local_asn": self._asn(row, instances),
                "remote_asn": self._asn(peer, instances) if peer else None,
                "status": STATUS.read(status[row["peering"]["id"]], self._names),
                "description": row["description"],
            }
            record = SourceRecord("bgp-session", self._key(device, row), fields)
            tags = _of(row["tags"])
            yield Stored(record, row["id"], tag in tags, not others.isdisjoint(tags))

    def _key(self, device: Ref, row: Row) -> Key:
        """Return the key of a session: its device and interface, or what Nautobot calls it."""
        port = self._names.ports.get(row["source_ip"]["id"]) if row["source_ip"] else None
        return (*device.key, " ".join(port.key) if port else row["display"])

    def _asn(self, end: Row, instances: Mapping[Id, Row]) -> Ref | None:
        instance = instances.get(end["routing_instance"]["id"]) if end["routing_instance"] else None
        return mentioned(end["autonomous_system"] or (instance or {}).get("autonomous_system"), self._names)

    def create(self, records: Sequence[SourceRecord], ids: Ids, tags: Sequence[Id]) -> list[Id]:
        """Create endpoints, with the instances of their devices and the peerings that they lack; return their ids."""
        instances = self._instances([record.fields for record in records], ids, tags)
        pairs = [
            tuple(ids[_ref(record.fields, end)] for end in ("local_address", "remote_address")) for record in records
        ]
        peerings = self._peerings(pairs, [record.fields["status"] for record in records])
        bodies = [
            {
                "peering": peerings[frozenset(pair)],
                "routing_instance": instances[_owner(record.fields, ids)],
                "source_ip": pair[0],
                "description": record.fields["description"],
                "tags": list(tags),
            }
            for record, pair in zip(records, pairs, strict=True)
        ]
        return [row["id"] for row in self._send("post", ENDPOINTS, bodies)]

    def _instances(
        self, sessions: Sequence[Mapping[str, Value]], ids: Ids, tags: Sequence[Id]
    ) -> dict[tuple[Id, Id], Id]:
        """Return the routing instances of devices and AS numbers; create those that are missing."""
        owners = list(dict.fromkeys(_owner(fields, ids) for fields in sessions))
        rows = self._by_id(INSTANCES, sorted({device for device, _ in owners}, key=str), "device_id")
        found = {(row["device"]["id"], row["autonomous_system"]["id"]): row["id"] for row in rows}
        new = [owner for owner in owners if owner not in found]
        bodies = [{"device": device, "autonomous_system": asn, "tags": list(tags), **ACTIVE} for device, asn in new]
        made = self._send("post", INSTANCES, bodies) if bodies else []
        return found | {owner: row["id"] for owner, row in zip(new, made, strict=True)}

    def _peerings(self, pairs: Sequence[tuple[Id, ...]], status: Sequence[Value]) -> dict[frozenset[Id], Id]:
        """Return the peerings of pairs of addresses, of which one end may exist; create those that are missing."""
        addresses = sorted({address for pair in pairs for address in pair}, key=str)
        ends = {row["source_ip"]["id"]: row["peering"]["id"] for row in self._by_id(ENDPOINTS, addresses, "source_ip")}
        wanted = {frozenset(pair): value for pair, value in zip(pairs, status, strict=True)}
        known = {
            pair: next((ends[address] for address in sorted(pair, key=str) if address in ends), "") for pair in wanted
        }
        new = [pair for pair, peering in known.items() if not peering]
        made = self._send("post", PEERINGS, [STATUS.write(wanted[pair], {}) for pair in new]) if new else []
        return known | {pair: row["id"] for pair, row in zip(new, made, strict=True)}

    def update(self, changes: Sequence[RecordChange], ids: Ids, tags: Sequence[Id]) -> None:
        """Set fields of sessions: the address and AS number of the other end are set with that end's session."""
        rows = {row["id"]: row for row in self._by_id(ENDPOINTS, [change.stored.id for change in changes], "id")}
        moved = [{**change.stored.record.fields, **change.fields} for change in changes if "local_asn" in change.fields]
        instances = self._instances(moved, ids, tags) if moved else {}
        bodies, status = [], {}
        for change in changes:
            row, fields = rows[change.stored.id], change.fields
            body: Row = {"description": fields["description"]} if "description" in fields else {}
            if "local_address" in fields:
                body["source_ip"] = ids[_ref(fields, "local_address")]
            if "local_asn" in fields:
                body["routing_instance"] = instances[_owner({**change.stored.record.fields, **fields}, ids)]
            if change.adopt:
                body["tags"] = list(dict.fromkeys([*(tag["id"] for tag in row["tags"]), *tags]))
            if body:
                bodies.append({"id": change.stored.id, **body})
            if "status" in fields:
                status[row["peering"]["id"]] = STATUS.write(fields["status"], ids)
        if bodies:
            self._send("patch", ENDPOINTS, bodies)
        if status:
            self._send("patch", PEERINGS, [{"id": peering, **body} for peering, body in status.items()])

    def delete(self, stored: Sequence[Stored], tag: Id) -> None:
        """Delete endpoints, then the peerings and our routing instances that have none any more."""
        ends = list(self._by_id(ENDPOINTS, [one.id for one in stored], "id"))
        self._send("delete", ENDPOINTS, [{"id": one.id} for one in stored])
        for path, field in ((PEERINGS, "peering"), (INSTANCES, "routing_instance")):
            before = _of(ends, field)
            used = set(_of(self._by_id(ENDPOINTS, before, field), field))
            rows = [row for row in self._by_id(path, before, "id") if row["id"] not in used]
            unused = [row["id"] for row in rows if path == PEERINGS or tag in _of(row["tags"])]
            if unused:
                self._send("delete", path, [{"id": number} for number in unused])


def _of(rows: Iterable[Row], field: str = "") -> list[Id]:
    """Return the ids of rows, or of what a field of them mentions, each once."""
    found = (row[field] if field else row for row in rows)
    return list(dict.fromkeys(one["id"] for one in found if one))


def _ref(fields: Mapping[str, Value], name: str) -> Ref:
    """Return a reference that a session must have."""
    value = fields[name]
    if not isinstance(value, Ref):
        raise TypeError(f"{name} of a session: {value!r}")
    return value


def _owner(fields: Mapping[str, Value], ids: Ids) -> tuple[Id, Id]:
    """Return the ids of the device of a session and of its AS number."""
    return ids[_ref(fields, "device")], ids[_ref(fields, "local_asn")]
