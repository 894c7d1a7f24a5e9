"""Addresses of a server by color, from the kernel's table, and files of peers."""

from __future__ import annotations

import ipaddress
import json
import os
import pty
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from ailb_gen.layout import HOST_PROGRAM
from tests.ailb_host.network import COLORS, PROFILES
from tests.ailb_host.servers import nics_of, oldest_python, run, write_sysfs

# Flags of linux/if_addr.h: of an address that the kernel made and of one that somebody set.
MADE, SET = 0x00, 0x80
TEMPORARY, DUPLICATE, DEPRECATED, TENTATIVE = 0x01, 0x08, 0x20, 0x40


def server(root: Path, changes: dict[str, int | None], extra: tuple[tuple[str, str, int], ...] = ()) -> list[str]:
    """Write a server with all its addresses, except for flags by address; None leaves it out. Return the addresses."""
    shutil.copytree(PROFILES / "stripe1", root, dirs_exist_ok=True)
    nics = nics_of(root)
    write_sysfs(root, nics)
    rows = [*extra, *((nic.name, text, changes.get(text, MADE)) for nic in nics for text in nic.addresses)]
    lines = [
        f"{int(ipaddress.IPv6Address(text)):032x} 02 40 00 {flags:02x} {name:>8}"
        for name, text, flags in rows
        if flags is not None
    ]
    table = root / "proc/net/if_inet6"
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text("\n".join(lines) + "\n", "ascii")
    return [text for nic in nics for text in nic.addresses if not text.startswith("fe80")]


