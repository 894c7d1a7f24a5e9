"""Variables of NCCL and its network: the values with which RDMA-aware load balancing works, and why no others.

One table for both sides: what `fabric.yaml` may set, and what `validate` says of `nccl.env`. Sources: NVIDIA's NCCL
user guide (environment variables), NCCL's choice of a GID for RoCE, and Juniper's validated design of RDMA load
balancing (Running the NCCL Job, Table 11). Variables that are not in the table are the user's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic.config import JsonDict

from ailb_gen.addresses import BITS, Prefix, address_value

# Ports of RDMA devices count from 1.
DEVICE = r"[\w.-]+(?::[1-9][0-9]{0,2})?"
DEVICES = rf"{DEVICE}(?:,{DEVICE})*"
# `NAME[,NAME…]` of interfaces as the kernel has them; the values of other variables are no names.
INTERFACE = r"(?!none(?:,|$)|AF_)[A-Za-z][\w.-]{0,14}"
BYTE = r"[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5]"
# Variables that choose the interfaces of sockets; NCCL takes prefixes of names, the others whole names.
SOCKETS = re.compile(
    r"(?:NCCL_(?:SOCKET|OOB_NET)|GLOO_SOCKET|TP_SOCKET)_IFNAME|(?:OMPI|PRTE|PMIX)_MCA_\w+_if_include", re.ASCII
)
# Interfaces that no NIC has: to exclude them, as NCCL does by itself, leaves the choice as it was.
VIRTUAL = re.compile(r"\^(?:(?:lo|docker|veth|virbr|br-|cni|cali|flannel|lxc|tun|tap|podman|kube)[\w.-]*(?:,|$))+")
# Variables that say where a job's processes meet, over sockets, and what is no part of the address.
MEETING = {"MASTER_ADDR": re.compile(r"[\[\]]"), "NCCL_COMM_ID": re.compile(r"^\[|\]?:[0-9]+$")}
SOCKET_NAMES = "NCCL_SOCKET_IFNAME"
QUEUE_PAIRS = "NCCL_IB_QPS_PER_CONNECTION"
# Variables that list the RDMA devices of a server.
DEVICE_LISTS = ("UCX_NET_DEVICES", "NCCL_IB_HCA")
ONLY_RDMA = "sockets have no routes to other leaves, only RDMA does"
CLASS = "four times the DSCP of roce, 104 to 107 by default"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: the pattern of whole values that work, these values in words, and what others do.

    With `quiet`, it may stand in `nccl.env` although the intent does not set it.
    """

    pattern: str
    values: str
    why: str
    quiet: bool = False


