"""The switches of a snapshot as its files describe them: interfaces, VLANs, policies, neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tests.batfish.fake.text import (
    GROUP,
    TERM,
    Line,
    PlainError,
    check_statement,
    curly_lines,
    is_kept,
    match,
    set_lines,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DEFAULT_MTU = 1500
# The first words of the lines of real files that Batfish does not recognize.
UNRECOGNIZED = (
    "policy-options as-list * members",
    "protocols bgp fabric-advertise route",
    "protocols bgp group * fabric-color",
    "protocols bgp group * peer-as-list",
    "protocols bgp group * dynamic-neighbor * peer-auto-discovery",
    "protocols bgp group * family inet6 unicast extended-nexthop",
)


@dataclass(frozen=True, slots=True)
class Port:
    """A physical interface (without unit), one unit of it, or one unit of `irb`."""

    name: str
    physical: str
    mtu: int
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

    `gateways` are the VLAN names of IRBs. `unrecognized` are the lines of a real file that Batfish does not know.
    """

    name: str
    file: str
    form: str
    lines: tuple[Line, ...]
    unrecognized: tuple[Line, ...]
    ports: tuple[Port, ...]
    vlans: Mapping[str, int]
    gateways: Mapping[str, str]
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


def is_set(text: str) -> bool:
    """Tell `set` lines from curly text."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return next(lines, "").startswith("set ")


# The snapshots of a run, and of tests, share most of their files.
@lru_cache(maxsize=512)
def shadow_device(text: str, file: str) -> Device:
    """Read a file of an IPv4 shadow. Raises PlainError."""
    try:
        lines = tuple(set_lines(text, file))
        for line in lines:
            check_statement(line, file)
        if not any(line.words[:2] == ("system", "host-name") for line in lines):
            raise PlainError(f"{file}: no host-name")
        return _Builder(file, lines).device("FLAT_JUNIPER", ())
    except ValueError as error:
        raise PlainError(f"{file}: {error}") from error


def real_device(text: str, file: str) -> Device:
    """Read a real file: of BGP nothing, of addresses those of IPv4. Raises PlainError."""
    form, lines = ("FLAT_JUNIPER", set_lines) if is_set(text) else ("JUNIPER", curly_lines)
    patterns = [pattern.split() for pattern in UNRECOGNIZED]
    known: list[Line] = []
    unknown: list[Line] = []
    for line in lines(text, file):
        strange = any(match(words, line.words[: len(words)]) is not None for words in patterns)
        (unknown if strange else known).append(line)
    return _Builder(file, tuple(known), has_bgp=False).device(form, tuple(unknown))


@dataclass(frozen=True)
class _Builder:
    file: str
    lines: tuple[Line, ...]
    has_bgp: bool = True

    def device(self, form: str, unrecognized: tuple[Line, ...]) -> Device:
        # A file without a name gives its own; Batfish writes all names in small letters.
        name = (self.last("system host-name *") or PurePosixPath(self.file).stem).lower()
        asn = self.last("routing-options autonomous-system #")
        return Device(
            name=name,
            file=self.file,
            form=form,
            lines=self.lines,
            unrecognized=unrecognized,
            ports=tuple(self.ports()),
            vlans={vlan: int(number) for vlan, number in self.all("vlans * vlan-id #")},
            gateways={irb: vlan for vlan, irb in self.all("vlans * l3-interface *")},
            neighbors=tuple(self.neighbors(name)) if self.has_bgp else (),
            router_id=IPv4Address(self.last("routing-options router-id *") or "0.0.0.0"),
            asn=None if asn is None else int(asn),
        )

    @cached_property
    def _by_word(self) -> dict[tuple[int, int], dict[str, list[tuple[str, ...]]]]:
        return {}

    def by_word(self, length: int, at: int) -> dict[str, list[tuple[str, ...]]]:
        """Return the lines of so many words by the word at a place."""
        if (length, at) not in self._by_word:
            lines: dict[str, list[tuple[str, ...]]] = {}
            for line in self.lines:
                if len(line.words) == length:
                    lines.setdefault(line.words[at], []).append(line.words)
            self._by_word[length, at] = lines
        return self._by_word[length, at]

    def all(self, pattern: str, *first: str) -> list[tuple[str, ...]]:
        """Return the words that the lines of a pattern keep, where the first of them are these."""
        words = pattern.split()
        at = [place for place, word in enumerate(words) if is_kept(word)][len(first) - 1] if first else 0
        lines = self.by_word(len(words), at).get(first[-1] if first else words[0], ())
        kept = (values for line in lines if (values := match(words, line)) is not None)
        return [values[len(first) :] for values in kept if values[: len(first)] == first]

    def last(self, pattern: str, *first: str) -> str | None:
        """Return the last value of the last such statement: the one that counts in Junos."""
        kept = self.all(pattern, *first)
        return kept[-1][-1] if kept else None

    def ports(self) -> Iterator[Port]:
        physical: dict[str, list[tuple[str, ...]]] = {}
        for line in self.lines:
            if line.words[0] == "interfaces" and len(line.words) > 1:
                physical.setdefault(line.words[1], []).append(line.words[2:])
        for name, mine in physical.items():
            port = _port(name, name, mine, None)
            if name != "irb":
                yield port
            units: dict[str, list[tuple[str, ...]]] = {}
            for words in mine:
                if words[0] == "unit":
                    units.setdefault(words[1], []).append(words[2:])
            for unit, rest in units.items():
                yield _port(f"{name}.{unit}", name, rest, port)

    @cached_property
    def communities(self) -> dict[str, frozenset[str]]:
        members: dict[str, frozenset[str]] = {}
        for name, member in self.all("policy-options community * members #:#"):
            members[name] = members.get(name, frozenset()) | {member}
        return members

    def policy(self, name: str) -> tuple[Term, ...] | None:
        """Return the terms of a policy in the order of their first lines; None if there is none."""
        head = ("policy-options", "policy-statement", name)
        mine = [line.words[3:] for line in self.lines if line.words[:3] == head]
        terms = dict.fromkeys(words[1] for words in mine if words[0] == "term")
        return tuple(self.term(name, term) for term in terms) if mine else None

    def term(self, policy: str, name: str) -> Term:
        def kept(pattern: str) -> list[tuple[str, ...]]:
            return self.all(f"{TERM} {pattern}", policy, name)

        def number(pattern: str) -> int | None:
            text = self.last(f"{TERM} {pattern}", policy, name)
            return None if text is None else int(text)

        listed = [(one, "exact") for (one,) in kept("from prefix-list *")]
        listed += [(one, how) for one, how in kept("from prefix-list-filter * exact|orlonger|longer")]
        ranges = kept("from route-filter * exact|orlonger|longer")
        ranges += kept("from route-filter * upto|prefix-length-range *")
        intended = [one for (one,) in kept("from community *")]
        verdicts = {*kept("then accept|reject"), *kept("then next term|policy")}
        if len(verdicts) > 1:
            raise PlainError(f"{self.file}: policy {policy}, term {name}: two verdicts")
        return Term(
            protocols=frozenset(word for (word,) in kept("from protocol direct|bgp")) or None,
            lists=tuple(
                _range(prefix, how)
                for one, how in listed
                for (prefix,) in self.all("policy-options prefix-list * *", one)
            )
            if listed
            else None,
            filters=tuple(_range(*values) for values in ranges) or None,
            # Nothing matches a community that is not defined, and Batfish passes over one in an action.
            communities=tuple(self.communities[one] for one in intended if one in self.communities)
            if intended
            else None,
            changes=tuple(
                (how, self.communities[one])
                for how, one in kept("then community add|set|delete *")
                if one in self.communities
            ),
            local_preference=number("then local-preference #"),
            metric=number("then metric #"),
            prepend=tuple(int(asn) for (path,) in kept("then as-path-prepend *") for asn in path.split()),
            verdict=verdicts.pop()[0] if verdicts else "",
        )

    def neighbors(self, node: str) -> Iterator[Neighbor]:
        head = ("protocols", "bgp", "group")
        words = (line.words for line in self.lines if line.words[:3] == head and line.words[4:5] == ("neighbor",))
        asn = self.last("routing-options autonomous-system #")
        seen: set[str] = set()
        for group, address in dict.fromkeys((each[3], each[5]) for each in words):
            if address in seen:
                raise PlainError(f"{self.file}: neighbor {address} is in two groups")
            seen.add(address)
            peer_as = self.peer("peer-as #", group, address)
            local_as = self.peer("local-as #", group, address) or ([asn] if asn else [])
            local_address = self.peer("local-address *", group, address)
            if not local_as:
                raise PlainError(f"{self.file}: neighbor {address}: no local AS")
            multiple_as = self.flag("multipath multiple-as", group, address)
            yield Neighbor(
                node=node,
                group=group,
                address=IPv4Address(address),
                local_as=int(local_as[-1]),
                peer_as=int(peer_as[-1]) if peer_as else None,
                local_address=IPv4Address(local_address[-1]) if local_address else None,
                imports=self.policies("import *", group, address),
                exports=self.policies("export *", group, address),
                multipath=multiple_as or self.flag("multipath", group, address),
                multiple_as=multiple_as,
            )

    def peer(self, pattern: str, group: str, address: str) -> list[str]:
        """Return what a neighbor says, or else what its group says."""
        own = self.all(f"{GROUP} neighbor * {pattern}", group, address) or self.all(f"{GROUP} {pattern}", group)
        return [values[-1] for values in own]

    def flag(self, pattern: str, group: str, address: str) -> bool:
        return bool(self.all(f"{GROUP} neighbor * {pattern}", group, address) or self.all(f"{GROUP} {pattern}", group))

    def policies(self, pattern: str, group: str, address: str) -> tuple[tuple[Term, ...], ...]:
        policies = (self.policy(name) for name in self.peer(pattern, group, address))
        # Batfish passes over a policy that is not defined.
        return tuple(policy for policy in policies if policy is not None)


def _port(name: str, physical: str, mine: Sequence[tuple[str, ...]], parent: Port | None) -> Port:
    """Make a port of its lines; a unit has its MTU from its family, and the rest from its physical port."""

    def kept(pattern: str) -> list[tuple[str, ...]]:
        return [values for words in mine if (values := match(pattern.split(), words)) is not None]

    mtu = kept("family inet6|inet mtu #") or kept("mtu #")
    mode = kept("family ethernet-switching interface-mode *")
    switched = any(words[:2] == ("family", "ethernet-switching") for words in mine)
    return Port(
        name=name,
        physical=physical,
        mtu=int(mtu[-1][-1]) if mtu else parent.mtu if parent else DEFAULT_MTU,
        disabled=("disable",) in mine or (parent is not None and parent.disabled),
        addresses=tuple(IPv4Interface(address) for (address,) in kept("family inet address *")),
        mode=mode[-1][0] if mode else "access" if switched else None,
        members=tuple(member for (member,) in kept("family ethernet-switching vlan members *")),
    )


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
