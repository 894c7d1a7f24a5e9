"""The expected next hops, against what other code renders from the same intent, and without links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest

from ailb_gen.addresses import Prefix
from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_cabling import expected_cabling
from ailb_gen.checks.expected_routes import ExpectedNextHops, ExpectedRoutes
from ailb_gen.intent.models import Fabric
from ailb_gen.network.fabric import End
from tests.checks.trees import GOLDEN, fabric_of, network_of
from tests.conftest import SMALL, intent_of
from tests.routing.fabrics import prefix


def expected(fabric: Fabric) -> ExpectedRoutes:
    intended = expected_fabric(fabric)
    return ExpectedRoutes(intended, expected_cabling(intended))


def small_routes(more: str = "", spines: int = 2) -> ExpectedRoutes:
    return expected(intent_of(SMALL.replace("spines: 2", f"spines: {spines}") + more).fabric)


def without_spine(routes: ExpectedRoutes, spine: str) -> ExpectedRoutes:
    return routes.without(own for own, _ in routes.ends() if own.device == spine)


def reachable(routes: ExpectedRoutes, leaf: str, to: Prefix, down: Iterable[End] = ()) -> bool:
    return bool(routes.without(down).next_hops(leaf, to).needed)


@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks"])
def test_expected_routes_are_those_of_the_files_of_an_example(name: str) -> None:
    """Rendered by other code from the same intent: cabling.csv, addresses and fabric-advertise on the leaves."""
    routes, network = expected(fabric_of(name)), network_of(GOLDEN / name)
    values = {color.name: color.value for color in routes.expected.colors}
    uplinks: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for cable in network.links:
        uplinks[cable.a.device][values[cable.color]].add(cable.a.port)
    assert set(routes.ends()) == {pair for link in network.links for pair in ((link.a, link.b), (link.b, link.a))}
    spines = sorted(name for name, role in network.roles.items() if role == "spine")
    assert sorted(routes.connected_spines) == spines
    leaves = {name: switch for name, switch in network.switches.items() if network.roles[name] == "leaf"}
    owners = {
        route.prefix: (name, values[route.color])
        for name, switch in leaves.items()
        for route in switch.routes
        if route.color
    }
    assert routes.owners == owners
    pairs = list(routes.remote_prefixes())
    assert len(pairs) == len(owners) * (len(leaves) - 1)
    for leaf, to in pairs:
        ports = frozenset(uplinks[leaf][owners[to][1]])
        assert routes.next_hops(leaf, to) == ExpectedNextHops(ports, ((ports,),))
    for spine in spines:
        assert dict(routes.advertised(spine)) == {to: owner for to, (owner, _) in owners.items()}
    # Of several spines any one may be missing, of several links any one.
    for less in (
        *(without_spine(routes, spine) for spine in spines),
        *(routes.without([link.a]) for link in network.links[:9]),
    ):
        assert all(less.next_hops(leaf, to).needed for leaf, to in pairs)


def ports(routes: ExpectedRoutes, leaf: str = "stripe1-leaf1") -> dict[str, list[str]]:
    """Return the uplinks of a leaf by the name of their color."""
    names = {color.value: color.name for color in routes.expected.colors}
    uplinks: dict[str, list[str]] = defaultdict(list)
    for port, (_, color) in routes.links[leaf].items():
        uplinks[names[color]].append(port)
    return uplinks


@pytest.mark.parametrize(
    ("more", "spines", "expected"),
    [
        ("", 2, {"green": ["et-0/0/0"], "blue": ["et-0/0/1"]}),
        ("colors: [left, right]\n", 4, {"left": ["et-0/0/0", "et-0/0/2"], "right": ["et-0/0/1", "et-0/0/3"]}),
        # Planes of links take the colors in turn.
        (
            "links_per_spine: 2\n",
            2,
            {"green": ["et-0/0/0"], "red": ["et-0/0/1"], "blue": ["et-0/0/2"], "orange": ["et-0/0/3"]},
        ),
        (
            "links_per_spine: 2\ncolors: [left, right]\n",
            2,
            {"left": ["et-0/0/0", "et-0/0/1"], "right": ["et-0/0/2", "et-0/0/3"]},
        ),
        ("links_per_spine: 3\ncolors: [one]\n", 1, {"one": ["et-0/0/0", "et-0/0/1", "et-0/0/2"]}),
    ],
)
def test_uplinks_by_color(more: str, spines: int, expected: dict[str, list[str]]) -> None:
    routes = small_routes(more, spines)
    assert ports(routes) == expected
    mine = prefix("fc00:1:1:1::/64")
    assert routes.owners[mine][0] == "stripe1-leaf1"
    pinned = frozenset(expected[next(iter(expected))])
    for leaf in ("stripe1-leaf2", "stripe2-leaf1", "stripe2-leaf2"):
        assert routes.next_hops(leaf, mine) == ExpectedNextHops(pinned, ((pinned,),))
    assert routes.connected_spines == tuple(f"spine{number + 1}" for number in range(spines))


FOUR = "colors: {{names: [a, b, c, d], backup: {}}}\n"
A, B, C, D = (prefix(f"fc00:1:1:{number}::/64") for number in range(1, 5))


@pytest.mark.parametrize(
    ("backup", "allowed"),
    [
        ("all", ["abcd", "abcd", "abcd", "abcd"]),
        ("none", ["a", "b", "c", "d"]),
        ("{a: b, c: d}", ["ab", "b", "cd", "d"]),
        ("{a: b, b: c, c: d, d: a}", ["ab", "bc", "cd", "ad"]),
        # Handed out in turn, to others than themselves.
        ("[a]", ["a", "ab", "ac", "ad"]),
    ],
)
def test_backups_decide_which_spines_receive_a_prefix(backup: str, allowed: list[str]) -> None:
    routes = small_routes(FOUR.format(backup), 4)
    for spine, color in zip(routes.connected_spines, "abcd", strict=True):
        received = {to for to, owner in routes.advertised(spine) if owner == "stripe1-leaf1"}
        assert received == {to for to, colors in zip((A, B, C, D), allowed, strict=True) if color in colors}
    # Without the spine of its color a prefix is reached over its backups, or not at all.
    for spine, other in zip(routes.connected_spines, "abcd", strict=True):
        less = without_spine(routes, spine)
        for to, color, colors in zip((A, B, C, D), "abcd", allowed, strict=True):
            found = less.next_hops("stripe2-leaf2", to)
            backups = frozenset(f"et-0/0/{'abcd'.index(name)}" for name in colors if name != color)
            pinned = frozenset({f"et-0/0/{'abcd'.index(color)}"})
            assert found.allowed == (backups if other == color else pinned)
            assert (found.exact, found.fewest) == (True, len(found.allowed))


OFF = "overrides: {{{}: {{{}: {{ports: {{{}: {{disabled: true}}}}}}}}}}\n"


@pytest.mark.parametrize(
    ("override", "gone"),
    [
        (("leaves", "stripe1-leaf1", "et-0/0/1"), (End("stripe1-leaf1", "et-0/0/1"), End("spine2", "et-0/0/0"))),
        (("spines", "spine2", "et-0/0/0"), (End("stripe1-leaf1", "et-0/0/1"), End("spine2", "et-0/0/0"))),
        (("spines", "spine1", "et-0/0/3"), (End("stripe2-leaf2", "et-0/0/0"), End("spine1", "et-0/0/3"))),
    ],
)
def test_links_whose_ports_are_disabled_are_none(override: tuple[str, str, str], gone: tuple[End, End]) -> None:
    routes, whole = small_routes(OFF.format(*override)), small_routes()
    assert set(whole.ends()) - set(routes.ends()) == {gone, gone[::-1]}
    assert len(routes.cables) == len(whole.cables) - 1 == 7
    assert set(whole.without([gone[1]]).ends()) == set(routes.ends())
    (leaf, port), (spine, _) = ((end.device, end.port) for end in gone)
    assert port not in routes.links[leaf]
    remote = [to for to, (owner, _) in routes.owners.items() if owner != leaf]
    # The prefixes of its color are reached over the backup.
    assert {routes.next_hops(leaf, to).allowed for to in remote} == {frozenset(routes.links[leaf])}
    # The spine hears nothing from that leaf, and everything from the others.
    assert dict(routes.advertised(spine)) == {to: routes.owners[to][0] for to in remote}
    (other,) = set(routes.connected_spines) - {spine}
    assert not any(reachable(without_spine(routes, other), leaf, to) for to in remote)


def test_a_spine_without_links_in_service() -> None:
    off = {f"et-0/0/{number}": "{disabled: true}" for number in range(4)}
    text = ", ".join(f"{port}: {value}" for port, value in off.items())
    routes = small_routes(f"overrides: {{spines: {{spine1: {{ports: {{{text}}}}}}}}}\n")
    assert routes.connected_spines == ("spine2",)
    assert list(routes.advertised("spine1")) == []
    assert ports(routes) == {"blue": ["et-0/0/1"]}


def test_up_in_one_color_is_not_down_in_another() -> None:
    """A spine sends its active route alone, green where it has that, and only over sessions of its color."""
    off = OFF.format("leaves", "stripe1-leaf1", "et-0/0/0")
    routes = small_routes(f"links_per_spine: 2\n{off}", 1)
    assert ports(routes) == {"blue": ["et-0/0/1"]}
    assert ports(routes, "stripe1-leaf2") == {"green": ["et-0/0/0"], "blue": ["et-0/0/1"]}
    far = prefix("fc00:1:2:1::/64")
    for ends, reached in (
        ([], False),
        ([End("stripe1-leaf2", "et-0/0/0")], True),
        ([End("stripe1-leaf2", "et-0/0/1")], False),
        ([End("stripe1-leaf1", "et-0/0/1")], False),
    ):
        assert reachable(routes, "stripe1-leaf1", far, ends) is reached
        assert reachable(routes, "stripe2-leaf1", far, ends) is True


GREEN, RED, BOTH = frozenset("12"), frozenset("3"), frozenset("123")


@pytest.mark.parametrize(
    ("needed", "good", "bad", "fewest", "exact"),
    [
        ((), [""], ["1"], 0, False),
        (((GREEN,), (RED,)), ["123"], ["", "12", "3", "1234"], 3, True),
        # A neighbor that sends either color: all ports of one.
        (((GREEN, RED),), ["12", "3", "123", "13"], ["", "1", "34"], 1, False),
    ],
)
def test_needed_ports(
    needed: tuple[tuple[frozenset[str], ...], ...], good: list[str], bad: list[str], fewest: int, exact: bool
) -> None:
    hops = ExpectedNextHops(BOTH if needed else frozenset(), needed)
    assert all(hops.hold(frozenset(ports)) for ports in good)
    assert not any(hops.hold(frozenset(ports)) for ports in bad)
    assert (hops.fewest, hops.exact) == (fewest, exact or not needed)
