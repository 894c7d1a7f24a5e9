"""The stand-in for Batfish, driven by pybatfish: its answers are those that a real service gave."""

from __future__ import annotations

import ast
import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import requests
from pybatfish.client.session import Session
from pybatfish.datamodel import HeaderConstraints, Interface, ListWrapper, PathConstraints
from pybatfish.exception import BatfishException

from tests.batfish import stand_in_text
from tests.batfish.plain import PlainError
from tests.batfish.stand_in import Delay, Die, Drop, Reply, StandIn, after, on
from tests.batfish.stand_in_curly import curly_lines
from tests.batfish.stand_in_tables import DIFFERENTIAL, TABLES
from tests.batfish.stand_in_text import read_texts
from tests.conftest import need_shared

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SNAPSHOTS = ("a_v6", "c_2x4_lp", "d_v4_clean", "d_v4la_bad", "d_v6_bad", "d_v6_clean", "mut_m5_no_final_reject")
ASKED = re.compile(r"(\w+)(?:\((.*)\))?")
START = PathConstraints(startLocation="@enter(/leaf.*/[/irb/])")


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


@pytest.fixture
def session(server: StandIn) -> Session:
    found = Session(server.host, server.port, timeout=10)
    found.set_network("net")
    return found


def folder(name: str) -> str:
    return str(need_shared("batfish-rows/snapshots") / name)


def parameters(text: str | None) -> dict[str, object]:
    """Read `nodes='leaf2', duplicatesOnly=True`."""
    call = ast.parse(f"_({text or ''})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}


def plain(value: object) -> object:
    """Write a value of pybatfish's as the recorded ones are: numbers, lists, and texts for all else."""
    if isinstance(value, ListWrapper):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, str | int) else str(value)


def question(session: Session, name: str, **given: object) -> Any:
    """Make a question; pybatfish learns them from the server."""
    return getattr(session.q, name)(**given)


def ask(session: Session, name: str, given: Mapping[str, object], **where: str) -> tuple[list[str], list[str]]:
    """Ask a question; return the columns, and the rows as sorted texts."""
    frame = question(session, name, **given).answer(**where).frame()
    rows = [{column: plain(value) for column, value in row.items()} for row in frame.to_dict(orient="records")]
    return list(frame.columns), sorted(map(json.dumps, rows))


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_the_answers_are_those_of_the_real_service(session: Session, name: str) -> None:
    recorded: Mapping[str, Any] = json.loads(need_shared(f"batfish-rows/{name}.json").read_text("utf-8"))
    session.init_snapshot(folder(name), name=name)
    for text, answer in recorded.items():
        found = ASKED.fullmatch(text)
        assert found is not None
        given = parameters(found[2])
        if "error" in answer:
            with pytest.raises(BatfishException, match="Work terminated abnormally"):
                ask(session, found[1], given)
            continue
        columns, rows = ask(session, found[1], given)
        assert columns == answer["columns"], text
        assert len(rows) == answer["row_count"], text
        # At most 40 rows of an answer are recorded.
        expected = sorted(map(json.dumps, answer["rows"]))
        assert rows == expected if len(expected) == len(rows) else set(expected) <= set(rows), text


