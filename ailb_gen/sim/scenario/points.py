"""Variants of a scenario to points: fabrics are built once, traffic when a point runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ailb_gen.errors import UsageError
from ailb_gen.sim.clos import clos
from ailb_gen.sim.fabric import Fabric
from ailb_gen.sim.point import Point
from ailb_gen.sim.scenario.convert import settings_of
from ailb_gen.sim.scenario.load import Variant
from ailb_gen.sim.scenario.models import Clos, Scenario
from ailb_gen.sim.scenario.recipe import TrafficRecipe
from ailb_gen.sim.settings import Settings


@dataclass(frozen=True, slots=True)
class Base:
    """A fabric without failures, and what its files say of switches and load balancers."""

    fabric: Fabric
    settings: Settings
    warnings: tuple[str, ...] = ()


def points_of(variants: Sequence[Variant], folder: Path) -> tuple[list[Point], list[str]]:
    """Return a point for every variant and seed, and warnings; relative paths start at `folder`.

    Raises UsageError, IntentError.
    """
    bases: dict[object, Base] = {}
    found: list[Point] = []
    for variant in variants:
        scenario = variant.scenario
        base = bases.get(scenario.fabric)
        if base is None:
            base = bases[scenario.fabric] = _base(scenario, folder)
        recipe = TrafficRecipe(scenario.traffic, folder)
        found += [
            Point(
                variant.name,
                seed,
                scenario.level,
                base.fabric,
                settings_of(scenario, base.fabric, base.settings),
                recipe,
                scenario.measure.after,
            )
            for seed in dict.fromkeys(scenario.seeds)
        ]
    warnings = dict.fromkeys(line for base in bases.values() for line in base.warnings)
    return found, list(warnings)


def _base(scenario: Scenario, folder: Path) -> Base:
    part = scenario.fabric
    if part.clos is not None:
        return Base(_clos(part.clos), Settings())
    if part.files is None:
        raise UsageError("the scenario has no fabric")
    raise UsageError("not yet")


def _clos(part: Clos) -> Fabric:
    rates = part.uplink_rate
    return clos(
        part.leaves,
        part.spines,
        part.hosts_per_leaf,
        host_bps=part.host_rate,
        uplink_bps=rates[0] if len(rates) == 1 else rates,
        host_links=part.host_links,
        leaf_spine_links=part.leaf_spine_links,
        delay_ps=part.delay,
        colors=part.colors,
    )
