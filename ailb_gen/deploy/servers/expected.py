"""What must be seen on a server once its files are in force: NICs, rules, tables, gateways and kernel settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.addresses import Prefix
from ailb_gen.deploy.servers.model import HostFile, HostFiles
from ailb_gen.hosts.model import Profile


@dataclass(frozen=True, slots=True, order=True)
class WantedRule:
    """Packets from a prefix use a table; rules of lower priorities come first."""

    priority: int
    source: Prefix
    table: int


@dataclass(frozen=True, slots=True, order=True)
class WantedRoute:
    """A route of a table; `gateway` is None on the link itself."""

    table: int
    to: Prefix
    nic: str
    gateway: int | None


@dataclass(frozen=True, slots=True, order=True)
class WantedGateway:
    """A gateway that must answer an address of the server in `prefix`."""

    nic: str
    prefix: Prefix
    gateway: int


@dataclass(frozen=True, slots=True)
class Expected:
    """All of a server; `mtus` in bytes by NIC, `sysctls` by key."""

    tree: Mapping[str, HostFile]
    mtus: Mapping[str, int | None]
    rules: tuple[WantedRule, ...]
    routes: tuple[WantedRoute, ...]
    gateways: tuple[WantedGateway, ...]
    sysctls: Mapping[str, str]


def expected_of(files: HostFiles, profile: Profile) -> Expected:
    """Return what the files of a server ask for; what they say wrongly is the business of `ailb-gen validate`."""
    rules = tuple(
        WantedRule(rule.priority, rule.source, rule.table)
        for rule in profile.rules
        if rule.source is not None and rule.table is not None and rule.priority is not None
    )
    return Expected(
        tree=files.tree,
        mtus={name: mtu if isinstance(mtu := nic.value("mtu"), int) else None for name, nic in profile.nics.items()},
        rules=rules,
        routes=tuple(sorted(_routes(profile))),
        gateways=tuple(sorted(set(_gateways(profile, rules)))),
        sysctls={setting.key: str(setting.value) for setting in profile.sysctls},
    )


def _routes(profile: Profile) -> Iterator[WantedRoute]:
    for table, routes in profile.routes.items():
        yield from (WantedRoute(table, route.to, route.nic, route.via) for route in routes if route.to is not None)


def _gateways(profile: Profile, rules: tuple[WantedRule, ...]) -> Iterator[WantedGateway]:
    """Give the gateways of every table, each to be asked from the prefix that uses the table."""
    for rule in rules:
        for route in profile.routes.get(rule.table, ()):
            if route.via is not None:
                yield WantedGateway(route.nic, rule.source, route.via)