VARIABLES: dict[str, Variable] = {
    "NCCL_NET_PLUGIN": Variable(
        r"juniper-ib|(?:/[\w./-]*/)?libnccl-net-juniper-ib\.so",
        "juniper-ib",
        "only this plug-in gives every queue pair its own address",
    ),
    "NCCL_NET": Variable(
        r"(?i:(?!socket$|none$))[A-Za-z][\w.-]*",
        "the name of the plug-in's network",
        "sockets carry no RDMA, and no queue pairs",
    ),
    "NCCL_IB_DISABLE": Variable(r"0", "0", "without RDMA there are no queue pairs", quiet=True),
    QUEUE_PAIRS: Variable(
        r"[1-9]|[1-9][0-9]|1[01][0-9]|12[0-8]", "1 to 128, best the number of colors", "NCCL supports no other numbers"
    ),
    "NCCL_IB_SPLIT_DATA_ON_QPS": Variable(r"1", "1", "otherwise a message uses one queue pair, and so one color"),
    "NCCL_IB_ADDR_FAMILY": Variable(r"AF_INET6", "AF_INET6", "the NICs of the fabric have only IPv6 addresses"),
    "NCCL_SOCKET_FAMILY": Variable(r"AF_INET6", "AF_INET6", "the NICs of the fabric have only IPv6 addresses"),
    SOCKET_NAMES: Variable(
        rf"\^?=?{INTERFACE}(?:,{INTERFACE})*",
        "the management NIC, such as eno1",
        "NCCL reads names of interfaces separated by commas",
    ),
    "NCCL_SOCKET_NTHREADS": Variable(r"[1-9]|1[0-6]", "1 to 16", "NCCL supports no other numbers"),
    "NCCL_NSOCKS_PERTHREAD": Variable(r"[1-9]|1[0-6]", "1 to 16", "NCCL supports no other numbers"),
    "NCCL_IB_GID_INDEX": Variable(
        r"-1", "-1, or leave it out", "a fixed GID gives all queue pairs the same address, and so one color"
    ),
    "NCCL_IB_ROCE_VERSION_NUM": Variable(r"2", "2", "RoCE version 1 is not routed", quiet=True),
    "NCCL_IB_TC": Variable(BYTE, CLASS, "it is one byte of the header, and switches use its DSCP"),
    "NCCL_IB_FIFO_TC": Variable(BYTE, CLASS, "it is one byte of the header, and switches use its DSCP"),
    "NCCL_IB_SL": Variable(r"[0-9]|1[0-5]", "0 to 15", "verbs support no other service levels"),
    "NCCL_IB_HCA": Variable(
        rf"\^?=?{DEVICES}",
        "a list of all RDMA devices of GPU NICs, such as =mlx5_0,mlx5_1",
        "NCCL reads names of RDMA devices separated by commas",
    ),
    # 4.096 µs x 2^n: shorter than 67 ms a repair of the fabric breaks jobs, and 22 is the most that verbs take.
    "NCCL_IB_TIMEOUT": Variable(
        r"1[4-9]|2[0-2]", "14 to 22", "with less, a repair of the fabric breaks jobs; verbs support no more", quiet=True
    ),
    "NCCL_IB_RETRY_CNT": Variable(
        r"[1-7]", "1 to 7", "without a retry, one lost packet ends a job; verbs support no more", quiet=True
    ),
    "NCCL_IB_ADAPTIVE_ROUTING": Variable(r"[01]", "0 or 1", "NCCL supports no other values"),
    "NCCL_IB_PCI_RELAXED_ORDERING": Variable(r"[012]", "0, 1 or 2", "NCCL supports no other values"),
    "NCCL_CROSS_NIC": Variable(r"[012]", "0, 1 or 2", "NCCL supports no other values"),
    "NCCL_PXN_DISABLE": Variable(r"[01]", "0 or 1", "NCCL supports no other values"),
    "UCX_IB_GID_INDEX": Variable(
        rf"auto|(?!0$)(?:{BYTE})", "auto or 1 to 255", "0 is the link-local address, and UCX supports no other values"
    ),
    "UCX_NET_DEVICES": Variable(
        rf"all|{DEVICES}", "a list such as mlx5_0:1,mlx5_1:1", "UCX reads names of devices separated by commas"
    ),
    "LD_LIBRARY_PATH": Variable(
        r"/[^:]*(?::/[^:]*)*", "absolute directories, separated by colons", "the plug-in would not be found"
    ),
}


@dataclass(frozen=True, slots=True)
class NcclNetwork:
    """What a server has of the fabric: its RDMA devices and NICs, the DSCP of RDMA data, None without RoCE; the pool.

    `pool` holds the addresses of GPU NICs.
    """

    rdma: Sequence[str]
    dscp: int | None
    nics: Sequence[str] = ()
    pool: Prefix | None = None


def faults(environment: dict[str, str], network: NcclNetwork) -> dict[str, tuple[str, str]]:
    """Return why values do not work, and which do, by the name of the variable."""
    found = {}
    for name, value in environment.items():
        variable = VARIABLES.get(name)
        if variable is not None and re.fullmatch(variable.pattern, value, re.ASCII) is None:
            found[name] = (variable.why, variable.values)
        elif fault := _fault(name, value, environment, network):
            found[name] = fault
    return found


