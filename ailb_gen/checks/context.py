"""The context that every check function gets: intent, files, and what is computed from them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.addresses import Prefix
from ailb_gen.checks.expected import ExpectedFabric, expected_fabric
from ailb_gen.checks.expected_cabling import ExpectedCabling, expected_cabling
from ailb_gen.checks.expected_hosts import ExpectedHost, HostGroup, expected_hosts, host_groups, with_profiles
from ailb_gen.checks.expected_paths import ExpectedPaths
from ailb_gen.checks.expected_routes import ExpectedRoutes
from ailb_gen.checks.expected_switches import ExpectedSwitch
from ailb_gen.checks.progress import NO_PROGRESS, RunProgress
from ailb_gen.errors import OutputError
from ailb_gen.forwarding.endpoints import routed_prefixes
from ailb_gen.intent.models import Fabric
from ailb_gen.junos.check_result import CheckResult
from ailb_gen.layout import TOPOLOGY
from ailb_gen.manifest import read_any
from ailb_gen.network.cos import ClassOfService
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.model import Port, Switch, read_speed
from ailb_gen.network.port_qos import PortQos, port_entry, qos_of
from ailb_gen.network.records import NO_RECORDS, Records
from ailb_gen.routing.rib import Routing
from ailb_gen.validation import NAME_PATTERN

if TYPE_CHECKING:
    # Their arrays take long to import, and after most changes they are not computed.
    from ailb_gen.checks.expected_loads import ExpectedLoads
    from ailb_gen.checks.failure_outcomes import FailureOutcomes
    from ailb_gen.forwarding.baseline import Baseline
    from ailb_gen.forwarding.fib_changes import FibChanges

# Fluid loads are sums of fractions: volumes below this are none.
EXACT = 1e-6


@dataclass(frozen=True)
class Context:
    """The intent, the files, and everything computed from them; computed when first needed.

    `digest` is the sha256 of the intent's input, `root` the artifact directory, `records` what topology and cabling
    list, by file, and `commit` the commit check of every switch, None without YANG models. `seed` fixes what is
    sampled. `executor` takes independent work, None for this process; `steps` counts what is done. `keep_changes`: what
    failures change in FIBs is kept. `other` is the other side of a change: where switches and cables are the same, its
    routes and failures are not computed again. `profiles` are the folders that servers of a cluster share, by
    server, None where the intent says them. `entries` are what a manifest would have of paths that were read already.
    """

    fabric: Fabric
    network: Network
    digest: str = ""
    root: Path = Path()
    records: Mapping[str, Records] = field(default_factory=dict)
    commit: Mapping[str, CheckResult] | None = None
    seed: int = 1
    executor: Executor | None = None
    steps: RunProgress = NO_PROGRESS
    keep_changes: bool = False
    other: Context | None = None
    profiles: Mapping[str, str] | None = None
    entries: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def expected(self) -> ExpectedFabric:
        """The fabric that the intent specifies."""
        return expected_fabric(self.fabric)

    @cached_property
    def cabling(self) -> ExpectedCabling:
        """The cables that the intent specifies."""
        return expected_cabling(self.expected)

    def expected_routes(self, down: Iterable[End] = ()) -> ExpectedRoutes:
        """Return the expected next hops, with links down that are named by one of their ends."""
        return ExpectedRoutes(self.expected, self.cabling, down)

    @cached_property
    def host_speeds(self) -> Mapping[tuple[str, str], int]:
        """The speed of every NIC's port in bit/s, by server and NIC, as the intent asks for it."""
        speeds = {(cable.b_device, cable.b_port): read_speed(cable.speed) for cable in self.cabling.hosts}
        return {nic: speed for nic, speed in speeds.items() if speed is not None}

    @cached_property
    def hosts(self) -> Mapping[str, ExpectedHost]:
        """The servers that the intent specifies, by name."""
        hosts = expected_hosts(self.fabric)
        return hosts if self.profiles is None else with_profiles(hosts, self.profiles)

    @cached_property
    def host_groups(self) -> tuple[HostGroup, ...]:
        """The servers that are both asked for and there, by folder and by what is asked; without `misplaced`."""
        return tuple(group for group in self._groups if group not in self.misplaced)

    @cached_property
    def misplaced(self) -> tuple[HostGroup, ...]:
        """The servers that have the profile of others: nothing in it is about them."""
        owners = {host.profile: host for host in self.hosts.values() if host.profile}
        owned = ((group, owners.get(group.profile.folder)) for group in self._groups if group.expected.profile)
        return tuple(group for group, owner in owned if owner is not None and owner != group.expected)

    @cached_property
    def _groups(self) -> tuple[HostGroup, ...]:
        return host_groups(self.hosts, self.network)

    @cached_property
    def switches(self) -> tuple[tuple[Switch, ExpectedSwitch], ...]:
        """Every switch that the files have and the intent specifies, with what it asks."""
        asked = self.expected.switches
        return tuple((switch, asked[name]) for name, switch in self.network.switches.items() if name in asked)

    @property
    def absent(self) -> tuple[str, ...]:
        """The switches that the intent specifies and that have no usable file."""
        return tuple(name for name in self.expected.switches if name not in self.network.switches)

    @cached_property
    def leaves(self) -> tuple[tuple[Switch, ExpectedSwitch], ...]:
        """Every leaf that the files have and the intent specifies, with what it asks, in the order of the intent."""
        switches = self.network.switches
        return tuple((switches[leaf.name], leaf) for leaf in self.expected.leaves if leaf.name in switches)

    @cached_property
    def of_manifest(self) -> str | None:
        """The fabric that the manifest is of; None without a manifest that can be used, which has checks of its own."""
        try:
            manifest = read_any(self.root)
        except OutputError:
            return None
        return manifest.fabric if manifest is not None else None

    @cached_property
    def other_fabric(self) -> str:
        """The message that topology and manifest, as far as they are there, both name one other fabric; else empty.

        From that all other findings follow. Of the files it holds only names that the intent could have, too, so that
        it means nothing in Markdown.
        """
        own, of_manifest = self.fabric.name, self.of_manifest
        # Then they do not both name another one, and the topology need not be looked up.
        if of_manifest == own:
            return ""
        named = {
            str(record.fields["fabric"])
            for record in self.records.get(TOPOLOGY, NO_RECORDS).of("value")
            if record.key == "fabric"
        }
        named |= {of_manifest} if of_manifest is not None else set()
        other = named.pop() if len(named) == 1 else own
        if other == own or not re.fullmatch(NAME_PATTERN, other):
            return ""
        expected, there = {*self.expected.switches, *self.hosts}, {*self.network.switches, *self.network.hosts}
        return (
            f"these files are of the fabric {other}, not of {own}: the intent has {len(expected)} devices, the files "
            f"have {len(there)}, and {len(expected & there)} names are in both; "
            f"name the fabric file of {other}, or the directory of {own}"
        )

    @cached_property
    def link_ports(self) -> Mapping[str, Mapping[str, None]]:
        """The ports of every switch at which a link to another switch ends."""
        return _ports(self.network.link_ends())

    @cached_property
    def server_ports(self) -> Mapping[str, Mapping[str, None]]:
        """The ports of every switch at which a server's cable ends."""
        return _ports(self.network.attachments.values())

    def cabled_ports(self, switch: str) -> Mapping[str, None]:
        """Return the ports of a switch at which a cable ends."""
        return {**self.link_ports.get(switch, {}), **self.server_ports.get(switch, {})}

    def port_at(self, end: End) -> tuple[Switch, Port] | None:
        """Return the switch and the port at an end of a cable; None when no file has them."""
        switch = self.network.switches.get(end.device)
        port = switch.ports.get(end.port) if switch is not None else None
        return (switch, port) if switch is not None and port is not None else None

    @cached_property
    def qos(self) -> Mapping[str, Mapping[PortQos, list[str]]]:
        """The cabled ports of every switch, by the class of service that holds on them."""
        found: dict[str, Mapping[PortQos, list[str]]] = {}
        # Most switches of a role have the same ports, and what they say of them is one object.
        known: dict[tuple[int, tuple[str, ...]], dict[PortQos, list[str]]] = {}
        for name, switch in self.network.switches.items():
            key = id(switch.cos), tuple(self.cabled_ports(name))
            if key not in known:
                known[key] = _by_qos(switch.cos, key[1])
            found[name] = known[key]
        return found

    @cached_property
    def qos_at(self) -> Mapping[End, PortQos]:
        """The class of service of every cabled port."""
        return {End(name, port): qos for name, row in self.qos.items() for qos, ports in row.items() for port in ports}

    @cached_property
    def routing(self) -> Routing:
        """The routes that follow from the files."""
        if self.other is not None and _wiring(self.network) == _wiring(self.other.network):
            return self.other.routing
        return Routing(self.network)

    @cached_property
    def destinations(self) -> Mapping[int, tuple[Prefix, ...]]:
        """The prefixes of every leaf that has a file, by device."""
        index, states = self.routing.graph.index, self.routing.states
        found = {
            index[leaf.name]: tuple(prefix for prefix in leaf.prefixes if prefix in states)
            for leaf in self.expected.leaves
            if leaf.name in index
        }
        return {device: prefixes for device, prefixes in found.items() if prefixes}

    @property
    def spines(self) -> list[str]:
        """The spines that have a file."""
        return [spine.name for spine in self.expected.spines if spine.name in self.routing.graph.index]

    @cached_property
    def baseline(self) -> Baseline:
        """The fabric without failures."""
        from ailb_gen.forwarding.baseline import Baseline  # noqa: PLC0415

        other = self.other
        if other is not None and other.routing is self.routing and other.destinations == self.destinations:
            return other.baseline
        return Baseline(self.routing, self.destinations)

    @property
    def failure_outcomes(self) -> FailureOutcomes | None:
        """The outcomes of single failures and some pairs; None where not everything is delivered without failures."""
        if not self._outcomes:
            self._outcomes.append(self._failures())
        return self._outcomes[0]

    @property
    def kept_outcomes(self) -> FailureOutcomes | None:
        """The outcomes of failures if they were computed: they are not computed here, because that takes long."""
        return self._outcomes[0] if self._outcomes else None

    @property
    def failures_computed(self) -> bool:
        """Whether the outcomes of failures were computed, with or without any."""
        return bool(self._outcomes)

    @cached_property
    def _outcomes(self) -> list[FailureOutcomes | None]:
        """The outcomes of failures, once they are computed."""
        return []

    def _failures(self) -> FailureOutcomes | None:
        from ailb_gen.checks.failure_outcomes import Material, failure_outcomes  # noqa: PLC0415

        if self.baseline.lost > EXACT or not self.baseline.prefixes:
            return None
        other = self.other
        # What failures change in FIBs depends on the files of servers.
        same = other is not None and other.baseline is self.baseline and other.spines == self.spines
        if other is not None and same and not self.keep_changes:
            return other.failure_outcomes
        material = Material(self.baseline, self.fib_changes if self.keep_changes else None)
        return failure_outcomes(material, self.spines, self.seed, self.executor, partial(self.steps.begin, "failures"))

    @cached_property
    def fib_changes(self) -> FibChanges:
        """The changes by failures in the FIBs for packets between servers."""
        from ailb_gen.forwarding.fib_changes import FibChanges  # noqa: PLC0415

        return FibChanges(self.baseline, routed_prefixes(self.network, self.routing))

    @cached_property
    def paths(self) -> ExpectedPaths:
        """The links by which leaves reach prefixes, by the intent alone."""
        return ExpectedPaths(self.expected)

    @cached_property
    def loads(self) -> ExpectedLoads:
        """The even share of every link, by the intent alone."""
        from ailb_gen.checks.expected_loads import ExpectedLoads  # noqa: PLC0415

        return ExpectedLoads(self.expected, self.paths)


def _by_qos(cos: ClassOfService, ports: Iterable[str]) -> dict[PortQos, list[str]]:
    """Return ports by the class of service that holds on them."""
    found: dict[PortQos, list[str]] = {}
    # By entry: thousands of ports have a few, and comparing what entries mean takes longer than finding them.
    rows: dict[int, list[str]] = {}
    for port in ports:
        entry = port_entry(cos, port)
        if id(entry) not in rows:
            rows[id(entry)] = found.setdefault(qos_of(cos, entry), [])
        rows[id(entry)].append(port)
    return found


def _wiring(network: Network) -> object:
    """Return all that routes follow from."""
    return tuple(network.switches.items()), network.links


def _ports(ends: Iterable[End]) -> Mapping[str, Mapping[str, None]]:
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for end in ends:
        found[end.device][end.port] = None
    return found
