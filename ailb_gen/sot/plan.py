"""What a push would write: desired records compared with the stored ones."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ailb_gen.sot.dialect import RecordChange, Stored
from ailb_gen.sot.records import KINDS, ORDER, Ref, SourceRecord, Value


@dataclass(frozen=True, slots=True)
class Conflict:
    """An object that is in the way: its name, the reason, what to do, and how many records wait for it."""

    ref: Ref
    reason: str
    hint: str
    waiting: int = 0

    def __str__(self) -> str:
        more = f" ({self.waiting:,} more records wait for it)" if self.waiting else ""
        return f"{self.ref}: {self.reason}; {self.hint}{more}"


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """What a push writes, in the order of KINDS and names.

    `leftovers` are owned and not desired; they are in `deletes` where deletes were asked for. `unchanged` counts by
    kind, `unsupported` those that the service has no place for. `blocked` are conflicts and what waits for them.
    """

    creates: tuple[SourceRecord, ...]
    updates: tuple[RecordChange, ...]
    deletes: tuple[Stored, ...]
    leftovers: tuple[Stored, ...]
    conflicts: tuple[Conflict, ...]
    unchanged: Mapping[str, int]
    unsupported: Mapping[str, int]
    blocked: frozenset[Ref] = frozenset()

    @property
    def writes(self) -> int:
        """How many objects are written."""
        return len(self.creates) + len(self.updates) + len(self.deletes)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many objects of each kind are created, updated, deleted and unchanged, where there are any."""
        rows = {
            "create": Counter(record.kind for record in self.creates),
            "update": Counter(change.stored.record.kind for change in self.updates),
            "delete": Counter(stored.record.kind for stored in self.deletes),
            "unchanged": Counter(self.unchanged),
        }
        kinds = (kind for kind in KINDS if any(row[kind] for row in rows.values()))
        return {kind: {name: row[kind] for name, row in rows.items()} for kind in kinds}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A write that the service did not take: a create of a record or an update, and why."""

    of: type[SourceRecord | RecordChange]
    reason: str


# A token that may see a part of the objects makes others seem missing.
REFUSED_HINT = "correct it there; if it exists there, let the token see it"
# People enter these at our devices, and a pull takes them over: as the design has them, they are in nobody's way.
ENTERED = ("mac-address", "cable")
NO_REFUSALS: Mapping[Ref, Refusal] = MappingProxyType({})


def compare(
    desired: Iterable[SourceRecord],
    stored: Iterable[Stored],
    kinds: Mapping[str, frozenset[str]],
    *,
    delete: bool = False,
    adopt: bool = False,
    refused: Mapping[Ref, Refusal] = NO_REFUSALS,
) -> SourcePlan:
    """Compare desired records with the stored ones; `kinds` are those that the service can hold, with their fields.

    What the service `refused` is not tried again.
    """
    records = sorted(desired, key=lambda record: record.sort_key)
    return _Comparison(records, list(stored), kinds, delete, adopt, refused).plan()


class _Comparison:
    """One comparison."""

    def __init__(
        self,
        desired: Sequence[SourceRecord],
        stored: Sequence[Stored],
        kinds: Mapping[str, frozenset[str]],
        delete: bool,
        adopt: bool,
        refused: Mapping[Ref, Refusal],
    ) -> None:
        self.desired = [_supported(record, kinds[record.kind]) for record in desired if record.kind in kinds]
        self.unsupported = Counter(record.kind for record in desired if record.kind not in kinds)
        self.delete, self.adopt, self.refused = delete, adopt, refused
        self.by_ref: dict[Ref, list[Stored]] = defaultdict(list)
        for one in stored:
            self.by_ref[one.record.ref].append(one)
        refs = {record.ref for record in self.desired}
        owned = (one for one in stored if one.owned and not one.others and not KINDS[one.record.kind].shared)
        self.leftovers = sorted((one for one in owned if one.record.ref not in refs), key=_delete_key)
        self.occupied = self._occupied(stored)
        # What cannot be used, with the conflict that it waits for.
        self.blocked: dict[Ref, Ref] = {}
        self.conflicts: dict[Ref, tuple[str, str]] = {}
        self.waiting: Counter[Ref] = Counter()
        self.usable: set[Ref] = set()

    def plan(self) -> SourcePlan:
        creates, updates, unchanged = [], [], Counter[str]()
        for record in self.desired:
            if (cause := self._waits_for(record)) is not None:
                self.blocked[record.ref] = cause
                self.waiting[cause] += 1
                continue
            result = self._result(record)
            if (refusal := self.refused.get(record.ref)) and isinstance(result, refusal.of):
                self.conflicts[record.ref] = f"the service refuses it: {refusal.reason}", REFUSED_HINT
                if refusal.of is SourceRecord:
                    self.blocked[record.ref] = record.ref
            elif isinstance(result, SourceRecord):
                creates.append(result)
            elif isinstance(result, RecordChange):
                updates.append(result)
            elif result:
                self.conflicts[record.ref] = result
                self.blocked[record.ref] = record.ref
                continue
            else:
                unchanged[record.kind] += 1
            # Of two devices of one name it is not known whose port it is.
            if KINDS[record.kind].inside == "" and len(self.by_ref[record.ref]) < 2:
                self.usable.add(record.ref)
        updates = list(self._without_blocked(updates, unchanged))
        conflicts = [Conflict(ref, *text, self.waiting[ref]) for ref, text in self.conflicts.items()]
        deletes = self.leftovers if self.delete else ()
        return SourcePlan(
            tuple(creates),
            tuple(updates),
            tuple(deletes),
            tuple(self.leftovers),
            tuple(conflicts),
            unchanged,
            self.unsupported,
            frozenset(self.blocked),
        )

    def _without_blocked(self, updates: Iterable[RecordChange], unchanged: Counter[str]) -> Iterator[RecordChange]:
        """Leave out late references to what is blocked that comes later in the order; count what has no change then."""
        for change in updates:
            late = KINDS[change.stored.record.kind].late
            fields = {key: one for key, one in change.fields.items() if key not in late or one not in self.blocked}
            if fields or change.adopt:
                yield replace(change, fields=fields)
            else:
                unchanged[change.stored.record.kind] += 1

    def _waits_for(self, record: SourceRecord) -> Ref | None:
        """Return the conflict that keeps a record from being written: one of what it refers to."""
        kind = KINDS[record.kind]
        values = (value for name, value in record.fields.items() if name not in kind.late)
        return next((self.blocked[ref] for ref in _refs(values) if ref in self.blocked), None)

    def _result(self, record: SourceRecord) -> SourceRecord | RecordChange | tuple[str, str] | None:
        """Return what becomes of a record: it is created, changed, in conflict (reason and hint) or as it should be."""
        found = self.by_ref.get(record.ref, [])
        one = _only(found)
        if one is None and found:
            return f"there are {len(found)} such objects", "delete or rename all but one"
        if one is None:
            return self._occupant(record) if record.kind == "cable" and self._occupant(record) else record
        if record.is_shared:
            missing = _missing_ports(record, one)
            return RecordChange(one, {"ports": missing}) if one.owned and missing else None
        fields = differences(record, one)
        if one.owned:
            return RecordChange(one, fields) if fields else None
        return self._foreign(record, one, fields)

    def _foreign(
        self, record: SourceRecord, one: Stored, fields: Mapping[str, Value]
    ) -> RecordChange | tuple[str, str] | None:
        """Return what becomes of an object that is not ours: it is taken over, used as it is, or in conflict."""
        if one.others:
            return "it is another fabric's", "give this fabric its own, or delete it with that fabric"
        inside = KINDS[record.kind].inside
        if self.adopt or (inside and Ref(inside, record.key[:1]) in self.usable):
            return RecordChange(one, fields, adopt=True)
        if record.kind in ENTERED and not fields:
            return None
        return "it exists and is not this program's", "change or delete it, or take it over with --adopt"

    def _occupied(self, stored: Sequence[Stored]) -> dict[Ref, list[Stored]]:
        """Return the cables that stay, by the ports that they are in."""
        goes = {id(one) for one in self.leftovers} if self.delete else set()
        ports: dict[Ref, list[Stored]] = defaultdict(list)
        for one in stored:
            if one.record.kind == "cable" and id(one) not in goes:
                for ref in _refs([one.record.fields.get("ends")]):
                    ports[ref].append(one)
        return ports

    def _occupant(self, record: SourceRecord) -> tuple[str, str] | None:
        """Return why the ports of a new cable are not free."""
        for ref in _refs([record.fields["ends"]]):
            for one in self.occupied[ref]:
                where = f"{' '.join(ref.key)} has the {one.record}"
                if one.owned:
                    return where, "it is this program's: --delete removes what the design does not have"
                return where, "move it there, or change the fabric"
        return None


def differences(record: SourceRecord, stored: Stored) -> dict[str, Value]:
    """Return the fields of a record that have other values in the service."""
    there = stored.record.fields
    wanted = dict(record.fields)
    if "context" in wanted:
        wanted["context"] = _merged(wanted["context"], there.get("context"))
    return {name: value for name, value in wanted.items() if there.get(name) != value}


def _merged(context: Value, there: Value) -> Value:
    """Return a context with the keys that others gave it in the service."""
    theirs = json.loads(there) if isinstance(there, str) and there else None
    if not isinstance(theirs, dict) or not isinstance(context, str):
        return context
    return json.dumps(theirs | json.loads(context), sort_keys=True, ensure_ascii=False)


def _supported(record: SourceRecord, names: frozenset[str]) -> SourceRecord:
    """Return a record without the fields that the service has no place for."""
    if record.fields.keys() <= names:
        return record
    return replace(record, fields={name: value for name, value in record.fields.items() if name in names})


def _only(found: Sequence[Stored]) -> Stored | None:
    """Return the only object, or the only one that is owned."""
    owned = [one for one in found if one.owned] or found
    return owned[0] if len(owned) == 1 else None


def _missing_ports(record: SourceRecord, stored: Stored) -> tuple[Value, ...]:
    """Return the ports that a device type lacks: of an interrupted push."""
    ours, there = record.fields.get("ports"), stored.record.fields.get("ports")
    if not isinstance(ours, tuple) or not isinstance(there, tuple):
        return ()
    known = {port[0] for port in there if isinstance(port, tuple)}
    return tuple(port for port in ours if isinstance(port, tuple) and port[0] not in known)


def _refs(values: Iterable[Value]) -> Iterator[Ref]:
    """Yield every reference in values."""
    for value in values:
        if isinstance(value, Ref):
            yield value
        elif isinstance(value, tuple):
            yield from _refs(value)


def _delete_key(stored: Stored) -> tuple[int, tuple[str, ...], str]:
    """Order deletes: cables and what refers to others first."""
    return -ORDER[stored.record.kind], stored.record.key, str(stored.id)
