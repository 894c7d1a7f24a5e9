"""What `ailb-gen explain` prints of a whole fabric: sizes, pools, ports, load, colors, and how far it can grow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ailb_gen.wording import counted, some
from ailb_gen.yamlio import dotted

if TYPE_CHECKING:
    from ailb_gen.api.explain import FabricSummary
    from ailb_gen.cli.console import Table
    from ailb_gen.design.headroom import Headroom

UNITS = {"stripe": "stripe", "rail": "rail", "spine": "spine", "server": "server per stripe"}
NO_KEY = "no key of the file adds one: every stripe says its own rails"


def tables(summary: FabricSummary) -> list[Table]:
    """Return everything as tables."""
    return [
        (summary.design.name, ("what", "value"), list(_sizes(summary))),
        ("Pools", ("KEY", "WHAT", "POOL", "USED", "LEFT"), list(_pools(summary))),
        (
            "Ports",
            ("SWITCHES", "PLATFORM", "PORTS", "LINKS", "SERVERS", "SPARE", "FREE", "SUB-PORTS"),
            list(_ports(summary)),
        ),
        ("Oversubscription", ("RAILS", "LEAVES", "FROM SERVERS", "UPLINKS", "RATIO"), list(_loads(summary))),
        ("Colors", ("COLOR", "COMMUNITY", "BACKUP", "SPINES", "UPLINKS OF A LEAF"), list(_colors(summary))),
        ("Room to grow", ("UNIT", "NOW", "STEP", "MORE", "LIMITED BY"), list(_headroom(summary))),
        ("Why one step more is refused", ("UNIT", "REASON"), list(_reasons(summary))),
        *_next(summary),
    ]


def _sizes(summary: FabricSummary) -> Iterator[tuple[str, object]]:
    design = summary.design
    yield "stripes", design.leaves[-1].stripe
    yield "leaves", len(design.leaves)
    yield "spines", len(design.spines)
    yield "servers", len(design.servers)
    yield "leaf-spine links", len(design.links)
    yield "server cables", sum(len(server.ports) for server in design.servers)
    yield "prefixes", sum(len(leaf.prefixes) for leaf in design.leaves)
    for line in design.drained:
        yield "drained", line


def _pools(summary: FabricSummary) -> Iterator[tuple[str, str, str, str, str]]:
    for row in summary.pools:
        yield dotted(row.path), row.what, row.extent, f"{row.used:,}", f"{row.left:,}"


def _names(names: Sequence[str]) -> str:
    return some(names) if len(names) < 3 else f"{names[0]} to {names[-1]} ({len(names)})"


def _ports(summary: FabricSummary) -> Iterator[tuple[object, ...]]:
    for row, names in summary.ports.items():
        counts = (row.physical, row.fabric, row.servers, row.spare, row.free, row.sub_ports)
        yield _names(names), row.platform, *counts


def _loads(summary: FabricSummary) -> Iterator[tuple[object, ...]]:
    rows: dict[tuple[int, int, str], tuple[list[int], list[str]]] = {}
    for load, names in summary.loads.items():
        rails, leaves = rows.setdefault((load.down_gbps, load.up_gbps, f"{load.ratio:.2f}:1"), ([], []))
        rails.append(load.rail)
        leaves += names
    from ailb_gen.design.switches import ranges

    for (down, up, ratio), (rails, leaves) in rows.items():
        yield ", ".join(ranges(rails)), len(leaves), f"{down:,}g", f"{up:,}g", ratio


def _colors(summary: FabricSummary) -> Iterator[tuple[object, ...]]:
    design = summary.design
    of_leaf = Counter(port.color.name for port in design.leaves[0].fabric_ports)
    for color in design.colors:
        spines = dict.fromkeys(port.peer for port in design.leaves[0].fabric_ports if port.color == color)
        yield color.name, color.community, color.backup or "none", some(spines), of_leaf[color.name]


def _now(summary: FabricSummary, room: Headroom) -> str:
    design = summary.design
    if room.unit == "server":
        counts = Counter(server.stripe for server in design.servers)
        each = [counts[stripe] for stripe in range(1, design.leaves[-1].stripe + 1)]
        return str(each[0]) if len(set(each)) == 1 else f"{min(each)} to {max(each)}"
    if room.unit == "rail":
        rails = Counter(leaf.stripe for leaf in design.leaves).values()
        return str(max(rails)) if len(set(rails)) == 1 else f"{min(rails)} to {max(rails)}"
    return str(design.leaves[-1].stripe if room.unit == "stripe" else len(design.spines))


def _limit(room: Headroom) -> str:
    return ", ".join(dict.fromkeys(problem.path for problem in room.refused)) or "-"


def _headroom(summary: FabricSummary) -> Iterator[tuple[object, ...]]:
    for room in summary.headroom:
        yield UNITS[room.unit], _now(summary, room), room.step if room.most else "-", room.most or "none", _limit(room)


def _reasons(summary: FabricSummary) -> Iterator[tuple[str, str]]:
    for room in summary.headroom:
        for problem in room.refused:
            hint = f"; {problem.hint}" if problem.hint else ""
            yield UNITS[room.unit], f"{problem.path}: {problem.reason}{hint}"
        if not room.refused:
            yield UNITS[room.unit], NO_KEY


def _next(summary: FabricSummary) -> Iterator[Table]:
    from ailb_gen.design.addition import lines

    steps = {room.unit: room.step for room in summary.headroom}
    for unit, more in summary.next.items():
        title = f"{counted(steps[unit], unit)} more" + (" in every stripe" if unit == "server" else "")
        yield title, ("what", "value"), list(lines(more))


def data(summary: FabricSummary) -> dict[str, Any]:
    """Return everything as data."""
    from ailb_gen.design.addition import lines

    return {
        "fabric": summary.design.name,
        "sizes": [{"what": what, "value": value} for what, value in _sizes(summary)],
        "pools": [
            {"key": dotted(row.path), "what": row.what, "pool": row.extent}
            | {"size": row.size, "used": row.used, "left": row.left}
            for row in summary.pools
        ],
        "ports": [
            {"switches": names, "role": row.role, "platform": row.platform, "ports": row.physical}
            | {"links": row.fabric, "servers": row.servers, "spare": row.spare}
            | {"free": row.free, "free_sub_ports": row.sub_ports}
            for row, names in summary.ports.items()
        ],
        "oversubscription": [
            {"rail": load.rail, "leaves": names, "from_servers_gbps": load.down_gbps, "uplinks_gbps": load.up_gbps}
            | {"ratio": load.ratio}
            for load, names in summary.loads.items()
        ],
        "colors": [
            {"color": color.name, "community": color.community, "backup": color.backup}
            for color in summary.design.colors
        ],
        "headroom": [
            {"unit": room.unit, "step": room.step, "more": room.most}
            | {"refused": [{"key": p.path, "code": p.code, "reason": p.reason, "hint": p.hint} for p in room.refused]}
            for room in summary.headroom
        ],
        "next": {unit: dict(lines(more)) for unit, more in summary.next.items()},
    }
