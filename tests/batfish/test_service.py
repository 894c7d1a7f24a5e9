"""The service as pybatfish sees it: its answers in plain values, its failures in words, nothing left behind."""

import importlib
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pybatfish
import pytest
from pybatfish.client import restv2helper

from ailb_gen.batfish.answers import Batfish, Row
from ailb_gen.batfish.service import connect
from ailb_gen.errors import BatfishError, ExitCode, UsageError
from ailb_gen.optional import how_to_install
from tests.batfish.fake.service import (
    Act,
    FakeBatfish,
    Handler,
    closes,
    dies,
    drips,
    never,
    nth,
    says,
    sends,
)
from tests.batfish.fake.store import DIFFERENTIAL, table, template
from tests.conftest import ROOT

START = "start one with: docker run -d --name batfish -p 9996:9996 batfish/batfish"
OTHER = "is this Batfish? it listens on port 9996"
READY = f"{OTHER}, and needs some seconds after its start"
MEMORY = "give the server more memory: its Java uses 80 % of the container's limit (docker run --memory)"
DIED = "the server died during the request: check 'docker logs batfish'; often it lacks memory (docker run --memory)"
LOGS = "'docker logs batfish' may say more"
VERSIONS = (
    f"the server is Batfish 0.36.0, the client pybatfish {pybatfish.__version__}; "
    "update both: docker pull batfish/batfish, pip install -U pybatfish"
)
LOG = """\
Loading configurations for NetworkSnapshot{network=n, snapshot=s}
Exception in container:n, testrig:s; exception:org.batfish.common.QuestionException: Exception answering question
\tat org.batfish.datamodel.answers.Answer.append(Answer.java:46)
Caused by: org.batfish.common.BatfishException: Failed to answer question
\tat org.batfish.main.Batfish.answer(Batfish.java:544)
Caused by: java.lang.%s
\t... 1 more
"""
# Generous: a machine may be slow and shared, but what is awaited would never come.
ENOUGH_S = 20


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "files/configs").mkdir(parents=True)
    address = "set interfaces irb unit 2 family inet address 10.0.0.1/24\n"
    for name in ("leaf1", "leaf2"):
        text = f"set system host-name {name}\n{address}"
        (tmp_path / f"files/configs/{name}.cfg").write_text(text, encoding="utf-8")
    return tmp_path / "files"


def work(batfish: Batfish, files: Path) -> list[Row]:
    """A bit of everything."""
    batfish.upload("files", files)
    batfish.fork("files", "spine-1", ["spine1"], [("leaf1", "et-0/0/0")])
    batfish.ask(
        "differentialReachability", "spine-1", "files", dst_ips="172.16.0.0/24", start="@enter(/leaf.*/[/irb/])"
    )
    return batfish.ask("ipOwners", "files", duplicatesOnly=True)()


def stable(text: str, server: FakeBatfish) -> str:
    return re.sub("ailb-gen-[0-9a-f]{16}", "NETWORK", text.replace(f":{server.port}", ":PORT"))


def failure(acts: Mapping[str, Act], files: Path, limit_s: float = 30) -> tuple[str, FakeBatfish]:
    """Return what the error says when a bit of everything is done with such a server."""
    with FakeBatfish(acts) as server:
        begin = time.monotonic()
        with pytest.raises(BatfishError) as caught, connect("127.0.0.1", server.port, limit_s) as batfish:
            work(batfish, files)
        if limit_s < ENOUGH_S:
            assert time.monotonic() - begin < ENOUGH_S
        assert caught.value.exit_code == ExitCode.ENVIRONMENT
        return stable(str(caught.value), server), server


def deleted(server: FakeBatfish) -> list[str]:
    return [stable(request, server).removeprefix("DELETE /v2/networks/") for request in server.requests("^DELETE")]


