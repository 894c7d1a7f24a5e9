"""The state of a switch against what is expected of it, told in words."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import etree

from ailb_gen.deploy.switch_driver import RequestRefusedError
from ailb_gen.deploy.switch_state import (
    ExpectedPrefix,
    ExpectedSession,
    ExpectedState,
    ObservedSession,
    advertised,
    alarms,
    announcing,
    bgp_sessions,
)

PEER = """
<bgp-peer><peer-address>{address}</peer-address><peer-as>{asn}</peer-as><peer-state>{state}</peer-state>
<bgp-rib><name>inet6.0</name><accepted-prefix-count>{accepted}</accepted-prefix-count></bgp-rib></bgp-peer>
"""
ROUTE = """
<rt><rt-destination>{prefix}</rt-destination><rt-prefix-length>64</rt-prefix-length><rt-entry>
<communities><community>1:1</community>{color}</communities>{aigp}</rt-entry></rt>
"""
ALARMS = "<x><alarm-detail><alarm-description>{}</alarm-description></alarm-detail></x>"
GREEN = ExpectedPrefix("et-0/0/0.0", "fc00:1:1:1::/64", "color:0:1", 0)
BACKUP = ExpectedPrefix("et-0/0/0.0", "fc00:1:1:2::/64", "color:0:1", None)
EXPECTED = ExpectedState(
    "leaf1",
    (ExpectedSession("et-0/0/0.0", "spine1", 65001, 2), ExpectedSession("et-0/0/1.0", "spine2", 65002)),
    (GREEN, BACKUP),
    frozenset({"irb.2"}),
    frozenset({"fan"}),
)


class Told:
    """A switch that answers as it is told; `asked` is what it was asked."""

    name = "leaf1"

    def __init__(self) -> None:
        self.peers = [("fe80::1%et-0/0/0.0+179", 65001, "Established", 2), ("fe80::2%et-0/0/1.0", 65002, "Establ", 0)]
        self.routes = [("fc00:1:1:1::", "color:0:1", "0"), ("fc00:1:1:2::", "color:0:1", "")]
        self.sent = "7"
        self.alarms = ["fan"]
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def ask(self, rpc: str, **arguments: str | bool) -> etree._Element:
        self.asked.append((rpc, arguments))
        return etree.fromstring(f"<reply>{self._answer(rpc)}</reply>")

    def _answer(self, rpc: str) -> str:
        if rpc == "get-bgp-summary-information":
            keys = ("address", "asn", "state", "accepted")
            return "".join(PEER.format(**dict(zip(keys, row, strict=True))) for row in self.peers)
        if rpc == "get-route-information":
            rows = [
                (p, f"<community>{c}</community>" * bool(c), f"<bgp-aigp>{a}</bgp-aigp>" * bool(a))
                for p, c, a in self.routes
            ]
            return "".join(ROUTE.format(prefix=prefix, color=color, aigp=aigp) for prefix, color, aigp in rows)
        if rpc == "get-ipv6-ra-information":
            sent = f"<ipv6-ra-advertisements-sent>{self.sent}</ipv6-ra-advertisements-sent>"
            return f"<ipv6-ra-interface><interface-name>irb.2</interface-name>{sent}</ipv6-ra-interface>"
        return "".join(map(ALARMS.format, self.alarms)) if rpc == "get-alarm-information" else ""


@pytest.fixture
def told() -> Any:
    found = Told()
    found.peers[1] = ("fe80::2%et-0/0/1.0", 65002, "Established", 0)
    return found


def test_as_expected(told: Any) -> None:
    assert EXPECTED.deviations(told) == ()
    asked = [rpc for rpc, _ in told.asked]
    assert asked == [
        "get-bgp-summary-information",
        "get-route-information",
        "get-ipv6-ra-information",
        "get-alarm-information",
        "get-system-alarm-information",
    ]
    assert told.asked[1][1] == {
        "advertising_protocol_name": "bgp",
        "neighbor": "fe80::1%et-0/0/0.0",
        "extensive": True,
    }


def test_only_what_is_expected_is_asked(told: Any) -> None:
    assert ExpectedState("leaf1", alarms=frozenset({"fan"})).deviations(told) == ()
    assert "get-route-information" not in [rpc for rpc, _ in told.asked]
    assert "get-ipv6-ra-information" not in [rpc for rpc, _ in told.asked]


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"peers": []}, "no BGP neighbor is discovered on et-0/0/0.0 (expected spine1)"),
        (
            {"peers": [("fe80::1%et-0/0/0.0", 65001, "Active", 0)]},
            "the session with spine1 on et-0/0/0.0 is Active",
        ),
        ({"peers": [("fe80::1%et-0/0/0.0", 65001, "", 0)]}, "the session with spine1 on et-0/0/0.0 is not there"),
        (
            {"peers": [("fe80::1%et-0/0/0.0", 65009, "Established", 2)]},
            "the peer on et-0/0/0.0 is in AS 65009, not 65001 (spine1)",
        ),
        (
            {"peers": [("fe80::1%et-0/0/0.0", 65001, "Established", 1)]},
            "1 prefixes are accepted from spine1 on et-0/0/0.0, it sends 2 of its own",
        ),
        ({"routes": []}, "fc00:1:1:1::/64 is not advertised on et-0/0/0.0"),
        (
            {"routes": [("fc00:1:1:1::", "color:0:2", "0")]},
            "fc00:1:1:1::/64 is advertised on et-0/0/0.0 with color:0:2, AIGP 0, not with color:0:1, AIGP 0",
        ),
        (
            {"routes": [("fc00:1:1:1::", "", "")]},
            "fc00:1:1:1::/64 is advertised on et-0/0/0.0 with no color, no AIGP, not with color:0:1, AIGP 0",
        ),
        ({"sent": "0"}, "no router advertisements are sent on irb.2"),
        ({"sent": ""}, "no router advertisements are sent on irb.2"),
        ({"alarms": ["fan", "no power"]}, "new alarm: no power"),
    ],
)
def test_what_is_not_as_expected(told: Any, change: dict[str, Any], wrong: str) -> None:
    for name, value in change.items():
        setattr(told, name, value)
    assert EXPECTED.deviations(told)[0] == wrong


def test_without_its_sessions_nobody_is_asked_for_routes(told: Any) -> None:
    told.peers = []
    assert len(EXPECTED.deviations(told)) == 2
    assert "get-route-information" not in [rpc for rpc, _ in told.asked]


def test_more_than_expected_is_no_difference(told: Any) -> None:
    told.peers.append(("10.0.0.1", 1, "Active", 0))
    told.peers[0] = ("fe80::1%et-0/0/0.0", 65001, "Established", 9)
    told.routes.append(("fc00:9:9:9::", "color:0:7", ""))
    told.alarms = []
    assert EXPECTED.deviations(told) == ()


def test_what_is_read(told: Any) -> None:
    told.peers[1] = ("10.0.0.1+179", 65002, "Connect", 0)
    assert bgp_sessions(told) == (
        ObservedSession("fe80::1%et-0/0/0.0", "et-0/0/0.0", 65001, "Established", 2),
        ObservedSession("10.0.0.1", "", 65002, "Connect", 0),
    )
    assert advertised(told, "fe80::1") == {
        "fc00:1:1:1::/64": ("color:0:1", 0),
        "fc00:1:1:2::/64": ("color:0:1", None),
    }
    assert (announcing(told), alarms(told)) == (frozenset({"irb.2"}), frozenset({"fan"}))


def test_an_answer_that_cannot_be_read(told: Any) -> None:
    told.peers = [("fe80::1%et-0/0/0.0", "unknown", "Active", 0)]
    with pytest.raises(
        RequestRefusedError, match="its answer to get-bgp-summary-information cannot be read: peer-as is"
    ):
        EXPECTED.deviations(told)
