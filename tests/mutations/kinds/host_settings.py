"""Damage to the servers' sysctls, units, names of tables, environment, and MACs."""

from __future__ import annotations

from tests.mutations.edits import add, borrow, delete, put, replace, rewrite, swap
from tests.mutations.kind import kind
from tests.mutations.kinds.netplan import FILE, HOST
from tests.mutations.spots import Selector, files, line, text
from tests.mutations.tree import Changes, Tree

SYSCTL = "*/etc/sysctl.d/99-accept-ra.conf"
NAMES = "*/etc/iproute2/rt_tables.d/jnpr_nccl_net.conf"
ENV = "*/etc/ailb/nccl.env"
DROP_IN = "*/etc/systemd/network/*/50-ailb.conf"
NET_UNIT = "*/etc/systemd/system/ailb-net.service"
QOS_UNIT = "*/etc/systemd/system/ailb-qos.service"
NAME = line(NAMES, r"\d+ \w+")
TOPOLOGY = "topology.json"
WITH_MACS = ("brownfield",)


def sysctl(name: str) -> Selector:
    """Select the lines of one setting."""
    return line(SYSCTL, rf"net\.ipv6\.conf\.\w+\.{name} = \d+")


def renamed_drop_in(tree: Tree) -> list[Changes]:
    """Move every drop-in, one at a time, to a NIC that is not there."""
    return [{path: None, path.replace("gpu", "old"): tree[path]} for path in files(tree, DROP_IN)]


SYSCTLS = (
    kind(
        "sysctl-accept-ra-off",
        "the kernel ignores router advertisements",
        replace(sysctl("accept_ra"), r"= (\d)", "0"),
        HOST,
    ),
    kind("sysctl-accept-ra-missing", "accept_ra is not set", delete(sysctl("accept_ra")), HOST),
    kind(
        "sysctl-defrtr",
        "default routes of the leaves reach the main table",
        replace(sysctl("accept_ra_defrtr"), r"= (\d)", "1"),
        HOST,
    ),
    kind("sysctl-defrtr-missing", "accept_ra_defrtr is not set", delete(sysctl("accept_ra_defrtr")), HOST),
    kind("sysctl-autoconf", "the kernel forms no addresses", replace(sysctl("autoconf"), r"= (\d)", "0"), HOST),
    kind("sysctl-autoconf-missing", "autoconf is not set", delete(sysctl("autoconf")), HOST),
    kind("sysctl-addr-gen-mode", "addresses are not EUI-64", replace(sysctl("addr_gen_mode"), r"= (\d)", "1"), HOST),
    kind("sysctl-addr-gen-mode-missing", "addr_gen_mode is not set", delete(sysctl("addr_gen_mode")), HOST),
    kind(
        "sysctl-tempaddr",
        "the kernel prefers temporary addresses",
        replace(sysctl("use_tempaddr"), r"= (\d)", "2"),
        HOST,
    ),
    kind("sysctl-tempaddr-missing", "use_tempaddr is not set", delete(sysctl("use_tempaddr")), HOST),
    kind(
        "sysctl-nic", "a setting is for a NIC that is not there", replace(sysctl(r"\w+"), r"conf\.(\w+)", "eth7"), HOST
    ),
    kind(
        "sysctl-nic-missing",
        "a NIC has no settings",
        delete(text(SYSCTL, r"^(?:net\.ipv6\.conf\.gpu1_eth\..*\n)+")),
        HOST,
    ),
    kind(
        "sysctl-ipv6-off",
        "IPv6 is off on a NIC",
        replace(sysctl("accept_ra"), r"\A()", "net.ipv6.conf.gpu0_eth.disable_ipv6 = 1\n"),
        HOST,
    ),
    kind(
        "sysctl-max-addresses",
        "a NIC can have too few addresses",
        replace(sysctl("accept_ra"), r"\A()", "net.ipv6.conf.gpu0_eth.max_addresses = 2\n"),
        HOST,
    ),
    kind(
        "sysctl-overridden",
        "a later line undoes a setting",
        replace(text(SYSCTL, r"\A(?s:.+)"), r"\Z()", "net.ipv6.conf.gpu0_eth.accept_ra = 0\n"),
        HOST,
    ),
    kind(
        "sysctl-forwarding",
        "a host that forwards ignores router advertisements",
        replace(sysctl("accept_ra"), r"\A()", "net.ipv6.conf.all.forwarding = 1\n"),
        HOST,
    ),
    kind("sysctl-garbled", "a line is no assignment", replace(sysctl("accept_ra"), r"( = )", " "), HOST),
    kind("sysctl-empty", "the file of sysctls is empty", rewrite(SYSCTL, lambda _: b""), HOST),
)