def test_all_is_asked_in_one_network_and_deleted(files: Path) -> None:
    with FakeBatfish() as server:
        with connect("127.0.0.1", server.port, 30) as batfish:
            assert batfish.version == "0.36.0"
            assert work(batfish, files) == [
                {"Node": name, "Interface": "irb.2", "IP": "10.0.0.1"} for name in ("leaf1", "leaf2")
            ]
        assert batfish.left_behind == ""
    networks = set(re.findall(r"ailb-gen-[0-9a-f]{16}", str(server.log)))
    assert len(networks) == 1
    assert deleted(server) == ["NETWORK/snapshots/files", "NETWORK/snapshots/spine-1", "NETWORK"]
    bodies = {one.line.rpartition("/")[2]: one.body.decode("latin-1") for one in server.log if one.body}
    assert "files/configs/leaf1.cfg" in bodies["files"]
    fork = bodies["snapshots:fork"]
    assert '"deactivateInterfaces": [{"hostname": "leaf1", "interface": "et-0/0/0"}]' in fork
    assert '"deactivateNodes": ["spine1"]' in fork
    questions = "".join(body for name, body in bodies.items() if name.startswith("__differentialReachability"))
    assert '"dstIps": "172.16.0.0/24"' in questions
    assert '"startLocation": "@enter(/leaf.*/[/irb/])"' in questions
    assert server.requests(r"/answer\?snapshot=spine-1&referenceSnapshot=files")


def test_rows_are_plain_values(files: Path) -> None:
    columns = {
        "Interface": "Interface",
        "Source_Lines": "Set<FileLines>",
        "Lines": "FileLines",
        "Next_Hop": "NextHop",
        "Flow": "Flow",
        "Flows": "List<Flow>",
        "Local_AS": "Long",
        "Active": "Boolean",
        "Bandwidth": "Double",
        "MTU": "Integer",
        "Description": "String",
        "Nodes": "Set<Node>",
        "Missing": "String",
        "Nothing": "Double",
    }
    zero = ("dscp", "ecn", "fragmentOffset")
    flow = {
        **dict.fromkeys(zero, 0),
        "dstIp": "172.16.0.1",
        "srcIp": "172.16.1.1",
        "ingressInterface": "irb.101",
        "ingressNode": "leaf1",
        "ipProtocol": "TCP",
        "packetLength": 512,
        "srcPort": 49152,
        "dstPort": 80,
    }
    row: dict[str, object] = {
        "Interface": {"hostname": "leaf1", "interface": "et-0/0/0"},
        "Source_Lines": [{"filename": "configs/leaf1.cfg", "lines": [147]}],
        "Lines": {"filename": "configs/leaf1.cfg", "lines": [92]},
        "Next_Hop": {"type": "ip", "ip": "10.64.0.9"},
        "Flow": flow,
        "Flows": [flow],
        "Local_AS": 64601,
        "Active": True,
        "Bandwidth": 4e11,
        "MTU": 9216,
        "Description": "to spine1",
        "Nodes": [{"name": "leaf1"}],
        "Nothing": None,
    }
    acts = {"/answer": says(table(columns, [row]))}
    with FakeBatfish(acts) as server, connect("127.0.0.1", server.port, 30) as batfish:
        batfish.upload("files", files)
        (answer,) = batfish.ask("ipOwners", "files")()
    text = "start=leaf1 interface=irb.101 [172.16.1.1:49152->172.16.0.1:80 TCP (no flags set)]"
    assert answer == {
        "Flow": text,
        "Interface": "leaf1[et-0/0/0]",
        "Source_Lines": ["configs/leaf1.cfg:[147]"],
        "Lines": "configs/leaf1.cfg:[92]",
        "Next_Hop": "ip 10.64.0.9",
        "Flow.ingressNode": "leaf1",
        "Flow.ingressInterface": "irb.101",
        "Flow.dstIp": "172.16.0.1",
        "Flows": [text],
        "Local_AS": 64601,
        "Active": True,
        "Bandwidth": "400000000000.0",
        "MTU": 9216,
        "Description": "to spine1",
        "Nodes": ["leaf1"],
        "Missing": None,
        "Nothing": None,
    }


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("ipOwners", ""),
        ("fileParseStatus", f"the answer is empty; {VERSIONS}"),
        ("interfaceProperties", f"the answer is empty; {VERSIONS}"),
    ],
)
def test_no_rows_are_no_answer_about_the_files_of_a_snapshot(question: str, reason: str, files: Path) -> None:
    with FakeBatfish({"/answer": says(table({}, []))}) as server:
        with connect("127.0.0.1", server.port, 30) as batfish:
            batfish.upload("files", files)
            rows = batfish.ask(question, "files")
            if not reason:
                assert rows() == []
                return
            with pytest.raises(BatfishError) as caught:
                rows()
        assert stable(str(caught.value), server) == (
            f"Batfish at 127.0.0.1:PORT: asking {question} of snapshot 'files': {reason}"
        )


