"""The crew for a fabric: Nornir with the inventory of this program, and what connects to each device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ailb_gen.deploy.credentials import SecretCache
from ailb_gen.deploy.crew import Crew
from ailb_gen.deploy.inventory import Inventory

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class Access:
    """How devices are reached: the driver for switches, how many at once, new host keys, and secrets once resolved."""

    driver: str = "napalm"
    jobs: int = 20
    accept_new: bool = False
    secrets: SecretCache = field(default_factory=SecretCache)


def crew_of(inventory: Inventory, access: Access, makers: dict[str, Callable[[], Any]]) -> Crew:
    """Make a crew of the managed devices."""