TABLES = (
    kind("table-name-missing", "a table has no name", delete(NAME), HOST),
    kind("table-number", "a table's name is of another number", replace(NAME, r"^(\d+)", add(200)), HOST),
    kind("table-names-swapped", "two tables have each other's name", swap(NAME, r" (\w+)"), HOST),
    kind("table-numbers-equal", "a number has two names", borrow(NAME, r"^(\d+)"), HOST),
    kind("table-name", "a table has another name", replace(NAME, r"subnet(\d+)", add(10)), HOST),
    kind("table-reserved", "a table has the number of the main table", replace(NAME, r"^(\d+)", "254"), HOST),
    kind("table-garbled", "a line of rt_tables is no number and name", replace(NAME, r"( )", ""), HOST),
)

UNITS = (
    kind(
        "drop-in-gateway",
        "networkd takes the leaves' default routes",
        replace(line(DROP_IN, "UseGateway=no"), "=(no)", "yes"),
        HOST,
    ),
    kind(
        "drop-in-no-gateway", "a drop-in does not speak of default routes", delete(line(DROP_IN, "UseGateway=no")), HOST
    ),
    kind(
        "drop-in-dns",
        "networkd takes DNS servers of the leaves",
        replace(line(DROP_IN, "UseDNS=no"), "=(no)", "yes"),
        HOST,
    ),
    kind(
        "drop-in-section",
        "a drop-in has another section",
        replace(line(DROP_IN, r"\[IPv6AcceptRA\]"), r"\[(.+)\]", "Network"),
        HOST,
    ),
    kind("drop-in-no-section", "a drop-in has no section", delete(line(DROP_IN, r"\[IPv6AcceptRA\]")), HOST),
    kind("drop-in-of-another-nic", "a drop-in is for a NIC that is not there", put(renamed_drop_in), HOST),
    kind(
        "net-unit-nic",
        "the unit does not wait for a NIC",
        delete(line(NET_UNIT, "After=sys-subsystem-net-devices-.*")),
        HOST,
    ),
    kind(
        "net-unit-wants",
        "the unit does not want a NIC",
        delete(line(NET_UNIT, "Wants=sys-subsystem-net-devices-.*")),
        HOST,
    ),
    kind(
        "net-unit-nic-strange",
        "the unit waits for a NIC that is not there",
        replace(line(NET_UNIT, "After=sys-.*"), r"devices-(\w+)\.", "ens9"),
        HOST,
    ),
    kind(
        "net-unit-script",
        "the unit starts another script",
        replace(line(NET_UNIT, "ExecStart=.*"), "ailb-net", "ailb-old"),
        HOST,
    ),
    kind(
        "net-unit-verb",
        "the unit removes instead of applying",
        replace(line(NET_UNIT, "ExecStart=.*"), r"(apply)", "remove"),
        HOST,
    ),
    kind("net-unit-no-start", "the unit starts nothing", delete(line(NET_UNIT, "ExecStart=.*")), HOST),
    kind("net-unit-condition", "the unit runs beside netplan", delete(line(NET_UNIT, "ConditionPathExists=.*")), HOST),
    kind(
        "net-unit-condition-reversed",
        "the unit runs only with netplan",
        replace(line(NET_UNIT, "ConditionPathExists=.*"), "=(!)", ""),
        HOST,
    ),
    kind("net-unit-type", "the unit is a daemon", replace(line(NET_UNIT, "Type=oneshot"), "oneshot", "simple"), HOST),
    kind("net-unit-not-installed", "the unit is not started at boot", delete(line(NET_UNIT, "WantedBy=.*")), HOST),
    kind(
        "qos-unit-nic",
        "the RoCE unit does not wait for a NIC",
        delete(line(QOS_UNIT, "After=sys-subsystem-net-devices-.*")),
        HOST,
    ),
    kind(
        "qos-unit-script",
        "the RoCE unit starts another script",
        replace(line(QOS_UNIT, "ExecStart=.*"), "ailb-qos", "ailb-net"),
        HOST,
    ),
    kind("qos-unit-not-installed", "the RoCE unit is not started at boot", delete(line(QOS_UNIT, "WantedBy=.*")), HOST),
)


def variable(name: str) -> Selector:
    """Select the line of a variable."""
    return line(ENV, f"{name}=.*")