def test_a_missing_column_means_another_version(files: Path) -> None:
    with FakeBatfish() as server:
        with pytest.raises(BatfishError) as caught, connect("127.0.0.1", server.port, 30) as batfish:
            batfish.upload("files", files)
            row = batfish.ask("ipOwners", "files")()[0]
            assert row["Node"] == "leaf1"
            assert row["VRF"]
        assert stable(str(caught.value), server) == (
            "Batfish at 127.0.0.1:PORT: asking ipOwners of snapshot 'files': "
            f"the answer has no column 'VRF'; {VERSIONS}"
        )


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_nobody_listens(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(BatfishError) as caught, connect(host, port, 30):
        pass
    assert str(caught.value) == f"Batfish at {host}:{port}: connecting: connection refused; {START}"


def test_a_name_that_nobody_knows() -> None:
    with pytest.raises(BatfishError) as caught, connect("batfish.invalid", 9996, 30):
        pass
    assert str(caught.value) == f"Batfish at batfish.invalid:9996: connecting: unknown host; {START}"


HTML = "<!DOCTYPE html>\n<html>Welcome to nginx!</html>"
EARLY: dict[str, tuple[Act, str]] = {
    "html": (says(HTML, kind="text/html"), f"the answer is not JSON; {OTHER}"),
    "404": (says(HTML, 404, "text/html"), f"it answers HTTP 404; {OTHER}"),
    "500": (says("\nout of\x1b[2Jorder\nbadly", 500), f"it answers HTTP 500: out of?[2Jorder; {OTHER}"),
    "503": (says("x" * 201, 503), f"it answers HTTP 503: {'x' * 200}...; {OTHER}"),
    "nothing": (says(""), f"the answer is not JSON; {OTHER}"),
    "empty": (says({}), f"it reports no version of Batfish; {OTHER}"),
    "list": (
        says(["Batfish"]),
        "pybatfish cannot parse the answer (ValueError: dictionary update sequence element #0 has length 7; "
        f"2 is required); {OTHER}",
    ),
    "closes": (closes, f"the connection was lost; {READY}"),
    "ssh": (sends(b"SSH-2.0-OpenSSH_9\r\n"), f"the connection was lost; {READY}"),
    "half": (sends(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), f"the connection was lost; {READY}"),
    "redirects": (
        sends(b"HTTP/1.1 302 Found\r\nLocation: /v2/version\r\nContent-Length: 0\r\n\r\n"),
        f"it leads elsewhere: Exceeded 30 redirects.; {OTHER}",
    ),
    "busy": (
        sends(b"HTTP/1.1 503 Busy\r\nRetry-After: 100\r\nContent-Length: 4\r\n\r\nbusy"),
        f"it answers HTTP 503: busy; {OTHER}",
    ),
}


@pytest.mark.parametrize("name", EARLY)
def test_something_else_listens(name: str, files: Path) -> None:
    act, reason = EARLY[name]
    said, server = failure({"": act}, files)
    assert said == f"Batfish at 127.0.0.1:PORT: connecting: {reason}"
    # Nothing was made that could be left behind.
    assert not server.requests("POST|DELETE")


def test_an_answer_that_is_nested_too_deep(files: Path) -> None:
    said, _ = failure({"": says("[" * 100_000)}, files)
    assert "pybatfish cannot parse the answer (RecursionError: " in said
    assert said.endswith(f"; {OTHER}")


@pytest.mark.parametrize("act", [never, drips], ids=["never", "drips"])
def test_something_listens_and_does_not_answer(act: Act, files: Path) -> None:
    said, _ = failure({"": act}, files, limit_s=1)
    assert said == (
        "Batfish at 127.0.0.1:PORT: connecting: no result within 1 s; "
        f"{READY}; if it is only slow, raise --batfish-timeout"
    )


@pytest.mark.parametrize("templates", [{}, {"broken": "{"}], ids=["none", "broken"])
def test_a_server_without_questions(templates: dict[str, str], files: Path) -> None:
    said, _ = failure({"question_templates": says(templates)}, files)
    assert said == f"Batfish at 127.0.0.1:PORT: connecting: it has no questions known to pybatfish; {VERSIONS}"


def status(code: str) -> Act:
    return says({"workstatuscode": code, "task": {"status": code}})


UPLOADING = "uploading snapshot 'files'"
FORKING = "forking snapshot 'spine-1' from 'files'"
REACHABILITY = "asking differentialReachability of snapshot 'spine-1' against 'files'"
OWNERS = "asking ipOwners of snapshot 'files'"
# What happens, what was being done, what is said of it.
LATE: dict[str, tuple[dict[str, Act], str, str]] = {
    "network refused": (
        {"POST /v2/networks[?]": says("disk full", 500)},
        "making a network",
        f"it answers HTTP 500: disk full; {LOGS}",
    ),
    "upload refused": (
        {"POST .*/snapshots/files": says("bad zip", 400)},
        UPLOADING,
        f"it answers HTTP 400: bad zip; {LOGS}",
    ),
    "upload cut": ({"POST .*/snapshots/files": closes}, UPLOADING, f"the connection was lost; {DIED}"),
    "fork refused": (
        {"POST .*:fork": says("no such node", 400)},
        FORKING,
        f"it answers HTTP 400: no such node; {LOGS}",
    ),
    "no such question": (
        {"question_templates": says({DIFFERENTIAL: template(DIFFERENTIAL, "headers", "pathConstraints")})},
        OWNERS,
        f"it has no such question; {VERSIONS}",
    ),
    "no such parameter": (
        {"question_templates": says({DIFFERENTIAL: template(DIFFERENTIAL, "headers")})},
        REACHABILITY,
        "it rejects the question: Received unsupported parameters/variables: {'pathConstraints'}; " + VERSIONS,
    ),
    "question cut": ({"PUT .*ipOwners": closes}, OWNERS, f"the connection was lost; {DIED}"),
    "answer is no table": (
        {"GET .*/answer": says({"status": "FAILURE", "answerElements": [{"class": "BatfishStackTrace"}]})},
        REACHABILITY,
        f"the answer is not a table; {LOGS}",
    ),
    "answer of another shape": (
        {"GET .*/answer": says({"answerElements": []})},
        REACHABILITY,
        f"pybatfish cannot parse the answer (IndexError: list index out of range); {VERSIONS}",
    ),
    "answer is not JSON": ({"GET .*/answer": says(HTML)}, REACHABILITY, f"the answer is not JSON; {VERSIONS}"),
    "unknown status": (
        {"GET .*/work/": status("ASLEEP")},
        UPLOADING,
        f"pybatfish cannot parse the answer (ValueError: 'ASLEEP' is not a valid WorkStatusCode); {VERSIONS}",
    ),
    "work fails": (
        {"GET .*/work/": status("TERMINATEDABNORMALLY"), "worklog": says(LOG % "Error: no v6")},
        UPLOADING,
        f"Work terminated abnormally: Error: no v6; {LOGS}",
    ),
    "work fails for memory": (
        {
            "GET .*/work/": nth(3, status("TERMINATEDABNORMALLY"), status("TERMINATEDNORMALLY")),
            "worklog": says(LOG % "OutOfMemoryError: Java heap space"),
        },
        REACHABILITY,
        f"it ran out of memory; {MEMORY}",
    ),
    "work fails without a log": (
        {"GET .*/work/": status("TERMINATEDABNORMALLY"), "worklog": says("")},
        UPLOADING,
        f"Work terminated abnormally; {LOGS}",
    ),
    "work is stopped": (
        {"GET .*/work/": status("TERMINATEDBYUSER"), "worklog": says("stopped\n")},
        UPLOADING,
        f"Work terminated by a user: stopped; {LOGS}",
    ),
    "work is not begun": (
        {"GET .*/work/": status("REQUEUEFAILURE")},
        UPLOADING,
        f"the server gave up the work (REQUEUEFAILURE); often it lacks memory: {MEMORY}; {LOGS}",
    ),
    "no memory for an answer": (
        {"GET .*/answer": says({"status": "FAILURE", "answerElements": [{"answer": "java.lang.OutOfMemoryError: x"}]})},
        REACHABILITY,
        f"it ran out of memory; {MEMORY}",
    ),
    "no memory for a request": (
        {"GET .*/answer": says({"error": "...", "cause": "GC overhead limit exceeded"}, 500)},
        REACHABILITY,
        f"it ran out of memory; {MEMORY}",
    ),
}


@pytest.mark.parametrize("name", LATE)
def test_it_fails_in_the_middle_and_all_is_deleted(name: str, files: Path) -> None:
    acts, doing, reason = LATE[name]
    said, server = failure(acts, files)
    assert said == f"Batfish at 127.0.0.1:PORT: {doing}: {reason}"
    assert deleted(server)[-1] == "NETWORK"


ENDLESS: dict[str, tuple[dict[str, Act], str]] = {
    "assigned": ({"GET .*/work/": status("ASSIGNED")}, UPLOADING),
    "never": ({"GET .*/answer": never}, REACHABILITY),
    "drips": ({"GET .*/answer": drips}, REACHABILITY),
    "drips its status": ({"GET .*/work/": nth(2, drips, status("TERMINATEDNORMALLY"))}, FORKING),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_no_wait_is_endless(name: str, files: Path) -> None:
    acts, doing = ENDLESS[name]
    said, server = failure(acts, files, limit_s=1)
    assert said == f"Batfish at 127.0.0.1:PORT: {doing}: no result within 1 s; raise --batfish-timeout, or {MEMORY}"
    assert deleted(server)[-1] == "NETWORK"


def test_the_server_dies_in_the_middle(files: Path) -> None:
    said, _ = failure({"PUT": dies}, files)
    assert said == (
        f"Batfish at 127.0.0.1:PORT: {UPLOADING}: connection refused; {DIED}; "
        "the network NETWORK remains on Batfish at 127.0.0.1:PORT, not deleted: connection refused"
    )


def test_what_cannot_be_deleted_does_not_spoil_a_good_run(files: Path) -> None:
    with FakeBatfish({"DELETE": says("not now", 500)}) as server:
        with connect("127.0.0.1", server.port, 30) as batfish:
            assert work(batfish, files)
        assert stable(batfish.left_behind, server) == (
            "the network NETWORK remains on Batfish at 127.0.0.1:PORT, not deleted: it answers HTTP 500: not now"
        )


def test_what_is_gone_already_need_not_be_deleted(files: Path) -> None:
    with FakeBatfish({"DELETE": says("no such thing", 404)}) as server:
        with connect("127.0.0.1", server.port, 30) as batfish:
            work(batfish, files)
        assert batfish.left_behind == ""
        assert len(deleted(server)) == 3


def test_the_first_error_counts_when_nothing_can_be_deleted(files: Path) -> None:
    said, _ = failure({"DELETE": never, "PUT": says("full", 500)}, files, limit_s=1)
    assert said == (
        f"Batfish at 127.0.0.1:PORT: {REACHABILITY}: it answers HTTP 500: full; {LOGS}; "
        "the network NETWORK remains on Batfish at 127.0.0.1:PORT, not deleted: no result within 1 s"
    )


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(143), ZeroDivisionError()], ids=repr)
def test_other_ends_delete_as_well_and_go_on(error: BaseException, files: Path) -> None:
    with FakeBatfish() as server:
        with pytest.raises(type(error)) as caught, connect("127.0.0.1", server.port, 30) as batfish:
            batfish.upload("files", files)
            raise error
        assert caught.value is error
        assert deleted(server) == ["NETWORK/snapshots/files", "NETWORK"]


