"""Stand-ins for the programs that set NICs: mlnx_qos, cma_roce_tos, dcb, nicctl; and for configfs.

Written by this project from public documentation, not copied from a NIC: the manual pages dcb-ets(8), dcb-pfc(8),
dcb-app(8); NVIDIA's and AMD's documentation with sample outputs; bnxt_setupcc.sh of Broadcom's driver.
Each keeps what a NIC holds in a JSON file. What it does not know it refuses.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

# Every call of a program is a new process: what only types need takes a third of its time.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

TOOLS = ("mlnx_qos", "cma_roce_tos", "dcb", "nicctl", "ip", "mkdir", "rmdir")
STATE = "nics.json"


def install(folder: Path, root: Path, tools: Sequence[str] = TOOLS) -> None:
    """Write programs to a folder that keep the NICs of a root directory."""
    folder.mkdir(exist_ok=True)
    # An imported module is compiled once, a program every time.
    code = f"import sys; sys.path.append({str(Path(__file__).parent)!r}); import nic_tools; nic_tools.main()"
    for tool in tools:
        path = folder / tool
        # Whether the interface exists that the last word names.
        text = f'for last; do :; done\n[ -e "{root}/sys/class/net/$last" ]\n'
        if tool != "ip":
            text = f'exec {sys.executable} -IS -c "{code}" {root} {tool} "$@"\n'
        path.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
        path.chmod(0o755)


def _refused(words: Sequence[str]) -> str:
    return f"stand-in: not understood: {' '.join(words)}"


def mlnx_qos(state: dict[str, Any], words: list[str]) -> str:
    """Set trust, PFC or the priority of a DSCP, and print the sections that the program prints."""
    nic = state[words[words.index("-i") + 1]]
    options = dict(zip(words[2::2], words[3::2], strict=True))
    nic["trust"] = options.pop("--trust", nic["trust"])
    if "--pfc" in options:
        nic["pfc"] = [int(flag) for flag in options.pop("--pfc").split(",")]
    if "--dscp2prio" in options:
        _, dscp, own = options.pop("--dscp2prio").split(",")
        nic["dscp"][dscp] = int(own)
    if options:
        return _refused(words)
    lines = ["DCBX mode: OS controlled", f"Priority trust state: {nic['trust']}", "dscp2prio mapping:"]
    for priority in range(8):
        points = sorted((int(dscp) for dscp, own in nic["dscp"].items() if own == priority), reverse=True)
        rows = [points[at : at + 8] for at in range(0, len(points), 8)]
        lines += [f"        prio:{priority} dscp:{''.join(f'{dscp:02},' for dscp in row)}" for row in rows]
    numbers = "   ".join(str(flag) for flag in nic["pfc"])
    lines += ["default priority:", "Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,", "Cable len: 7"]
    lines += ["PFC configuration:", "\tpriority    0   1   2   3   4   5   6   7", f"\tenabled     {numbers}   "]
    return "\n".join(
        [*lines, "\tbuffer      0   0   0   1   0   0   0   0   ", "tc: 0 ratelimit: unlimited, tsa: vendor"]
    )


def cma_roce_tos(state: dict[str, Any], words: list[str]) -> str:
    """Set and print the ToS of librdmacm."""
    if words[:1] != ["-d"] or words[2:3] not in ([], ["-t"]):
        return _refused(words)
    device = state[words[1]]
    device["tos"] = int(words[3]) if len(words) > 2 else device["tos"]
    return str(device["tos"])


def _mapped(pairs: Sequence[str], known: dict[str, Any]) -> None:
    for pair in pairs:
        key, _, value = pair.partition(":")
        for one in known if key == "all" else (key,):
            known[one] = value


def dcb(state: dict[str, Any], words: list[str]) -> str:
    """Set or show ETS, PFC or APP of a NIC, as iproute2 does."""
    numeric = words[0] == "-N"
    part, verb, dev, name, *rest = words[numeric:]
    nic = state[name]
    known = {"ets": ("prio-tc", "tc-tsa", "tc-bw"), "pfc": ("prio-pfc",), "app": ("dgram-port-prio", "dscp-prio")}
    if dev != "dev" or verb not in ("show", "replace" if part == "app" else "set"):
        return _refused(words)
    table = ""
    for word in rest:
        if word in known[part]:
            table = word
        elif verb == "show" or not table:
            return _refused(words)
        else:
            _mapped([word], nic[table])
    if nic["tc-bw"] and sum(map(int, nic["tc-bw"].values())) > 100:
        return _refused(words)
    if verb != "show":
        return ""
    names = {"26": "AF31", "48": "CS6"} if table == "dscp-prio" and not numeric else {}
    return " ".join([table, *(f"{names.get(key, key)}:{value}" for key, value in sorted(nic[table].items()))])


def _ranges(points: Sequence[int]) -> str:
    starts = [point for point in points if point - 1 not in points]
    ends = [point for point in points if point + 1 not in points]
    return ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in zip(starts, ends, strict=True))


def _nic_header(number: int, nic: dict[str, Any]) -> list[str]:
    return [
        f"NIC  : 42424650-4c32-3531-3230-{number:012d} (0000:{number:02x}:00.0)",
        "",
        f"Port : {nic['port']} (eth1/1)",
    ]


def _show_qos(number: int, nic: dict[str, Any]) -> list[str]:
    lines = [
        *_nic_header(number, nic),
        "",
        f"  Classification type         : {nic['trust']}",
        "",
        "  DSCP-to-priority :",
    ]
    for priority in range(8):
        points = [int(dscp) for dscp, own in nic["dscp"].items() if own == priority]
        if points:
            bits = sum(1 << point for point in points)
            lines += [f"    DSCP bitmap               : {bits:#018x} ==> priority : {priority}"]
            lines += [f"    DSCP                      : {_ranges(points)} ==> priority : {priority}"]
    lossless = ",".join(str(priority) for priority, flag in enumerate(nic["pfc"]) if flag)
    return [
        *lines,
        "  PFC :",
        f"    PFC priority bitmap       : 0x{8:x}",
        f"    PFC no-drop priorities    : {lossless}",
    ]


def _show_port(number: int, nic: dict[str, Any]) -> list[str]:
    rows = {"Admin state": "UP", "Pause type": nic["pause"], "MTU": 9216}
    lines = [*_nic_header(number, nic), "  Spec:", *(f"    {key:41}: {value}" for key, value in rows.items())]
    return [*lines, "  Status:", f"    {'MAC address':41}: {nic['mac']}"]


def nicctl(state: dict[str, Any], words: list[str]) -> str:
    """Set or show QoS, ports and DCQCN of AMD's NICs."""
    cards = {name: nic for name, nic in state.items() if "port" in nic}
    if words[:2] in (["show", "port"], ["show", "qos"]):
        show = _show_port if words[1] == "port" else _show_qos
        return "\n".join(line for number, nic in enumerate(cards.values()) for line in show(number, nic))
    if words[:3] == ["update", "qos", "--classification-type"]:
        for nic in cards.values():
            nic["trust"] = words[3].upper()
        return ""
    options = dict(pairwise(words))
    if words[1] == "dcqcn" and options["-i"] == "1":
        device = state[options["-r"]]
        if words[0] == "update":
            device.update(cnp_dscp=int(options["--cnp-dscp"]), ecn="Enabled")
            return ""
        return (
            f"ROCE device : {options['-r']}\nStatus : {device['ecn']}\nDSCP value used for CNP : {device['cnp_dscp']}"
        )
    nic = next(nic for nic in cards.values() if nic["port"] == options["-p"])
    if words[:2] == ["update", "port"] and options["--rx-pause"] == options["--tx-pause"] == "enable":
        nic["pause"] = options["--pause-type"].upper()
    elif words[:2] == ["update", "qos"] and words[4] == "dscp-to-priority":
        nic["dscp"][options["--dscp"]] = int(options["--priority"])
    elif words[:2] == ["update", "qos"] and words[4] == "pfc":
        nic["pfc"][int(options["--priority"])] = int(options["--no-drop"] == "enable")
    else:
        return _refused(words)
    return ""


def main() -> None:
    """Do what a program does; exits with 1 and an error for what it does not know."""
    root, tool, words = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if tool in ("mkdir", "rmdir"):
        # The kernel fills a directory of configfs; what it shows is below `configfs`.
        for path in map(Path, words[words[:1] == ["-p"] :]):
            item = root / "configfs" / path.relative_to(root / "sys/kernel/config")
            if tool == "rmdir":
                path.unlink()
            elif item.exists() and not path.exists():
                path.symlink_to(item)
            elif not item.exists():
                sys.exit(f"mkdir: cannot create directory '{path}': No such device")
        return
    state = json.loads((root / STATE).read_text(encoding="utf-8"))
    said = {"mlnx_qos": mlnx_qos, "cma_roce_tos": cma_roce_tos, "dcb": dcb, "nicctl": nicctl}[tool](state, words)
    if said.startswith("stand-in: "):
        sys.exit(said)
    (root / STATE).write_text(json.dumps(state), encoding="utf-8")
    sys.stdout.write(f"{said}\n")
