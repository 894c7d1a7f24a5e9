"""The servers of every stripe before their design: names, kinds, and places in rows of ports."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ailb_gen.design.inventory import StripeSlot
from ailb_gen.design.problems import Claim, Problems, duplicates
from ailb_gen.intent.models import Fabric
from ailb_gen.intent.servers import (
    CountedEntry,
    CountedServers,
    HostPorts,
    Server,
    ServerGroup,
    ServerKind,
    ServerOverride,
)
from ailb_gen.validation import merged
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import Path

PLAIN_SERVER, PLAIN_KIND = ServerOverride(), ServerKind()


@dataclass(frozen=True, slots=True)
class StripeKind:
    """The servers of a kind in a stripe: `rails` of their NICs, the `row` of ports that they share, paths about them.

    The kind without a name is that of servers with a NIC on every rail.
    """

    name: str
    kind: ServerKind
    rails: tuple[int, ...]
    row: HostPorts
    levels: tuple[Path, ...]


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
    return seat.given.mtu or seat.kind.kind.mtu or stripe.settings.mtu.host


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


def _counted(group: CountedServers, stripe: int, names: _Names, path: Path) -> Iterator[_Entry]:
    for _ in range(group.count):
        yield names.next(group.pattern, group.kind or "", stripe), group.kind, PLAIN_SERVER, path


def _entries(stripe: int, fabric: Fabric, names: _Names, problems: Problems) -> Iterator[_Entry]:
    """Return the servers of a stripe in the order of their ports."""
    own = fabric.stripes[stripe - 1].servers
    group, base = (own, ("stripes", stripe - 1, "servers")) if own is not None else (fabric.servers, ("servers",))
    yield from _counted(group, stripe, names, (*base, "name"))
    lists: list[tuple[ServerGroup, Path]] = [(fabric.servers, ("servers",))]
    if own is not None:
        lists.append((own, base))
    for rows, where in lists:
        for number, entry in enumerate(rows.list):
            path = _entry_path(where, number, problems)
            if rows is own and entry.stripe not in (None, stripe):
                problems.error("conflict", (*path, "stripe"), f"this server is listed in stripe {stripe}")
            elif entry.stripe not in (None, stripe):
                continue
            elif isinstance(entry, CountedEntry):
                # What a stripe says itself replaces what is counted for every stripe.
                if rows is group or entry.stripe == stripe:
                    yield from _counted(entry, stripe, names, path)
            elif rows is own or entry.stripe == stripe or len(fabric.stripes) == 1:
                yield entry.name, entry.kind, entry, path


def _check_stripes(fabric: Fabric, problems: Problems) -> None:
    for number, entry in enumerate(fabric.servers.list):
        path = _entry_path(("servers",), number, problems)
        if isinstance(entry, Server) and entry.stripe is None and len(fabric.stripes) > 1:
            problems.error("missing-key", path, f"server {entry.name!r} needs a stripe", "add 'stripe'")
        elif entry.stripe is not None and entry.stripe > len(fabric.stripes):
            reason = f"there is no stripe {entry.stripe}; the fabric has {len(fabric.stripes)}"
            problems.error("out-of-range", (*path, "stripe"), reason)


class _Kinds:
    """The kinds of servers by stripe; kinds with the same layout of ports share one row of ports."""

    __slots__ = ("fabric", "known", "problems", "rows", "stripes")

    def __init__(self, fabric: Fabric, stripes: tuple[StripeSlot, ...], problems: Problems) -> None:
        self.fabric, self.stripes, self.problems = fabric, stripes, problems
        self.known: dict[tuple[int, str], StripeKind] = {}
        self.rows: dict[object, HostPorts] = {}

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
        levels = ((("server_kinds", name), *stripe.levels)) if name is not None else stripe.levels
        row = fabric.host_ports
        for level in (fabric.stripes[stripe.number - 1], fabric.overrides.stripes.get(stripe.number), kind):
            row = merged(row, level.host_ports) if level is not None else row
        row = self.rows.setdefault(tuple(row.model_dump().values()), row)
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
        return StripeKind(name or "", kind, tuple(dict.fromkeys(rail for rail in rails if rail <= last)), row, levels)


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
