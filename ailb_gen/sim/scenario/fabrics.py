"""Variants of a scenario to points: fabrics are built once, traffic when a point runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ailb_gen.errors import IntentError, UsageError
from ailb_gen.intent.load import load
from ailb_gen.manifest import read_any
from ailb_gen.network.fabric import Network
from ailb_gen.network.read import read_network
from ailb_gen.paths import absent
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.clos import clos, with_outages
from ailb_gen.sim.fabric import PS_PER_S, FabricArrays
from ailb_gen.sim.failures import Outage, random_cables, random_links, without_links
from ailb_gen.sim.from_network import from_network
from ailb_gen.sim.left_out import LeftOut, left_out, of_switch
from ailb_gen.sim.memory import available_bytes, fabric_bytes, shown_bytes
from ailb_gen.sim.network_balancer import balancer_settings, without_colors
from ailb_gen.sim.network_settings import switch_settings
from ailb_gen.sim.nics import server_nics
from ailb_gen.sim.point import Point
from ailb_gen.sim.scenario.convert import settings_of
from ailb_gen.sim.scenario.load import Variant
from ailb_gen.sim.scenario.models import Clos, FabricPart, FailurePart, Files, Scenario
from ailb_gen.sim.scenario.placement import read_placement
from ailb_gen.sim.scenario.recipe import TrafficRecipe
from ailb_gen.sim.scenario.unknown import unknown_names
from ailb_gen.sim.settings import BalancerSettings, BufferSettings, SimulationSettings
from ailb_gen.wording import some

# The balancer for which colors decide.
RLB = "rlb"
NO_SWITCHES = "level flow: all switches balance alike, as most do; other settings of single switches have no effect"
NO_CLASSES = "level flow: all flows share links equally; 'priority' has no effect"
NO_DELAY = "level flow: 'delay' and 'loss' of failures have no effect; 'rate' has"
NO_LOSS = "level flow: 'switches.loss' has no effect"
NO_QUEUES = "level flow: there are no queues of packets; {} of switches.exceptions has no effect"
# A larger share of a rate is worth a warning.
ROUNDED = 0.005
NOT_WHOLE = "packets pass links of {:.6g}g at {:.6g}g: a byte takes whole picoseconds; --level flow has any rate"
# Of congestion controls that rates of flows follow; flows of the others have their fair rates at once.
FOLLOWED: tuple[str, ...] = ("none", "dcqcn")
NOT_FOLLOWED = (
    "level flow: flows have fair rates at once; 'congestion: {}' has no effect, and collisions cost too little"
)


REORDERING = (
    "{}: packets of a flow overtake each other, and go-back-N takes every one that is late for lost; NICs that place "
    "packets out of order are 'transport: timeout-only', or selective-repeat with 'reordering'"
)


@dataclass(frozen=True, slots=True)
class Base:
    """A fabric with what fails at a time, and what its files say of switches and load balancers."""

    fabric: FabricArrays
    settings: SimulationSettings


class Fabrics:
    """The fabrics of a scenario's variants, each built once; `warnings` are what is doubtful about their files."""

    def __init__(self, folder: Path) -> None:
        """Begin without any; relative paths start at `folder`."""
        self.folder = folder
        self.warnings: dict[str, None] = {}
        self._read: dict[tuple[Files, bool], tuple[Network, Routing]] = {}
        self._built: dict[tuple[FabricPart, tuple[Outage, ...], bool], tuple[FabricArrays, BufferSettings]] = {}
        self._left_out: dict[LeftOut, None] = {}
        self._random: dict[tuple[int, float, int], FabricArrays] = {}

    def left_out(self, scenarios: Iterable[Scenario]) -> list[LeftOut]:
        """Return the statements of the files that are not simulated and that concern one of the scenarios."""
        failing = any(one.failures for one in scenarios)
        return [one for one in self._left_out if failing or not one.after_failures]

    def balancer(self, scenario: Scenario) -> str:
        """Return the name of a scenario's one load balancer: its own, or the one that the files configure."""
        if scenario.balancer:
            return scenario.balancer[0].name
        files = scenario.fabric.files
        return BalancerSettings().name if files is None else balancer_settings(self._files(files, True)[0]).name

    def base(self, scenario: Scenario) -> Base:
        """Return a scenario's fabric without random failures. Raises UsageError, IntentError."""
        name = self.balancer(scenario)
        fabric, switches = self._with(scenario, _outages(scenario.failures))
        settings, files = BalancerSettings(name), scenario.fabric.files
        if files is not None:
            settings = balancer_settings(self._files(files, colored=True)[0], name)
        return Base(fabric, SimulationSettings(switches=switches, balancer=settings))

    def failed(self, scenario: Scenario, seed: int) -> FabricArrays:
        """Return a scenario's fabric with the random failures of one seed. Raises UsageError."""
        fabric = self.base(scenario).fabric
        drawn: list[Outage] = []
        for number, failure in enumerate(scenario.failures):
            if isinstance(failure.random, int):
                drawn += (
                    _outage(name, failure) for name in random_links(fabric, failure.random, seed + (number << 32))
                )
        if drawn:
            fabric = self._with(scenario, (*_outages(scenario.failures), *drawn))[0]
        for number, failure in enumerate(scenario.failures):
            if isinstance(failure.random, float):
                key = id(fabric), failure.random, seed + (number << 32)
                if key not in self._random:
                    self._random[key] = without_links(fabric, random_cables(fabric, *key[1:]))
                fabric = self._random[key]
        return fabric

    def _with(self, scenario: Scenario, outages: tuple[Outage, ...]) -> tuple[FabricArrays, BufferSettings]:
        """Return a scenario's fabric with some outages, and what its files say of switches."""
        # For all load balancers but RLB, the fabric is routed without regard to colors.
        key = scenario.fabric, outages, self.balancer(scenario) == RLB
        if key not in self._built:
            self._built[key] = self._build(*key)
        return self._built[key]

    def _build(
        self, part: FabricPart, outages: tuple[Outage, ...], colored: bool
    ) -> tuple[FabricArrays, BufferSettings]:
        if part.clos is not None:
            return with_outages(_clos(part.clos, colored), outages), BufferSettings()
        if part.files is None:
            raise UsageError("fabric: give it either as 'files' or as 'clos'")
        network, routing = self._files(part.files, colored)
        fabric = from_network(network, routing, delay_ps=part.files.delay, outages=outages)
        return fabric, switch_settings(network, fabric)

    def _files(self, part: Files, colored: bool) -> tuple[Network, Routing]:
        """Return the network that files describe, with or without colors."""
        if (part, True) not in self._read:
            self._read[part, True], warnings, left_out = _read(part, self.folder)
            self.warnings |= dict.fromkeys(warnings)
            self._left_out |= dict.fromkeys(left_out)
        if (part, colored) not in self._read:
            network = without_colors(self._read[part, True][0])
            self._read[part, colored] = network, Routing(network)
        return self._read[part, colored]


