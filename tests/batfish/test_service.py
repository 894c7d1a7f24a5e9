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

from ailb_gen.batfish.address import parse_address
from ailb_gen.batfish.model import Batfish, Row
from ailb_gen.batfish.service import connect
from ailb_gen.errors import BatfishError, ExitCode, UsageError
from ailb_gen.optional import how_to_install
from tests.batfish.misbehaving import (
    Act,
    Handler,
    Server,
    closes,
    dies,
    drips,
    misbehaving,
    never,
    nth,
    says,
    sends,
    table,
    template,
)
from tests.conftest import ROOT

START = "start one with: docker run -d --name batfish -p 9996:9996 batfish/batfish"
OTHER = "is this Batfish? it listens on port 9996"
READY = f"{OTHER}, and needs some seconds after its start"
MEMORY = "give the server more memory: its Java takes 80 % of what its container may use (docker run --memory)"
DIED = "the server died in the middle: 'docker logs batfish' may say why, often a lack of memory (docker run --memory)"
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
    (tmp_path / "files/configs/leaf1.cfg").write_text("set system host-name leaf1\n", encoding="utf-8")
    return tmp_path / "files"


def work(batfish: Batfish, files: Path) -> list[Row]:
    """A bit of everything."""
    batfish.upload("files", files)
    batfish.fork("files", "spine-1", ["spine1"], [("leaf1", "et-0/0/0")])
    batfish.ask("reachability", "files", dst_ips="172.16.0.0/24", start="@enter(/leaf.*/[/irb/])")
    return batfish.ask("ipOwners", "files", duplicatesOnly=True)()


def stable(text: str, server: Server) -> str:
    return re.sub("ailb-gen-[0-9a-f]{16}", "NETWORK", text.replace(f":{server.port}", ":PORT"))


def failure(acts: Mapping[str, Act], files: Path, limit_s: float = 30) -> tuple[str, Server]:
    """Return what the error says when a bit of everything is done with such a server."""
    with misbehaving(acts) as server:
        begin = time.monotonic()
        with pytest.raises(BatfishError) as caught, connect("127.0.0.1", server.port, limit_s) as batfish:
            work(batfish, files)
        if limit_s < ENOUGH_S:
            assert time.monotonic() - begin < ENOUGH_S
        assert caught.value.exit_code == ExitCode.ENVIRONMENT
        return stable(str(caught.value), server), server


def deleted(server: Server) -> list[str]:
    return [stable(request, server).removeprefix("DELETE /v2/networks/") for request in server.asked("^DELETE")]


ADDRESSES = {
    "localhost": ("localhost", 9996),
    "10.0.0.1:65535": ("10.0.0.1", 65535),
    "batfish_1.example.:1": ("batfish_1.example.", 1),
    "[::1]": ("::1", 9996),
    "[2001:DB8::1]:9997": ("2001:db8::1", 9997),
}
NOT_ADDRESSES = {
    "": "--batfish '': the host is missing",
    ":9996": "--batfish ':9996': the host is missing",
    "host:0": "--batfish 'host:0': '0' is not a port from 1 to 65535",
    "host:70000": "--batfish 'host:70000': '70000' is not a port from 1 to 65535",
    "host:abc": "--batfish 'host:abc': 'abc' is not a port from 1 to 65535",
    "host:": "--batfish 'host:': '' is not a port from 1 to 65535",
    "h:\N{SUPERSCRIPT TWO}": "--batfish 'h:\N{SUPERSCRIPT TWO}': '\N{SUPERSCRIPT TWO}' is not a port from 1 to 65535",
    "http://x:9996": "--batfish 'http://x:9996': this is a URL; leave 'http://' away",
    " host": "--batfish ' host': ' host' is not the name or address of a host",
    "host name:1": "--batfish 'host name:1': 'host name' is not the name or address of a host",
    "host\n": "--batfish 'host\\n': 'host\\n' is not the name or address of a host",
    "a..b": "--batfish 'a..b': 'a..b' is not the name or address of a host",
    "me@host": "--batfish 'me@host': 'me@host' is not the name or address of a host",
    "host/v2": "--batfish 'host/v2': 'host/v2' is not the name or address of a host",
    "::1": "--batfish '::1': an IPv6 address stands in brackets: [::1]:9996",
    "[::1": "--batfish '[::1': an IPv6 address stands in brackets, only a port follows: [::1]:9996",
    "[::1]9996": "--batfish '[::1]9996': an IPv6 address stands in brackets, only a port follows: [::1]:9996",
    "[host]": "--batfish '[host]': 'host' is not an IPv6 address without a zone",
    "[fe80::1%eth0]": "--batfish '[fe80::1%eth0]': 'fe80::1%eth0' is not an IPv6 address without a zone",
}


