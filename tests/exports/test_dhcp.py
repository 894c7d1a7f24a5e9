"""DHCP reservations: read by Kea and ISC DHCP themselves, and given by a real server to a real client."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.exports import dhcp
from ailb_gen.exports.kind import ExportInput
from ailb_gen.exports.ztp import day0
from ailb_gen.lab.namespaces import add, batch, spawn
from tests.conftest import SMALL, design_of, need_tool
from tests.exports.inputs import URL6, boot_design, boot_input
from tests.lab.isolated import isolated

Export = Callable[[ExportInput], str]
# The words with which each server checks a file, and the export, and the URL of its files.
SERVERS: dict[str, tuple[list[str], Export, dict[str, Any]]] = {
    "kea4": (["kea-dhcp4", "-t"], dhcp.kea4, {}),
    "kea6": (["kea-dhcp6", "-t"], dhcp.kea6, {"url": URL6}),
    "isc": (["dhcpd", "-t", "-cf"], dhcp.isc, {}),
}
# Names that a fabric may have, and that look like something else to one of the servers.
HOSTILE = ("1a_b.c-D", "subnet", "0x1f", "007", "host.", "x" * 63)
MANAGED = SMALL + "management: {gateway: 192.0.2.254, leaves: 192.0.2.11/24, spines: 192.0.2.1/24}\n"
SECONDS = 20


def accepted(name: str, text: str, tmp_path: Path) -> None:
    """Let a server check a file."""
    words = SERVERS[name][0]
    (tmp_path / "file").write_text(text)
    environment = {**os.environ, "KEA_LOCKFILE_DIR": str(tmp_path), "KEA_PIDFILE_DIR": str(tmp_path)}
    done = subprocess.run(
        [need_tool(words[0]), *words[1:], str(tmp_path / "file")],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ERROR" not in done.stdout


@pytest.mark.parametrize("name", SERVERS)
def test_the_servers_accept_their_files(name: str, tmp_path: Path) -> None:
    _, export, options = SERVERS[name]
    accepted(name, export(boot_input(**options)), tmp_path)


@pytest.mark.parametrize(
    ("name", "by_serial"), [("kea4", False), ("kea4", True), ("kea6", False), ("isc", False), ("isc", True)]
)
def test_hostile_names_stay_in_their_fields(name: str, by_serial: bool, tmp_path: Path) -> None:
    _, export, options = SERVERS[name]
    known = "serial: 'A.-/{n:02}'" if by_serial else "mac: '02:00:00:00:00:{n:02}'"
    rows = [f"  - {{name: '{one}', {known.format(n=n)}}}\n" for n, one in enumerate(HOSTILE)]
    text = MANAGED.replace("spines: 2\n", "spines:\n" + "".join(rows)).replace("rails: 2", "rails: 1")
    url = options.get("url", "http://192.0.2.5/") + "a,b%22;{}$(id)"
    found = export(boot_input(design_of(text), url=url))
    accepted(name, found, tmp_path)
    if name == "isc":
        pattern = r'class "ztp-(\S+)" \{' if by_serial else r"host (\S+) \{"
        assert re.findall(pattern, found) == list(HOSTILE)
        return
    (whole,) = json.loads(found).values()
    (subnet,) = whole[f"subnet{name[-1]}"]
    if by_serial:
        assert [one["name"] for one in whole["client-classes"]] == [f"ztp-{one}" for one in HOSTILE]
    else:
        assert [one["hostname"] for one in subnet["reservations"]] == list(HOSTILE)


def test_a_switch_has_its_address_and_its_file() -> None:
    whole = json.loads(dhcp.kea4(boot_input()))["Dhcp4"]
    (subnet,) = whole["subnet4"]
    assert subnet["option-data"] == [{"name": "routers", "data": "192.0.2.254"}]
    rows = {one["hostname"]: one for one in subnet["reservations"]}
    assert rows["stripe1-leaf1"]["hw-address"] == "02:00:5e:00:00:11"
    # A MAC is exact, so it wins over the serial number.
    (known,) = whole["client-classes"]
    assert known["name"] == "ztp-stripe1-leaf2"
    assert f"0x{b'-AB1234567890'.hex()}" in known["test"]
    assert subnet["pools"] == [{"pool": "192.0.2.12/32", "client-class": "ztp-stripe1-leaf2"}]
    assert rows["gpu-s1-1"] == {
        "hostname": "gpu-s1-1",
        "hw-address": "02:00:5e:00:01:01",
        "ip-address": "192.0.2.101",
    }
    options = {one["name"]: one.get("data") for one in rows["stripe1-leaf1"]["option-data"]}
    assert options == {
        "vendor-encapsulated-options": None,
        "config-file-name": "day0/stripe1-leaf1.conf",
        "transfer-mode": "http",
        "http-port": "8000",
        "tftp-server-name": "192.0.2.5",
        "ztp-server": "192.0.2.5",
    }


def test_devices_without_identity_are_told() -> None:
    told: list[str] = []
    dhcp.kea4(boot_input(told=told))
    assert told == [
        "no reservation for 2 switches without mac or serial: stripe2-leaf2, spine2",
        "no reservation for 3 servers without management_mac: gpu-s1-2, gpu-s2-1, gpu-s2-2",
    ]
    told.clear()
    dhcp.kea6(boot_input(told=told, url=URL6))
    assert told[0] == "no reservation for 3 switches without mac: stripe1-leaf2, stripe2-leaf2, spine2"


def test_an_address_by_ipv6_ends_with_that_by_ipv4() -> None:
    (subnet,) = json.loads(dhcp.kea6(boot_input(url=URL6)))["Dhcp6"]["subnet6"]
    leaf = next(one for one in subnet["reservations"] if one["hostname"] == "stripe1-leaf1")
    assert leaf["ip-addresses"] == ["2001:db8::c000:20b"]
    options = {one["name"]: one["data"] for one in leaf["option-data"]}
    assert options["bootfile-url"] == "http://[2001:db8::5]:8000/stripe1-leaf1.conf"
    assert options["vendor-opts"] == "2636"


@pytest.mark.parametrize(
    ("export", "options", "reason"),
    [
        (dhcp.kea4, {"url": ""}, "--ztp-url is missing: give the directory of the day-0 files"),
        (dhcp.kea4, {"url": "http://files.example/"}, "with an address, not a name: http://192.0.2.5"),
        (dhcp.isc, {"url": URL6}, "with an address, not a name: http://192.0.2.5"),
        (dhcp.kea4, {"url": "gopher://192.0.2.5/"}, "with an address, not a name: http://192.0.2.5"),
        (dhcp.kea4, {"url": "http://me:secret@192.0.2.5/"}, "with an address, not a name: http://192.0.2.5"),
        (dhcp.kea4, {"url": "http://192.0.2.5:99999/"}, "with an address, not a name: http://192.0.2.5"),
        (dhcp.kea4, {"url": "http://192.0.2.5/\n"}, "with an address, not a name: http://192.0.2.5"),
        (dhcp.kea6, {"url": "http://192.0.2.5/"}, r"not a name: http://\[2001:db8::5\]:8000/"),
        (dhcp.kea6, {"url": URL6, "prefix6": ""}, "--prefix6 is missing: write the prefix of the management network"),
        (dhcp.kea6, {"url": URL6, "prefix6": "2001:db8::/112"}, "--prefix6"),
    ],
)
def test_unusable_options_are_refused(export: Export, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        export(boot_input(**options))


def test_a_fabric_without_identities_is_refused() -> None:
    reason = "no switch has a mac or serial, by which DHCP knows it; add mac or serial to overrides, or the columns"
    with pytest.raises(UsageError, match=reason):
        dhcp.kea4(boot_input(design_of(MANAGED)))


def test_a_switch_boots_from_the_exports(tmp_path: Path) -> None:
    """One is known by its MAC, others by the serial number that they send; each fetches its own file, no other."""
    for tool in ("kea-dhcp4", "busybox"):
        need_tool(tool)
    given = boot_input()
    for path, data in day0(given).items():
        (tmp_path / "www" / "day0").mkdir(parents=True, exist_ok=True)
        (tmp_path / "www" / "day0" / path).write_bytes(data)
    (tmp_path / "secret.conf").write_text("secret")
    settings = json.loads(dhcp.kea4(given))
    settings["Dhcp4"]["lease-database"]["persist"] = False
    (tmp_path / "kea.conf").write_text(json.dumps(settings))

    found, log = isolated(boot, tmp_path)
    expected = [("stripe1-leaf1", "192.0.2.11"), ("stripe1-leaf2", "192.0.2.12"), ("stripe1-leaf2", "192.0.2.12")]
    for (name, address), lease in zip(expected, found, strict=True):
        assert (lease["ip"], lease["router"]) == (address, "192.0.2.254")
        assert lease["file"].encode() == day0(given)[f"{name}.conf"]
        assert re.search(rf'^{address} - - \[.*"GET /day0/{name}.conf HTTP/1.1" 200', log, re.M)
    assert '"GET /../secret.conf HTTP/1.1" 404' in log


# A client of DHCP runs it for every event, with what it was given in variables.
SCRIPT = """#!/bin/sh
[ "$1" = bound ] || exit 0
env > "$AILB_LEASE"
ip address replace "$ip/24" dev mgmt
"""


def boot(folder: Path) -> tuple[list[dict[str, str]], str]:
    """Start the servers beside two switches; return their leases, each with its file, and the log of the files."""
    (folder / "script").write_text(SCRIPT)
    (folder / "script").chmod(0o755)
    add(["server", "leaf1", "leaf2"])
    batch(["link add bridge type bridge", "link set bridge up", "addr add 192.0.2.5/24 dev bridge"], "server")
    for leaf, mac in (("leaf1", "02:00:5e:00:00:11"), ("leaf2", "02:00:5e:ff:ff:ff")):
        batch([f"link add {leaf} type veth peer name mgmt address {mac} netns {leaf}"], "server")
        batch([f"link set {leaf} master bridge up"], "server")
        batch(["link set mgmt up"], leaf)
    # This process is in namespaces of its own, and its variables are nobody else's.
    os.environ.update({"KEA_LOCKFILE_DIR": str(folder), "KEA_PIDFILE_DIR": str(folder)})
    files = [
        sys.executable,
        "-u",
        "-m",
        "http.server",
        "--bind",
        "192.0.2.5",
        "--directory",
        str(folder / "www"),
        "8000",
    ]
    with (
        running("server", ["kea-dhcp4", "-c", str(folder / "kea.conf")], folder / "kea.log"),
        running("server", files, folder / "http.log"),
    ):
        wait_for(folder / "kea.log", "DHCP4_STARTED")
        wait_for(folder / "http.log", "Serving HTTP")
        # A switch with its serial number in option 60; the same as a modular one, with the number as its name.
        serial = "AB1234567890"
        fixed, modular = (
            ["-V", f"Juniper-qfx5240-64od-{serial}"],
            ["-V", "Juniper-qfx10008", "-x", f"hostname:{serial}"],
        )
        leases = [lease(folder, "leaf1", []), lease(folder, "leaf2", fixed), lease(folder, "leaf2", modular)]
        fetch("leaf1", "192.0.2.5", "8000", "/../secret.conf")
    return leases, (folder / "http.log").read_text()


def lease(folder: Path, leaf: str, words: list[str]) -> dict[str, str]:
    """Let a switch get its lease, and its file from where option 43 says."""
    path = folder / f"{leaf}.lease"
    asked = [word for code in ("43", "66", "150") for word in ("-O", code)]
    client = ["busybox", "udhcpc", "-f", "-q", "-n", "-i", "mgmt", "-s", str(folder / "script"), *asked, *words]
    done = spawn(leaf, ["env", f"AILB_LEASE={path}", *client], stderr=subprocess.PIPE)
    _, said = done.communicate(timeout=SECONDS)
    assert done.returncode == 0, said.decode() + (folder / "kea.log").read_text()
    found = dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)
    options = suboptions(bytes.fromhex(found["opt43"]))
    assert options[3] == "http"
    server = ".".join(str(byte) for byte in bytes.fromhex(found["opt150"]))
    assert server == found["tftp"]
    return found | {"file": fetch(leaf, server, options[5], f"/{options[1]}")}


def suboptions(data: bytes) -> dict[int, str]:
    """Read the suboptions of option 43."""
    found = {}
    while data:
        found[data[0]], data = data[2 : 2 + data[1]].decode(), data[2 + data[1] :]
    return found


def fetch(leaf: str, server: str, port: str, path: str) -> str:
    """Fetch a file as a switch does; the path goes out as it is."""
    program = (
        "import http.client, sys; c = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]), timeout=9);"
        "c.request('GET', sys.argv[3]); print(c.getresponse().read().decode(), end='')"
    )
    done = spawn(leaf, [sys.executable, "-c", program, server, port, path], stdout=subprocess.PIPE)
    return done.communicate(timeout=SECONDS)[0].decode()


@contextmanager
def running(name: str, words: list[str], log: Path) -> Iterator[None]:
    """Run a program in a namespace until the block ends."""
    with log.open("wb") as file:
        process = spawn(name, words, stdout=file, stderr=file)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)


def wait_for(log: Path, text: str) -> None:
    """Wait until a program has written a text."""
    end = time.monotonic() + SECONDS
    while text not in log.read_text():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)


def test_the_design_has_the_identities() -> None:
    design = boot_design()
    leaf = design.leaves[2].management
    assert leaf is not None
    assert (leaf.mac, leaf.serial) == ("02:00:5e:00:00:13", "AB1234567891")
    assert [one.management_mac for one in design.servers] == ["02:00:5e:00:01:01", "", "", ""]