def test_a_fork_and_what_changes_in_it(server: StandIn, session: Session) -> None:
    session.init_snapshot(folder("c_2x4_lp"), name="base")
    session.fork_snapshot("base", "fork", deactivate_interfaces=[Interface("leaf1", "et-0/0/0")])
    routes = ask(session, "routes", {"nodes": "leaf2", "protocols": "bgp"}, snapshot="fork")[1]
    hops = [row["Next_Hop"] for row in map(json.loads, routes) if row["Network"] == "172.16.0.0/24"]
    assert hops == ["ip 10.64.0.11", "ip 10.64.0.13", "ip 10.64.0.15"]
    columns, rows = ask(session, "interfaceProperties", {"nodes": "leaf1", "properties": "Active"}, snapshot="fork")
    assert columns == ["Interface", "Active"]
    assert [row["Interface"] for row in map(json.loads, rows) if not row["Active"]] == [
        "leaf1[et-0/0/0.0]",
        "leaf1[et-0/0/0]",
    ]
    # A link that is down costs nothing; without leaf1 its prefixes are lost.
    given = {"headers": HeaderConstraints(dstIps="172.16.0.0/12"), "pathConstraints": START}
    assert ask(session, DIFFERENTIAL, given, snapshot="fork", reference_snapshot="base")[1] == []
    session.fork_snapshot("base", "gone", deactivate_nodes=["leaf1"])
    frame = question(session, DIFFERENTIAL, **given).answer(snapshot="gone", reference_snapshot="base").frame()
    flows = [(flow.ingressNode, flow.ingressInterface, flow.dstIp) for flow in frame["Flow"]]
    assert flows == [("leaf2", f"irb.{vlan}", "172.16.0.1") for vlan in range(100, 104)]
    assert [trace.disposition for traces in frame["Snapshot_Traces"] for trace in traces] == ["NO_ROUTE"] * 4
    assert {hop.node for traces in frame["Reference_Traces"] for trace in traces for hop in trace} == {
        "leaf1",
        "leaf2",
        "spine1",
    }
    assert list(frame.columns) == list(TABLES[DIFFERENTIAL])
    assert [(one.question, one.snapshot, one.reference) for one in server.asked][-1] == (DIFFERENTIAL, "gone", "base")


def test_names_that_are_not_there_are_ignored(session: Session) -> None:
    session.init_snapshot(folder("c_2x4_lp"), name="base")
    wrong = [Interface("leaf1", name) for name in ("et-0/0/0.0", "ET-0/0/0", "et-7/7/7", "irb", "irb.100")]
    session.fork_snapshot("base", "fork", deactivate_interfaces=wrong, deactivate_nodes=["leaf9"])
    assert [row for row in ask(session, "interfaceProperties", {})[1] if not json.loads(row)["Active"]] == []


def test_networks_and_snapshots_come_and_go(server: StandIn, session: Session) -> None:
    session.init_snapshot(folder("d_v4_clean"), name="one")
    session.fork_snapshot("one", "two")
    assert session.list_networks() == ["net"]
    assert session.list_snapshots() == ["one", "two"]
    assert [one["name"] for one in session.list_snapshots(verbose=True) if isinstance(one, dict)] == ["one", "two"]
    session.delete_snapshot("one")
    assert list(server.networks["net"].snapshots) == ["two"]
    session.set_network("net")
    session.delete_network("net")
    assert server.networks == {}
    assert server.created == ["net", "net/one", "net/two"]
    assert server.deleted == ["net/one", "net"]
    assert session.get_component_versions()["Batfish"] == "0.36.0"


@pytest.mark.parametrize(
    "path",
    ["networks/none", "networks/net/snapshots/none", "networks/net/questions/none/answer?snapshot=s", "pool"],
)
def test_what_is_not_there_is_not_found(server: StandIn, session: Session, path: str) -> None:
    assert session.network == "net"
    method = requests.delete if "snapshots" in path else requests.get
    assert method(f"http://{server.host}:{server.port}/v2/{path}", timeout=10).status_code == 404