def uneven(queue_pairs: int, colors: int) -> str:
    """Return why another number of queue pairs per connection than colors costs bandwidth; empty for the same."""
    if queue_pairs == colors:
        return ""
    if queue_pairs < colors:
        return f"a connection loads {queue_pairs} of its {colors} uplinks, and the others stay empty"
    if queue_pairs % colors:
        return f"{queue_pairs % colors} of the {colors} colors carry one queue pair more than the others"
    times = queue_pairs // colors
    return f"{times} queue pairs per color make all-to-all slower (28.1 for 43.6 Gbps in the design guide's Table 12)"


def _fault(name: str, value: str, environment: dict[str, str], network: NcclNetwork) -> tuple[str, str] | None:
    """Return what is wrong with a value that depends on others."""
    if name in ("NCCL_IB_TC", "NCCL_IB_FIFO_TC") and network.dscp is not None and int(value) >> 2 != network.dscp:
        first = network.dscp << 2
        return (
            f"it is DSCP {int(value) >> 2}, and the lossless class has DSCP {network.dscp}",
            f"{first} to {first + 3}",
        )
    if name == "NCCL_IB_HCA":
        missing = [one for one in network.rdma if not _selects(value, one)]
        if missing:
            return f"it lacks {missing[0]}, a GPU's only NIC on the fabric", f"={','.join(network.rdma)}"
    if name == "UCX_NET_DEVICES" and value != "all":
        listed = [device.partition(":")[0] for device in value.split(",")]
        sockets = [device for device in listed if device in network.nics and device not in network.rdma]
        if sockets or (network.rdma and set(network.rdma).isdisjoint(listed)):
            why = f"{(sockets or listed)[0]} is not an RDMA device of a GPU NIC"
            return why, ",".join(f"{device}:1" for device in network.rdma)
    if name == "NCCL_NSOCKS_PERTHREAD":
        threads = environment.get("NCCL_SOCKET_NTHREADS", "")
        if threads.isdecimal() and len(threads) < 3 and int(threads) * int(value) > 64:
            return f"with {threads} threads these are more than 64 sockets", f"1 to {max(1, 64 // int(threads))}"
    return _sockets(name, value, network)


def _sockets(name: str, value: str, network: NcclNetwork) -> tuple[str, str] | None:
    """Return what is wrong with a value that says where sockets go, or to what."""
    if SOCKETS.fullmatch(name):
        chosen = [nic for nic in network.nics if _takes(name, value, nic)]
        if chosen:
            why = f"it lets sockets use {chosen[0]}, a GPU NIC: {ONLY_RDMA}"
            return why, "the management NIC, such as eno1"
    if name in MEETING and network.pool is not None:
        address = address_value(MEETING[name].sub("", value))
        if address is not None and network.pool.contains(Prefix(address, BITS)):
            return f"{value} is the address of a GPU NIC: {ONLY_RDMA}", "an address of the management network"
    return None


def _takes(name: str, value: str, nic: str) -> bool:
    """Return whether sockets may use a NIC that a variable names; without the variable they take another one."""
    if name.startswith("NCCL_"):
        return _selects(value, nic) and VIRTUAL.fullmatch(value) is None
    return nic in value.split(",")


def _selects(value: str, device: str) -> bool:
    """Return whether a value of NCCL selects a device or interface: names are prefixes unless `=` stands in front."""
    names = [name.partition(":")[0] for name in value.lstrip("^=").split(",")]
    exact = value.lstrip("^").startswith("=")
    listed = any(device == name if exact else device.startswith(name) for name in names)
    return listed != value.startswith("^")


def schema() -> JsonDict:
    """Return the part of a JSON Schema that shows the table."""
    return {
        "properties": {
            name: {
                "type": "string",
                "description": f"{one.values}; {one.why}",
                "pattern": f"^(?:{_plain(one.pattern)})$",
            }
            for name, one in VARIABLES.items()
        }
    }


def _plain(pattern: str) -> str:
    """Write a pattern as ECMAScript has it, which lacks flags inside of expressions."""
    return pattern.replace("(?i:(?!socket$|none$))", "(?![sS][oO][cC][kK][eE][tT]$|[nN][oO][nN][eE]$)")
