"""What a hostile switch or server costs a run: its own device, a bounded amount of memory and time, and no signal."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.deploy.attacks import LOOKS, OF_STATE, PROBES, SWITCH
from tests.network.lab import LAB

# Only of leaves, `verify` asks for routes.
LEAVES = [f"stripe{s}-leaf{n}" for s in (1, 2) for n in (1, 2)]
SWITCHES = [*LEAVES, *(f"spine{n}" for n in range(1, 5))]
SERVERS = [f"gpu-s{s}-{n}" for s in (1, 2) for n in (1, 2)]
DEVICES = {"switch": SWITCHES, "server": SERVERS}
# An attack: the kind of device, the attack's name, what it is the answer to.
Attack = tuple[str, str, str]
# The whole program's; and a third of it is what the program is without any answer.
MEMORY_MIB, CPU_S = 256, 60
CONFIG = "get-configuration"
BUG = re.compile(r"Traceback|this is a bug")


@dataclass(frozen=True)
class Cost:
    """How a run ended: exit code, output, memory in MiB, CPU seconds."""

    code: int
    out: str
    memory: int
    cpu: float


def hostile(attacks: Sequence[Attack]) -> list[str]:
    """Return the devices of the lab that attack, one for each attack."""
    left = {kind: iter(names) for kind, names in DEVICES.items()}
    return [next(left[kind]) for kind, _, _ in attacks]


@contextmanager
def attacked(attacks: Sequence[Attack], folder: Path, timeout_s: int = 60) -> Iterator[subprocess.Popen[str]]:
    """Serve attacks, one each of a device, and write the inventory that leads there.

    Gives the process, which prints a line when an attack begins.
    """
    names = hostile(attacks)
    words = [sys.executable, "-m", "tests.deploy.attacks", *(word for attack in attacks for word in attack)]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sort, key, *ports = process.stdout.readline().split()
        port_of = dict(zip(names, map(int, ports), strict=True))
        hosts: dict[str, dict[str, object]] = {
            name: {"hostname": "127.0.0.1", "port": port_of.get(name, closed)}
            for closed, name in enumerate([*SWITCHES, *SERVERS], 9)
        }
        defaults = {
            "username": "root", "password": {"env": "AILB_TEST"}, "agent": False,
            "data": {"known_hosts": "known_hosts", "ssh_config": "none"},
            "options": {"timeout_s": timeout_s, "connect_timeout_s": 60},
        }  # fmt: skip
        folder.joinpath("hosts.yaml").write_text(yaml.safe_dump(hosts))
        folder.joinpath("defaults.yaml").write_text(yaml.safe_dump(defaults))
        folder.joinpath("known_hosts").write_text("".join(f"[127.0.0.1]:{port} {sort} {key}\n" for port in ports))
        try:
            yield process
        finally:
            process.stdin.close()


def _peak_mib(pid: int) -> int:
    """Return the most memory that a process has had since it was started; 0 once it is gone."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace"))
    return int(found[1]) >> 10 if found else 0


