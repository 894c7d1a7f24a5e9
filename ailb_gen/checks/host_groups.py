"""Servers that share a folder and of which the same is expected: they are checked together.

So a fabric of thousands costs little; only what depends on the cable of a server is checked per server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ailb_gen.checks.expected_hosts import ExpectedHost
from ailb_gen.hosts.model import Nic, Profile
from ailb_gen.layout import NETPLAN, server_folder
from ailb_gen.network.fabric import Network


@dataclass(frozen=True, slots=True, eq=False)
class HostGroup:
    """Servers that share a folder and of which the same is expected."""

    profile: Profile
    servers: tuple[str, ...]
    expected: ExpectedHost

    @property
    def scope(self) -> str:
        """The subject of findings: the server if the folder is its own, else the folder."""
        return self.servers[0] if self.profile.folder == server_folder(self.servers[0]) else self.profile.folder

    @property
    def nics(self) -> dict[str, Nic]:
        """The GPU NICs in netplan; a host may have other NICs, in files of its own or beside the GPU NICs."""
        names = {nic.name for nic in self.expected.nics}
        found = {name: nic for name, nic in self.profile.nics.items() if nic.file == NETPLAN or name in names}
        # Where a GPU NIC is missing, another one may be that one under a wrong name.
        if not names <= found.keys():
            return found
        return {name: nic for name, nic in found.items() if name in names or not self._is_other(nic)}

    def _is_other(self, nic: Nic) -> bool:
        """Return whether a NIC has nothing to do with the GPU NICs: neither their names nor their tables or rules."""
        names = {own.name for own in self.expected.nics}
        tables = {table.id for own in self.expected.nics for table in own.tables}
        macs = {self.profile.nics[name].mac for name in names} - {None}
        used = {route.table for route in nic.routes} | {rule.table for rule in nic.rules}
        matched = {str(setting.value) for setting in nic.match if setting.key == "name"} | {nic.name}
        exact = not any(set("*?[") & set(name) for name in matched)
        others = {setting.key for setting in nic.match} <= {"name", "macaddress"}
        return (
            exact
            and others
            and names.isdisjoint({*matched, str(nic.value("set-name"))})
            and nic.mac not in macs
            and tables.isdisjoint(used)
        )


def host_groups(expected: Mapping[str, ExpectedHost], network: Network) -> tuple[HostGroup, ...]:
    """Return the servers that are both expected and there, by folder and by what is expected."""
    members: dict[tuple[str, int], list[str]] = {}
    for name, host in network.hosts.items():
        if name in expected:
            members.setdefault((host.profile.folder, id(expected[name])), []).append(name)
    return tuple(
        HostGroup(network.hosts[names[0]].profile, tuple(names), expected[names[0]]) for names in members.values()
    )
