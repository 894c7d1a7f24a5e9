"""What programs on a host report, as findings; `ailb-qos`: tests/render/test_qos.py, `ailb-host`: tests/ailb_host."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ailb_gen.deploy.servers.host_reports import read_report, reported
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.servers.verify import ExpectedServer, observe
from ailb_gen.layout import QOS
from tests.deploy.servers.sandbox import Host

LOST = "gpu0_eth (mlx5_0): pfc is 0,0,0,0,0,0,0,0, it must be 0,0,0,1,0,0,0,0; run ailb-qos"
MISSING = "mlnx_qos is missing; install iproute2 or the RDMA tools of the NIC's vendor"
SAID: dict[tuple[str, ...], list[tuple[str, str]]] = {
    (): [],
    ("exit 0",): [],
    (f"ailb-qos: {LOST}", "exit 1"): [("gpu0_eth", LOST)],
    ("Traceback of mlnx_qos", f"ailb-qos: {LOST}", "exit 1"): [("gpu0_eth", LOST)],
    ("ailb-qos: gpu1_eth: there is no such interface", "exit 1"): [
        ("gpu1_eth", "gpu1_eth: there is no such interface")
    ],
    (f"ailb-qos: {MISSING}", "exit 3"): [("", MISSING)],
    ("something else", "exit 2"): [("", "ailb-qos verify fails with exit code 2; run it on the server")],
    ("exit 124",): [("", "ailb-qos verify does not end; run it on the server")],
    ("ailb-qos: \x1b[2J", "exit 1"): [("", "ailb-qos verify fails with exit code 1; run it on the server")],
}


@pytest.mark.parametrize("lines", SAID)
def test_what_the_script_says(lines: tuple[str, ...]) -> None:
    assert list(read_report(list(lines), "ailb-qos verify")) == SAID[lines]


@pytest.mark.parametrize("lines", [["exit"], ["exit x"], [f"ailb-qos: {LOST}"]])
def test_an_answer_that_is_cut_off_is_refused(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="exit code"):
        read_report(lines, "ailb-qos verify")


def test_a_difference_is_about_its_nic() -> None:
    first, other = reported("gpu-1", {"qos": (("gpu0_eth", LOST), ("", MISSING))}, (), ())
    assert (first.check, first.message, other.message) == ("AILBD03", LOST, MISSING)
    assert [(subject.device, subject.name) for subject in first.subjects] == [("gpu-1", "gpu0_eth"), ("gpu-1", "QoS")]
    assert [subject.name for subject in other.subjects][-1] == "QoS"


SCRIPTS: dict[str, Callable[[str], str]] = {
    "virtual": lambda text: text,
    "lost": lambda text: text.replace("set -eu", f"set -eu; echo 'ailb-qos: {LOST}' >&2; exit 1"),
    "before it had verbs": lambda _: "#!/bin/sh\ntouch /usr/local/sbin/set\n",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_host_tells_it_in_the_same_round_trip(
    host: Host, server: ServerConnection, expected: ExpectedServer, name: str
) -> None:
    script = host.root / "usr-local/sbin/ailb-qos"
    script.write_text(SCRIPTS[name](expected.tree[QOS].content.decode()), encoding="utf-8")
    script.chmod(0o755)
    assert list(observe(server, expected).reports["qos"]) == ([("gpu0_eth", LOST)] if name == "lost" else [])
    assert not (host.root / "usr-local/sbin/set").exists(), "verifying sets nothing"
