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
        """The GPU NICs in netplan; a host may have files of its own for other NICs."""
        names = {nic.name for nic in self.expected.nics}
        return {name: nic for name, nic in self.profile.nics.items() if nic.file == NETPLAN or name in names}


def host_groups(expected: Mapping[str, ExpectedHost], network: Network) -> tuple[HostGroup, ...]:
    """Return the servers that are both expected and there, by folder and by what is expected."""
    members: dict[tuple[str, int], list[str]] = {}
    for name, host in network.hosts.items():
        if name in expected:
            members.setdefault((host.profile.folder, id(expected[name])), []).append(name)
    return tuple(
        HostGroup(network.hosts[names[0]].profile, tuple(names), expected[names[0]]) for names in members.values()
    )
