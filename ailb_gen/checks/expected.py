"""Compute the fabric that the intent asks for, with what it takes out of service, from the intent alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ailb_gen.checks.drains import NO_DRAIN, Drained, drained
from ailb_gen.checks.expected_switches import Outline, outline
from ailb_gen.intent.settings import PortOverride
from ailb_gen.network.fabric import End

if TYPE_CHECKING:
    from ailb_gen.intent.models import Fabric

PLAIN_PORT = PortOverride()


@dataclass(frozen=True, slots=True)
class ExpectedFabric(Outline):
    """The fabric that the intent asks for; `drained` is what it takes out of service."""

    drained: Drained = NO_DRAIN


def expected_fabric(fabric: Fabric) -> ExpectedFabric:
    """Compute the fabric that is asked for. Raises UsageError for a drain that names nothing."""
    found = outline(fabric)
    return ExpectedFabric(found.fabric, found.colors, found.switches, found.pool, drained(found))


def port_override(expected: ExpectedFabric, end: End) -> PortOverride:
    """Return the settings of a single port in the intent; a drained one is disabled."""
    switch = expected.switches.get(end.device)
    own = switch.ports.get(end.port, PLAIN_PORT) if switch is not None else PLAIN_PORT
    return own.model_copy(update={"disabled": True}) if end in expected.drained.ports else own
