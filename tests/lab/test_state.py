"""The measured fabric answers as the computed one does, from what BIRD and the kernels say."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ailb_gen.addresses import address_text
from ailb_gen.emulator.fabric_state import FabricState, TrafficCounters, link_local
from ailb_gen.errors import UsageError
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node
from ailb_gen.lab.convergence import wait
from ailb_gen.lab.kernel import addresses
from ailb_gen.network.model import RouterAdvertisement
from tests.lab.isolated import isolated
from tests.lab.labs import emulated, running, trees
from tests.network.lab import LAB, TEXTS

TOOLS = ("ip", "bird")
NAMES = tuple(sorted(path.stem for path in (LAB / "switches").glob("*.conf")))
LEAF, SPINE = "stripe1-leaf1", "spine2"
# How long a lab may take to be as it should be.
PATIENCE_S, PAUSE_S = 30.0, 0.1


def answers(fabric: FabricState, names: tuple[str, ...] = NAMES) -> dict[str, Any]:
    """Ask everything but times."""
    return {question: answer for name in names for question, answer in asked(fabric, name)}


def asked(fabric: FabricState, name: str) -> Iterator[tuple[str, Any]]:
    ports = [port for port in fabric.switch(name).ports if port.startswith("et-")]
    yield f"{name} links", {port: fabric.link_up(name, port) for port in ports}
    yield f"{name} neighbors", {port: fabric.neighbor(name, port) for port in ports}
    yield f"{name} advertisers", {port: fabric.advertiser(name, f"{port}.0") for port in ports}
    yield f"{name} heard", {port: lifetime(fabric.advertisement(name, f"{port}.0")) for port in ports}
    sessions = fabric.sessions(name)
    yield f"{name} sessions", tuple(replace(one, since=None, flaps=0) for one in sessions)
    yield f"{name} counts", dict(fabric.prefix_counts(name))
    yield f"{name} totals", fabric.route_totals(name)
    for prefix in fabric.prefixes(name):
        # The policy or the colors for which a path is hidden stand behind the word.
        paths = [replace(path, reason=re.split(r":| by ", path.reason)[0]) for path in fabric.paths(name, prefix)]
        if paths:
            yield f"{name} {prefix} paths", sorted(paths, key=lambda path: path.interface)
            yield f"{name} {prefix} next hops", tuple(fabric.next_hops(name, prefix))
    for one in sessions:
        yield f"{name} to {one.interface}", dict(fabric.advertised(name, one))
        yield f"{name} to {one.interface}, count", fabric.advertised_count(name, one)


def lifetime(heard: RouterAdvertisement | None) -> int | None:
    """Return the lifetime of a router: three intervals where it is not configured."""
    if heard is None or heard.lifetime is not None:
        return heard.lifetime if heard is not None else None
    return 3 * (heard.max_interval or 600)


class Difference(NamedTuple):
    """A question to which a lab has another answer than the computed fabric."""

    question: str
    measured: object
    computed: object


def differences(lab: FabricState, computed: FabricState, names: tuple[str, ...] = NAMES) -> list[Difference]:
    """Compare all answers, as soon as the lab has those of the computed fabric or has had time enough."""
    latest, want = time.monotonic() + PATIENCE_S, answers(computed, names)
    while True:
        got = answers(lab, names)
        found = [
            Difference(question, got.get(question), want.get(question))
            for question in sorted(got.keys() | want.keys())
            if got.get(question) != want.get(question)
        ]
        if not found or time.monotonic() > latest:
            return found
        time.sleep(PAUSE_S)


def tree(name: str, old: str = "", new: str = "") -> Node:
    """Return the configuration of a switch with a text replaced."""
    text = TEXTS[f"switches/{name}.conf"]
    assert old in text
    return read(text.replace(old, new), name)


def commits(*trees: tuple[str, Node]) -> Callable[[FabricState], None]:
    def act(fabric: FabricState) -> None:
        for name, one in trees:
            fabric.commit(name, one)

    return act


Step = tuple[str, Callable[[FabricState], None]]
# One after the other, every one on top of those before.
STEPS: tuple[Step, ...] = (
    ("as generated", lambda fabric: None),
    ("another color on a spine", lambda fabric: fabric.commit(SPINE, tree(SPINE, "color:0:2;", "color:0:9;"))),
    ("the color is back", lambda fabric: fabric.commit(SPINE, tree(SPINE))),
    ("another AS on a spine", lambda fabric: fabric.commit(SPINE, tree(SPINE, "local-as 65002", "local-as 65099"))),
    (
        "a port of a leaf is disabled, and the AS is back",
        commits(
            (LEAF, tree(LEAF, "facing_spine1:et-0/0/0;", "facing_spine1:et-0/0/0; disable;")), (SPINE, tree(SPINE))
        ),
    ),
    (
        "a leaf does not advertise itself",
        lambda fabric: fabric.commit(
            LEAF, tree(LEAF, "interface et-0/0/1.0 {\n            max", "interface et-0/0/9.0 {\n            max")
        ),
    ),
    (
        "no backups",
        lambda fabric: fabric.commit(LEAF, read(re.sub(r"backup \S+;", "", TEXTS[f"switches/{LEAF}.conf"]), LEAF)),
    ),
    ("a spine without power", lambda fabric: fabric.power_off(SPINE)),
    ("all as generated", commits((LEAF, tree(LEAF)), (SPINE, tree(SPINE)))),
    ("a session is kept down", lambda fabric: fabric.keep_down(LEAF, "et-0/0/3.0")),
    ("another commit", lambda fabric: fabric.commit(LEAF, tree(LEAF, "fc00:1:1:4::1/64", "fc00:1:1:5::1/64"))),
    ("the session may come up", lambda fabric: fabric.restore("spine4", "et-0/0/0.0")),
)


def stepped() -> dict[str, list[Difference]]:
    lab, computed = running(LAB), emulated(LAB)
    found = {}
    for title, act in STEPS:
        act(lab)
        act(computed)
        found[title] = differences(lab, computed)
    return found


def test_measured_and_computed_answers_are_the_same() -> None:
    want = answers(emulated(LAB))
    assert sum(1 for one in want if "paths" in one) > 4 * len(NAMES)
    found = isolated(stepped, tools=TOOLS)
    assert list(found) == [title for title, _ in STEPS]
    assert {title: rows for title, rows in found.items() if rows} == {}


def odds() -> dict[str, Any]:
    begin = time.time()
    fabric = running(LAB)
    first = fabric.sessions(LEAF)
    found: dict[str, Any] = {
        "since": all(begin - 1 < (one.since or 0) < time.time() + 1 for one in first),
        "macs": {name: fabric.mac(LEAF, name) for name in ("", "et-0/0/0", "et-0/0/0.0", "irb.2", "irb", "lo0")},
        "link-local": link_local(fabric, LEAF, "et-0/0/0.0"),
        "heard": {route.link: route.value for route in addresses(LEAF) if route.value >> 118 == 0xFE80 >> 6},
        "counters": {name: fabric.counters(LEAF, name) for name in ("et-0/0/0", "et-0/0/0.0", "et-9/9/9", "irb")},
    }
    with pytest.raises(UsageError, match="no cable to another switch"):
        fabric.keep_down(LEAF, "et-0/0/16.0")
    circle = read("groups { a { apply-groups b; } b { apply-groups a; } } apply-groups a;", LEAF)
    with pytest.raises(UsageError):
        fabric.commit(LEAF, circle)
    found["untouched"] = fabric.sessions(LEAF) == first
    # A daemon that ends has no sessions, and comes back with the next commit.
    fabric.switches[LEAF].router.stop()
    found["ended"] = {one.established for one in fabric.sessions(LEAF)}
    fabric.commit(LEAF, tree(LEAF))
    latest = time.monotonic() + PATIENCE_S
    while not all(one.established for one in fabric.sessions(LEAF)) and time.monotonic() < latest:
        time.sleep(PAUSE_S)
    found["flaps"] = [one.flaps for one in fabric.sessions(LEAF)]
    fabric.commit(SPINE, tree(SPINE, "local-as 65002", "local-as 65099"))
    found["down"] = {text.split(" is ")[0] for text in wait(fabric.plan, PATIENCE_S)}
    return found


def test_what_a_computed_fabric_has_not() -> None:
    """Counters and times; errors; a daemon that ends."""
    found = isolated(odds, tools=TOOLS)
    assert found["since"]
    macs = found["macs"]
    assert macs["et-0/0/0"] == macs["et-0/0/0.0"]
    assert macs["irb"] == macs["lo0"] == macs[""]
    assert len(set(macs.values())) == 3
    assert found["link-local"] == address_text(found["heard"]["et-0-0-0"])
    counters = found["counters"]
    assert min(counters["et-0/0/0"][:4]) > 0
    assert counters["et-0/0/0.0"].output_packets >= counters["et-0/0/0"].output_packets
    assert counters["et-9/9/9"] == counters["irb"] == TrafficCounters()
    assert found["untouched"]
    assert found["ended"] == {False}
    # On a busy machine a session may go down once more while it comes up again.
    assert min(found["flaps"]) >= 1
    # Both ends try; the leaves refuse the other AS.
    assert found["down"] == {f"{SPINE}: the session on et-0-0-{port}" for port in range(4)} | {
        f"{name}: the session on et-0-0-1" for name in NAMES if "leaf" in name
    }


def whole(root: Path) -> list[Difference]:
    return differences(running(root), emulated(root), tuple(trees(root)))


@pytest.mark.long
@pytest.mark.parametrize("name", ["jvd", "jvd-8-uplinks", "brownfield", "static"])
def test_measured_and_computed_answers_of_other_examples(name: str) -> None:
    assert isolated(whole, LAB.parent / name, tools=TOOLS) == []
