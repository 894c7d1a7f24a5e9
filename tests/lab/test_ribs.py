"""RIBs from what a daemon says of routes: which path is used, and why others are not."""

from __future__ import annotations

from ailb_gen.emulator.fabric_state import RouteTotals
from ailb_gen.lab.bird.model import DIRECT, RibRoute
from ailb_gen.lab.ribs import by_prefix, paths, totals
from ailb_gen.routing.rib import Path
from ailb_gen.routing.route import Route
from tests.routing.fabrics import prefix

PREFIX = prefix("fc00:1:1:1::/64")
SESSIONS = {f"up{n}": (f"et-0/0/{n}.0", f"spine{n}", "blue") for n in range(1, 5)}


def learned(number: int, active: bool = False, hidden: int = 0, **attributes: object) -> RibRoute:
    made = Route(**{"as_path": (65000 + number, 65101)} | attributes)  # type: ignore[arg-type]
    return RibRoute(PREFIX, f"up{number}", active, made, hidden)


def statuses(*routes: RibRoute, used: frozenset[str] = frozenset()) -> dict[str, tuple[str, str]]:
    found = paths(routes, SESSIONS, used, {1: "AS path loop"})
    return {path.peer: (path.status, path.reason) for path in found}


def test_status_and_reason_of_every_path() -> None:
    used = frozenset(["et-0/0/1.0", "et-0/0/2.0"])
    best = learned(1, active=True, aigp=0)
    assert statuses(learned(4, hidden=1), learned(3), learned(2, aigp=0), best, used=used) == {
        "spine1": ("active", ""),
        "spine2": ("multipath", ""),
        "spine3": ("inactive", "AIGP"),
        "spine4": ("hidden", "AS path loop"),
    }
    assert statuses(best, learned(2, local_preference=90), learned(3, aigp=0, as_path=(65003, 65002, 65101))) == {
        "spine1": ("active", ""),
        "spine2": ("inactive", "Local Preference"),
        "spine3": ("inactive", "AS path"),
    }


def test_ties() -> None:
    best = learned(1, active=True, med=5, as_path=(65001, 65101))
    worse = learned(2, med=7, as_path=(65001, 65101))
    equal, other = learned(3, med=5, as_path=(65001, 65101)), learned(4, med=9)
    lost = "Not Best in its group - Router ID"
    assert statuses(best, worse, equal, other) == {
        "spine1": ("active", ""),
        "spine2": ("inactive", "Route Metric or MED comparison"),
        "spine3": ("inactive", lost),
        "spine4": ("inactive", lost),
    }


def test_direct_routes_win() -> None:
    own = RibRoute(PREFIX, DIRECT, True, Route())
    found = paths((own, learned(2)), SESSIONS, frozenset(), {})
    assert found[0] == Path(Route(protocol="direct"), "active")
    assert [(path.status, path.reason, path.interface) for path in found[1:]] == [
        ("inactive", "Route Preference", "et-0/0/2.0")
    ]


def test_totals() -> None:
    other, local, lost = prefix("fc00:1:1:2::/64"), prefix("fc00:1:1:3::/64"), prefix("fc00:1:1:4::/64")
    routes = [
        learned(1, active=True),
        learned(2),
        learned(3)._replace(prefix=other, active=True),
        learned(4, hidden=1)._replace(prefix=lost),
        RibRoute(local, DIRECT, True, Route()),
        learned(1)._replace(prefix=local),
    ]
    held = by_prefix(routes)
    assert list(held) == sorted({PREFIX, other, local, lost})
    assert totals(held, SESSIONS) == RouteTotals(active=2, destinations=3, hidden=1, paths=5)
