"""The fabric without failures, indexed for asking what a failure touches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ailb_gen.addresses import Prefix
from ailb_gen.forwarding.delivery import VALLEY_FREE_HOPS, outcomes
from ailb_gen.forwarding.loads import Indices, Links, Volumes, spread
from ailb_gen.network.policy import Policy
from ailb_gen.routing.fib import fib_entry, held, node_of
from ailb_gen.routing.policy import evaluate
from ailb_gen.routing.rib import Routing
from ailb_gen.routing.solve import Candidate, LocRib, State

Ways = tuple[int, ...]
# Marks in Baseline.second: the way from here is not a single link to the destination.
NOT_ONE = -1


@dataclass(frozen=True, slots=True)
class Uses:
    """By position, the prefixes of a node whose best paths use it.

    `plain` are those whose best paths, kept as the second key, are all in the FIB, sent to no neighbor,
    and best without each other, too; `special` the others, with the positions of all paths where MED is compared.
    """

    plain: dict[int, dict[Ways, Indices]]
    special: dict[int, list[int]]


class Baseline:
    """Routes, uses of every link, and loads while nothing fails.

    `destinations` are the prefixes that carry traffic, by the device that owns them; every device that owns some sends
    the same volume to every other one, split evenly over its prefixes.
    """

    def __init__(self, routing: Routing, destinations: Mapping[int, tuple[Prefix, ...]]) -> None:
        self.routing, self.graph, self.links = routing, routing.graph, Links(routing)
        self.destinations = destinations
        self.prefixes = [prefix for row in destinations.values() for prefix in row]
        self.states = [routing.states[prefix] for prefix in self.prefixes]
        self.owner = np.array([device for device, row in destinations.items() for _ in row], dtype=np.int64)
        others = max(1, len(destinations) - 1)
        self.weight = np.array([1.0 / len(row) / others for row in destinations.values() for _ in row])
        self.sources = np.zeros(len(self.graph.names))
        self.sources[list(destinations)] = 1.0
        self.senders = tuple(sorted(found.members & destinations.keys()) for found in self.graph.classes)
        self.uses: dict[int, Uses] = {}
        self.apart: dict[int, Indices] = {}
        # (node, prefix) whose loss of a path can change what the node sends, or its choice among the other paths.
        self.whole: set[tuple[int, int]] = set()
        # By class, whether its export policies look at the prefix alone, and those policies.
        self.by_prefix: dict[int, tuple[bool, list[tuple[Policy, ...]]]] = {}
        self.second: dict[int, Indices] = {}
        self.arriving: dict[int, bool] = {}
        self.load = np.zeros(self.links.count)
        self.lost = 0.0
        self.selections: dict[object, Ways] = {}
        self._index()
        for number, state in enumerate(self.states):
            self.lost += spread(self.links, state, self.demand(number), self.load)
        self.highest = float(self.load.max(initial=0.0))

    def demand(self, number: int) -> Volumes:
        """Return the volume that every device sends to a prefix."""
        demand: Volumes = self.sources * self.weight[number]
        demand[self.owner[number]] = 0.0
        return demand

    def _index(self) -> None:
        """Note which node uses which position for which prefixes."""
        plain: dict[int, dict[int, dict[Ways, list[int]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
        special: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        apart: dict[int, list[int]] = {device: [] for device in range(len(self.graph.names))}
        for number, state in enumerate(self.states):
            for device in state.singles:
                apart[device].append(number)
            for node, rib in state.nodes.items():
                best = rib.selection.best
                usable = [candidate for candidate in rib.candidates if not candidate.hidden]
                if any(candidate.route.med is not None for candidate in usable):
                    # A path that is not used can, by its MED, keep another one from being used.
                    self.whole.add((node, number))
                    for at in sorted(at for candidate in usable for at in candidate.positions):
                        special[node][at].append(number)
                    continue
                if not self._is_silent(node, state.prefix, rib):
                    self.whole.add((node, number))
                elif self._is_plain(node, usable, best):
                    for at in best:
                        plain[node][at][best].append(number)
                    continue
                for at in best:
                    special[node][at].append(number)
        self.apart = {device: np.array(numbers, dtype=np.int64) for device, numbers in apart.items()}
        for node in plain.keys() | special.keys():
            arrays = {
                at: {ways: np.array(numbers, dtype=np.int64) for ways, numbers in rows.items()}
                for at, rows in plain[node].items()
            }
            self.uses[node] = Uses(arrays, dict(special[node]))

    def _is_plain(self, node: int, usable: Iterable[Candidate], best: Ways) -> bool:
        """Return whether the rest of the best paths are the best paths, and in the FIB, when one of them is lost."""
        device = self.graph.device(node)
        balancing, rules = self.graph.switches[device].balancing, self.graph.rules[device]
        if not balancing.per_packet or len(best) > balancing.maximum_ecmp:
            return False
        return all(rules[candidate.group].multipath and rules[candidate.group].multiple_as for candidate in usable)

    def _is_silent(self, node: int, prefix: Prefix, rib: LocRib) -> bool:
        """Return whether a node sends nothing, and would not if another of its paths were the active one."""
        if rib.selection.active is None or any(rib.sent):
            return not any(rib.sent)
        device = self.graph.device(node)
        number = self.graph.class_of[device]
        if number not in self.by_prefix:
            chains = [self.graph.rules[device][group].exports for group in self.graph.classes[number].groups]
            terms = [term for chain in chains for policy in chain for term in policy.terms]
            self.by_prefix[number] = not any(term.communities for term in terms), list(dict.fromkeys(chains))
        certain, distinct = self.by_prefix[number]
        lists, route = self.graph.lists[device], rib.selection.active
        return certain and not any(evaluate(chain, lists, prefix, route, default=True).accepted for chain in distinct)

    def arrives(self, number: int) -> bool:
        """Return whether packets to a prefix arrive from every switch, up to a neighbor of the owner and down to it."""
        found = self.arriving.get(number)
        if found is None:
            ends = outcomes(self.graph, self.states[number]).values()
            found = all(not end.problem and end.hops <= VALLEY_FREE_HOPS for end in ends)
            self.arriving[number] = found
        return found

    def second_hops(self, device: int) -> Indices:
        """Return, per prefix, the one link by which a device reaches its owner; NOT_ONE where there is none."""
        found = self.second.get(device)
        if found is None:
            found = np.array([self._second(device, state) for state in self.states], dtype=np.int64)
            self.second[device] = found
        return found

    def _second(self, device: int, state: State) -> int:
        ways = fib_entry(self.graph, state, node_of(self.graph, state, device))
        if len(ways) != 1:
            return NOT_ONE
        peer = self.graph.adjacencies[device][ways[0]].peer
        return int(self.links.of[device][ways[0]]) if held(self.graph, state, peer).local else NOT_ONE