def test_other_errors_note_what_is_left_behind() -> None:
    with FakeBatfish({"DELETE": says("", 500)}) as server:
        with pytest.raises(ZeroDivisionError) as caught, connect("127.0.0.1", server.port, 30):
            raise ZeroDivisionError
        (note,) = caught.value.__notes__
        assert stable(note, server) == (
            "the network NETWORK remains on Batfish at 127.0.0.1:PORT, not deleted: it answers HTTP 500"
        )


SCRIPT = """\
import sys
from ailb_gen.batfish.service import connect
from ailb_gen.errors import BatfishError
try:
    with connect("127.0.0.1", int(sys.argv[1]), 60) as batfish:
        batfish.ask("ipOwners", "files")()
except KeyboardInterrupt:
    sys.exit(130)
except BatfishError as error:
    sys.exit(str(error))
"""


def process(server: FakeBatfish) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", SCRIPT, str(server.port)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


VALIDATE = ("validate", "examples/lab/fabric.yaml", "tests/golden/lab", "--checks", "AILB801", "--batfish")


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_on_the_server(number: signal.Signals) -> None:
    child: list[subprocess.Popen[str]] = []

    def stops(handler: Handler) -> None:
        child[0].send_signal(number)
        never(handler)

    with FakeBatfish({"PUT": stops, "POST .*/snapshots": stops}) as server:
        command = [sys.executable, "-m", "ailb_gen", *VALIDATE, f"127.0.0.1:{server.port}"]
        child.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        out, err = child[0].communicate(timeout=100)
        assert (child[0].returncode, out) == (128 + number, "")
        assert err.startswith("ailb-gen: ") and err.count("\n") == 1, err
        assert deleted(server)[-1] == "NETWORK"