def start(attacks: Sequence[Attack], verb: str, folder: Path) -> subprocess.Popen[str]:
    """Start the program on the devices that attack."""
    words = [sys.executable, "-m", "ailb_gen", verb, str(ROOT / "examples/lab/fabric.yaml")]
    words += [] if verb == "collect" else [str(LAB)]
    words += ["-i", str(folder), "--limit", ",".join(hostile(attacks))]
    more = {"collect": ["-o", str(folder / "out")], "deploy": ["--state", str(folder / "state"), "--yes"]}
    words += more.get(verb, [])
    environment = {**os.environ, "AILB_TEST": "secret"}
    with (folder / "told").open("w") as out:
        process = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT, text=True)
    # A run that takes too much fails instead of the machine.
    resource.prlimit(process.pid, resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.prlimit(process.pid, resource.RLIMIT_CPU, (2 * CPU_S, 2 * CPU_S))
    return process


def ended(process: subprocess.Popen[str], folder: Path) -> Cost:
    """Wait for the end of a run."""
    # What the kernel reports at the end counts the memory of the test's own process at the fork, too.
    memory, gone = 0, 0
    while not gone:
        memory = max(memory, _peak_mib(process.pid))
        time.sleep(0.01)
        gone, status, used = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(process.returncode, (folder / "told").read_text(), memory, used.ru_utime + used.ru_stime)


# The verbs share what reads an answer: each of them meets some of the attacks.
VERBS = ("plan", "drift", "collect")
RPCS = ("get-bgp-summary-information", "get-alarm-information", "get-commit-information")
STATE = {
    "get-bgp-summary-information": ("collect", "verify", "plan"),
    "get-alarm-information": ("collect", "drift", "deploy"),
    "get-commit-information": ("collect",),
    "get-route-information": ("verify",),
    "get-interface-information": ("verify",),
    "get-forwarding-table-information": ("verify",),
    "get-ipv6-ra-information": ("collect", "verify"),
    "get-lldp-neighbors-information": ("collect",),
}
OF_ROWS = ("elements", "names", "attributes", "comments", "entities", "wide text", "errors", "no XML")
CASES: list[tuple[str, Attack]] = [
    *(
        (VERBS[number % len(VERBS)], ("switch", attack, CONFIG))
        for number, attack in enumerate(SWITCH)
        if attack not in ("silence", "drip", "slow")
    ),
    *(("collect", ("switch", attack, RPCS[number % len(RPCS)])) for number, attack in enumerate(OF_ROWS)),
    *(
        (VERBS[1 + number % 2], ("server", attack, "look"))
        for number, attack in enumerate(LOOKS)
        if attack != "silence"
    ),
    *(("verify", ("server", attack, "probe")) for attack in PROBES),
    # Every second attack for each, and the others for the next.
    *(
        (verbs[number // 2 % len(verbs)], ("switch", one, rpc))
        for first, (rpc, verbs) in enumerate(STATE.items())
        for number, one in enumerate(OF_STATE)
        if (first + number) % 2 == 0
    ),
]


# What takes most of `drift` each, all at once.
HEAVY: list[Attack] = [
    *(("switch", attack, CONFIG) for attack in ("policies", "settings", "ports", "wildcards") * 2),
    *(("server", attack, "look") for attack in ("sections", "dots", "lines", "a large file")),
]


def fleets() -> Iterator[tuple[str, list[Attack]]]:
    """Yield verbs, and the attacks that meet each at once: as many as are asked."""
    for verb in dict.fromkeys(verb for verb, _ in CASES):
        most = {"switch": len(LEAVES if verb == "verify" else SWITCHES), "server": len(SERVERS)}
        mine = {kind: [attack for one, attack in CASES if one == verb and attack[0] == kind] for kind in DEVICES}
        while any(mine.values()):
            taken = [attack for kind in DEVICES for attack in mine[kind][: most[kind]]]
            mine = {kind: left[most[kind] :] for kind, left in mine.items()}
            yield verb, taken


FLEETS = [*fleets(), ("drift", HEAVY)]


@pytest.mark.sampled(10, 6)
@pytest.mark.parametrize(("verb", "attacks"), FLEETS, ids=[f"{verb}-{attacks[0][1]}" for verb, attacks in FLEETS])
def test_attacks_cost_their_own_devices_only(verb: str, attacks: list[Attack], tmp_path: Path) -> None:
    """All at once cost no more memory than one may."""
    with attacked(attacks, tmp_path, timeout_s=600) as devices:
        cost = ended(start(attacks, verb, tmp_path), tmp_path)
        told, _ = devices.communicate()
    # A device that nobody asked tells nothing, and proves nothing.
    assert {int(line.split()[1]) for line in told.splitlines()} == set(range(len(attacks))), (told, cost)
    assert cost.code in (0, 1, 2, 3), cost
    assert not BUG.search(cost.out), cost.out
    assert cost.memory <= MEMORY_MIB, cost
    assert cost.cpu <= len(attacks) * CPU_S, cost


EVERYWHERE = [
    (("switch", "settings", CONFIG), "plan"),
    (("server", "objects", "probe"), "verify"),
    pytest.param(("switch", "lines of words", CONFIG), "plan", marks=pytest.mark.exhaustive),
    pytest.param(("switch", "long values", "get-interface-information"), "verify", marks=pytest.mark.exhaustive),
]


@pytest.mark.long
@pytest.mark.parametrize(("attack", "verb"), EVERYWHERE)
def test_many_hostile_devices_share_the_memory(attack: Attack, verb: str, tmp_path: Path) -> None:
    attacks = [attack] * len(DEVICES[attack[0]])
    with attacked(attacks, tmp_path):
        cost = ended(start(attacks, verb, tmp_path), tmp_path)
    # What cannot be planned, or no answer in time: they share the processor, too. What is verified is not right.
    assert cost.code in ((1, 3) if verb == "verify" else (2, 3)), cost
    assert not BUG.search(cost.out), cost.out
    assert cost.memory <= MEMORY_MIB, cost


@pytest.mark.parametrize(("attack", "timeout_s"), [(("switch", "drip", CONFIG), 1), (("switch", "slow", "any"), 3)])
def test_all_answers_together_have_a_deadline(attack: Attack, timeout_s: int, tmp_path: Path) -> None:
    """A byte per second; and answers of which each comes in time."""
    with attacked([attack], tmp_path, timeout_s):
        cost = ended(start([attack], "collect", tmp_path), tmp_path)
    assert cost.code == 3, cost
    assert f"{SWITCHES[0]}: " in cost.out
    assert "no answer in time" in cost.out


INT, TERM, HUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
SIGNALLED = [
    (("switch", "entities", CONFIG), "plan", INT), (("switch", "entities", CONFIG), "deploy", TERM),
    (("switch", "settings", CONFIG), "plan", HUP), (("switch", "settings", CONFIG), "deploy", INT),
    (("switch", "comments", CONFIG), "drift", TERM), (("switch", "silence", CONFIG), "collect", HUP),
    (("server", "silence", "look"), "drift", TERM), (("server", "silence", "probe"), "verify", INT),
]  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("attack", "verb", "number"), SIGNALLED)
def test_a_signal_ends_the_run(attack: Attack, verb: str, number: int, tmp_path: Path) -> None:
    """Long before the deadline of an answer; what was seen of the device is not compared to the end."""
    with attacked([attack], tmp_path, timeout_s=600) as device:
        process = start([attack], verb, tmp_path)
        assert device.stdout is not None
        assert device.stdout.readline() == "asked 0\n"
        process.send_signal(number)
        cost = ended(process, tmp_path)
    # What is over already when the signal comes has an end of its own.
    assert cost.code in (128 + number, -number, 1, 3), cost
    assert not BUG.search(cost.out), cost.out
    assert cost.cpu <= CPU_S / 4, cost
