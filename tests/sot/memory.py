"""A source of truth in memory: the dialect's Protocol with the rules that a real service has."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from threading import Lock

from ailb_gen.sot.dialect import Ids, RecordChange, ServiceFaultError, SourceError, SourceScope, Stored, refused
from ailb_gen.sot.records import KINDS, Id, Ref, SourceRecord, Value


class Memory:
    """Stores records by id.

    `writes` counts requests that write; `before` is called before each and may raise. `refuses` are never written.
    `faults` are not either, and no answer names them.
    """

    name = "Memory"

    def __init__(self, without: Sequence[str] = ()) -> None:
        self.rows: dict[Id, Stored] = {}
        self.writes = 0
        self.before: Callable[[], None] = lambda: None
        self.without = frozenset(without)
        self.refuses: set[Ref] = set()
        self.faults: set[Ref] = set()
        self._next = count(1)
        self._lock = Lock()

    def kinds(self) -> Mapping[str, frozenset[str]]:
        return {kind: frozenset(row.fields) for kind, row in KINDS.items() if kind not in self.without}

    def read(self, kinds: Sequence[str], scope: SourceScope) -> Iterator[Stored]:
        yield from sorted((one for one in self.rows.values() if one.record.kind in kinds), key=lambda one: str(one.id))

    def add(self, record: SourceRecord, owned: bool = False) -> Id:
        """Store a record as somebody else does."""
        number = next(self._next)
        self.rows[number] = Stored(record, number, owned)
        return number

    def create(self, kind: str, records: Sequence[SourceRecord], ids: Ids, scope: SourceScope) -> list[Id]:
        with self._lock:
            self._begin()
            assert {record.kind for record in records} == {kind}
            self._check(record.ref for record in records)
            taken = {one.record.ref for one in self.rows.values()}
            for record in records:
                fields = {name: value for name, value in record.fields.items() if name not in KINDS[kind].late}
                self._resolve(fields, ids)
                if record.ref in taken:
                    raise SourceError(f"{record} exists")
                if kind == "cable" and any(self._ends(record) & self._ends(one.record) for one in self._of("cable")):
                    raise SourceError(f"{record}: occupied")
            made = [self.add(SourceRecord(kind, r.key, self._early(r)), owned=True) for r in records]
            if kind == "device":
                self._instantiate(records)
            return made

    def update(self, kind: str, changes: Sequence[RecordChange], ids: Ids, scope: SourceScope) -> None:
        with self._lock:
            self._begin()
            self._check(change.stored.record.ref for change in changes)
            for change in changes:
                old = self.rows[change.stored.id]
                self._resolve(change.fields, ids)
                if kind == "ip-address" and "interface" in change.fields:
                    holders = (one.record.fields.get("primary_ip") for one in self._of("device"))
                    assert old.record.ref not in holders, "it is the primary address of a device"
                record = SourceRecord(kind, old.record.key, {**old.record.fields, **change.fields})
                self.rows[old.id] = Stored(record, old.id, old.owned or change.adopt)

    def delete(self, kind: str, stored: Sequence[Stored]) -> None:
        with self._lock:
            self._begin()
            for one in stored:
                self.rows.pop(one.id, None)

    def _begin(self) -> None:
        self.before()
        self.writes += 1

    def _check(self, refs: Iterable[Ref]) -> None:
        refs = list(refs)
        if not self.faults.isdisjoint(refs):
            raise ServiceFaultError("500 Internal Server Error")
        if wrong := [ref for ref in refs if ref in self.refuses]:
            raise refused(self.name, {ref: {"name": ["not here"]} for ref in wrong})

    def _of(self, kind: str) -> list[Stored]:
        return [one for one in self.rows.values() if one.record.kind == kind]

    @staticmethod
    def _ends(record: SourceRecord) -> set[object]:
        ends = record.fields["ends"]
        assert isinstance(ends, tuple)
        return set(ends)

    @staticmethod
    def _early(record: SourceRecord) -> dict[str, Value]:
        return {name: value for name, value in record.fields.items() if name not in KINDS[record.kind].late}

    def _resolve(self, fields: object, ids: Ids) -> None:
        """Fail for a reference to what is not stored."""
        assert isinstance(fields, dict) or hasattr(fields, "values")
        for value in fields.values():
            for ref in value if isinstance(value, tuple) else (value,):
                if isinstance(ref, Ref):
                    assert self.rows[ids[ref]].record.ref == ref

    def _instantiate(self, records: Sequence[SourceRecord]) -> None:
        """Give new devices the ports of their type, as services do."""
        types = {one.record.ref: one.record for one in self._of("device-type")}
        for record in records:
            kind = record.fields["type"]
            ports = types[kind].fields.get("ports", ()) if isinstance(kind, Ref) else ()
            assert isinstance(ports, tuple)
            for port in ports:
                assert isinstance(port, tuple)
                name, form = map(str, port)
                fields: dict[str, Value] = {"device": record.ref, "type": form, "enabled": True}
                self.add(SourceRecord("interface", (record.key[0], name), fields))