def _outage(name: str, failure: FailurePart) -> Outage:
    return Outage(name, failure.at, failure.back, failure.detection_ps, failure.degraded)


def _outages(failures: Sequence[FailurePart]) -> tuple[Outage, ...]:
    """Return the failures with names."""
    return tuple(_outage(one.name, one) for one in failures if one.name is not None)


def _read(part: Files, folder: Path) -> tuple[tuple[Network, Routing], list[str], list[LeftOut]]:
    """Read a fabric's files; returns what they are, warnings, and what is not simulated.

    Raises UsageError, IntentError, OutputError.
    """
    artifacts = folder / part.artifacts
    warnings = []
    if part.fabric is not None:
        intent = load(folder / part.fabric)
        manifest = None if absent(artifacts, "directory") else read_any(artifacts)
        if manifest is not None and manifest.fabric not in ("", intent.fabric.name):
            raise UsageError(
                f"{artifacts}: these are the files of the fabric {manifest.fabric!r}, and {part.fabric} describes "
                f"{intent.fabric.name!r}"
            )
        if manifest is not None and manifest.input_sha256 not in (None, intent.digest):
            warnings.append(f"{artifacts}: {part.fabric} has changed since these files were generated")
    reading = read_network(artifacts, of_switch)
    network = reading.network
    warnings += [f"{defect.place or defect.scope}: {defect.message}" for defect in network.defects]
    warnings += [doubt for nic in server_nics(network) for doubt in nic.doubts]
    not_simulated = left_out(network, reading.inspected)
    return (network, Routing(network, frozenset(), Graph(network))), warnings, not_simulated


def points_of(variants: Sequence[Variant], folder: Path) -> tuple[list[Point], list[str]]:
    """Return a point for every variant and seed, and warnings; relative paths start at `folder`.

    Raises UsageError, IntentError.
    """
    fabrics = Fabrics(folder)
    return points_on(fabrics, variants), list(fabrics.warnings)


