"""What is expected on a server by its files; `ailb_gen.checks` proves these against the intent, independently."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ailb_gen.addresses import Prefix, address_text
from ailb_gen.deploy.servers.addresses import (
    ExpectedGpuPort,
)
from ailb_gen.deploy.servers.files import HostFile, Tree
from ailb_gen.deploy.servers.jobs import (
    ExpectedJobs,
    expected_jobs,
)
from ailb_gen.hosts.model import ServerProfile

EVERYWHERE = Prefix(0, 0)


@dataclass(frozen=True, slots=True, order=True)
class ExpectedRule:
    """Packets from a prefix use a table; rules of lower priorities come first."""

    priority: int
    source: Prefix
    table: int


@dataclass(frozen=True, slots=True, order=True)
class ExpectedRoute:
    """A route of a table; `gateway` is None on the link itself."""

    table: int
    to: Prefix
    nic: str
    gateway: int | None


@dataclass(frozen=True, slots=True, order=True)
class ExpectedGateway:
    """A gateway that must answer an address of the server in `prefix`."""

    nic: str
    prefix: Prefix
    gateway: int

    @property
    def words(self) -> str:
        """The words of the query to the host, which it repeats."""
        return f"{self.nic} {self.prefix} {address_text(self.gateway)}"


@dataclass(frozen=True, slots=True)
class ExpectedServer:
    """All of a server; `mtus` in bytes and `ports` by NIC, `sysctls` by key."""

    tree: Mapping[str, HostFile]
    mtus: Mapping[str, int | None]
    rules: tuple[ExpectedRule, ...]
    routes: tuple[ExpectedRoute, ...]
    gateways: tuple[ExpectedGateway, ...]
    sysctls: Mapping[str, str]
    ports: Mapping[str, ExpectedGpuPort] = field(default_factory=dict)
    jobs: ExpectedJobs = field(default_factory=ExpectedJobs)


def expected_of(files: Tree, profile: ServerProfile) -> ExpectedServer:
    """Return the expected state of a server by its files; their errors are reported by `ailb-gen validate`."""
    rules = tuple(
        ExpectedRule(rule.priority, rule.source, rule.table)
        for rule in profile.rules
        if rule.source is not None and rule.table is not None and rule.priority is not None
    )
    routes = [(table, route) for table, routes in profile.routes.items() for route in routes]
    # The gateways of every table, each to be queried from the prefix that uses the table.
    gateways = {
        ExpectedGateway(route.nic, rule.source, route.via)
        for rule in rules
        for route in profile.routes.get(rule.table, ())
        if route.via is not None
    }
    return ExpectedServer(
        tree=files,
        mtus={name: mtu if isinstance(mtu := nic.value("mtu"), int) else None for name, nic in profile.nics.items()},
        rules=rules,
        routes=tuple(
            ExpectedRoute(table, route.to, route.nic, route.via) for table, route in routes if route.to is not None
        ),
        gateways=tuple(sorted(gateways)),
        sysctls={setting.key: str(setting.value) for setting in profile.sysctls},
        ports={name: ExpectedGpuPort(_prefixes(profile, name), nic.mac) for name, nic in profile.nics.items()},
        jobs=expected_jobs(profile),
    )


def _prefixes(profile: ServerProfile, nic: str) -> tuple[Prefix, ...]:
    return tuple(rule.source for rule in profile.rules if rule.nic == nic and rule.source is not None)
