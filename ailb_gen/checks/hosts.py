"""The checks of the servers (AILB6xx): files against the intent, against each other, and against the leaves.

Servers that share a profile are looked at together, so that a fabric of thousands costs little; only what depends on
the cable of a server is looked at per server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.checks import host_cabling, host_extras, host_settings, host_tables
from ailb_gen.checks.host_checks import CHECKS, FILES, Group
from ailb_gen.checks.tally import Tally
from ailb_gen.checks.wanted import WantedHost, wanted_hosts
from ailb_gen.errors import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.checks.model import Result
    from ailb_gen.intent.models import Fabric
    from ailb_gen.network.fabric import Network

__all__ = ["CHECKS", "run"]


def _groups(wanted: dict[str, WantedHost], network: Network) -> tuple[Group, ...]:
    """Return the servers that are both asked for and there, grouped by folder and by what is asked."""
    members: dict[tuple[str, int], list[str]] = {}
    for name, host in network.hosts.items():
        if name in wanted:
            members.setdefault((host.profile.folder, id(wanted[name])), []).append(name)
    return tuple(Group(network.hosts[names[0]].profile, tuple(names), wanted[names[0]]) for names in members.values())


def _check_present(wanted: dict[str, WantedHost], network: Network, tally: Tally) -> None:
    tally.look(FILES, len(wanted))
    for name in wanted:
        if name not in network.hosts:
            message = "the server has no folder that can be used"
            tally.add(FILES, name, message, Place(f"servers/{name}"), f"servers/{name}")
    for name in network.hosts:
        if name not in wanted:
            message = "the intent has no such server; is the folder left over from before?"
            tally.add(FILES, name, message, Place(f"servers/{name}"), "", name)


def run(intent: Fabric, network: Network) -> Iterator[Result]:
    """Run all checks of the servers; yields one result per check, in the order of `CHECKS`."""
    tally = Tally(CHECKS)
    wanted = wanted_hosts(intent)
    groups = _groups(wanted, network)
    _check_present(wanted, network, tally)
    for group in groups:
        host_settings.check_files(group, tally)
        host_settings.check_nics(group, tally)
        host_settings.check_addressing(group, tally)
        host_settings.check_sysctls(group, tally)
        host_settings.check_drop_ins(group, tally)
        host_settings.check_environment(group, tally)
        host_settings.check_units(group, tally)
        host_extras.check_extras(group, tally)
        host_extras.check_modes(group, tally)
        host_tables.check_tables(group, tally)
        host_tables.check_names(group, tally)
        host_tables.check_script(group, tally)
        host_cabling.check_mtus(group, tally)
    host_tables.check_programs(groups, tally)
    host_cabling.check_cabling(groups, network, tally)
    host_cabling.check_macs(groups, tally)
    yield from tally.results()
