"""What programs on a host report, as findings; `ailb-qos`: tests/render/test_qos.py, `ailb-host`: tests/ailb_host."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.host_reports import Report, read_report, reported
from ailb_gen.deploy.servers.observed import observe
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.layout import ENVIRONMENT, HOST_FILE, QOS
from tests.deploy.servers.sandbox import Host
from tests.deploy.servers.steps import sysfs

LOST = "gpu0_eth (mlx5_0): pfc is 0,0,0,0,0,0,0,0, it must be 0,0,0,1,0,0,0,0; run ailb-qos"
MISSING = "mlnx_qos is missing; install iproute2 or the RDMA tools of the NIC's vendor"
SAID: dict[tuple[str, ...], list[tuple[str, str]]] = {
    ("exit 0",): [],
    (f"ailb-qos: {LOST}", "exit 1"): [("gpu0_eth", LOST)],
    ("Traceback of mlnx_qos", f"ailb-qos: {LOST}", "exit 1"): [("gpu0_eth", LOST)],
    ("ailb-qos: gpu1_eth: there is no such interface", "exit 1"): [
        ("gpu1_eth", "gpu1_eth: there is no such interface")
    ],
    (f"ailb-qos: {MISSING}", "exit 3"): [("", MISSING)],
    ("something else", "exit 2"): [("", "ailb-qos verify fails with exit code 2; run it on the server")],
    ("exit 124",): [("", "ailb-qos verify does not end; run it on the server")],
    # What was said before is not all.
    (f"ailb-qos: {LOST}", "exit 124"): [
        ("gpu0_eth", LOST),
        ("", "ailb-qos verify does not end; run it on the server"),
    ],
    (f"ailb-qos: {MISSING}", "exit 137"): [
        ("", MISSING),
        ("", "ailb-qos verify fails with exit code 137; run it on the server"),
    ],
    # A vendor's program prints anything, of any length.
    (f"ailb-qos: gpu0_eth (mlx5_0): pfc is {'1' * 400}", "exit 1"): [
        ("gpu0_eth", f"gpu0_eth (mlx5_0): pfc is {'1' * 293}")
    ],
    ("ailb-qos: gpu0_eth (mlx5_0): trust is \x1b[2J", f"ailb-qos: {LOST}", "exit 1"): [
        ("gpu0_eth", "gpu0_eth (mlx5_0): trust is "),
        ("gpu0_eth", LOST),
    ],
    ("ailb-qos: \x1b[2J", "exit 1"): [("", "ailb-qos verify fails with exit code 1; run it on the server")],
}


@pytest.mark.parametrize("lines", SAID)
def test_what_the_script_says(lines: tuple[str, ...]) -> None:
    assert list(read_report(list(lines), "ailb-qos verify")) == SAID[lines]


@pytest.mark.parametrize("lines", [[], ["exit"], ["exit x"], [f"ailb-qos: {LOST}"]])
def test_an_answer_that_is_cut_off_is_refused(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="exit code"):
        read_report(lines, "ailb-qos verify")


def test_a_difference_is_about_its_nic() -> None:
    first, other = reported("gpu-1", {"qos": (("gpu0_eth", LOST), ("", MISSING))}, (), ())
    assert (first.check, first.message, other.message) == ("AILBD03", LOST, MISSING)
    assert [(subject.device, subject.name) for subject in first.subjects] == [("gpu-1", "gpu0_eth"), ("gpu-1", "QoS")]
    assert [subject.name for subject in other.subjects][-1] == "QoS"


OLD = "it is of an older version, and cannot verify; generate and push the files again"
ABSENT = "gpu0_eth: there is no RDMA device mlx5_0; check its name and driver: rdma link"
GID = "gpu0_eth: mlx5_0:1 is set to InfiniBand; set the port to Ethernet and restart"


def test_gids_are_told_of_nics_whose_links_addresses_and_files_are_right() -> None:
    reports: dict[str, Report] = {"qos": (("gpu0_eth", LOST),), "gids": (("gpu0_eth", GID), ("", "no answer"))}

    def told(files: set[str], nics: set[str]) -> list[str]:
        return [one.message for one in reported("gpu-1", reports, files, nics)]

    assert told(set(), {"gpu1_eth"}) == [LOST, GID, "no answer"]
    assert told(set(), {"gpu0_eth"}) == [LOST, "no answer"]
    assert told({HOST_FILE}, set()) == told({ENVIRONMENT}, set()) == [LOST]
    assert told({QOS}, set()) == [GID, "no answer"]
    reports["gids"] = (("gpu0_eth", ABSENT),)
    assert told(set(), set()) == [ABSENT], "its settings went with the device"


@pytest.mark.long
def test_a_program_that_never_ends_delays_no_verification(
    host: Host, server: ServerConnection, expected: ExpectedServer, tmp_path: Path
) -> None:
    """And what it prints is cut off."""
    program = host.root / "usr-local/sbin/ailb-host"
    program.write_text("#!/bin/sh\nyes 'ailb-host: x' | head -c 9000000 >&2; exec sleep 1000\n", encoding="utf-8")
    program.chmod(0o755)
    assert observe(server, expected).reports["gids"] == (), "there is no RDMA device"
    with sysfs(host, tmp_path / "class", "mlx5_0"):
        begin = time.monotonic()
        report = observe(server, expected).reports["gids"]
    assert time.monotonic() - begin < 40
    assert len(report) <= 1001 and set(report) == {("", "x"), ("", "ailb-host gids does not end; run it on the server")}


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
    told = {"lost": [("gpu0_eth", LOST)], "before it had verbs": [("", OLD)]}
    assert list(observe(server, expected).reports["qos"]) == told.get(name, [])
    assert not (host.root / "usr-local/sbin/set").exists(), "verifying sets nothing"
