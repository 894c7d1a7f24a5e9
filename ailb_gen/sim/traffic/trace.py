"""Execution traces: what every rank computes and sends, and what it waits for.

Collectives of a group of ranks are one operation: the first of each rank, then the second, and so on. A message is a
node that sends and one that receives, in their order by ends and tag.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ailb_gen.errors import Place, Problem

# As many as a fabric has hosts, and more.
MAX_RANKS = 100_000


@dataclass(frozen=True, slots=True)
class TraceNode:
    """A node of a rank: `number` in its file from 1 on, `id` as written, and the ids that it waits for.

    `kind`: "compute" takes `ps`, or `operations` at the rate of the GPU without a time; "collective", "send" and
    "receive" carry `size` bytes; "nothing" ends at once.
    """

    number: int
    id: int
    waits: tuple[int, ...]
    kind: str = "nothing"
    ps: int = 0
    operations: int = 0
    cpu: bool = False
    collective: str = ""
    group: str = ""
    size: int = 0
    peer: int = -1
    tag: int = 0

    def computing(self, ps: int, operations: int, cpu: bool) -> TraceNode:
        """Return it as a computation."""
        return replace(self, kind="compute", ps=ps, operations=operations, cpu=cpu)

    def sending(self, kind: str, peer: int, tag: int, size: int) -> TraceNode:
        """Return it as one end of a message."""
        return replace(self, kind=kind, peer=peer, tag=tag, size=size)

    def collecting(self, collective: str, size: int) -> TraceNode:
        """Return it as a part of a collective."""
        return replace(self, kind="collective", collective=collective, size=size)


@dataclass(frozen=True, slots=True)
class TraceStep:
    """An operation of a trace: that of `ranks`, after other steps; `node` says what it is.

    Of a message `ranks` are its source and target.
    """

    node: TraceNode
    ranks: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ExecutionTrace:
    """A trace: the files of its ranks, their nodes, and the ranks of groups by name; no ranks stand for all."""

    files: Sequence[str]
    nodes: Sequence[Sequence[TraceNode]]
    groups: Mapping[str, tuple[int, ...]]

    def place(self, rank: int, node: TraceNode) -> Place:
        """Return where a node is written."""
        return Place(self.files[rank], node.number)

    def steps(self, problems: list[Problem]) -> list[TraceStep]:
        """Return the steps in an order in which each comes after those that it waits for; append what is wrong."""
        return _ordered(self, _Joined(self, problems), problems)


class _Joined:
    """The steps of a trace before they are ordered."""

    def __init__(self, trace: ExecutionTrace, problems: list[Problem]) -> None:
        """Join collectives and messages; append what does not fit."""
        self.trace, self.problems = trace, problems
        # Rank and node that the step is named after, its ranks, and the nodes of all of them.
        self.members: list[list[tuple[int, TraceNode]]] = []
        self.ranks: list[tuple[int, ...]] = []
        self.step_of: list[dict[int, int]] = [{} for _ in trace.nodes]
        self.before: list[list[int]] = []
        self._single()
        self._collectives()
        self._messages()
        self._waits()

    def add(self, members: Sequence[tuple[int, TraceNode]], ranks: tuple[int, ...]) -> int:
        """Add a step; return its number."""
        self.members.append(list(members))
        self.ranks.append(ranks)
        self.before.append([])
        for rank, node in members:
            self.step_of[rank][node.id] = len(self.members) - 1
        return len(self.members) - 1

    def wrong(self, code: str, rank: int, node: TraceNode, reason: str) -> None:
        """Note a problem of a node."""
        self.problems.append(Problem(code, self.trace.place(rank, node), f"node {node.id}", reason))

    def _single(self) -> None:
        for rank, nodes in enumerate(self.trace.nodes):
            twice = Counter(node.id for node in nodes)
            for node in nodes:
                if twice[node.id] > 1:
                    self.wrong("duplicate-name", rank, node, f"{twice[node.id]} nodes of the rank have this id")
                for awaited in node.waits:
                    if awaited not in twice:
                        self.wrong("wrong-value", rank, node, f"it waits for node {awaited}, which the rank lacks")
                if node.kind in ("compute", "nothing"):
                    self.add([(rank, node)], (rank,))

    def _collectives(self) -> None:
        """Join the collectives of every group, which end one after the other."""
        every = tuple(range(len(self.trace.nodes)))
        found: defaultdict[str, defaultdict[int, list[TraceNode]]] = defaultdict(lambda: defaultdict(list))
        for rank, nodes in enumerate(self.trace.nodes):
            for node in nodes:
                if node.kind == "collective":
                    found[node.group][rank].append(node)
        for name, by_rank in found.items():
            ranks = self.trace.groups.get(name) if name else every
            first = next(iter(by_rank))
            if ranks is None:
                hint = "give the file of groups as 'groups'"
                self.wrong("missing-key", first, by_rank[first][0], f"unknown group {name!r}; {hint}")
            elif self._fits(name, ranks or every, by_rank):
                self._join(ranks or every, by_rank)

    def _fits(self, name: str, ranks: tuple[int, ...], by_rank: Mapping[int, list[TraceNode]]) -> bool:
        """Return whether all ranks of a group, and no others, have as many collectives."""
        what = f"group {name!r}" if name else "the group of all ranks"
        for rank, nodes in by_rank.items():
            if rank not in ranks:
                self.wrong("wrong-value", rank, nodes[0], f"rank {rank} is not in {what}")
                return False
        counts = {rank: len(by_rank.get(rank, ())) for rank in ranks}
        most = max(counts, key=lambda rank: counts[rank])
        for rank, count in counts.items():
            if count < counts[most]:
                node = by_rank[most][count]
                self.wrong("wrong-count", most, node, f"rank {rank} has only {count} collectives in {what}")
                return False
        return True

    def _join(self, ranks: tuple[int, ...], by_rank: Mapping[int, list[TraceNode]]) -> None:
        last = None
        for number, node in enumerate(by_rank[ranks[0]]):
            members = [(rank, by_rank[rank][number]) for rank in ranks]
            for rank, other in members:
                if (other.collective, other.size) != (node.collective, node.size):
                    reason = f"{other.collective} of {other.size:,} bytes, and rank {ranks[0]} has "
                    self.wrong("conflict", rank, other, f"{reason}{node.collective} of {node.size:,} in its place")
                    break
            step = self.add(members, ranks)
            if last is not None:
                self.before[step].append(last)
            last = step

    def _messages(self) -> None:
        """Join nodes that send with those that receive; the receiver's end waits for the message."""
        sent: defaultdict[tuple[int, int, int], list[TraceNode]] = defaultdict(list)
        received: defaultdict[tuple[int, int, int], list[TraceNode]] = defaultdict(list)
        for rank, nodes in enumerate(self.trace.nodes):
            for node in nodes:
                if node.kind in ("send", "receive") and not (node.peer < len(self.trace.nodes) and node.peer != rank):
                    self.wrong("out-of-range", rank, node, f"rank {rank} has no peer {node.peer}")
                elif node.kind == "send":
                    sent[rank, node.peer, node.tag].append(node)
                elif node.kind == "receive":
                    received[node.peer, rank, node.tag].append(node)
        for (source, target, tag), nodes in sent.items():
            others = received.pop((source, target, tag), [])
            for node in nodes[len(others) :]:
                self.wrong("conflict", source, node, f"rank {target} does not receive it (tag {tag})")
            for node in others[len(nodes) :]:
                self.wrong("conflict", target, node, f"rank {source} does not send it (tag {tag})")
            for node, other in zip(nodes, others, strict=False):
                message = self.add([(source, node)], (source, target))
                self.before[self.add([(target, replace(other, kind="nothing"))], (target,))].append(message)
        for (source, target, tag), nodes in received.items():
            for node in nodes:
                self.wrong("conflict", target, node, f"rank {source} does not send it (tag {tag})")

    def _waits(self) -> None:
        """Let steps wait for those of the nodes that theirs wait for."""
        for step, members in enumerate(self.members):
            for rank, node in members:
                known = self.step_of[rank]
                self.before[step] += [known[awaited] for awaited in node.waits if awaited in known]


