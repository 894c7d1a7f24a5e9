"""What is made of recorded answers about the sessions of IPv4 shadows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ailb_gen.batfish.routes import judge_compatible, judge_sessions
from ailb_gen.checks.model import Finding
from ailb_gen.network.fabric import End
from tests.batfish.recorded import (
    BAD,
    CLEAN,
    GOOD,
    LAYOUTS,
    LEAVES,
    at,
    changed,
    downlink,
    examined,
    intent,
    judged,
    network,
    rows,
    shadow,
    uplink,
)

if TYPE_CHECKING:
    from ailb_gen.batfish.hops import ExpectedRoutes
    from ailb_gen.batfish.model import Row
    from ailb_gen.network.fabric import Network

# Where the ports of the switches stand in the two small fabrics.
LINES = {
    GOOD: {
        ("leaf1", "et-0/0/0"): 17,
        ("leaf1", "et-0/0/1"): 33,
        ("leaf2", "et-0/0/0"): 17,
        ("leaf2", "et-0/0/1"): 33,
        ("spine1", "et-0/0/0"): 5,
        ("spine1", "et-0/0/1"): 11,
        ("spine2", "et-0/0/0"): 5,
        ("spine2", "et-0/0/1"): 11,
    },
    BAD: {
        ("leaf2", "et-0/0/0"): 17,
        ("leaf2", "et-0/0/1"): 34,
        ("spine1", "et-0/0/1"): 12,
        ("spine2", "et-0/0/1"): 12,
    },
}


def of_sessions(name: str, told: list[Row], found: Network | None = None) -> list[Finding]:
    return judged(judge_sessions, found or network(name), shadow(name), intent(name), told)


def of_compatible(name: str, told: list[Row], found: Network | None = None) -> list[Finding]:
    return judged(judge_compatible, found or network(name), shadow(name), intent(name), told)


def session(own: End, message: str, name: str = GOOD) -> Finding:
    where = at(LINES[name][own.device, own.port], own.device)
    return Finding("AILB813", own.device, f"in Batfish {message}", where, part=own.port)


@pytest.mark.parametrize("name", CLEAN)
def test_every_session_is_established(name: str) -> None:
    told = rows(name, "bgpSessionStatus")
    assert len(told) == 2 * len(shadow(name).numbering.links)
    assert of_sessions(name, told) == []
    counts = examined(judge_sessions, network(name), shadow(name), intent(name), told)
    assert counts == {"AILB813": len(told)}


@pytest.mark.parametrize("name", CLEAN)
def test_ends_without_a_local_address_do_not_match(name: str) -> None:
    # These were recorded without `local-address`, which a shadow of this program always has.
    found = [(finding.scope, finding.message) for finding in of_compatible(name, rows(name, "bgpSessionCompatibility"))]
    pairs = [(uplink(leaf, spine), downlink(leaf, spine)) for leaf in LEAVES for spine in LAYOUTS[name].spines]
    assert found == sorted(
        (
            f"{own.device} {own.port}",
            f"in Batfish the ends of the session to {peer} do not match: NO_LOCAL_IP",
        )
        for a, b in pairs
        for own, peer in ((a, b), (b, a))
    )


def test_ends_that_match_are_nothing() -> None:
    told = [row for row in rows(BAD, "bgpSessionCompatibility") if row["Configured_Status"] == "UNIQUE_MATCH"]
    assert len(told) == 4
    assert of_compatible(BAD, told) == []


def test_wrong_as_number_and_wrong_address() -> None:
    down = "the session to {} is not established: NOT_COMPATIBLE"
    assert of_sessions(BAD, rows(BAD, "bgpSessionStatus")) == [
        session(uplink(2, 1), down.format("spine1:et-0/0/1"), BAD),
        session(uplink(2, 2), down.format("spine2:et-0/0/1"), BAD),
        session(downlink(2, 1), down.format("leaf2:et-0/0/0"), BAD),
        session(downlink(2, 2), down.format("leaf2:et-0/0/1"), BAD),
    ]
    ends = "the ends of the session to {} do not match: {}"
    assert of_compatible(BAD, rows(BAD, "bgpSessionCompatibility")) == [
        session(uplink(2, 1), ends.format("spine1:et-0/0/1", "HALF_OPEN"), BAD),
        session(uplink(2, 2), ends.format("spine2:et-0/0/1", "INVALID_LOCAL_IP"), BAD),
        session(downlink(2, 1), ends.format("leaf2:et-0/0/0", "HALF_OPEN"), BAD),
        session(downlink(2, 2), ends.format("leaf2:et-0/0/1", "UNKNOWN_REMOTE"), BAD),
    ]


def test_sessions_that_batfish_does_not_mention() -> None:
    told = rows(GOOD, "bgpSessionStatus")
    missing = "the session to {} is not established: no such session"
    assert of_sessions(GOOD, told[1:]) == [session(uplink(1, 1), missing.format("spine1:et-0/0/0"))]
    assert len(of_sessions(GOOD, [])) == 8
    assert of_compatible(GOOD, []) == []


def without(name: str, leaf: int, spine: int) -> ExpectedRoutes:
    """Return an intent that does not know one of the cables."""
    found = intent(name)
    gone = uplink(leaf, spine)
    return replace(found, cables=tuple(one for one in found.cables if End(one.a_device, one.a_port) != gone))


def test_sessions_that_the_intent_does_not_know() -> None:
    extra = "there is a session to {}, which the intent does not know"
    fewer = without(GOOD, 1, 2)
    assert judged(judge_sessions, network(GOOD), shadow(GOOD), fewer, rows(GOOD, "bgpSessionStatus")) == [
        session(uplink(1, 2), extra.format("spine2:et-0/0/0")),
        session(downlink(1, 2), extra.format("leaf1:et-0/0/1")),
    ]
    # What is configured and does not come up is what the intent asks.
    idle = [{**row, "Established_Status": "NOT_ESTABLISHED"} for row in rows(GOOD, "bgpSessionStatus")]
    scopes = {finding.scope for finding in judged(judge_sessions, network(GOOD), shadow(GOOD), fewer, idle)}
    assert scopes.isdisjoint({"leaf1 et-0/0/1", "spine2 et-0/0/0"})
    assert len(scopes) == 6
    assert judged(
        judge_compatible, network(GOOD), shadow(GOOD), without(BAD, 2, 2), rows(BAD, "bgpSessionCompatibility")
    ) == [
        session(own, f"the ends of the session to {peer} do not match: HALF_OPEN")
        for own, peer in ((uplink(2, 1), downlink(2, 1)), (downlink(2, 1), uplink(2, 1)))
    ]


@pytest.mark.parametrize("address", ["10.99.0.1", "10.64.1.0/31", "fc00::1", "", None])
def test_sessions_with_addresses_that_nobody_has(address: object) -> None:
    strange = {**rows(GOOD, "bgpSessionStatus")[0], "Remote_IP": address}
    expected = Finding("AILB813", "shadow", "Batfish reports a session between addresses that the shadow does not have")
    assert of_sessions(GOOD, [*rows(GOOD, "bgpSessionStatus"), strange]) == [expected]
    assert of_compatible(GOOD, [{**strange, "Configured_Status": "HALF_OPEN"}]) == []


def test_a_session_of_another_switch_is_none_of_the_cable() -> None:
    told = rows(GOOD, "bgpSessionStatus")
    assert (told[0]["Node"], told[0]["Remote_IP"]) == ("leaf1", "10.64.1.3")
    told[0]["Node"] = "leaf2"
    assert of_sessions(GOOD, told) == [
        session(uplink(1, 1), "the session to spine1:et-0/0/0 is not established: no such session"),
        Finding("AILB813", "shadow", "Batfish reports a session between addresses that the shadow does not have"),
    ]


def test_sessions_of_switches_that_are_not_there() -> None:
    found = network(GOOD)
    alone = replace(found, switches={"leaf1": found.switches["leaf1"]})
    assert of_sessions(GOOD, [], alone) == [
        session(uplink(1, 1), "the session to spine1:et-0/0/0 is not established: no such session"),
        session(uplink(1, 2), "the session to spine2:et-0/0/0 is not established: no such session"),
    ]
    assert examined(judge_sessions, alone, shadow(GOOD), intent(GOOD), []) == {"AILB813": 2}
    # Batfish may speak of others; then there is no place.
    message = "in Batfish the ends of the session to leaf1:et-0/0/0 do not match: NO_LOCAL_IP"
    told = [row for row in rows(GOOD, "bgpSessionCompatibility") if row["Node"] == "spine1"]
    assert of_compatible(GOOD, told, alone)[0] == Finding("AILB813", "spine1", message, part="et-0/0/0")


def test_a_port_that_is_not_in_the_file_stands_at_its_first_line() -> None:
    found = changed(network(GOOD), "leaf1", ports={})
    message = "in Batfish the session to spine1:et-0/0/0 is not established: no such session"
    assert of_sessions(GOOD, rows(GOOD, "bgpSessionStatus")[1:], found) == [
        Finding("AILB813", "leaf1", message, at(1, "leaf1"), part="et-0/0/0")
    ]
    known = network(GOOD).switches["leaf1"].ports
    found = changed(network(GOOD), "leaf1", ports={**known, "et-0/0/0": replace(known["et-0/0/0"], line=0)})
    assert of_sessions(GOOD, rows(GOOD, "bgpSessionStatus")[1:], found)[0].place == at(1, "leaf1")
