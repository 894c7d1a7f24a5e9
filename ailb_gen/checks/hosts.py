"""The checks of the servers (AILB6xx): files against the intent, against each other, and against the leaves.

Servers that share a profile are looked at together, so that a fabric of thousands costs little; only what depends on
the cable of a server is looked at per server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.checks import host_cabling, host_extras, host_settings, host_tables
from ailb_gen.checks.expected_devices import ExpectedHost, expected_hosts
from ailb_gen.checks.findings import Findings
from ailb_gen.checks.host_checks import CHECKS, FILES, Group
from ailb_gen.errors import Place
from ailb_gen.layout import server_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.checks.model import Result
    from ailb_gen.intent.models import Fabric
    from ailb_gen.network.fabric import Network

__all__ = ["CHECKS", "run"]


def _groups(intended: dict[str, ExpectedHost], network: Network) -> tuple[Group, ...]:
    """Return the servers that are both asked for and there, grouped by folder and by what is asked."""
    members: dict[tuple[str, int], list[str]] = {}
    for name, host in network.hosts.items():
        if name in intended:
            members.setdefault((host.profile.folder, id(intended[name])), []).append(name)
    return tuple(Group(network.hosts[names[0]].profile, tuple(names), intended[names[0]]) for names in members.values())


def _check_present(intended: dict[str, ExpectedHost], network: Network, collected: Findings) -> None:
    collected.look(FILES, len(intended))
    for name in intended:
        if name not in network.hosts:
            message = "the server has no folder that can be used"
            collected.add(FILES, name, message, Place(server_folder(name)), server_folder(name))
    for name in network.hosts:
        if name not in intended:
            message = "the intent has no such server; is the folder left over from before?"
            collected.add(FILES, name, message, Place(server_folder(name)), "", name)


def run(intent: Fabric, network: Network) -> Iterator[Result]:
    """Run all checks of the servers; yields one result per check, in the order of `CHECKS`."""
    collected = Findings(CHECKS)
    intended = expected_hosts(intent)
    groups = _groups(intended, network)
    _check_present(intended, network, collected)
    for group in groups:
        host_settings.check_files(group, collected)
        host_settings.check_nics(group, collected)
        host_settings.check_addressing(group, collected)
        host_settings.check_sysctls(group, collected)
        host_settings.check_drop_ins(group, collected)
        host_settings.check_environment(group, collected)
        host_settings.check_units(group, collected)
        host_extras.check_extras(group, collected)
        host_extras.check_modes(group, collected)
        host_tables.check_tables(group, collected)
        host_tables.check_names(group, collected)
        host_tables.check_script(group, collected)
        host_cabling.check_mtus(group, collected)
    host_tables.check_programs(groups, collected)
    host_cabling.check_cabling(groups, network, collected)
    host_cabling.check_macs(groups, collected)
    yield from collected.results()
