"""A source of truth in memory, in the place of a service: records in, records out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ailb_gen.api.generate import compute_design
from ailb_gen.intent.load import Intent
from ailb_gen.sot.desired import desired, options_of
from ailb_gen.sot.dialect import SourceScope, Stored
from ailb_gen.sot.records import Key, Ref, SourceRecord, Value, cable_ends, cable_key
from tests.sot.memory import Memory


class Store(Memory):
    """Records by kind and key, which can be read only."""

    name = "Store"

    def __init__(self, records: Iterable[SourceRecord]) -> None:
        super().__init__()
        self.before = self._refuse
        self.records = {(record.kind, record.key): record for record in records}
        self.foreign: set[tuple[str, Key]] = set()
        self.twins: list[SourceRecord] = []

    def read(self, kinds: Sequence[str], scope: SourceScope) -> Iterator[Stored]:
        rows = sorted([*self.records.values(), *self.twins], key=lambda record: record.sort_key)
        for number, record in enumerate(rows):
            if record.kind in kinds:
                yield Stored(record, number, (record.kind, record.key) not in self.foreign)

    @staticmethod
    def _refuse() -> None:
        raise AssertionError("a pull must not write")

    def set(self, kind: str, key: Key, **fields: Value) -> None:
        """Change fields of a record."""
        record = self.records[kind, key]
        self.records[kind, key] = replace(record, fields={**record.fields, **fields})

    def put(self, kind: str, key: Key, fields: Mapping[str, Value], owned: bool = True) -> None:
        """Add a record."""
        self.records[kind, key] = SourceRecord(kind, key, fields)
        if not owned:
            self.foreign.add((kind, key))

    def add_device(self, name: str, role: str = "server", *, owned: bool = True, site: str = "lab", like: str) -> None:
        """Add a device like another one, with the same interfaces."""
        fields = dict(self.records["device", (like,)].fields)
        fields |= {"role": Ref("device-role", (role,)), "site": Ref("site", (site,)), "primary_ip": None}
        self.put("device", (name,), fields, owned)
        for kind, key in list(self.records):
            if kind == "interface" and key[0] == like:
                self.put(kind, (name, key[1]), {"enabled": True, "device": Ref("device", (name,))}, owned)

    def remove(self, kind: str, *key: str) -> None:
        """Remove a record; of a device, what belongs to it, too."""
        del self.records[kind, key]
        if kind == "device":
            own = {"interface", "mac-address", "cable"}
            for row in [
                row for row in self.records if row[0] in own and key[0] in (row[1][0], row[1][2:3] and row[1][2])
            ]:
                self.records.pop(row)

    def cable(self, *ends: str) -> None:
        """Add a cable."""
        key = cable_key(*ends)
        self.put("cable", key, {"ends": cable_ends(key), "status": "connected", "color": ""})

    def cable_at(self, device: str, port: str) -> Key:
        """Return the key of the cable at a port."""
        return next(key for kind, key in self.records if kind == "cable" and (device, port) in (key[:2], key[2:]))

    def move(self, device: str, port: str, to: str) -> None:
        """Move an end of a cable to another port of the device."""
        key = self.cable_at(device, port)
        self.remove("cable", *key)
        self.records.setdefault(
            ("interface", (device, to)),
            SourceRecord("interface", (device, to), {"device": Ref("device", (device,)), "enabled": True}),
        )
        other = key[2:] if key[:2] == (device, port) else key[:2]
        self.cable(device, to, *other)


def store_of(intent: Intent, site: str = "") -> Store:
    """Return a store with what a push of the intent leaves there."""
    return Store(desired(compute_design(intent), options_of(intent.fabric, site)))