@pytest.mark.parametrize("text", ADDRESSES)
def test_an_address_is_a_host_and_perhaps_a_port(text: str) -> None:
    assert parse_address(text) == ADDRESSES[text]


@pytest.mark.parametrize("text", NOT_ADDRESSES)
def test_what_is_no_address_is_said_so(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_address(text)
    assert str(caught.value) == (f"{NOT_ADDRESSES[text]}; give HOST[:PORT], for example localhost or localhost:9996")


def test_all_is_asked_in_one_network_and_deleted(files: Path) -> None:
    with misbehaving({}) as server:
        with connect("127.0.0.1", server.port, 30) as batfish:
            assert batfish.version == "0.36.0"
            assert work(batfish, files) == [{"Node": "leaf1", "IP": "10.0.0.1"}]
        assert batfish.left_behind == ""
    networks = set(re.findall(r"ailb-gen-[0-9a-f]{16}", str(server.requests)))
    assert len(networks) == 1
    assert deleted(server) == ["NETWORK/snapshots/files", "NETWORK/snapshots/spine-1", "NETWORK"]
    bodies = {request.rpartition("/")[2]: body.decode("latin-1") for request, body in server.requests if body}
    assert "files/configs/leaf1.cfg" in bodies["files"]
    fork = bodies["snapshots:fork"]
    assert '"deactivateInterfaces": [{"hostname": "leaf1", "interface": "et-0/0/0"}]' in fork
    assert '"deactivateNodes": ["spine1"]' in fork
    questions = "".join(body for name, body in bodies.items() if name.startswith("__reachability"))
    assert '"dstIps": "172.16.0.0/24"' in questions
    assert '"startLocation": "@enter(/leaf.*/[/irb/])"' in questions


def test_a_reference_is_asked_against(files: Path) -> None:
    with misbehaving({}) as server, connect("127.0.0.1", server.port, 30) as batfish:
        batfish.upload("files", files)
        batfish.ask("differentialReachability", "spine-1", "files", start="@enter(/leaf.*/[/irb/])")()
        assert server.asked(r"/answer\?snapshot=spine-1&referenceSnapshot=files")


def test_rows_are_plain_values() -> None:
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
    with misbehaving(acts) as server, connect("127.0.0.1", server.port, 30) as batfish:
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


def test_no_rows_are_no_rows() -> None:
    acts = {"/answer": says(table({"Node": "Node"}, []))}
    with misbehaving(acts) as server, connect("127.0.0.1", server.port, 30) as batfish:
        assert batfish.ask("ipOwners", "files")() == []


def test_no_rows_about_the_files_of_a_snapshot_are_no_answer() -> None:
    acts = {
        "/question_templates": says({"fileParseStatus": template("fileParseStatus")}),
        "/answer": says(table({}, [])),
    }
    with misbehaving(acts) as server:
        with pytest.raises(BatfishError) as caught, connect("127.0.0.1", server.port, 30) as batfish:
            batfish.ask("fileParseStatus", "files")()
        assert stable(str(caught.value), server) == (
            f"Batfish at 127.0.0.1:PORT: asking fileParseStatus of snapshot 'files': the answer is empty; {VERSIONS}"
        )


def test_a_column_that_is_not_there_tells_of_versions() -> None:
    with misbehaving({}) as server:
        with pytest.raises(BatfishError) as caught, connect("127.0.0.1", server.port, 30) as batfish:
            (row,) = batfish.ask("ipOwners", "files")()
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
    "500": (says("\nout of\x1b[2Jorder\nbadly", 500, "text/plain"), f"it answers HTTP 500: out of?[2Jorder; {OTHER}"),
    "503": (says("x" * 201, 503, "text/plain"), f"it answers HTTP 503: {'x' * 200}...; {OTHER}"),
    "nothing": (says("", kind="text/plain"), f"the answer is not JSON; {OTHER}"),
    "empty": (says({}), f"it names no version of Batfish; {OTHER}"),
    "list": (
        says(["Batfish"]),
        "the answer is not what pybatfish knows (ValueError: dictionary update sequence element #0 has length 7; "
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
    assert not server.asked("POST|DELETE")


def test_an_answer_that_is_nested_too_deep(files: Path) -> None:
    said, _ = failure({"": says("[" * 100_000)}, files)
    assert "the answer is not what pybatfish knows (RecursionError: " in said
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
    assert said == f"Batfish at 127.0.0.1:PORT: connecting: it has no questions that pybatfish knows; {VERSIONS}"


def status(code: str) -> Act:
    return says({"workstatuscode": code, "task": {"status": code}})


UPLOADING = "uploading snapshot 'files'"
FORKING = "forking snapshot 'spine-1' from 'files'"
REACHABILITY = "asking reachability of snapshot 'files'"
OWNERS = "asking ipOwners of snapshot 'files'"
# What happens, what was being done, what is said of it.
LATE: dict[str, tuple[dict[str, Act], str, str]] = {
    "network refused": (
        {"POST /v2/networks[?]": says("disk full", 500, "text/plain")},
        "making a network",
        f"it answers HTTP 500: disk full; {LOGS}",
    ),
    "upload refused": (
        {"POST .*/snapshots/files": says("bad zip", 400, "text/plain")},
        UPLOADING,
        f"it answers HTTP 400: bad zip; {LOGS}",
    ),
    "upload cut": ({"POST .*/snapshots/files": closes}, UPLOADING, f"the connection was lost; {DIED}"),
    "fork refused": (
        {"POST .*:fork": says("no such node", 400, "text/plain")},
        FORKING,
        f"it answers HTTP 400: no such node; {LOGS}",
    ),
    "no such question": (
        {"question_templates": says({"reachability": template("reachability", "headers", "pathConstraints")})},
        OWNERS,
        f"it has no such question; {VERSIONS}",
    ),
    "no such parameter": (
        {"question_templates": says({"reachability": template("reachability", "headers")})},
        REACHABILITY,
        "it does not take the question: Received unsupported parameters/variables: {'pathConstraints'}; " + VERSIONS,
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
        f"the answer is not what pybatfish knows (IndexError: list index out of range); {VERSIONS}",
    ),
    "answer is not JSON": ({"GET .*/answer": says(HTML)}, REACHABILITY, f"the answer is not JSON; {VERSIONS}"),
    "unknown status": (
        {"GET .*/work/": status("ASLEEP")},
        UPLOADING,
        f"the answer is not what pybatfish knows (ValueError: 'ASLEEP' is not a valid WorkStatusCode); {VERSIONS}",
    ),
    "work fails": (
        {"GET .*/work/": status("TERMINATEDABNORMALLY"), "worklog": says(LOG % "Error: no v6", kind="text/plain")},
        UPLOADING,
        f"Work terminated abnormally: Error: no v6; {LOGS}",
    ),
    "work fails for memory": (
        {
            "GET .*/work/": nth(3, status("TERMINATEDABNORMALLY"), status("TERMINATEDNORMALLY")),
            "worklog": says(LOG % "OutOfMemoryError: Java heap space", kind="text/plain"),
        },
        REACHABILITY,
        f"it ran out of memory; {MEMORY}",
    ),
    "work fails without a log": (
        {"GET .*/work/": status("TERMINATEDABNORMALLY"), "worklog": says("", kind="text/plain")},
        UPLOADING,
        f"Work terminated abnormally; {LOGS}",
    ),
    "work is stopped": (
        {"GET .*/work/": status("TERMINATEDBYUSER"), "worklog": says("stopped\n", kind="text/plain")},
        UPLOADING,
        f"Work terminated by a user: stopped; {LOGS}",
    ),
    "work is not begun": (
        {"GET .*/work/": status("REQUEUEFAILURE")},
        UPLOADING,
        f"the server gave the work up (REQUEUEFAILURE); often it lacks memory: {MEMORY}; {LOGS}",
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
    said, _ = failure({"PUT": nth(2, dies, says(""))}, files)
    assert said == (
        f"Batfish at 127.0.0.1:PORT: {UPLOADING}: connection refused; {DIED}; "
        "the network NETWORK is left on Batfish at 127.0.0.1:PORT and takes space: connection refused"
    )


def test_what_cannot_be_deleted_does_not_spoil_a_good_run(files: Path) -> None:
    with misbehaving({"DELETE": says("not now", 500, "text/plain")}) as server:
        with connect("127.0.0.1", server.port, 30) as batfish:
            assert work(batfish, files)
        assert stable(batfish.left_behind, server) == (
            "the network NETWORK is left on Batfish at 127.0.0.1:PORT and takes space: it answers HTTP 500: not now"
        )


def test_what_is_gone_already_need_not_be_deleted(files: Path) -> None:
    with misbehaving({"DELETE": says("no such thing", 404, "text/plain")}) as server:
        with connect("127.0.0.1", server.port, 30) as batfish:
            work(batfish, files)
        assert batfish.left_behind == ""
        assert len(deleted(server)) == 3


def test_the_first_error_counts_when_nothing_can_be_deleted(files: Path) -> None:
    said, _ = failure({"DELETE": never, "PUT": says("full", 500, "text/plain")}, files, limit_s=1)
    assert said == (
        f"Batfish at 127.0.0.1:PORT: {REACHABILITY}: it answers HTTP 500: full; {LOGS}; "
        "the network NETWORK is left on Batfish at 127.0.0.1:PORT and takes space: no result within 1 s"
    )


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(143), ZeroDivisionError()], ids=repr)
def test_other_ends_delete_as_well_and_go_on(error: BaseException, files: Path) -> None:
    with misbehaving({}) as server:
        with pytest.raises(type(error)) as caught, connect("127.0.0.1", server.port, 30) as batfish:
            batfish.upload("files", files)
            raise error
        assert caught.value is error
        assert deleted(server) == ["NETWORK/snapshots/files", "NETWORK"]


def test_other_errors_note_what_is_left_behind() -> None:
    with misbehaving({"DELETE": says("", 500)}) as server:
        with pytest.raises(ZeroDivisionError) as caught, connect("127.0.0.1", server.port, 30):
            raise ZeroDivisionError
        (note,) = caught.value.__notes__
        assert stable(note, server) == (
            "the network NETWORK is left on Batfish at 127.0.0.1:PORT and takes space: it answers HTTP 500"
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


def process(server: Server) -> "subprocess.Popen[str]":
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

    with misbehaving({"PUT": stops, "POST .*/snapshots": stops}) as server:
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

    with misbehaving({"PUT": interrupts}) as server:
        child.append(process(server))
        out, err = child[0].communicate(timeout=60)
        assert (child[0].returncode, out, err) == (130, "", "")
        assert deleted(server) == ["NETWORK"]


def test_standard_error_is_ours() -> None:
    broken = {"broken": "{", "ipOwners": template("ipOwners")}
    with misbehaving({"question_templates": says(broken), "PUT": closes}) as server:
        out, err = (child := process(server)).communicate(timeout=60)
        # Three times: what pybatfish may repeat, it repeats, and says nothing of it.
        assert len(server.asked("PUT")) == 3
    assert (child.returncode, out) == (1, "")
    assert stable(err, server) == f"Batfish at 127.0.0.1:PORT: {OWNERS}: the connection was lost; {DIED}\n"


def test_no_proxy_comes_between_us_and_this_machine(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed.getsockname()[1]}")
    with misbehaving({}) as server, connect("localhost", server.port, 30) as batfish:
        assert work(batfish, files)


def test_elsewhere_the_proxy_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with misbehaving({}) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(BatfishError) as caught, connect("batfish.invalid", 9996, 30):
            pass
        assert proxy.asked("GET http://batfish.invalid:9996/v2/version")
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
    for module in ("service", "http"):
        monkeypatch.delitem(sys.modules, f"ailb_gen.batfish.{module}")
    change(monkeypatch)
    with pytest.raises(UsageError) as caught:
        importlib.import_module("ailb_gen.batfish.service")
    assert str(caught.value) == f"--batfish: {reason}; {how_to_install('batfish')}"
