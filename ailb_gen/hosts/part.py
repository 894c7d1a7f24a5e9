"""The part of a server's files that is about one fabric of a cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from ailb_gen.hosts.model import ServerProfile, Setting
from ailb_gen.hosts.text import conf_nic, device_unit
from ailb_gen.intent.nccl import DEVICE_LISTS
from ailb_gen.layout import drop_in_file


@dataclass(frozen=True, slots=True)
class OtherFabrics:
    """What a server has of other fabrics: NICs, tables by number and name, and RDMA devices by variable.

    A fabric may list the devices of others, too; those of a variable are the devices that it does not list there.
    """

    nics: Collection[str]
    rdma: Mapping[str, Collection[str]]
    tables: Collection[tuple[int, str]]


def part_of(profile: ServerProfile, others: OtherFabrics) -> ServerProfile:
    """Return what files say without what they say of other fabrics' NICs: what is nobody's stays in every part."""
    nics = others.nics
    routes = {
        table: kept
        for table, rows in profile.routes.items()
        if (kept := tuple(route for route in rows if route.nic not in nics))
    }
    drop_ins = {name: rows for name, rows in profile.drop_ins.items() if name not in nics}
    absent = {drop_in_file(name) for name in nics}
    units = set(map(device_unit, nics))
    script, qos = profile.script, profile.qos
    return replace(
        profile,
        files=frozenset(file for file in profile.files if file not in absent),
        nics={name: nic for name, nic in profile.nics.items() if name not in nics},
        routes=routes,
        rules=tuple(rule for rule in profile.rules if rule.nic not in nics),
        names=tuple(row for row in profile.names if (row.table, row.name) not in others.tables),
        sysctls=tuple(setting for setting in profile.sysctls if conf_nic(setting.key) not in nics),
        environment=tuple(_variables(profile.environment, others.rdma)),
        drop_ins=drop_ins,
        units={
            file: tuple(setting for setting in rows if str(setting.value) not in units)
            for file, rows in profile.units.items()
        },
        script=replace(script, rows=tuple(row for row in script.rows if row.nic not in nics)) if script else None,
        qos=replace(qos, nics=tuple(row for row in qos.nics if row.nic not in nics)) if qos else None,
        host_nics=tuple(nic for nic in profile.host_nics if nic.name not in nics),
    )


def devices(value: str) -> set[str]:
    """Return the devices that the value of a variable lists."""
    return {name.partition(":")[0] for name in value.removeprefix("=").split(",")}


def _variables(environment: tuple[Setting, ...], rdma: Mapping[str, Collection[str]]) -> Iterator[Setting]:
    for setting in environment:
        value = str(setting.value)
        if setting.key in DEVICE_LISTS and not value.startswith("^"):
            mark = "=" if value.startswith("=") else ""
            others = rdma[setting.key]
            names = (name for name in value.removeprefix("=").split(",") if name.partition(":")[0] not in others)
            yield replace(setting, value=mark + ",".join(names))
        else:
            yield setting
