"""The files of an artifact directory: what they are called, and which device each belongs to.

Paths use `/` and are relative: those of a server to its folder, all others to the directory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256

MANIFEST = "manifest.json"
TOPOLOGY = "topology.json"
CABLING = "cabling.csv"

SWITCHES = "switches"
# Curly text, read first where both exist, and set commands.
SUFFIXES = (".conf", ".set")

SERVERS = "servers"
# What `ailb-gen collect` has read of the state of switches.
STATE = "state"
# Root file systems of servers that are configured alike; `servers/NAME` is a symbolic link to one.
PROFILES = "profiles"
# Names of profiles are cut there, and told apart by a digest.
LONGEST = 200

NETPLAN_FOLDER = "etc/netplan"
NETPLAN = f"{NETPLAN_FOLDER}/60-ailb-gpu.yaml"
SYSCTL = "etc/sysctl.d/99-accept-ra.conf"
TABLE_NAMES = "etc/iproute2/rt_tables.d/jnpr_nccl_net.conf"
SCRIPT = "usr/local/sbin/ailb-net"
SCRIPT_UNIT = "etc/systemd/system/ailb-net.service"
ENVIRONMENT = "etc/ailb/nccl.env"
QOS = "usr/local/sbin/ailb-qos"
QOS_UNIT = "etc/systemd/system/ailb-qos.service"
HOST_PROGRAM = "usr/local/sbin/ailb-host"
# What ailb-host knows of the fabric.
HOST_FILE = "etc/ailb/host.json"
DROP_INS = "etc/systemd/network"

# What every server has, and what it has besides for RoCE.
PLAIN_FILES = (NETPLAN, SYSCTL, TABLE_NAMES, SCRIPT, SCRIPT_UNIT, ENVIRONMENT, HOST_FILE, HOST_PROGRAM)
QOS_FILES = (QOS, QOS_UNIT)

# What editors, merges, package managers and version control leave in a folder, and what is for people. Programs that
# read folders go by the end of a name, or leave out names with a dot (run-parts(8)).
LEFT_OVER = re.compile(
    r"[^/]+(?:~|\.(?:bak|old|orig|rej|save|sw[nop]|tmp|dpkg-(?:old|dist|new)|ucf-(?:old|dist|new)|rpm(?:new|save|orig)))"
    r"|#[^/]+#|\.#[^/]+|\.DS_Store|\.git(?:keep|ignore|attributes)|(?:README|LICENSE|NOTICE|CHANGELOG)(?:\.\w+)?"
)


def is_left_over(path: str) -> bool:
    """Tell whether a file is one that no program reads: a backup of an editor or of a merge, or a text for people."""
    return LEFT_OVER.fullmatch(path.rpartition("/")[2]) is not None


def is_artifact(path: str) -> bool:
    """Tell whether a path is one that `generate` or `collect` writes."""
    return path in (MANIFEST, TOPOLOGY, CABLING) or path.partition("/")[0] in (SWITCHES, STATE, SERVERS, PROFILES)


def switch_file(name: str, suffix: str = SUFFIXES[0]) -> str:
    """Return the file of a switch."""
    return f"{SWITCHES}/{name}{suffix}"


def server_folder(name: str) -> str:
    """Return the folder of a server, or the link in its place."""
    return f"{SERVERS}/{name}"


def profile_folder(name: str) -> str:
    """Return the folder of a profile."""
    return f"{PROFILES}/{name}"


def cluster_profile(parts: Sequence[tuple[str, str]]) -> str:
    """Return the name of a cluster's profile, by fabric and profile there; empty if a server is alone in one of them.

    No name of a fabric or of a profile has a plus sign. File systems take names of at most 255 bytes.
    """
    if not all(name for _, name in parts):
        return ""
    whole = "+".join(f"{fabric}+{name}" for fabric, name in parts)
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}+{sha256(whole.encode()).hexdigest()[:16]}"


def drop_in_file(nic: str) -> str:
    """Return networkd's drop-in of a NIC."""
    return f"{DROP_INS}/10-netplan-{nic}.network.d/50-ailb.conf"


def owner(path: str) -> tuple[str, str]:
    """Return the folder at the top of a path and the switch, server or profile it belongs to; empty for other files."""
    folder, _, rest = path.partition("/")
    if folder in (SWITCHES, STATE):
        return folder, rest.rpartition(".")[0]
    return (folder, rest.partition("/")[0]) if folder in (SERVERS, PROFILES) else ("", "")
