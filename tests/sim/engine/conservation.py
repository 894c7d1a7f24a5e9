"""What holds between any two events: every packet is in one place, and every counter says what the packets say."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from ailb_gen.sim.balancers import NUMBERS
from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.records import EngineState

# By field, of arrays in two dimensions by the first one, too.
Rows = dict[str, Any]
# Frames of one class that are under way on a link, in order.
Frames = dict[tuple[int, int], list[int]]


def check(state: EngineState) -> None:
    """Assert everything that must hold between two events."""
    Check(state).all()


def rows(records: r.Records) -> Rows:
    """The fields of records as lists."""
    names = records.dtype.names or ()
    return {name: records[name].tolist() for name in names}


def chain(first: int, following: list[int]) -> Iterator[int]:
    """The members of a list; one that goes in circles fails."""
    seen = 0
    while first != r.NONE:
        yield first
        first = following[first]
        seen += 1
        assert seen <= len(following), "a list goes in circles"


class Check:
    """A state, and where its packets are."""

    def __init__(self, state: EngineState) -> None:
        self.state = state
        self.config = {name: state.config[0][name].item() for name in r.CONFIG.names or ()}
        self.run = {name: state.run[0][name].item() for name in r.RUN.names or ()}
        self.links, self.ports = rows(state.links), rows(state.ports)
        self.ends, self.queues, self.held_bytes = rows(state.wires), rows(state.queues), rows(state.held)
        # Records after these were never used.
        self.packets, self.flows = rows(state.packets), rows(state.flows[: self.run["fresh_flow"]])
        self.tasks = rows(state.tasks)
        self.timers = [
            rows(heap[:count]) for heap, count in zip(state.timers, state.timer_counts.tolist(), strict=True)
        ]
        self.count = len(state.links)
        self.classes = self.config["classes"]
        following = self.packets["next"]
        self.free = list(chain(self.run["free_packet"], following))
        self.wires = [list(chain(head, following)) for head in self.ends["head"]]
        self.waiting = [
            [
                list(chain(self.queues["head"][one][link], following)) if self.links["backlog"][link] >> one & 1 else []
                for one in range(self.classes)
            ]
            for link in range(self.count)
        ]
        # By flow, at its last switch.
        self.held: dict[int, list[int]] = {}
        if self.config["balancer"] == NUMBERS["conweave"]:
            heads = state.steered["held_head"].tolist()
            running = [flow for flow, task in enumerate(self.flows["task"]) if task != r.NONE]
            self.held = {flow: list(chain(heads[flow], following)) for flow in running if heads[flow] != r.NONE}
        # Of pacers, the flows that wait for a pull.
        self.credit, self.asking = rows(state.credits), []
        if self.config["transport"] == r.RECEIVER_DRIVEN:
            heads = state.pacers["head"].tolist()
            self.asking = [list(chain(head, self.credit["queued_next"])) for head in heads]
        self.moving = [packet for wire in self.wires for packet in wire]
        self.queued = [packet for link in self.waiting for queue in link for packet in queue]
        self.holding = [packet for queue in self.held.values() for packet in queue]

    def all(self) -> None:
        self.each_packet_is_in_one_place()
        self.wires_and_queues()
        self.buffers()
        self.pauses()
        self.flows_and_packets()
        self.rings()
        self.credits()
        self.senders_and_receivers()
        self.contexts()
        self.events()
        self.nothing_sleeps()
        self.sums()

    def each_packet_is_in_one_place(self) -> None:
        places = Counter(self.free + self.moving + self.queued + self.holding)
        assert len(self.free) == self.run["free_packets"]
        assert len(places) == len(self.packets["next"]), "packets are nowhere"
        assert set(places.values()) == {1}, "packets are in two places"

    def wires_and_queues(self) -> None:
        links, queues = self.links, self.queues
        for link, wire in enumerate(self.wires):
            times = self._arrivals(link)
            assert times == sorted(times)
            if wire:
                assert wire[-1] == self.ends["tail"][link]
                assert self.ends["arrival"][link] == times[0] << r.ORDER_BITS | r.ARRIVED
                assert times[0] >= self.run["now"]
                assert times[-1] <= links["free"][link] + links["delay"][link]
            else:
                assert self.ends["arrival"][link] == r.NEVER
            assert self.state.waiting[link] == sum(len(queue) for queue in self.waiting[link])
            for one, queue in enumerate(self.waiting[link]):
                assert bool(queue) == bool(links["backlog"][link] >> one & 1)
                assert queues["bytes"][one][link] == sum(self.packets["bytes"][packet] for packet in queue)
                assert {self.packets["priority"][packet] for packet in queue} <= {one}
                assert not queue or queue[-1] == queues["tail"][one][link]

    def buffers(self) -> None:
        """What waits in a switch and came from outside is counted, once; and nothing else."""
        used: dict[int, int] = defaultdict(int)
        received: dict[tuple[int, int], int] = defaultdict(int)
        for packet in (*self.queued, *self.holding) if self.config["shared_buffer_bytes"] != r.NONE else ():
            came, one = self.packets["came"][packet], self.packets["priority"][packet]
            if one > r.CONTROL and came != r.NONE:
                used[self.ends["target"][came]] += self.packets["bytes"][packet]
                received[one, came] += self.packets["bytes"][packet]
        headroom: dict[int, int] = defaultdict(int)
        for one, link in np.ndindex(self.state.held.shape):
            inside, beyond = self.held_bytes["ingress"][one][link], self.held_bytes["headroom"][one][link]
            assert min(inside, beyond) >= 0
            limit = self.held_bytes["limit"][one][link]
            assert beyond <= max(0, limit)
            assert inside + beyond == (received[one, link] if limit != r.NONE else 0)
            headroom[self.ends["target"][link]] += beyond
        for node, counted in enumerate(self.state.nodes["used"].tolist()):
            assert counted == used[node] - headroom[node]
            assert counted <= self.state.nodes["shared"][node]
            assert self.state.nodes["headroom"][node] == headroom[node] <= self.state.nodes["headroom_pool"][node]

    def pauses(self) -> None:
        """A class is stopped if the other end says so, or has said so last in frames that are under way."""
        under_way: Frames = defaultdict(list)
        for link in range(self.count):
            wire = zip(self.wires[link], self._arrivals(link), strict=True)
            arriving = [packet for packet, time in wire if not self._is_lost(link, packet, time)]
            for packet in (*arriving, *self.waiting[link][r.FRAMES]):
                if self.packets["kind"][packet] in (r.PAUSE, r.RESUME):
                    stopped = self.ends["reverse"][link]
                    under_way[stopped, self.packets["extra"][packet]].append(self.packets["kind"][packet])
        for link in range(self.count):
            if self.ends["down"][self.ends["reverse"][link]]:
                continue
            for one in range(self.classes):
                pausing = bool(self.ends["pausing"][link] >> one & 1)
                frames = under_way[link, one]
                said = frames[-1] == r.PAUSE if frames else bool(self.links["paused"][link] >> one & 1)
                assert said == pausing, (link, one, frames)

    def _arrivals(self, link: int) -> list[int]:
        """When the packets on a link arrive."""
        first = [self.ends["arrival"][link] >> r.ORDER_BITS] if self.wires[link] else []
        return first + [self.packets["next_arrival"][packet] for packet in self.wires[link][:-1]]

    def _is_lost(self, link: int, packet: int, time: int) -> bool:
        """Whether a packet was sent before its link came back."""
        return bool(time <= self.ports["lost_until"][link])

    def flows_and_packets(self) -> None:
        references = Counter(self.packets["flow"][packet] for packet in (*self.moving, *self.queued, *self.holding))
        free = list(chain(self.run["free_flow"], self.flows["ring_next"]))
        assert len(free) == len(set(free))
        tasks = self.flows["task"]
        assert {flow for flow, task in enumerate(tasks) if task == r.NONE} == set(free)
        # Receivers keep the records of flows that wait for their turn to be asked for a packet.
        references.update(flow for ring in self.asking for flow in ring)
        for flow, task in enumerate(tasks):
            assert self.flows["references"][flow] == references[flow]
            if task == r.NONE:
                assert references[flow] == 0
            else:
                assert self.tasks["flow"][task] == flow
        running = {task for task, flow in enumerate(self.tasks["flow"]) if flow != r.NONE}
        assert running == set(tasks) - {r.NONE}

    def rings(self) -> None:
        seen: list[int] = []
        for one, link in np.ndindex(self.state.queues.shape):
            ring = list(chain(self.queues["ring_head"][one][link], self.flows["ring_next"]))
            assert bool(ring) == bool(self.links["ready"][link] >> one & 1)
            assert not ring or ring[-1] == self.queues["ring_tail"][one][link]
            assert all((self.flows["link"][flow], self.flows["priority"][flow]) == (link, one) for flow in ring)
            seen += ring
        assert len(seen) == len(set(seen))
        assert set(seen) == {flow for flow in self._running() if self.flows["phase"][flow] == r.RINGED}

    def credits(self) -> None:
        """No sender has more credits than its receiver has given, and no receiver asks for more than has left."""
        asking = [flow for ring in self.asking for flow in ring]
        assert len(asking) == len(set(asking))
        for flow in self._running() if self.config["transport"] == r.RECEIVER_DRIVEN else ():
            own = {name: column[flow] for name, column in self.credit.items()}
            assert bool(own["queued"]) == (flow in asking)
            assert 0 <= own["pulled"] <= own["granted"] <= min(own["arrivals"], own["needed"])
            assert own["credit"] >= 0
            if self.run["timeouts"] == 0:
                first = min(self.config["first_window"], self.flows["packets"][flow])
                sent = self.flows["unsent"][flow] + self.tasks["retransmitted"][self.flows["task"][flow]]
                assert own["credit"] + sent == first + own["pulled"]
                assert own["unanswered"] <= sent
                assert own["arrivals"] <= sent
            words = self.state.refused.shape[1]
            refused = self._bits(self.state.refused[flow].tolist(), 0, words)
            assert all(sequence < self.flows["next"][flow] for sequence in refused)

    def senders_and_receivers(self) -> None:
        """No end of a flow knows more than the other end has said."""
        flows = self.flows
        for flow in self._running():
            packets, unsent, following = flows["packets"][flow], flows["unsent"][flow], flows["next"][flow]
            acknowledged, expected = flows["acknowledged"][flow], flows["expected"][flow]
            if self.config["transport"] == r.RAW:
                assert flows["arrived"][flow] <= packets
                continue
            assert 0 <= acknowledged <= expected <= unsent <= packets
            assert acknowledged <= following <= unsent
            if self.config["transport"] == r.GO_BACK_N:
                continue
            assert following == unsent
            assert following - acknowledged <= self.config["window"]
            words = self.state.arrived.shape[1]
            arrived = self._bits(self.state.arrived[flow].tolist(), expected, words)
            known = self._bits(self.state.acknowledged[flow].tolist(), acknowledged, words)
            assert all(expected < sequence < unsent for sequence in arrived)
            # The acknowledgement of a packet may be overtaken by a later one that counts it in.
            assert all(sequence < expected or sequence in arrived for sequence in known)

    @staticmethod
    def _bits(words: list[int], first: int, count: int) -> set[int]:
        size = 32 * count
        found = {32 * word + bit for word in range(count) for bit in range(32) if words[word] >> bit & 1}
        return {first + (bit - first) % size for bit in found}

    def contexts(self) -> None:
        known: list[int] = []
        for link in range(self.count):
            held = list(chain(self.ports["context_head"][link], self.flows["context_next"]))
            assert len(held) == self.ports["contexts"][link] <= self.config["context_cache"]
            assert not held or held[-1] == self.ports["context_tail"][link]
            assert [self.flows["context_previous"][flow] for flow in held[1:]] == held[:-1]
            known += held
        running = {flow for flow in self._running() if self.flows["context"][flow]}
        assert set(known) == running
        assert len(known) == len(running)

    def events(self) -> None:
        tree = self.state.tree.tolist()
        fields = ("time", "kind", "number")
        heaps = [list(zip(*(heap[name] for name in fields), strict=True)) for heap in self.timers]
        assert all(heap[(at - 1) // 2] <= heap[at] for heap in heaps for at in range(1, len(heap)))
        assert all(tree[at] == min(tree[2 * at], tree[2 * at + 1]) for at in range(1, len(tree) // 2))
        leaves, bits = self.config["leaves"], self.config["bits"]
        moments = [min(pair) for pair in zip(self.ends["arrival"], self.links["wake"], strict=True)]
        moments += [heap[0][0] << r.ORDER_BITS | r.EXPIRED if heap else r.NEVER for heap in heaps]
        for leaf, moment in enumerate(moments):
            assert tree[leaves + leaf] == (r.NEVER if moment == r.NEVER else moment << bits | leaf)
        assert set(tree[leaves + len(moments) :]) <= {r.NEVER}

    def nothing_sleeps(self) -> None:
        """Whoever may send will be looked at."""
        links = self.links
        kinds = Counter(pair for heap in self.timers for pair in zip(heap["kind"], heap["subject"], strict=True))
        if not self.config["lazy"]:
            for link in range(self.count):
                able = (links["backlog"][link] | links["ready"][link]) & ~links["paused"][link]
                assert not able or links["wake"][link] != r.NEVER, f"link {link} sleeps"
        else:
            assert all(wire or not backlog for wire, backlog in zip(self.wires, links["backlog"], strict=True))
        for flow in self._running() if self.config["transport"] != r.RAW else ():
            task, phase = self.flows["task"][flow], self.flows["phase"][flow]
            assert kinds[r.RATE, flow] == (phase == r.PACED)
            ended = self.flows["acknowledged"][flow] == self.flows["packets"][flow]
            assert kinds[r.TIMEOUT, task] == bool(self.flows["timer"][flow]) or ended
            in_flight = self.flows["next"][flow] - self.flows["acknowledged"][flow]
            if self.config["transport"] == r.RECEIVER_DRIVEN and not self.credit["credit"][flow]:
                assert phase == r.IDLE
            elif self.flows["next"][flow] < self.flows["packets"][flow] and in_flight < self._window(flow):
                assert phase != r.IDLE, f"flow {flow} sleeps"
        for link, ring in enumerate(self.asking):
            busy = bool(self.state.pacers["busy"][link])
            assert kinds[r.NEXT_PULL, link] == busy
            assert busy or not ring, f"pacer {link} sleeps"

    def _window(self, flow: int) -> float:
        """How many packets of a flow may be in flight, as its transport and its congestion control have it."""
        most = float(self.config["window"])
        windowed = self.config["windowed"] and self.config["transport"] != r.RECEIVER_DRIVEN
        return min(most, max(1.0, float(self.state.controlled["window"][flow]))) if windowed else most

    def sums(self) -> None:
        """Data that was sent has arrived, is under way, or was lost; acknowledgements may be lost as well."""
        data = [self.packets["kind"][packet] == r.DATA for packet in range(len(self.packets["next"]))]
        under_way = sum(data[packet] for packet in (*self.moving, *self.queued, *self.holding))
        lost = self.run["lost"] + self.run["drops"] + self.run["unreachable"]
        # What was trimmed is no data any more.
        missing = self.run["packets"] + self.run["retransmissions"] - under_way - self.run["received"]
        # Losses of what is not data are counted with those of data.
        only_data = self.config["transport"] == r.RAW and self.config["balancer"] != NUMBERS["conweave"]
        if only_data or lost == 0:
            assert missing == lost + self.run["trimmed"]
        assert sum(self.ports["drops"]) == self.run["drops"]
        assert sum(self.ports["lost"]) == self.run["lost"]
        histogram = self.state.histogram.sum(axis=0)
        assert np.all(histogram <= self.state.links["packets"] + self.state.waiting)

    def _running(self) -> list[int]:
        return [flow for flow, task in enumerate(self.flows["task"]) if task != r.NONE]
