"""Carrying out a plan: in order of dependency, in bulk, several requests at a time, again after trouble."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from ailb_gen.progress import Advance, Progress, quiet
from ailb_gen.sot.dialect import (
    Dialect,
    RecordChange,
    RecordsRefusedError,
    ServiceFaultError,
    SourceError,
    SourceScope,
    Stored,
)
from ailb_gen.sot.plan import Refusal, SourcePlan, compare
from ailb_gen.sot.records import KINDS, Id, Ref, SourceRecord, Value

Item = TypeVar("Item")
# Objects per request: a service stores each batch whole or not at all, and answers within seconds. A device brings the
# ports of its type, of which so many take the time of one other object.
BATCH, PORTS = 100, 4
# Requests at once.
REQUESTS = 8
# Objects of a kind that may each make a service fail; with more the service itself is broken.
FAULTS = 50
# Cables occupy ports, so they go before others come; everything else goes when nothing refers to it any more.
FIRST_DELETED = ("cable",)
# What says whose an object is; without it nothing is written.
OWNING = ("tag", "custom-field")


@dataclass(slots=True)
class SourceOfTruth:
    """A service with what is pushed to it; `stored` is what it had when it was last read, `refused` what it refuses."""

    dialect: Dialect
    desired: Sequence[SourceRecord]
    scope: SourceScope
    delete: bool = False
    adopt: bool = False
    stored: list[Stored] = field(default_factory=list)
    refused: dict[Ref, Refusal] = field(default_factory=dict)

    def plan(self) -> SourcePlan:
        """Read the service and compare. Raises SourceError."""
        self.stored = list(self.dialect.read(tuple(KINDS), self.scope))
        return self.compare()

    def compare(self) -> SourcePlan:
        """Compare with what was read last."""
        kinds = self.dialect.kinds()
        return compare(self.desired, self.stored, kinds, delete=self.delete, adopt=self.adopt, refused=self.refused)


def push(source: SourceOfTruth, plan: SourcePlan, progress: Progress = quiet) -> Counter[str]:
    """Carry out a plan; return the objects written, by kind.

    Records that the service refuses are conflicts, in `source.refused`; the others are written. After another error
    everything is read and compared again, as long as each time less is left. Raises SourceError with the first error
    that stays; the next push goes on with the rest.
    """
    written: Counter[str] = Counter()
    with progress("pushing", plan.writes) as advance:
        while plan.writes:
            try:
                _Carrying(source, plan, written, advance).run()
                break
            except SourceError as error:
                left = source.plan()
                # Another push may have made meanwhile what was refused.
                stays = {conflict.ref for conflict in left.conflicts}
                source.refused = {ref: why for ref, why in source.refused.items() if ref in stays}
                if any(ref.kind in OWNING for ref in source.refused):
                    raise SourceError(
                        f"{error}\nwithout it nothing is written; correct it there, or let the token see and add it"
                    ) from error
                if left.writes >= plan.writes:
                    raise SourceError(f"{error}\n{left.writes:,} objects are left; push again to go on") from error
                plan = left
    return written


class _Carrying:
    """One attempt to carry out a plan."""

    def __init__(self, source: SourceOfTruth, plan: SourcePlan, written: Counter[str], advance: Advance) -> None:
        self.source, self.plan, self.written, self.advance = source, plan, written, advance
        self.ids: dict[Ref, Id] = {}
        types = [record for record in source.desired if record.kind == "device-type"]
        self.ports = {record.ref: len(_tuple(record.fields.get("ports"))) for record in types}
        self._learn(source.stored)

    def _learn(self, stored: Sequence[Stored]) -> None:
        """Note the ids of stored objects; an owned one wins over a foreign one of the same name."""
        for one in sorted(stored, key=lambda one: one.owned):
            self.ids[one.record.ref] = one.id

    def run(self) -> None:
        """Write everything."""
        self._delete([one for one in self.plan.deletes if one.record.kind in FIRST_DELETED])
        late = self._release()
        creates, updates = list(self.plan.creates), list(self.plan.updates)
        made: set[Ref] = set()
        for kind in KINDS:
            new = [record for record in creates if record.kind == kind]
            changed = [change for change in updates if change.stored.record.kind == kind]
            if new and any(ref.kind == KINDS[kind].inside for ref in made):
                new, found = self._made_by_service(kind, new)
                changed += found
            self._create(kind, new)
            made |= {record.ref for record in new}
            self._update(kind, [_without(change, KINDS[kind].late) for change in changed])
            late += self._late(kind, new, changed)
        for kind in KINDS:
            self._update(kind, [change for change in late if change.stored.record.kind == kind], count=False)
        self._delete([one for one in self.plan.deletes if one.record.kind not in FIRST_DELETED])

    def _made_by_service(self, kind: str, new: Sequence[SourceRecord]) -> tuple[list[SourceRecord], list[RecordChange]]:
        """Return the records that are to be created after all, and changes of those that came with a new device."""
        found = {
            one.record.ref: one
            for one in self.source.dialect.read((kind,), self.source.scope)
            if one.record.kind == kind
        }
        self._learn(list(found.values()))
        left = [record for record in new if record.ref not in found]
        return left, [
            RecordChange(found[record.ref], record.fields, adopt=True) for record in new if record.ref in found
        ]

    def _release(self) -> list[RecordChange]:
        """Take back late references to what moves to another object: a service refuses to move it otherwise.

        Return the changes that set again those that the design wants.
        """
        wanted = {record.ref: record.fields for record in self.source.desired}
        again: list[RecordChange] = []
        moving = {change.stored.record.ref for change in self.plan.updates if "interface" in change.fields}
        for kind, row in KINDS.items():
            holders = [
                RecordChange(one, {name: None})
                for one in self.source.stored
                if one.record.kind == kind and one.owned
                for name in row.late
                if one.record.fields.get(name) in moving
            ]
            self._update(kind, holders, count=False)
            for change in holders:
                now, then = change.stored.record.fields, wanted.get(change.stored.record.ref, {})
                fields = {name: now[name] for name in change.fields if then.get(name) == now[name]}
                again += [RecordChange(change.stored, fields)] if fields else []
        return again

    def _late(self, kind: str, new: Sequence[SourceRecord], changed: Sequence[RecordChange]) -> Iterator[RecordChange]:
        """Yield the changes of fields that refer to later kinds."""
        late = KINDS[kind].late
        for record in new if late else ():
            if fields := self._known({name: record.fields[name] for name in late if name in record.fields}):
                yield RecordChange(Stored(record, self.ids[record.ref], True), fields)
        for change in changed if late else ():
            if fields := self._known({name: change.fields[name] for name in late if name in change.fields}):
                yield RecordChange(change.stored, fields)

    def _known(self, fields: dict[str, Value]) -> dict[str, Value]:
        """Leave out references to what is in conflict, or waits for it."""
        return {name: value for name, value in fields.items() if value not in self.plan.blocked}

    def _create(self, kind: str, records: Sequence[SourceRecord]) -> None:
        dialect, scope = self.source.dialect, self.source.scope

        def create(batch: Sequence[SourceRecord]) -> None:
            for record, number in zip(batch, dialect.create(kind, batch, self.ids, scope), strict=True):
                self.ids[record.ref] = number

        self._batches(kind, records, create, weight=self._weight)

    def _weight(self, record: SourceRecord) -> int:
        """Return how many objects of a request a record counts for."""
        kind = record.fields.get("type")
        return 1 + self.ports.get(kind, 0) // PORTS if isinstance(kind, Ref) else 1

    def _update(self, kind: str, changes: Sequence[RecordChange], count: bool = True) -> None:
        given = [change for change in changes if change.fields or change.adopt]
        dialect, scope = self.source.dialect, self.source.scope
        self._batches(kind, given, lambda batch: dialect.update(kind, batch, self.ids, scope), count)

    def _delete(self, stored: Sequence[Stored]) -> None:
        for kind in dict.fromkeys(one.record.kind for one in stored):
            rows = [one for one in stored if one.record.kind == kind]
            self._batches(kind, rows, partial(self.source.dialect.delete, kind))

    def _batches(
        self,
        kind: str,
        items: Sequence[Item],
        write: Callable[[Sequence[Item]], None],
        count: bool = True,
        weight: Callable[[Item], int] = lambda item: 1,
    ) -> None:
        """Write items in batches, several at once. Raises the first SourceError once those under way have ended.

        A batch with a refused record does not stop the others. One at which the service fails is halved until the
        record is found, which is refused, too.
        """
        batches = deque(_split(items, weight))
        refusals = _Refusals()
        with ThreadPoolExecutor(REQUESTS, thread_name_prefix="source") as pool:
            running: dict[Future[None], Sequence[Item]] = {}
            try:
                while batches or running:
                    while batches and len(running) < REQUESTS:
                        batch = batches.popleft()
                        running[pool.submit(write, batch)] = batch
                    for one in wait(running, return_when=FIRST_COMPLETED).done:
                        batch = running.pop(one)
                        try:
                            one.result()
                        except (RecordsRefusedError, ServiceFaultError) as error:
                            batches.extendleft(refusals.add(error, batch))
                            continue
                        if count:
                            self.written[kind] += len(batch)
                            self.advance(len(batch))
            finally:
                # What has not begun is left, also after Ctrl-C.
                pool.shutdown(wait=True, cancel_futures=True)
        self.source.refused |= refusals.records
        if refusals.first is not None:
            raise refusals.first


@dataclass(slots=True)
class _Refusals:
    """The records of some batches that a service does not take, and the first error."""

    records: dict[Ref, Refusal] = field(default_factory=dict)
    first: SourceError | None = None
    faults: int = 0

    def add(self, error: RecordsRefusedError | ServiceFaultError, batch: Sequence[Item]) -> Sequence[Sequence[Item]]:
        """Note the refused records of a batch; return the halves of one whose records are not known yet, or raise."""
        one, middle = batch[0], len(batch) // 2
        if not isinstance(one, SourceRecord | RecordChange):
            raise error
        if isinstance(error, RecordsRefusedError):
            reasons = error.reasons
        elif self.faults >= FAULTS:
            raise error
        elif middle:
            return batch[middle:], batch[:middle]
        else:
            self.faults += 1
            reasons = {one.ref if isinstance(one, SourceRecord) else one.stored.record.ref: str(error)}
        kind = SourceRecord if isinstance(one, SourceRecord) else RecordChange
        self.records |= {ref: Refusal(kind, reason) for ref, reason in reasons.items()}
        self.first = self.first or error
        return ()


def _split(items: Sequence[Item], weight: Callable[[Item], int]) -> Iterator[Sequence[Item]]:
    """Yield the items of each request: as many as weigh no more than BATCH, at least one."""
    batch: list[Item] = []
    total = 0
    for item in items:
        own = weight(item)
        if batch and total + own > BATCH:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += own
    if batch:
        yield batch


def _tuple(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else ()


def _without(change: RecordChange, late: Sequence[str]) -> RecordChange:
    """Return a change without the fields that are written later."""
    fields = {name: value for name, value in change.fields.items() if name not in late}
    return RecordChange(change.stored, fields, change.adopt)
