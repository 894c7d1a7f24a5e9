"""The servers of every stripe before their design: names, kinds, and places in rows of ports."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ailb_gen.design.inventory import StripeSlot
from ailb_gen.design.problems import Claim, Problems, duplicates
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.servers import CountedEntry, CountedServers, HostPorts, Server, ServerKind, ServerOverride
from ailb_gen.validation import merged
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import Path

PLAIN_SERVER, PLAIN_KIND = ServerOverride(), ServerKind()


@dataclass(frozen=True, slots=True)
class StripeKind:
    """The servers of a kind in a stripe: the rails of their NICs, the row of ports that they share, names.

    The kind without a name is that of servers with a NIC on every rail. `row_path` is where the row was decided, `own`
    the most specific level about the kind. `mtu` in bytes is None where the stripe's holds; `nic` is a pattern, `rdma`
    a pattern or one name per NIC; the numbers in patterns count from
    `first_nic`.
    """

    name: str
    rails: tuple[int, ...]
    row: HostPorts
    row_path: Path
    own: Path
    gpus: bool
    mtu: int | None
    nic: str
    rdma: str | tuple[str, ...]
    out_of_order: bool
    first_nic: int

    def nic_name(self, number: int) -> str:
        """Return the name that a NIC has by the pattern; `number` counts from 0."""
        return self.nic.format(i=self.first_nic + number)

    def rdma_name(self, number: int) -> str:
        """Return the RDMA device of a NIC; a list that is too short has an error of its own."""
        if isinstance(self.rdma, str):
            return self.rdma.format(i=self.first_nic + number)
        return self.rdma[number] if number < len(self.rdma) else f"rdma{number}"


@dataclass(frozen=True, slots=True)
class Seat:
    """A server before its design: who it is, its place in its row of ports, and the paths that are about it."""

    name: str
    position: int
    kind: StripeKind
    given: ServerOverride
    levels: tuple[Path, ...]


def host_mtu(stripe: StripeSlot, seat: Seat) -> int:
    """Return the MTU of a server's NICs in bytes."""
    return seat.given.mtu or seat.kind.mtu or stripe.settings.mtu.host


def _entry_path(group: Path, number: int, problems: Problems) -> Path:
    """Return the path of a listed server: the list is the group itself, or under its key."""
    path = (*group, number)
    return path if path in problems.intent.source.places else (*group, "list", number)


class _Names:
    """Expands name patterns; every kind of server is counted on its own."""

    __slots__ = ("of_fabric", "of_stripe")

    def __init__(self) -> None:
        self.of_fabric: Counter[str] = Counter()
        self.of_stripe: Counter[tuple[int, str]] = Counter()

    def next(self, pattern: str, kind: str, stripe: int) -> str:
        """Return the name of the next counted server of a kind in a stripe."""
        self.of_fabric[kind] += 1
        self.of_stripe[stripe, kind] += 1
        return pattern.format(n=self.of_fabric[kind], s=stripe, i=self.of_stripe[stripe, kind])


# Name, kind, what is written about it, and where.
_Entry = tuple[str, str | None, ServerOverride, Path]


def server_entries(fabric: Fabric, stripe: int, problems: Problems) -> Iterator[tuple[CountedServers | Server, Path]]:
    """Yield what is counted and what is listed of the servers of a stripe, in the order of their ports, with paths."""
    own, base = fabric.stripes[stripe - 1].servers, ("stripes", stripe - 1, "servers")
    yield (fabric.servers, ("servers", "name")) if own is None else (own, (*base, "name"))
    for number, entry in enumerate(fabric.servers.list):
        # What a stripe says itself replaces what is counted for every stripe.
        common = own is None if isinstance(entry, CountedEntry) else len(fabric.stripes) == 1
        if entry.stripe == stripe or (entry.stripe is None and common):
            yield entry, _entry_path(("servers",), number, problems)
    for number, entry in enumerate(own.list if own is not None else ()):
        if entry.stripe in (None, stripe):
            yield entry, _entry_path(base, number, problems)


def _entries(stripe: int, fabric: Fabric, names: _Names, problems: Problems) -> Iterator[_Entry]:
    """Return the servers of a stripe in the order of their ports."""
    for entry, path in server_entries(fabric, stripe, problems):
        if isinstance(entry, Server):
            yield entry.name, entry.kind, entry, path
        else:
            for _ in range(entry.count):
                yield names.next(entry.pattern, entry.kind or "", stripe), entry.kind, PLAIN_SERVER, path


def _check_stripes(fabric: Fabric, problems: Problems) -> None:
    for number, entry in enumerate(fabric.servers.list):
        path = _entry_path(("servers",), number, problems)
        if isinstance(entry, Server) and entry.stripe is None and len(fabric.stripes) > 1:
            problems.error("missing-key", path, f"server {entry.name!r} needs a stripe", "add 'stripe'")
        elif entry.stripe is not None and entry.stripe > len(fabric.stripes):
            reason = f"there is no stripe {entry.stripe}; the fabric has {len(fabric.stripes)}"
            problems.error("out-of-range", (*path, "stripe"), reason)
    for stripe, group in enumerate((one.servers for one in fabric.stripes), 1):
        for number, entry in enumerate(group.list if group is not None else ()):
            if entry.stripe not in (None, stripe):
                path = _entry_path(("stripes", stripe - 1, "servers"), number, problems)
                problems.error("conflict", (*path, "stripe"), f"this server is listed in stripe {stripe}")


