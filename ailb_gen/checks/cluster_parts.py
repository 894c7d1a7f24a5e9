"""The servers of a cluster as each of its fabrics expects them: without what is of other fabrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.checks.expected_hosts import ExpectedHost, ExpectedNic
from ailb_gen.hosts.model import Host, HostDefect, ServerProfile
from ailb_gen.hosts.part import OtherFabrics, devices, part_of
from ailb_gen.intent.nccl import DEVICE_LISTS
from ailb_gen.layout import cluster_profile, profile_folder
from ailb_gen.network.fabric import Defect


@dataclass(frozen=True, slots=True)
class ClusterPart:
    """The servers of a fabric of a cluster: what their files say of it, and the folders that they share."""

    hosts: Mapping[str, Host]
    profiles: Mapping[str, str]
    defects: tuple[Defect, ...] = ()


def cluster_parts(
    hosts: Mapping[str, Host],
    defects: Iterable[HostDefect],
    expected: Mapping[str, Mapping[str, ExpectedHost]],
) -> Mapping[str, ClusterPart]:
    """Return the part of every fabric, by the expected servers of each; the first has whatever none expects."""
    folders = {name: _folder(name, expected) for servers in expected.values() for name in servers}
    first = next(iter(expected))
    unusable = tuple(Defect("host-folder", one.folder, one.reason, one.place) for one in defects)
    return {
        fabric: ClusterPart(
            _part(
                {
                    name: host
                    for name, host in hosts.items()
                    if name in own or (fabric == first and name not in folders)
                },
                own,
                [servers for other, servers in expected.items() if other != fabric],
            ),
            {name: folders[name] for name in own},
            unusable if fabric == first else (),
        )
        for fabric, own in expected.items()
    }


def _folder(name: str, expected: Mapping[str, Mapping[str, ExpectedHost]]) -> str:
    """Return the folder of the files that a server shares with those like it; empty for a server with its own."""
    parts = [(fabric, servers[name].profile) for fabric, servers in expected.items() if name in servers]
    shared = cluster_profile([(fabric, folder.rpartition("/")[2]) for fabric, folder in parts])
    return profile_folder(shared) if shared else ""


def _part(
    hosts: Mapping[str, Host], own: Mapping[str, ExpectedHost], others: Sequence[Mapping[str, ExpectedHost]]
) -> dict[str, Host]:
    """Return servers without what other fabrics expect of them; what servers share stays one object."""
    known: dict[tuple[str, int, tuple[int, ...]], ServerProfile] = {}
    result = {}
    for name, host in hosts.items():
        found = [servers[name] for servers in others if name in servers]
        mine = own.get(name)
        key = (host.profile.folder, id(mine), tuple(map(id, found)))
        if key not in known:
            known[key] = part_of(host.profile, _of_others(mine, found)) if mine and found else host.profile
        result[name] = Host(name, known[key])
    return result


def _of_others(mine: ExpectedHost, others: Iterable[ExpectedHost]) -> OtherFabrics:
    """Return what others expect of a server; what this fabric expects, too, is its own."""
    nics = [nic for host in others for nic in host.nics]
    rdma = {nic.rdma for nic in nics} - {nic.rdma for nic in mine.nics}
    own = dict(mine.environment or ())
    return OtherFabrics(
        {nic.name for nic in nics} - {nic.name for nic in mine.nics},
        {key: rdma - devices(own.get(key, "")) for key in DEVICE_LISTS},
        _tables(nics) - _tables(mine.nics),
    )


def _tables(nics: Iterable[ExpectedNic]) -> set[tuple[int, str]]:
    return {(table.id, table.name) for nic in nics for table in nic.tables}