DEVICES = variable("UCX_NET_DEVICES")
ENVIRONMENT = (
    kind(
        "nccl-qps",
        "NCCL uses fewer queue pairs than colors",
        replace(variable("NCCL_IB_QPS_PER_CONNECTION"), r"=(\d+)", add(-2)),
        HOST,
    ),
    kind(
        "nccl-qps-more",
        "NCCL uses more queue pairs than colors",
        replace(variable("NCCL_IB_QPS_PER_CONNECTION"), r"=(\d+)", "16"),
        HOST,
    ),
    kind("nccl-qps-missing", "NCCL uses one queue pair", delete(variable("NCCL_IB_QPS_PER_CONNECTION")), HOST),
    kind(
        "nccl-split",
        "NCCL does not split data over queue pairs",
        replace(variable("NCCL_IB_SPLIT_DATA_ON_QPS"), "=(1)", "0"),
        HOST,
    ),
    kind("nccl-split-missing", "NCCL's splitting is not set", delete(variable("NCCL_IB_SPLIT_DATA_ON_QPS")), HOST),
    kind("nccl-family", "NCCL's RDMA uses IPv4", replace(variable("NCCL_IB_ADDR_FAMILY"), "AF_INET6", "AF_INET"), HOST),
    kind(
        "nccl-socket-family",
        "NCCL's sockets use IPv4",
        replace(variable("NCCL_SOCKET_FAMILY"), "AF_INET6", "AF_INET"),
        HOST,
    ),
    kind("nccl-plugin", "NCCL loads another plug-in", replace(variable("NCCL_NET_PLUGIN"), "=(.+)", "ib"), HOST),
    kind("nccl-plugin-missing", "NCCL loads no plug-in", delete(variable("NCCL_NET_PLUGIN")), HOST),
    kind("nccl-threads", "NCCL has one socket thread", replace(variable("NCCL_SOCKET_NTHREADS"), "=(.+)", "1"), HOST),
    kind("ucx-gid", "UCX uses another GID index", replace(variable("UCX_IB_GID_INDEX"), "=(.+)", "0"), HOST),
    kind(
        "ucx-devices-order",
        "UCX's devices are in another order",
        replace(DEVICES, r"=([^,]+,[^,\n]+)", lambda old: ",".join(reversed(old.split(",")))),
        HOST,
    ),
    kind("ucx-device-missing", "UCX lacks a device", replace(DEVICES, r"(,[^,]+)$", ""), HOST),
    kind("ucx-device-port", "UCX uses port 2 of a device", replace(DEVICES, r":(1)$", "2"), HOST),
    kind("ucx-devices-missing", "UCX's devices are not set", delete(DEVICES), HOST),
    kind("library-path", "the plug-in's folder is not searched", delete(variable("LD_LIBRARY_PATH")), HOST),
    kind("env-empty", "the environment is empty", rewrite(ENV, lambda _: b""), HOST),
)

MAC = text(FILE, r"macaddress: .*\n")
NIC = text(TOPOLOGY, r'"mac": "[^"]+", "addresses": \["[^"]+"')
MACS = (
    kind("mac-twice-on-server", "two NICs of a server have one MAC", borrow(MAC, r'"(.+)"'), HOST, WITH_MACS),
    kind("macs-swapped", "two NICs of a server have each other's MAC", swap(MAC, r'"(.+)"'), HOST, WITH_MACS),
    kind("mac-of-another-server", "two servers have one MAC", borrow(MAC, r'"(.+)"', across=True), HOST, WITH_MACS),
    kind("mac-missing", "a NIC is not matched by its MAC", delete(text(FILE, r"^ *match:\n.*\n")), HOST, WITH_MACS),
    kind("mac-garbled", "a MAC is no MAC", replace(MAC, r'"(..)', "zz"), HOST, WITH_MACS),
    kind(
        "set-name",
        "a NIC gets another name than its entry",
        replace(text(FILE, r"set-name: .*\n"), r": (\w+)", "eth9"),
        HOST,
        WITH_MACS,
    ),
    kind("set-name-missing", "a matched NIC keeps its name", delete(text(FILE, r"^ *set-name: .*\n")), HOST, WITH_MACS),
    kind(
        "mac-in-topology",
        "a MAC of the topology is not netplan's",
        replace(NIC, r':(\w\w)", "addr', "fe"),
        f"AILB0 {HOST}",
        WITH_MACS,
    ),
    kind(
        "address-in-topology",
        "an address of the topology does not come of the MAC",
        replace(NIC, r':(\w+)"$', "1"),
        f"AILB0 {HOST}",
        WITH_MACS,
    ),
)
KINDS = (*SYSCTLS, *TABLES, *UNITS, *ENVIRONMENT, *MACS)
