"""The switches of an IPv4 shadow as its files describe them: interfaces, VLANs, policies, neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import TYPE_CHECKING

from tests.batfish.plain_text import Line, PlainError, Statement, set_lines, statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DEFAULT_MTU = 1500


@dataclass(frozen=True, slots=True)
class Port:
    """A physical interface (without unit), one unit of it, or one unit of `irb`."""

    name: str
    physical: str
    mtu: int
    description: str | None
    disabled: bool
    addresses: tuple[IPv4Interface, ...] = ()
    mode: str | None = None
    members: tuple[str, ...] = ()

    @property
    def is_irb(self) -> bool:
        """Whether this is the gateway of a VLAN, not a port."""
        return self.physical == "irb"


@dataclass(frozen=True, slots=True)
class Range:
    """Prefixes inside one prefix, of some lengths."""

    prefix: IPv4Network
    shortest: int
    longest: int

    def holds(self, network: IPv4Network) -> bool:
        """Say whether a network is one of them."""
        return self.shortest <= network.prefixlen <= self.longest and network.subnet_of(self.prefix)


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a policy: its conditions (None: no such condition), and what it does.

    `lists` are the prefixes of prefix-lists, `filters` those of route-filters. A route must have all members of any
    of the communities. `changes` are `add`, `set` and `delete` of communities, in order; the verdict is `accept`,
    `reject`, `policy` (the next one), `term` (the next one), or empty.
    """

    protocols: frozenset[str] | None
    lists: tuple[Range, ...] | None
    filters: tuple[Range, ...] | None
    communities: tuple[frozenset[str], ...] | None
    changes: tuple[tuple[str, frozenset[str]], ...]
    local_preference: int | None
    metric: int | None
    prepend: tuple[int, ...]
    verdict: str


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A BGP neighbor as one side configures it; policies that are not defined are left out."""

    node: str
    group: str
    address: IPv4Address
    local_as: int
    peer_as: int | None
    local_address: IPv4Address | None
    imports: tuple[tuple[Term, ...], ...]
    exports: tuple[tuple[Term, ...], ...]
    multipath: bool
    multiple_as: bool


@dataclass(frozen=True)
class Device:
    """A switch: `file` is its name as Batfish writes it, `vlans` are the numbers of VLAN names.

    `gateways` are the VLAN names of IRBs.
    """

    name: str
    file: str
    lines: tuple[Line, ...]
    ports: tuple[Port, ...]
    vlans: Mapping[str, int]
    gateways: Mapping[str, str]
    communities: Mapping[str, frozenset[str]]
    neighbors: tuple[Neighbor, ...]
    router_id: IPv4Address
    asn: int | None

    def vlan(self, member: str) -> int | None:
        """Return the number of a VLAN that a port names; None for one that is not defined."""
        return int(member) if member.isdigit() else self.vlans.get(member)

    def vlans_of(self, port: Port) -> frozenset[int]:
        """Return the VLANs that a port carries; an access port has one, or none."""
        found = {number for member in port.members if (number := self.vlan(member)) is not None}
        return frozenset(found if port.mode == "trunk" or len(port.members) == 1 else ())


def device(text: str, file: str) -> Device:
    """Read one file. Raises PlainError."""
    try:
        lines = tuple(set_lines(text, file))
        return _Builder(file, lines, tuple(statement(line, file) for line in lines)).device()
    except ValueError as error:
        raise PlainError(f"{file}: {error}") from error


@dataclass(frozen=True, slots=True)
class _Builder:
    file: str
    lines: tuple[Line, ...]
    statements: tuple[Statement, ...]

    def device(self) -> Device:
        name = self.last("host-name")
        if name is None:
            raise PlainError(f"{self.file}: no host-name")
        asn = self.last("as")
        return Device(
            name=name.lower(),  # as Batfish does
            file=self.file,
            lines=self.lines,
            ports=tuple(self.ports()),
            vlans={one.values[0]: int(one.values[1]) for one in self.all("vlan-id")},
            gateways={one.values[1]: one.values[0] for one in self.all("l3-interface")},
            communities=self.communities(),
            neighbors=tuple(self.neighbors(name.lower())),
            router_id=IPv4Address(self.last("router-id") or "0.0.0.0"),
            asn=None if asn is None else int(asn),
        )

    def all(self, kind: str, *first: str) -> list[Statement]:
        """Return the statements of a kind whose first values are these."""
        return [one for one in self.statements if one.kind == kind and one.values[: len(first)] == first]

    def last(self, kind: str, *first: str) -> str | None:
        """Return the last value of the last such statement: the one that counts in Junos."""
        found = self.all(kind, *first)
        return found[-1].values[-1] if found else None

    def ports(self) -> Iterator[Port]:
        kinds = ("mtu", "description", "disable", "address", "mode", "member")
        for physical in dict.fromkeys(one.values[0] for one in self.statements if one.kind in kinds):
            mtu = int(self.last("mtu", physical) or DEFAULT_MTU)
            description = self.last("description", physical)
            disabled = bool(self.all("disable", physical))
            if physical != "irb":
                yield Port(physical, physical, mtu, description, disabled)
            for unit in self.units(physical):
                name = f"{physical}.{unit}"
                addresses = tuple(IPv4Interface(one.values[-1]) for one in self.all("address", physical, unit))
                members = tuple(one.values[1] for one in self.all("member", physical)) if unit == "0" else ()
                mode = self.last("mode", physical) or ("access" if members else None)
                yield Port(name, physical, mtu, description, disabled, addresses, mode, members)

    def units(self, physical: str) -> list[str]:
        switched = ["0"] if self.all("mode", physical) or self.all("member", physical) else []
        return list(dict.fromkeys([*switched, *(one.values[1] for one in self.all("address", physical))]))

    def communities(self) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for one in self.all("community"):
            name, member = one.values
            found[name] = found.get(name, frozenset()) | {member}
        return found

    def prefix_list(self, name: str, how: str) -> Iterator[Range]:
        for one in self.all("prefix-list", name):
            yield _range(one.values[1], how)

    def policy(self, name: str) -> tuple[Term, ...] | None:
        """Return the terms of a policy in the order of their first lines; None if there is none."""
        mine = [one for one in self.statements if one.kind.startswith(("from-", "then-")) and one.values[0] == name]
        if not mine and not self.all("balance", name):
            return None
        return tuple(self.term(name, term) for term in dict.fromkeys(one.values[1] for one in mine))

    def term(self, policy: str, name: str) -> Term:
        def found(kind: str) -> list[tuple[str, ...]]:
            return [one.values[2:] for one in self.all(kind, policy, name)]

        listed = [(name, "exact") for (name,) in found("from-prefix-list")] + found("from-prefix-list-filter")
        filters = [_range(*values) for kind in ("from-route-filter", "from-route-filter-to") for values in found(kind)]
        communities = self.communities()
        intended = found("from-community")
        return Term(
            protocols=frozenset(word for (word,) in found("from-protocol")) or None,
            lists=tuple(one for name, how in listed for one in self.prefix_list(name, how)) if listed else None,
            filters=tuple(filters) or None,
            # Nothing matches a community that is not defined.
            communities=tuple(communities[name] for (name,) in intended if name in communities) if intended else None,
            # Batfish passes over a community that is not defined.
            changes=tuple((how, communities[one]) for how, one in found("then-community") if one in communities),
            local_preference=self.number("then-local-preference", policy, name),
            metric=self.number("then-metric", policy, name),
            prepend=tuple(int(asn) for (path,) in found("then-as-path-prepend") for asn in path.split()),
            verdict=self.verdict(policy, name),
        )

    def number(self, kind: str, policy: str, term: str) -> int | None:
        text = self.last(kind, policy, term)
        return None if text is None else int(text)

    def verdict(self, policy: str, term: str) -> str:
        found = [*self.all("then-verdict", policy, term), *self.all("then-next", policy, term)]
        if len({one.values for one in found}) > 1:
            raise PlainError(f"{self.file}: policy {policy}, term {term}: two verdicts")
        return found[0].values[-1] if found else ""

    def neighbors(self, node: str) -> Iterator[Neighbor]:
        pairs = (one.values[:2] for one in self.statements if one.kind.startswith("neighbor"))
        asn = self.last("as")
        seen: set[str] = set()
        for group, address in dict.fromkeys(pairs):
            if address in seen:
                raise PlainError(f"{self.file}: neighbor {address} is in two groups")
            seen.add(address)
            local_as = self.peer("local-as", group, address) or ([asn] if asn else [])
            if not local_as:
                raise PlainError(f"{self.file}: neighbor {address}: no local AS")
            peer_as = self.peer("peer-as", group, address)
            local_address = self.peer("local-address", group, address)
            yield Neighbor(
                node=node,
                group=group,
                address=IPv4Address(address),
                local_as=int(local_as[-1]),
                peer_as=int(peer_as[-1]) if peer_as else None,
                local_address=IPv4Address(local_address[-1]) if local_address else None,
                imports=self.policies("import", group, address),
                exports=self.policies("export", group, address),
                multipath=any(self.flag(kind, group, address) for kind in ("multipath", "multiple-as")),
                multiple_as=self.flag("multiple-as", group, address),
            )

    def peer(self, kind: str, group: str, address: str) -> list[str]:
        """Return what a neighbor says, or else what its group says."""
        own = self.all(f"neighbor-{kind}", group, address) or self.all(f"group-{kind}", group)
        return [one.values[-1] for one in own]

    def flag(self, kind: str, group: str, address: str) -> bool:
        return bool(self.all(f"neighbor-{kind}", group, address) or self.all(f"group-{kind}", group))

    def policies(self, kind: str, group: str, address: str) -> tuple[tuple[Term, ...], ...]:
        found = (self.policy(name) for name in self.peer(kind, group, address))
        # Batfish passes over a policy that is not defined.
        return tuple(policy for policy in found if policy is not None)


def _range(prefix: str, how: str, lengths: str = "") -> Range:
    network = IPv4Network(prefix)
    own, most = network.prefixlen, network.max_prefixlen
    if how == "exact":
        return Range(network, own, own)
    if how == "upto":
        return Range(network, own, int(lengths.removeprefix("/")))
    if how == "prefix-length-range":
        shortest, longest = (int(length.removeprefix("/")) for length in lengths.split("-"))
        return Range(network, shortest, longest)
    return Range(network, own + (how == "longer"), most)