class _Kinds:
    """The kinds of servers by stripe; kinds with the same layout of ports share one row of ports."""

    __slots__ = ("fabric", "known", "problems", "rows", "stripes")

    def __init__(self, fabric: Fabric, stripes: tuple[StripeSlot, ...], problems: Problems) -> None:
        self.fabric, self.stripes, self.problems = fabric, stripes, problems
        self.known: dict[tuple[int, str], StripeKind] = {}
        self.rows: dict[HostPorts, HostPorts] = {}

    def find(self, name: str | None, stripe: StripeSlot, path: Path) -> StripeKind:
        """Return the kind of a server; notes a problem with an unknown one and returns the plain one for it."""
        kinds = self.fabric.server_kinds
        if name is not None and name not in kinds:
            hint = did_you_mean(name, kinds) or f"known: {', '.join(kinds)}" if kinds else "describe it in server_kinds"
            self.problems.error("unknown-kind", path, f"no kind of server is called {name!r}", hint)
            name = None
        key = (stripe.number, name or "")
        if key not in self.known:
            self.known[key] = self._kind(name, stripe)
        return self.known[key]

    def _kind(self, name: str | None, stripe: StripeSlot) -> StripeKind:
        fabric = self.fabric
        kind = fabric.server_kinds[name] if name is not None else PLAIN_KIND
        levels = (("server_kinds", name), *stripe.levels) if name is not None else stripe.levels
        row = fabric.host_ports
        for level in (fabric.stripes[stripe.number - 1], fabric.overrides.stripes.get(stripe.number), kind):
            row = merged(row, level.host_ports) if level is not None else row
        row = self.rows.setdefault(row, row)
        rails = kind.rails if kind.rails is not None else tuple(range(len(stripe.leaves)))
        last = len(stripe.leaves) - 1
        for number, rail in enumerate(rails):
            path = (*levels[0], "rails", number)
            if rail > last:
                reason = f"stripe {stripe.number} has no rail {rail}: its rails are 0 to {last}"
                has_it = any(rail < len(other.leaves) for other in self.stripes)
                hint = "give servers of this kind a 'stripe:' that has it" if has_it else "rails count from 0"
                self.problems.error("out-of-range", path, reason, hint)
            elif rail in rails[:number]:
                self.problems.error("conflict", path, f"rail {rail} is listed twice; a server has one NIC on a rail")
        return StripeKind(
            name=name or "",
            rails=tuple(dict.fromkeys(rail for rail in rails if rail <= last)),
            row=row,
            row_path=self.problems.where(levels, "host_ports"),
            own=levels[0],
            gpus=kind.gpus,
            mtu=kind.mtu,
            nic=kind.nic or fabric.names.nic,
            rdma=kind.rdma if kind.rdma is not None else fabric.hosts.rdma,
            out_of_order=fabric.hosts.out_of_order if kind.out_of_order is None else kind.out_of_order,
            first_nic=fabric.hosts.first_nic,
        )


def gpu_kinds(fabric: Fabric, seats: Iterable[Seat]) -> Iterable[StripeKind]:
    """Return the kinds of the servers with GPUs; without such servers, the one that they would be of."""
    kinds = {id(seat.kind): seat.kind for seat in seats if seat.kind.gpus}
    rails, row = tuple(range(fabric.rails)), fabric.host_ports
    hosts, nic = fabric.hosts, fabric.names.nic
    return kinds.values() or [
        StripeKind("", rails, row, (), (), True, None, nic, hosts.rdma, hosts.out_of_order, hosts.first_nic)
    ]


def seats(fabric: Fabric, stripes: tuple[StripeSlot, ...], problems: Problems) -> tuple[tuple[Seat, ...], ...]:
    """Return the servers of every stripe in order, overrides applied."""
    _check_stripes(fabric, problems)
    numbers, kinds = _Names(), _Kinds(fabric, stripes, problems)
    result = []
    names: set[str] = set()
    for stripe in stripes:
        row = []
        taken: Counter[int] = Counter()
        for name, kind_name, given, path in _entries(stripe.number, fabric, numbers, problems):
            kind = kinds.find(kind_name, stripe, (*(path[:-1] if path[-1] == "name" else path), "kind"))
            override = fabric.overrides.servers.get(name)
            whole = merged(given, override) if override else given
            levels = (("overrides", "servers", name), path) if override else (path,)
            row.append(Seat(name, taken[id(kind.row)], kind, whole, levels))
            taken[id(kind.row)] += 1
            names.add(name)
        result.append(tuple(row))
    for name in fabric.overrides.servers:
        if name not in names:
            hint = did_you_mean(name, names)
            problems.error("unknown-device", ("overrides", "servers", name), "the fabric has no such server", hint)
    _check_kinds(fabric, kinds, problems)
    return tuple(result)


def _check_kinds(fabric: Fabric, kinds: _Kinds, problems: Problems) -> None:
    claims: list[Claim] = [(name.lower(), "a kind", ("server_kinds", name)) for name in fabric.server_kinds]
    # Their profiles would collide as folders.
    duplicates("duplicate-name", "the name", claims, problems)
    used = {name for _, name in kinds.known}
    for name in fabric.server_kinds:
        if name not in used:
            problems.warning("unused-kind", ("server_kinds", name), "no server is of this kind", "give servers 'kind:'")