@pytest.mark.long
def test_ctrl_c_ends_the_waiting_at_once() -> None:
    child: list[subprocess.Popen[str]] = []

    def interrupts(handler: Handler) -> None:
        child[0].send_signal(signal.SIGINT)
        never(handler)

    with FakeBatfish({"PUT": interrupts}) as server:
        child.append(process(server))
        out, err = child[0].communicate(timeout=60)
        assert (child[0].returncode, out, err) == (130, "", "")
        assert deleted(server) == ["NETWORK"]


def test_standard_error_is_ours() -> None:
    broken = {"broken": "{", "ipOwners": template("ipOwners")}
    with FakeBatfish({"question_templates": says(broken), "PUT": closes}) as server:
        out, err = (child := process(server)).communicate(timeout=60)
        # Three times: what pybatfish may repeat, it repeats, and says nothing of it.
        assert len(server.requests("PUT")) == 3
    assert (child.returncode, out) == (1, "")
    assert stable(err, server) == f"Batfish at 127.0.0.1:PORT: {OWNERS}: the connection was lost; {DIED}\n"


def test_no_proxy_comes_between_us_and_this_machine(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed.getsockname()[1]}")
    with FakeBatfish() as server, connect("localhost", server.port, 30) as batfish:
        assert work(batfish, files)