def are_ranks(value: object) -> bool:
    """Return whether a value is a list of different ranks."""
    if not isinstance(value, list) or not all(type(one) is int and 0 <= one < MAX_RANKS for one in value):
        return False
    return len(set(value)) == len(value)


def _ordered(trace: ExecutionTrace, joined: _Joined, problems: list[Problem]) -> list[TraceStep]:
    """Return steps in order: those that wait for nothing, then those that wait only for these, and so on."""
    waits = [0] * len(joined.members)
    following: list[list[int]] = [[] for _ in joined.members]
    for step, before in enumerate(joined.before):
        for other in set(before):
            following[other].append(step)
            waits[step] += 1
    order: list[int] = []
    for step in _waves([step for step, count in enumerate(waits) if not count], waits, following):
        order.append(step)
    if len(order) < len(waits) and not problems:
        step = next(step for step, count in enumerate(waits) if count)
        rank, node = joined.members[step][0]
        reason = "it waits for itself, by way of other nodes or ranks"
        problems.append(Problem("conflict", trace.place(rank, node), f"node {node.id}", reason))
    number = {step: place for place, step in enumerate(order)}
    return [
        TraceStep(
            joined.members[step][0][1],
            joined.ranks[step],
            tuple(sorted(number[other] for other in set(joined.before[step]))),
        )
        for step in order
        if all(other in number for other in joined.before[step])
    ]


def _waves(ready: list[int], waits: list[int], following: Sequence[Sequence[int]]) -> Iterator[int]:
    """Yield steps whose predecessors all came before; counts down `waits`."""
    while ready:
        yield from ready
        after: list[int] = []
        for step in ready:
            for other in following[step]:
                waits[other] -= 1
                if not waits[other]:
                    after.append(other)
        ready = sorted(after)