def test_all_addresses(tmp_path: Path) -> None:
    addresses = server(tmp_path, {})
    done = run(tmp_path, "addresses", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [
        {"nic": f"gpu{rail}_eth", "rail": rail, "color": color, "address": addresses[4 * rail + number]}
        for rail in range(2)
        for number, color in enumerate(COLORS)
    ]
    assert json.loads(done.stdout) == {"server": socket.gethostname(), "addresses": rows}
    table = run(tmp_path, "addresses").stdout.splitlines()
    assert table[0].split() == ["nic", "rail", "color", "address"]
    assert table[2].split() == ["gpu0_eth", "0", "green", addresses[0]]
    assert len(table) == 2 + len(addresses)


@pytest.mark.parametrize("flags", [TEMPORARY, SET | DUPLICATE, DEPRECATED, TENTATIVE, None])
def test_address_that_cannot_be_used(tmp_path: Path, flags: int | None) -> None:
    blue = "fc00:1:1:2:0:ff:fe00:0"
    assert blue in server(tmp_path, {blue: flags})
    rows = json.loads(run(tmp_path, "addresses", "--json").stdout)["addresses"]
    assert [(row["nic"], row["color"]) for row in rows if row["address"] is None] == [("gpu0_eth", "blue")]
    assert len(rows) == 8
    table = [line.split() for line in run(tmp_path, "addresses").stdout.splitlines()]
    assert [row for row in table if row[-1] == "-"] == [["gpu0_eth", "0", "blue", "-"]]


def test_address_of_the_mac_is_preferred(tmp_path: Path) -> None:
    own = server(tmp_path, {}, (("gpu0_eth", "fc00:1:1:1::9", SET), ("gpu0_eth", "2001:db8::1", SET)))
    rows = json.loads(run(tmp_path, "addresses", "--json").stdout)["addresses"]
    assert [row["address"] for row in rows] == own


def test_other_address_is_better_than_none(tmp_path: Path) -> None:
    server(tmp_path, {"fc00:1:1:1:0:ff:fe00:0": None}, (("gpu0_eth", "fc00:1:1:1::9", SET),))
    rows = json.loads(run(tmp_path, "addresses", "--json").stdout)["addresses"]
    assert rows[0]["address"] == "fc00:1:1:1::9"


def test_without_ipv6(tmp_path: Path) -> None:
    server(tmp_path, {})
    (tmp_path / "proc/net/if_inet6").unlink()
    done = run(tmp_path, "addresses")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("ailb-host: /proc/net/if_inet6 cannot be read; switch IPv6 on: sysctl ")


ROW = {"nic": "gpu0_eth", "rail": 0, "color": "green", "address": "fc00:2:1:1::1"}
WHOLE = json.dumps({"server": "b", "addresses": [ROW]})
BROKEN: dict[str, tuple[str, str]] = {
    "nothing": ("", "this server has no color and rail in common with a peer; see there: ailb-host addresses; "),
    "half": (WHOLE[:20], "not the output of 'ailb-host addresses --json' (JSONDecodeError: "),
    "other words": ("h100-02\n", "not the output of 'ailb-host addresses --json' (JSONDecodeError: "),
    "list": ("[1]", "not the output of 'ailb-host addresses --json' (AttributeError: "),
    "no addresses": ('{"server": "b"}', "not the output of 'ailb-host addresses --json' (KeyError: 'addresses')"),
    "other object": ('{"a": 1}', "an object has neither 'server' nor 'switches' nor 'spines'"),
    "IPv4": (WHOLE.replace("fc00:2:1:1::1", "10.0.0.1"), "AddressValueError"),
    "multicast": (WHOLE.replace("fc00:2:1:1::1", "ff02::1"), "ff02::1 is not the address of a server"),
    "escape": (WHOLE.replace("gpu0_eth", "\\u001b[2J"), r"'\x1b[2J' is not a name"),
    "infinite": (WHOLE.replace('"rail": 0', '"rail": 1e999'), "OverflowError: "),
    "rail": (WHOLE.replace('"rail": 0', '"rail": "x"'), "ValueError: invalid literal for int()"),
    "twice": (WHOLE + WHOLE.replace("::1", "::2"), "b is there twice, with different addresses"),
    "switches": ('{"switches": {"leaf1": "fc00::1"}}', "AddressValueError"),
    "spines": ('{"spines": {"green": "spine1"}}', "the spines of green must be a list"),
    "deep": ("[" * 100_000, "RecursionError"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_peers(tmp_path: Path, text: str, message: str) -> None:
    server(tmp_path, {})
    file = tmp_path / "peers.json"
    file.write_text(text, "utf-8")
    for words, given in ((("--peers", str(file)), ""), (("--peers", "-"), text)):
        done = run(tmp_path, "ping", *words, given=given)
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith("ailb-host: ") and message in done.stderr and done.stderr.count("\n") == 1


def test_unknown_server_and_file(tmp_path: Path) -> None:
    server(tmp_path, {})
    done = run(tmp_path, "ping", "c", "b", given=WHOLE)
    assert (done.returncode, done.stderr) == (
        3,
        "ailb-host: the peers file has no c; add the output of 'ailb-host addresses --json' there\n",
    )
    done = run(tmp_path, "ping", "--peers", str(tmp_path / "none.json"))
    assert (done.returncode, done.stderr) == (3, f"ailb-host: {tmp_path}/none.json: No such file or directory\n")


def test_terminal_is_not_awaited(tmp_path: Path) -> None:
    server(tmp_path, {})
    run(tmp_path, "addresses")
    _, terminal = pty.openpty()
    command = [oldest_python(), "-I", str(tmp_path / HOST_PROGRAM), "--root", str(tmp_path), "ping"]
    done = subprocess.run(command, stdin=terminal, capture_output=True, text=True, check=False, timeout=20)
    os.close(terminal)
    assert done.returncode == 3
    assert done.stderr.startswith("ailb-host: no peers: name a file with --peers, or pipe in ")


@pytest.mark.parametrize(
    "words",
    [("--probes", "0"), ("--rate", "x"), ("--timeout", "nan"), ("--timeout", "-1"), ("--timeout", "1e9")],
)
def test_wrong_numbers(tmp_path: Path, words: tuple[str, str]) -> None:
    done = run(tmp_path, "ping", *words)
    assert done.returncode == 2
    assert f"argument {words[0]}: {words[1]!r} is not a number from " in done.stderr


@pytest.mark.parametrize("name", ["a\u2003b", "a\x1cb", "a\x85b", "a\u2028b"])
def test_interfaces_with_blanks_in_their_names(tmp_path: Path, name: str) -> None:
    expected = server(tmp_path, {})
    table = tmp_path / "proc/net/if_inet6"
    table.write_bytes(b"00" * 15 + b"01 01 80 10 80 " + name.encode() + b"\n" + table.read_bytes() + b"\n")
    done = run(tmp_path, "addresses", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["address"] for row in json.loads(done.stdout)["addresses"]] == expected


def test_server_without_addresses_is_the_one_to_repair(tmp_path: Path) -> None:
    server(tmp_path, dict.fromkeys(server(tmp_path, {}), None))
    done = run(tmp_path, "ping", given=WHOLE)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"ailb-host: no color has a usable address here; green: gpu0_eth of {socket.gethostname()} has no usable "
        "address; check there: ailb-host gids\n"
    )


def test_peers_of_100_000_rows(tmp_path: Path) -> None:
    server(tmp_path, {})
    rows = [{"nic": "n", "rail": 9, "color": "c", "address": f"fd00::{number:x}"} for number in range(1, 33)]
    text = "\n".join(json.dumps({"server": f"s{number}", "addresses": rows}) for number in range(3125))
    start = time.monotonic()
    done = run(tmp_path, "ping", given=text)
    assert done.returncode == 3 and "no color and rail in common with s0, s1, " in done.stderr
    assert time.monotonic() - start < 30
