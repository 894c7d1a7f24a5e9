"""`ailb-qos` with stand-ins for the vendors' programs: it sets every NIC, and finds what a NIC does not hold."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.design.model import HostNic
from ailb_gen.render.artifacts import RenderOptions
from ailb_gen.render.generate import rendering, write_rendering
from tests.conftest import example
from tests.render import nic_tools

IDS = {"nvidia": "0x15b3", "broadcom": "0x14e4", "thor2": "0x14e4", "amd": "0x1dd8"}
PROGRAMS = {"nvidia": ("mlnx_qos", "cma_roce_tos"), "broadcom": ("dcb",), "thor2": ("dcb",), "amd": ("nicctl",)}
CONTROL = ("disable_prio_vlan_tx", "ecn_marking", "ecn_enable", "cc_mode", "apply")
CLASSES = ("roce_prio", "roce_dscp", "cnp_prio", "cnp_dscp")
TOS = "configfs/rdma_cm/{rdma}/ports/1/default_roce_tos"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="utf-8")


class Server:
    """A server of the lab example whose NICs are of one vendor, as after the start of the driver."""

    def __init__(self, root: Path, script: Path, nics: tuple[HostNic, ...], vendor: str) -> None:
        self.root, self.nics, self.vendor = root, nics, vendor
        self.shell: Sequence[str] = ("/bin/sh",)
        self.script = root / "ailb-qos"
        text = script.read_text(encoding="utf-8")
        self.script.write_text(text.replace("/sys/", f"{root}/sys/"), encoding="utf-8")
        for folder in ("bnxt_re", "rdma_cm"):
            (root / "sys/kernel/config" / folder).mkdir(parents=True)
        self.programs("ip", "mkdir", "rmdir", *PROGRAMS[vendor])
        self.restart()

    def programs(self, *names: str) -> None:
        nic_tools.install(self.root / "bin", self.root, names)

    def restart(self) -> None:
        """Load the driver again: all that was set is lost."""
        state: dict[str, Any] = {}
        for number, nic in enumerate(self.nics):
            mac = f"02:00:00:00:01:{number:02x}"
            write(self.root / f"sys/class/net/{nic.name}/device/vendor", IDS[self.vendor])
            write(self.root / f"sys/class/net/{nic.name}/address", mac)
            write(self.root / TOS.format(rdma=nic.rdma), "0")
            points = {str(dscp): dscp >> 3 for dscp in range(64)}
            own: dict[str, Any] = {"trust": "pcp", "pfc": [0] * 8, "dscp": points}
            if self.vendor == "nvidia":
                for end in ("np", "rp"):
                    write(self.root / f"sys/class/net/{nic.name}/ecn/roce_{end}/enable/3", "0")
                for name in ("cnp_dscp", "cnp_802p_prio"):
                    write(self.root / f"sys/class/net/{nic.name}/ecn/roce_np/{name}", "0")
                write(self.root / f"sys/class/infiniband/{nic.rdma}/tc/1/traffic_class", "Global tclass=0")
            elif self.vendor == "amd":
                own |= {"trust": "PCP", "pause": "NONE", "port": f"02000000-01{number:02x}-4242-4242-000011010000"}
                own |= {"mac": mac.upper(), "pfc": [1] + [0] * 7, "dscp": dict.fromkeys(points, 0)}
            else:
                own = {
                    "prio-pfc": {str(priority): "off" for priority in range(8)},
                    "dgram-port-prio": {},
                    "dscp-prio": {},
                }
                own |= {name: {str(number): "0" for number in range(8)} for name in ("prio-tc", "tc-tsa", "tc-bw")}
                for name in (*CONTROL, *(CLASSES if self.vendor == "broadcom" else ())):
                    write(self.root / f"configfs/bnxt_re/{nic.rdma}/ports/1/cc/{name}", "0")
                profile = int(self.vendor == "thor2")
                write(self.root / f"sys/kernel/debug/bnxt_re/{nic.rdma}/info", f"fw_service_prof_type_sup : {profile}")
            state |= {nic.name: own, nic.rdma: {"tos": 0, "cnp_dscp": 0, "ecn": "Disabled"}}
        (self.root / nic_tools.STATE).write_text(json.dumps(state), encoding="utf-8")

    def change(self, device: str, change: Callable[[Any], object]) -> None:
        """Change what the programs keep of a NIC or an RDMA device."""
        file = self.root / nic_tools.STATE
        state = json.loads(file.read_text(encoding="utf-8"))
        change(state[device])
        file.write_text(json.dumps(state), encoding="utf-8")

    def run(self, *words: str) -> tuple[int, str, list[str]]:
        env = {"PATH": f"{self.root}/bin:{self.root}/base"}
        command = [*self.shell, str(self.script), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=60)
        return done.returncode, done.stdout, done.stderr.splitlines()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("qos") / "lab"
    write_rendering(rendering(example("lab"), root, RenderOptions()))
    return root


@pytest.fixture
def server(tree: Path, tmp_path: Path) -> Callable[[str], Server]:
    host = example("lab").servers[0]
    base = tmp_path / "base"
    base.mkdir()
    for program in ("awk", "cat", "grep", "sed", "timeout"):
        (base / program).symlink_to(f"/usr/bin/{program}")
    script = tree / "servers" / host.name / "usr/local/sbin/ailb-qos"
    return lambda vendor: Server(tmp_path, script, host.config.nics, vendor)


# An awk, and a shell.
PROGRAMS_OF = (("mawk", "dash"), ("gawk", "bash", "--posix"), ("busybox", "busybox", "sh"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("vendor", ["nvidia", "thor2", "amd"])
@pytest.mark.parametrize(
    "programs", [programs for programs in PROGRAMS_OF if all(map(shutil.which, programs[:2]))], ids=" ".join
)
def test_other_shells_and_awks_of_this_machine_do_the_same(
    server: Callable[[str], Server], programs: tuple[str, ...], vendor: str
) -> None:
    host = server(vendor)
    awk, shell, *words = programs
    host.shell = (str(shutil.which(shell)), *words)
    program = host.root / "base/awk"
    program.unlink()
    program.symlink_to(str(shutil.which(awk)))
    code, _, problems = host.run()
    assert (code, problems) == (0, [])
    assert host.run("verify") == (0, "", [])
    host.restart()
    code, _, problems = host.run("verify")
    assert code == 1
    assert {line.split()[1] for line in problems} == {nic.name for nic in host.nics}


def test_a_program_that_hangs_on_one_nic_is_named_and_the_other_nics_are_set(server: Callable[[str], Server]) -> None:
    host = server("nvidia")
    text = host.script.read_text(encoding="utf-8")
    assert "timeout -k 2 10 " in text
    host.script.write_text(text.replace("timeout -k 2 10 ", "timeout -k 0.2 1 "), encoding="utf-8")
    first, last = host.nics[0], host.nics[-1]
    tool = host.root / "bin/mlnx_qos"
    hanging = f"trap '' TERM\n[ $2 != {first.name} ] || /usr/bin/sleep 60\n"
    tool.write_text(tool.read_text(encoding="utf-8").replace("exec", f"{hanging}exec"), encoding="utf-8")
    code, _, problems = host.run()
    told = f"ailb-qos: this does not end: mlnx_qos -i {first.name}"
    assert (code, problems[-1]) == (1, f"ailb-qos: {first.name} ({first.rdma}): not set completely")
    assert f"{told} --trust dscp --pfc {MASK}" in problems
    code, _, problems = host.run("verify")
    assert (code, problems[-1]) == (1, f"ailb-qos: {first.name} ({first.rdma}): cannot be read; is its driver loaded?")
    assert told in problems
    assert not [line for line in problems if last.name in line], "it was set all the same"


@pytest.mark.parametrize("vendor", ["broadcom", "amd"])
def test_nothing_is_left_in_configfs_where_a_nic_fails_or_the_program_is_ended(
    server: Callable[[str], Server], vendor: str
) -> None:
    host = server(vendor)
    for nic in host.nics:
        (host.root / TOS.format(rdma=nic.rdma)).unlink()
        (host.root / TOS.format(rdma=nic.rdma)).mkdir()
    code, _, problems = host.run()
    assert code == 1
    assert f"ailb-qos: {host.nics[0].name} ({host.nics[0].rdma}): not set completely" in problems
    assert list((host.root / "sys/kernel/config").glob("*/*")) == []
    text = host.script.read_text(encoding="utf-8")
    host.script.write_text(text.replace("| write_files", "| kill -TERM $$ && write_files"), encoding="utf-8")
    assert host.run()[0] == 143
    assert list((host.root / "sys/kernel/config").glob("*/*")) == []


def must(nic: HostNic, setting: str, found: str, expected: str) -> str:
    return f"ailb-qos: {nic.name} ({nic.rdma}): {setting} is {found}, it must be {expected}; run ailb-qos"


@pytest.mark.parametrize("vendor", IDS)
def test_what_is_set_is_verified_and_a_driver_restart_is_found_and_repaired(
    server: Callable[[str], Server], vendor: str
) -> None:
    host = server(vendor)
    code, _, problems = host.run("verify")
    assert code == 1
    assert all(any(nic.name in line for line in problems) for nic in host.nics)
    code, _, problems = host.run()
    assert (code, problems) == (0, [])
    assert host.run("verify") == (0, "", [])
    assert host.run("apply")[0] == 0, "it can be run again"
    assert list((host.root / "sys/kernel/config").glob("*/*")) == [], "nothing is left in configfs"
    host.restart()
    assert host.run("verify")[0] == 1
    host.run("apply")
    assert host.run("verify") == (0, "", [])


MASK, NONE = "0,0,0,1,0,0,0,0", "0,0,0,0,0,0,0,0"
NET, RDMA = "sys/class/net/{nic}/ecn/roce_", "sys/class/infiniband/{rdma}/tc/1/traffic_class"
CC = "configfs/bnxt_re/{rdma}/ports/1/cc/"


def pfc_off(nic: dict[str, Any]) -> None:
    nic["pfc"][3] = 0


# What the programs keep is changed by a function, a file by its text; then the line that says so.
LOST: dict[str, dict[tuple[str, str, str], Callable[[Any], object] | tuple[str, str]]] = {
    "nvidia": {
        ("trust", "pcp", "dscp"): lambda nic: nic.update(trust="pcp"),
        ("pfc", NONE, MASK): pfc_off,
        ("dscp2prio", "26,2", "26,3"): lambda nic: nic["dscp"].update({"26": 2}),
        ("traffic_class", "104", "106"): (RDMA, "Global tclass=104"),
        ("traffic_class", "not there", "106"): (RDMA, ""),
        ("cnp_dscp", "46", "48"): (f"{NET}np/cnp_dscp", "46"),
        ("cnp_priority", "0", "6"): (f"{NET}np/cnp_802p_prio", "0"),
        ("ecn_np", "0", "1"): (f"{NET}np/enable/3", "0"),
        ("ecn_rp", "0", "1"): (f"{NET}rp/enable/3", "0"),
    },
    "broadcom": {
        ("pfc", NONE, MASK): lambda nic: nic["prio-pfc"].update({"3": "off"}),
        ("prio2tc", "3,0", "3,1"): lambda nic: nic["prio-tc"].update({"3": "0"}),
        ("dscp2prio", "not there", "26,3"): lambda nic: nic["dscp-prio"].clear(),
        ("trust_dscp", "0", "1"): (f"{CC}disable_prio_vlan_tx", "0x0"),
        ("ecn_marking", "2", "1"): (f"{CC}ecn_marking", "0x2"),
        ("ecn", "0", "1"): (f"{CC}ecn_enable", "0"),
        ("cc_mode", "0", "1"): (f"{CC}cc_mode", "0"),
        ("tos", "104", "106"): (TOS, "104"),
        ("roce_priority", "2", "3"): (f"{CC}roce_prio", "0x2"),
        ("roce_dscp", "24", "26"): (f"{CC}roce_dscp", "0x18"),
        ("cnp_priority", "7", "6"): (f"{CC}cnp_prio", "0x7"),
        ("cnp_dscp", "46", "48"): (f"{CC}cnp_dscp", "0x2e"),
    },
    "thor2": {
        ("cnp_prio2tc", "6,0", "6,2"): lambda nic: nic["prio-tc"].update({"6": "0"}),
        ("cnp_dscp2prio", "48,7", "48,6"): lambda nic: nic["dscp-prio"].update({"48": "7"}),
    },
    "amd": {
        ("trust", "pcp", "dscp"): lambda nic: nic.update(trust="PCP"),
        ("pause", "none", "pfc"): lambda nic: nic.update(pause="NONE"),
        ("no_drop", "not there", "3"): pfc_off,
        ("no_drop", "0 3", "3"): lambda nic: nic.update(pfc=[1, 0, 0, 1, 0, 0, 0, 0]),
        ("dscp2prio", "26,0", "26,3"): lambda nic: nic["dscp"].update({"26": 0}),
        ("cnp_dscp2prio", "48,0", "48,6"): lambda nic: nic["dscp"].update({"48": 0}),
        ("tos", "0", "106"): (TOS, "0"),
    },
}


@pytest.mark.parametrize("vendor", LOST)
def test_every_setting_that_a_nic_lost_is_one_line_with_the_repair(
    server: Callable[[str], Server], vendor: str
) -> None:
    host = server(vendor)
    host.run()
    nic = host.nics[1]
    state = host.root / nic_tools.STATE
    for words, change in LOST[vendor].items():
        before = state.read_text(encoding="utf-8")
        if isinstance(change, tuple):
            file = host.root / change[0].format(nic=nic.name, rdma=nic.rdma)
            kept = file.read_text(encoding="utf-8")
            write(file, change[1])
            assert host.run("verify") == (1, "", [must(nic, *words)])
            file.write_text(kept, encoding="utf-8")
        else:
            host.change(nic.name, change)
            assert host.run("verify") == (1, "", [must(nic, *words)])
            state.write_text(before, encoding="utf-8")
    assert host.run("verify") == (0, "", [])


def test_dcqcn_and_the_tos_of_rdma_devices_are_verified(server: Callable[[str], Server], tmp_path: Path) -> None:
    host = server("amd")
    host.run()
    nic = host.nics[0]
    host.change(nic.rdma, lambda device: device.update(ecn="Disabled", cnp_dscp=46))
    assert host.run("verify")[2] == [must(nic, "cnp_dscp", "46", "48"), must(nic, "ecn", "disabled", "enabled")]


def test_it_calls_the_programs_of_nvidia_as_documented(server: Callable[[str], Server]) -> None:
    host = server("nvidia")
    for program in PROGRAMS["nvidia"]:
        (host.root / "bin" / program).write_text(f'#!/bin/sh\necho {program} "$@"\n', encoding="utf-8")
    code, said, problems = host.run()
    assert (code, problems) == (0, [])
    assert said.splitlines()[:3] == [
        "mlnx_qos -i gpu0_eth --trust dscp --pfc 0,0,0,1,0,0,0,0",
        "mlnx_qos -i gpu0_eth --dscp2prio set,26,3",
        "cma_roce_tos -d mlx5_0 -t 106",
    ]
    assert (host.root / "sys/class/net/gpu1_eth/ecn/roce_np/cnp_dscp").read_text(encoding="utf-8") == "48\n"


def test_show_prints_what_the_nics_hold(server: Callable[[str], Server]) -> None:
    host = server("nvidia")
    host.run()
    code, said, _ = host.run("show")
    assert code == 0
    assert said.splitlines()[:9] == [
        f"gpu0_eth mlx5_0 {setting}"
        for setting in (
            "trust dscp",
            "dscp2prio 26,3",
            f"pfc {MASK}",
            "tos 106",
            "traffic_class 106",
            "cnp_dscp 48",
            "cnp_priority 6",
            "ecn_np 1",
            "ecn_rp 1",
        )
    ]


def test_nics_that_cannot_be_set_are_named_and_the_others_set(server: Callable[[str], Server]) -> None:
    host = server("nvidia")
    first, last = host.nics[0], host.nics[-1]
    write(host.root / f"sys/class/net/{first.name}/device/vendor", "0x8086")
    code, _, problems = host.run()
    strange = f"ailb-qos: {first.name} ({first.rdma}): PCI vendor 0x8086 is not NVIDIA, Broadcom or AMD"
    assert (code, problems) == (1, [f"{strange}; use the tools of its vendor"])
    assert host.run("verify")[2] == problems, "the others are right"
    (host.root / f"sys/class/net/{last.name}").rename(host.root / "pulled")
    assert host.run()[2] == [*problems, f"ailb-qos: {last.name}: there is no such interface"]
    (host.root / "pulled").rename(host.root / f"sys/class/net/{last.name}")
    (host.root / f"sys/class/net/{last.name}/ecn").rename(host.root / "hidden")
    assert f"ailb-qos: {last.name} ({last.rdma}): not set completely" in host.run()[2]


def test_a_missing_program_is_named_once(server: Callable[[str], Server]) -> None:
    host = server("nvidia")
    (host.root / "bin/mlnx_qos").unlink()
    missing = "ailb-qos: mlnx_qos is missing; install iproute2 or the RDMA tools of the NIC's vendor"
    for verb in ("apply", "verify"):
        assert host.run(verb) == (3, "", [missing])


def test_a_driver_without_the_settings_is_named(server: Callable[[str], Server]) -> None:
    host = server("broadcom")
    nic = host.nics[0]
    (host.root / "configfs/bnxt_re" / nic.rdma).rename(host.root / "hidden")
    code, _, problems = host.run("verify")
    assert code == 1
    assert f"ailb-qos: {nic.name} ({nic.rdma}): cannot be read; is its driver loaded?" in problems


def test_an_amd_nic_without_a_port_is_named(server: Callable[[str], Server]) -> None:
    host = server("amd")
    nic = host.nics[0]
    write(host.root / f"sys/class/net/{nic.name}/address", "02:00:00:00:00:99")
    code, _, problems = host.run()
    told = f"ailb-qos: {nic.name}: nicctl shows no port with the MAC address of this NIC"
    assert (code, problems) == (1, [told, f"ailb-qos: {nic.name} ({nic.rdma}): not set completely"])


def test_virtual_interfaces_have_nothing_to_verify(server: Callable[[str], Server]) -> None:
    host = server("nvidia")
    for nic in host.nics:
        (host.root / f"sys/class/net/{nic.name}/device").rename(host.root / f"device-{nic.name}")
    names = " ".join(nic.name for nic in host.nics)
    assert host.run() == (1, "", [f"ailb-qos: not set, because they are no PCI devices: {names}"])
    assert host.run("verify") == (0, "", [])


def test_it_explains_itself(server: Callable[[str], Server]) -> None:
    assert server("nvidia").run("help") == (2, "", ["usage: ailb-qos [apply | verify | show]"])
