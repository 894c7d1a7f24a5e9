"""What must be seen on every switch is what the packages that prove the files compute."""

import shutil
from pathlib import Path

import pytest

from ailb_gen.deploy.switch_state import ExpectedPrefix, ExpectedSession, ExpectedState, read_fabric_model, switch_of
from ailb_gen.errors import UsageError
from ailb_gen.junos.reader import read
from ailb_gen.network.sessions import Session, Side
from ailb_gen.routing.rib import Routing
from tests.conftest import ROOT
from tests.deploy.lab import NAMES, edited, fabric_model, model, text_of
from tests.network.lab import LAB

GOLDEN = ROOT / "tests" / "golden"


@pytest.mark.parametrize("name", ["brownfield", "jvd", "jvd-8-uplinks", "lab"])
def test_what_is_expected_is_what_routing_computes(name: str) -> None:
    files = sorted((GOLDEN / name / "switches").iterdir())
    found = read_fabric_model(
        GOLDEN / name, {path.stem: switch_of(path.stem, read(path.read_text(), path.name)) for path in files}
    )
    routing = Routing(found.network)
    graph = routing.graph
    sides = {(s.device, s.interface): far for session in graph.sessions.up for s, far in _ways(session)}
    assert len(graph.sessions.up) == len(found.links)
    for device in found.switches:
        expected = found.expected(device)
        mine = {interface: far for (own, interface), far in sides.items() if own == device}
        assert {(n.interface, n.peer, n.asn) for n in expected.neighbors} == {
            (interface, far.device, far.asn) for interface, far in mine.items()
        }
        # What a switch advertises is what arrives at the other end, before anything is hidden there.
        arriving = set()
        for interface, far in mine.items():
            for prefix in graph.advertised[graph.index[device]]:
                for path in routing.paths(graph.index[far.device], prefix):
                    if path.interface == far.interface:
                        (color,) = path.route.colors or {None}
                        arriving.add(ExpectedPrefix(interface, str(prefix), color, path.route.aigp))
        assert set(expected.advertised) == arriving
        assert len(expected.advertised) == len(arriving)
        # And as many prefixes are counted at the other end.
        for neighbor in expected.neighbors:
            far = mine[neighbor.interface]
            sent = [row for row in found.expected(far.device).advertised if row.interface == far.interface]
            assert neighbor.prefixes == len(sent)
        assert (found.roles[device] == "leaf") == bool(expected.advertised) == bool(expected.announcing)


def _ways(session: Session) -> tuple[tuple[Side, Side], ...]:
    return (session.a, session.b), (session.b, session.a)


def test_a_leaf_of_the_lab() -> None:
    expected = fabric_model().expected("stripe1-leaf1", ["fan"])
    assert expected.neighbors[1] == ExpectedSession("et-0/0/1.0", "spine2", 65002, 0)
    own, backup = "fc00:1:1:2::/64", "fc00:1:1:1::/64"
    assert ExpectedPrefix("et-0/0/1.0", own, "color:0:2", 0) in expected.advertised
    assert ExpectedPrefix("et-0/0/1.0", backup, "color:0:2", None) in expected.advertised
    assert (len(expected.neighbors), len(expected.advertised)) == (4, 16)
    assert (expected.announcing, expected.alarms) == (frozenset({"irb.2"}), frozenset({"fan"}))


def test_in_the_middle_of_a_push() -> None:
    empty = "system { host-name x; }"
    bare = read_fabric_model(LAB, {name: model(name, empty) for name in NAMES})
    assert bare.expected("spine1") == ExpectedState("spine1")
    # A session needs both ends: the first leaf waits for nobody, a spine for the leaves that are there.
    one = bare.after({"stripe1-leaf1": model("stripe1-leaf1")})
    assert one.expected("stripe1-leaf1").neighbors == ()
    both = one.after({"spine1": model("spine1")})
    assert [row.peer for row in both.expected("spine1").neighbors] == ["stripe1-leaf1"]
    assert [row.peer for row in both.expected("stripe1-leaf1").neighbors] == ["spine1"]
    assert both.expected("spine1").neighbors[0].prefixes == 4
    # The state before is not changed by what comes after it.
    assert bare.expected("spine1") == ExpectedState("spine1")


def test_a_switch_that_nobody_looked_at() -> None:
    found = read_fabric_model(LAB, {name: model(name) for name in NAMES if name != "spine1"})
    assert found.expected("spine1") == ExpectedState("spine1")
    assert [row.peer for row in found.expected("stripe1-leaf1").neighbors] == ["spine2", "spine3", "spine4"]


def test_a_prefix_that_the_switch_has_no_address_in_is_not_expected() -> None:
    text = edited("stripe1-leaf1", ("address fc00:1:1:2::1/64;", ""))
    expected = fabric_model(stripe1_leaf1=text).expected("stripe1-leaf1")
    assert {row.prefix for row in expected.advertised} == {f"fc00:1:1:{number}::/64" for number in (1, 3, 4)}


def test_lines_and_inactive_statements_do_not_count() -> None:
    text = text_of("stripe1-leaf1")
    assert switch_of("a", read(f"\n\n{text}")) == switch_of("a", read(text))
    off, gone = (
        edited("stripe1-leaf1", ("max-advertisement-interval 30;", new)) for new in ("inactive: lifetime 1;", "")
    )
    assert switch_of("a", read(off)) == switch_of("a", read(gone)) != switch_of("a", read(text))


@pytest.mark.parametrize("file", ["topology.json", "cabling.csv"])
def test_files_that_do_not_tell_what_is_connected(tmp_path: Path, file: str) -> None:
    for name in ("topology.json", "cabling.csv"):
        shutil.copy(LAB / name, tmp_path)
    (tmp_path / file).write_text("nonsense\n")
    with pytest.raises(UsageError, match=f"{file}.*\n.*the cabling is not known"):
        read_fabric_model(tmp_path, {})
    (tmp_path / file).unlink()
    with pytest.raises(UsageError, match=file):
        read_fabric_model(tmp_path, {})