def test_elsewhere_the_proxy_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with FakeBatfish() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(BatfishError) as caught, connect("batfish.invalid", 9996, 30):
            pass
        assert proxy.requests("GET http://batfish.invalid:9996/v2/version")
    assert str(caught.value).startswith("Batfish at batfish.invalid:9996: connecting: it answers HTTP 501: GET http")
    with pytest.raises(BatfishError) as caught, connect("batfish.invalid", 9996, 30):
        pass
    assert str(caught.value) == (
        "Batfish at batfish.invalid:9996: connecting: the proxy of $http_proxy fails; put the host into $no_proxy"
    )


def without_pybatfish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pybatfish", None)


def with_another_pybatfish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(restv2helper, "_requests_session")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without_pybatfish, "pybatfish is not installed"),
        (
            with_another_pybatfish,
            "pybatfish cannot be used (cannot import name '_requests_session' from 'pybatfish.client.restv2helper' "
            f"({restv2helper.__file__}))",
        ),
    ],
)
def test_pybatfish_is_missing(
    change: Callable[[pytest.MonkeyPatch], None], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("service", "work"):
        monkeypatch.delitem(sys.modules, f"ailb_gen.batfish.{module}")
    change(monkeypatch)
    with pytest.raises(UsageError) as caught:
        importlib.import_module("ailb_gen.batfish.service")
    assert str(caught.value) == f"--batfish: {reason}; {how_to_install('batfish')}"