def test_what_it_does_not_take(session: Session, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(requests.HTTPError, match="no configs folder"):
        session.init_snapshot(str(tmp_path / "empty"))
    session.init_snapshot(folder("d_v4_clean"), name="one")
    with pytest.raises(requests.HTTPError, match="restores nothing"):
        session.fork_snapshot("one", "two", restore_nodes=["leaf1"])
    with pytest.raises(requests.HTTPError, match="'three' in network 'net' not found"):
        session.fork_snapshot("three", "four")
    with pytest.raises(BatfishException, match="protocols='static': only those of BGP are known here"):
        question(session, "routes", protocols="static").answer()
    with pytest.raises(BatfishException, match=r"pathConstraints \{\} are not known here"):
        question(session, DIFFERENTIAL).answer(reference_snapshot="one")


def test_a_statement_of_a_shadow_that_nobody_knows_fails_loudly(session: Session, tmp_path: Path) -> None:
    shutil.copytree(folder("d_v4_clean"), tmp_path / "copy")
    file = tmp_path / "copy" / "configs" / "leaf1.cfg"
    file.write_text("set protocols bgp keep all\n" + file.read_text("utf-8"), "utf-8")
    with pytest.raises(BatfishException, match=r"configs/leaf1\.cfg:1: .*: set protocols bgp keep all"):
        session.init_snapshot(str(tmp_path / "copy"))


CURLY = """\
## by hand
vlans {
    /* no { brace
       here; */
    v1 {
        vlan-id 1;
        inactive: l3-interface irb.1;
    }
}
protocols { bgp { group g { export [ "A B" C ]; } } }
inactive: system {
    host-name other;
}
interfaces { et-0/0/0 { unit 0 { family ethernet-switching { vlan { members 1; } } } } }
"""


def test_curly_text_is_read_with_its_lines() -> None:
    lines = list(curly_lines(CURLY, "a.conf"))
    assert [(line.number, line.text) for line in lines] == [
        (6, "set vlans v1 vlan-id 1"),
        (10, 'set protocols bgp group g export "A B"'),
        (10, "set protocols bgp group g export C"),
        (14, "set interfaces et-0/0/0 unit 0 family ethernet-switching vlan members 1"),
    ]
    assert lines[0].blocks == ((1, 2, 9), (2, 5, 8))
    assert lines[1].words[-1] == "A B"
    for wrong in ("a { b;", "a; }", "a { b }", "a"):
        with pytest.raises(PlainError, match=r"a\.conf"):
            list(curly_lines(wrong, "a.conf"))


def test_real_files() -> None:
    texts = read_texts({"configs/Leaf.conf": CURLY})
    assert list(texts.snapshot.devices) == ["leaf"]
    rows = stand_in_text.ask(texts, "undefinedReferences")
    assert [(row["Ref_Name"], row["Lines"]) for row in rows] == [
        ("A B", "configs/Leaf.conf:[10]"),
        ("C", "configs/Leaf.conf:[10]"),
    ]
    ports = stand_in_text.ask(texts, "interfaceProperties", properties="Access_VLAN")
    assert ports[1] == {"Interface": "leaf[et-0/0/0.0]", "Access_VLAN": 1}


def get(server: StandIn, path: str = "version") -> requests.Response:
    return requests.get(f"http://{server.host}:{server.port}/v2/{path}", timeout=10)


def test_faults(server: StandIn) -> None:
    server.faults += [
        on("GET /v2/version", Drop(), times=1),
        on("/v2/networks", Reply(503, b"busy")),
        on("question_templates", Reply(200, b"no JSON")),
    ]
    with pytest.raises(requests.ConnectionError):
        get(server)
    assert get(server).json()["Batfish"] == "0.36.0"
    assert (get(server, "networks").status_code, get(server, "networks").text) == (503, "busy")
    assert get(server, "question_templates").text == "no JSON"
    assert [request.line for request in server.log] == [
        "GET /v2/version",
        "GET /v2/version",
        "GET /v2/networks",
        "GET /v2/networks",
        "GET /v2/question_templates",
    ]


def test_a_server_that_is_slow(server: StandIn) -> None:
    server.faults.append(on("version", Delay(30)))
    with pytest.raises(requests.Timeout):
        requests.get(f"http://{server.host}:{server.port}/v2/version", timeout=0.1)


def test_a_server_that_dies(server: StandIn) -> None:
    server.faults.append(after(1, Die()))
    assert get(server).ok
    with pytest.raises(requests.ConnectionError):
        get(server)
    with pytest.raises(requests.ConnectionError, match="refused"):
        get(server)
    assert len(server.log) == 2


def test_its_own_errors_are_raised() -> None:
    def fail() -> None:
        with StandIn() as server:
            url = f"http://{server.host}:{server.port}/v2/networks/net/work"
            requests.post(f"http://{server.host}:{server.port}/v2/networks?name=net", timeout=10)
            assert requests.post(url, data=b"no JSON", timeout=10).status_code == 500

    with pytest.raises(json.JSONDecodeError):
        fail()