def points_on(fabrics: Fabrics, variants: Sequence[Variant]) -> list[Point]:
    """Return a point for every variant and seed, on fabrics that also know what is doubtful or left out.

    Raises UsageError, IntentError.
    """
    folder = fabrics.folder
    found: list[Point] = []
    for variant in variants:
        scenario = variant.scenario
        base, settings, failed = _named(fabrics, variant)
        if scenario.level == "flow":
            fabrics.warnings |= dict.fromkeys(_without_effect(scenario, settings))
        else:
            fabrics.warnings |= dict.fromkeys(_rounded(base.fabric))
        recipe = TrafficRecipe(scenario.traffic, folder, read_placement(scenario.placement, folder, base.fabric))
        found += [
            Point(
                variant.name or fabrics.balancer(scenario),
                seed,
                scenario.level,
                failed[seed],
                settings,
                recipe,
                scenario.measure.after,
            )
            for seed in failed
        ]
    return found


def reordering(points: Iterable[Point]) -> list[str]:
    """Return a warning of load balancers whose reordering the hosts take for losses, if there are any."""
    names = {
        point.settings.balancer.name: None
        for point in points
        if point.level == "packet" and point.settings.transport.name == "go-back-n"
    }
    late = [name for name in names if BALANCERS[name].reorders]
    return [REORDERING.format(some(late))] if late else []


def _named(fabrics: Fabrics, variant: Variant) -> tuple[Base, SimulationSettings, dict[int, FabricArrays]]:
    """Return the fabric of a variant, its settings, and the fabric by seed. Raises UsageError, IntentError.

    The latter has all names that the fabric lacks.
    """
    scenario = variant.scenario
    try:
        base = fabrics.base(scenario)
        settings = settings_of(scenario, base.fabric, base.settings)
        return base, settings, {seed: fabrics.failed(scenario, seed) for seed in scenario.seeds}
    except UsageError as error:
        sound = fabrics.base(scenario.model_copy(update={"failures": ()}))
        if problems := list(unknown_names(scenario, variant.source, sound.fabric)):
            raise IntentError(problems) from error
        raise


def _without_effect(scenario: Scenario, settings: SimulationSettings) -> Iterator[str]:
    """Yield what has no effect on rates of flows."""
    if any(part.chosen.priority for part in scenario.traffic):
        yield NO_CLASSES
    if any(one.delay or one.loss for one in scenario.failures):
        yield NO_DELAY
    if scenario.switches.loss:
        yield NO_LOSS
    followed = {"at", "parameters"} | ({"ecn"} if settings.congestion.name == "dcqcn" else set())
    if without := sorted({key for row in scenario.switches.exceptions for key in row.model_fields_set} - followed):
        yield NO_QUEUES.format(some(without))
    if settings.congestion.name not in FOLLOWED:
        yield NOT_FOLLOWED.format(settings.congestion.name)
    if settings.balancer.exceptions:
        yield NO_SWITCHES


def _rounded(fabric: FabricArrays) -> Iterator[str]:
    """Yield the rates that packets cannot have, with those that they get. Raises UsageError for infinite ones."""
    rates = np.unique(fabric.rate_bps)
    used = np.rint(8 * PS_PER_S / rates)
    if not used.all():
        raise UsageError(
            f"links of {rates[-1] / 1e12:,.6g}t: a byte takes no picosecond; use at most 8t, or --level flow"
        )
    for rate, found in zip(rates.tolist(), (8 * PS_PER_S / used).tolist(), strict=True):
        if abs(found - rate) > ROUNDED * rate:
            yield NOT_WHOLE.format(rate / 1e9, found / 1e9)


def _clos(part: Clos, colored: bool) -> FabricArrays:
    """Return a fabric by numbers. Raises UsageError for one that does not fit into memory."""
    hosts, switches = part.leaves * part.hosts_per_leaf, part.leaves + part.spines
    links = 2 * (hosts * part.host_links + part.leaves * part.spines * part.leaf_spine_links)
    needed, free = fabric_bytes(links, switches, part.leaves * max(part.colors, 1)), available_bytes()
    if free is not None and needed > free:
        raise UsageError(
            f"fabric.clos: {hosts:,} hosts and {links:,} links need about {shown_bytes(needed)} of memory, and "
            f"{shown_bytes(free)} are free; simulate fewer leaves, spines or hosts"
        )
    rates = part.uplink_rate
    return clos(
        part.leaves,
        part.spines,
        part.hosts_per_leaf,
        host_bps=part.host_rate,
        uplink_bps=rates[0] if len(rates) == 1 else rates,
        host_links=part.host_links,
        leaf_spine_links=part.leaf_spine_links,
        delay_ps=part.delay if part.host_delay is None else part.host_delay,
        uplink_delay_ps=part.delay if part.uplink_delay is None else part.uplink_delay,
        colors=part.colors if colored else 0,
        addresses=max(part.colors, 1),
    )
