"""Answers of BIRD 2.0.12, as it gave them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.errors import LabError
from ailb_gen.lab.bird import communities, parse
from ailb_gen.lab.bird.communities import value
from ailb_gen.lab.bird.control import Bird, BirdAnswer
from ailb_gen.lab.bird.model import BfdState, RibRoute, SessionState
from ailb_gen.routing.route import Route
from tests.lab.bird.test_filters import VALUES
from tests.routing.fabrics import prefix

FOLDER = Path(__file__).parent / "answers"
COLORED = frozenset({"color:0:1", "target:65000:7", "origin:4200000000L:7", "target:1.2.3.4:7", "large:1:2:3"})


def answer(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text()


def test_routes() -> None:
    local = Route()
    assert parse.read_routes(answer("routes")) == (
        RibRoute(prefix("fc00:1:1:1::/64"), "direct6", True, local),
        RibRoute(prefix("fc00:1:9:1::/64"), "et-0-0-0", True, Route((65001,), med=5)),
        RibRoute(prefix("fc00:1:9:1::/64"), "et-0-0-1", False, Route((65002, 65009), aigp=0, local_preference=150)),
        RibRoute(prefix("fc00:1:1:2::/64"), "direct6", True, local),
    )


def test_hidden_routes_are_never_active() -> None:
    assert parse.read_routes(answer("filtered")) == (
        RibRoute(prefix("fc00:1:9:3::/64"), "et-0-0-0", False, Route((65001, 65101), med=5), 1),
        RibRoute(
            prefix("fc00:1:9:2::/64"),
            "et-0-0-0",
            False,
            Route((65001,), frozenset({"0:15"}), med=5),
            7,
        ),
    )


def test_what_is_sent_has_aigp_where_it_is_originated() -> None:
    found = parse.read_routes(answer("exported"))
    assert [(row.route.aigp, row.route.communities) for row in found] == [(0, COLORED), (None, COLORED)]


@pytest.mark.parametrize("text", ["0000 \n", "1007-Table master6:\n0000 \n", ""])
def test_no_routes(text: str) -> None:
    assert parse.read_routes(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "1007-nonsense\n0000 \n",
        "1007-fc00::/64 unicast\n0000 \n",
        "1007-fc00::1/64 unicast [a 1] (1)\n0000 \n",
        "1007-                unicast [a 1] (1)\n0000 \n",
        "1007-fc00::/64 unicast [a 1] (1)\n1012-\tBGP.as_path: 1 {2}\n0000 \n",
        "1007-fc00::/64 unicast [a 1] (1)\n1012-\tBGP.med: x\n0000 \n",
        "1007-fc00::/64 unicast [a 1] (1)\n1012-\tBGP.community: (1,2,3,4)\n0000 \n",
        "1007-fc00::/64 unicast [a 1] (1)\n1012-\tBGP.ext_community: (generic, x, y)\n0000 \n",
    ],
)
def test_answers_that_are_not_understood(text: str) -> None:
    with pytest.raises(LabError, match="cannot be parsed"):
        parse.read_routes(text)


@given(st.text())
def test_no_answer_breaks_the_reader(text: str) -> None:
    for read in (parse.read_routes, parse.read_sessions):
        try:
            read(text)
        except LabError:
            continue


def test_sessions() -> None:
    found = parse.read_sessions(answer("protocols"))
    assert found == {
        "et-0-0-0": SessionState(
            state="Established",
            since="2026-11-22 22:54:21.718",
            neighbor="fe80::b0:1ff:fe01:1",
            link="up1",
            neighbor_as=65001,
            local_as=65101,
            imported=1,
            hidden=2,
            exported=2,
            active=1,
            updates_received=3,
            updates_sent=2,
        ),
        "et-0-0-1": SessionState(
            state="Idle",
            since="2026-11-22 22:53:43.275",
            neighbor="fe80::b0:1ff:fe01:2",
            link="up2",
            neighbor_as=65002,
            local_as=65101,
            last_error="Received: Bad peer AS",
        ),
    }
    assert [one.established for one in found.values()] == [True, False]


def test_bfd(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "1020-bfd1:\n IP address                Interface  State      Since         Interval  Timeout\n"
        " fe80::b0:1ff:fe01:1       up1        Up         2026-11-22 22:53:33.314    0.300    0.900\n0000 \n"
    )
    monkeypatch.setattr(Bird, "ask", lambda bird, command: BirdAnswer(0, text))
    assert parse.bfd(Bird(Path())) == {"up1": BfdState(True, 300, 900)}


def test_a_session_that_is_down_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bird, "ask", lambda bird, command: BirdAnswer(8003, "8003 No valid tables\n"))
    assert parse.exported(Bird(Path()), "et-0-0-0") == ()
    monkeypatch.setattr(Bird, "ask", lambda bird, command: BirdAnswer(9001, "9001 syntax error\n"))
    with pytest.raises(LabError, match="export 'et-0-0-0': syntax error"):
        parse.exported(Bird(Path()), "et-0-0-0")


def test_communities_come_back_as_they_were_written() -> None:
    # BIRD names route targets and origins by itself.
    for text in (text for text in VALUES if not text.startswith(("target", "origin"))):
        found = value(text)
        assert found is not None
        assert communities.read(found.literal) == {text}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "1",
        "1:2:3",
        "65536:1",
        "1:65536",
        "color:4:1",
        "color:0:4294967296",
        "large:1:2",
        "a:b",
        "target:1.2.3:4",
    ],
)
def test_what_is_no_community(text: str) -> None:
    assert value(text) is None
