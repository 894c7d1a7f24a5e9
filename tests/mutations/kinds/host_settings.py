"""Damage to the servers' sysctls, units, names of tables, environment, and MACs."""

from __future__ import annotations

from tests.mutations.edits import add, borrow, delete, put, replace, rewrite, swap
from tests.mutations.kind import kind
from tests.mutations.kinds.netplan import FILE
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
        "AILB610",
    ),
    kind("sysctl-accept-ra-missing", "accept_ra is not set", delete(sysctl("accept_ra")), "AILB610"),
    kind(
        "sysctl-defrtr",
        "default routes of the leaves reach the main table",
        replace(sysctl("accept_ra_defrtr"), r"= (\d)", "1"),
        "AILB610",
    ),
    kind("sysctl-defrtr-missing", "accept_ra_defrtr is not set", delete(sysctl("accept_ra_defrtr")), "AILB610"),
    kind("sysctl-autoconf", "the kernel forms no addresses", replace(sysctl("autoconf"), r"= (\d)", "0"), "AILB610"),
    kind("sysctl-autoconf-missing", "autoconf is not set", delete(sysctl("autoconf")), "AILB610"),
    kind(
        "sysctl-addr-gen-mode",
        "addresses are not EUI-64",
        replace(sysctl("addr_gen_mode"), r"= (\d)", "1"),
        "AILB610 AILB609",
    ),
    kind(
        "sysctl-addr-gen-mode-missing", "addr_gen_mode is not set", delete(sysctl("addr_gen_mode")), "AILB610 AILB609"
    ),
    kind(
        "sysctl-tempaddr",
        "the kernel prefers temporary addresses",
        replace(sysctl("use_tempaddr"), r"= (\d)", "2"),
        "AILB610 AILB609",
    ),
    kind("sysctl-tempaddr-missing", "use_tempaddr is not set", delete(sysctl("use_tempaddr")), "AILB610 AILB609"),
    kind(
        "sysctl-nic",
        "a setting is for a NIC that is not there",
        replace(sysctl(r"\w+"), r"conf\.(\w+)", "eth7"),
        "AILB602 AILB610",
    ),
    kind(
        "sysctl-nic-missing",
        "a NIC has no settings",
        delete(text(SYSCTL, r"^(?:net\.ipv6\.conf\.gpu1_eth\..*\n)+")),
        "AILB602 AILB610",
    ),
    kind(
        "sysctl-ipv6-off",
        "IPv6 is off on a NIC",
        replace(sysctl("accept_ra"), r"\A()", "net.ipv6.conf.gpu0_eth.disable_ipv6 = 1\n"),
        "AILB610",
    ),
    kind(
        "sysctl-max-addresses",
        "a NIC can have too few addresses",
        replace(sysctl("accept_ra"), r"\A()", "net.ipv6.conf.gpu0_eth.max_addresses = 2\n"),
        "AILB610",
    ),
    kind(
        "sysctl-overridden",
        "a later line undoes a setting",
        replace(text(SYSCTL, r"\A(?s:.+)"), r"\Z()", "net.ipv6.conf.gpu0_eth.accept_ra = 0\n"),
        "AILB610",
    ),
    kind(
        "sysctl-forwarding",
        "a host that forwards ignores router advertisements",
        replace(sysctl("accept_ra"), r"\A()", "net.ipv6.conf.all.forwarding = 1\n"),
        "AILB610",
    ),
    kind("sysctl-garbled", "a line is no assignment", replace(sysctl("accept_ra"), r"( = )", " "), "AILB601"),
    kind("sysctl-empty", "the file of sysctls is empty", rewrite(SYSCTL, lambda _: b""), "AILB601 AILB610"),
)

TABLES = (
    kind("table-name-missing", "a table has no name", delete(NAME), "AILB608"),
    kind("table-number", "a table's name is of another number", replace(NAME, r"^(\d+)", add(200)), "AILB608"),
    kind("table-names-swapped", "two tables have each other's name", swap(NAME, r" (\w+)"), "AILB608"),
    kind("table-numbers-equal", "a number has two names", borrow(NAME, r"^(\d+)"), "AILB608"),
    kind("table-name", "a table has another name", replace(NAME, r"subnet(\d+)", add(10)), "AILB608"),
    kind("table-reserved", "a table has the number of the main table", replace(NAME, r"^(\d+)", "254"), "AILB608"),
    kind("table-garbled", "a line of rt_tables is no number and name", replace(NAME, r"( )", ""), "AILB601 AILB608"),
)

UNITS = (
    kind(
        "drop-in-gateway",
        "networkd takes the leaves' default routes",
        replace(line(DROP_IN, "UseGateway=no"), "=(no)", "yes"),
        "AILB611",
    ),
    kind(
        "drop-in-no-gateway",
        "a drop-in does not speak of default routes",
        delete(line(DROP_IN, "UseGateway=no")),
        "AILB611",
    ),
    kind(
        "drop-in-dns",
        "networkd takes DNS servers of the leaves",
        replace(line(DROP_IN, "UseDNS=no"), "=(no)", "yes"),
        "AILB611",
    ),
    kind(
        "drop-in-section",
        "a drop-in has another section",
        replace(line(DROP_IN, r"\[IPv6AcceptRA\]"), r"\[(.+)\]", "Network"),
        "AILB611",
    ),
    kind(
        "drop-in-no-section", "a drop-in has no section", delete(line(DROP_IN, r"\[IPv6AcceptRA\]")), "AILB601 AILB611"
    ),
    kind(
        "drop-in-of-another-nic",
        "a drop-in is for a NIC that is not there",
        put(renamed_drop_in),
        "AILB601 AILB602 AILB611",
    ),
    kind(
        "net-unit-nic",
        "the unit does not wait for a NIC",
        delete(line(NET_UNIT, "After=sys-subsystem-net-devices-.*")),
        "AILB615",
    ),
    kind(
        "net-unit-wants",
        "the unit does not want a NIC",
        delete(line(NET_UNIT, "Wants=sys-subsystem-net-devices-.*")),
        "AILB615",
    ),
    kind(
        "net-unit-nic-strange",
        "the unit waits for a NIC that is not there",
        replace(line(NET_UNIT, "After=sys-.*"), r"devices-(\w+)\.", "ens9"),
        "AILB615 AILB602",
    ),
    kind(
        "net-unit-script",
        "the unit starts another script",
        replace(line(NET_UNIT, "ExecStart=.*"), "ailb-net", "ailb-old"),
        "AILB615",
    ),
    kind(
        "net-unit-verb",
        "the unit removes instead of applying",
        replace(line(NET_UNIT, "ExecStart=.*"), r"(apply)", "remove"),
        "AILB615",
    ),
    kind("net-unit-no-start", "the unit starts nothing", delete(line(NET_UNIT, "ExecStart=.*")), "AILB615"),
    kind(
        "net-unit-condition",
        "the unit runs beside netplan",
        delete(line(NET_UNIT, "ConditionPathExists=.*")),
        "AILB615",
    ),
    kind(
        "net-unit-condition-reversed",
        "the unit runs only with netplan",
        replace(line(NET_UNIT, "ConditionPathExists=.*"), "=(!)", ""),
        "AILB615",
    ),
    kind(
        "net-unit-type", "the unit is a daemon", replace(line(NET_UNIT, "Type=oneshot"), "oneshot", "simple"), "AILB615"
    ),
    kind("net-unit-not-installed", "the unit is not started at boot", delete(line(NET_UNIT, "WantedBy=.*")), "AILB615"),
    kind(
        "qos-unit-nic",
        "the RoCE unit does not wait for a NIC",
        delete(line(QOS_UNIT, "After=sys-subsystem-net-devices-.*")),
        "AILB615",
    ),
    kind(
        "qos-unit-script",
        "the RoCE unit starts another script",
        replace(line(QOS_UNIT, "ExecStart=.*"), "ailb-qos", "ailb-net"),
        "AILB615",
    ),
    kind(
        "qos-unit-not-installed",
        "the RoCE unit is not started at boot",
        delete(line(QOS_UNIT, "WantedBy=.*")),
        "AILB615",
    ),
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
        "AILB612",
    ),
    kind(
        "nccl-qps-more",
        "NCCL uses more queue pairs than colors",
        replace(variable("NCCL_IB_QPS_PER_CONNECTION"), r"=(\d+)", "16"),
        "AILB612",
    ),
    kind("nccl-qps-missing", "NCCL uses one queue pair", delete(variable("NCCL_IB_QPS_PER_CONNECTION")), "AILB612"),
    kind(
        "nccl-split",
        "NCCL does not split data over queue pairs",
        replace(variable("NCCL_IB_SPLIT_DATA_ON_QPS"), "=(1)", "0"),
        "AILB612",
    ),
    kind("nccl-split-missing", "NCCL's splitting is not set", delete(variable("NCCL_IB_SPLIT_DATA_ON_QPS")), "AILB612"),
    kind(
        "nccl-family",
        "NCCL's RDMA uses IPv4",
        replace(variable("NCCL_IB_ADDR_FAMILY"), "AF_INET6", "AF_INET"),
        "AILB612",
    ),
    kind(
        "nccl-socket-family",
        "NCCL's sockets use IPv4",
        replace(variable("NCCL_SOCKET_FAMILY"), "AF_INET6", "AF_INET"),
        "AILB612",
    ),
    kind("nccl-plugin", "NCCL loads another plug-in", replace(variable("NCCL_NET_PLUGIN"), "=(.+)", "ib"), "AILB612"),
    kind("nccl-plugin-missing", "NCCL loads no plug-in", delete(variable("NCCL_NET_PLUGIN")), "AILB612"),
    kind(
        "nccl-threads", "NCCL has one socket thread", replace(variable("NCCL_SOCKET_NTHREADS"), "=(.+)", "1"), "AILB612"
    ),
    kind("ucx-gid", "UCX uses another GID index", replace(variable("UCX_IB_GID_INDEX"), "=(.+)", "0"), "AILB612"),
    kind(
        "ucx-devices-order",
        "UCX's devices are in another order",
        replace(DEVICES, r"=([^,]+,[^,\n]+)", lambda old: ",".join(reversed(old.split(",")))),
        "AILB612",
    ),
    kind("ucx-device-missing", "UCX lacks a device", replace(DEVICES, r"(,[^,]+)$", ""), "AILB612"),
    kind("ucx-device-port", "UCX uses port 2 of a device", replace(DEVICES, r":(1)$", "2"), "AILB612"),
    kind("ucx-devices-missing", "UCX's devices are not set", delete(DEVICES), "AILB612"),
    kind("library-path", "the plug-in's folder is not searched", delete(variable("LD_LIBRARY_PATH")), "AILB612"),
    kind("env-empty", "the environment is empty", rewrite(ENV, lambda _: b""), "AILB612 AILB601"),
)

MAC = text(FILE, r"macaddress: .*\n")
NIC = text(TOPOLOGY, r'"mac": "[^"]+", "addresses": \["[^"]+"')
MACS = (
    kind("mac-twice-on-server", "two NICs of a server have one MAC", borrow(MAC, r'"(.+)"'), "AILB614", WITH_MACS),
    kind("macs-swapped", "two NICs of a server have each other's MAC", swap(MAC, r'"(.+)"'), "AILB614", WITH_MACS),
    kind(
        "mac-of-another-server", "two servers have one MAC", borrow(MAC, r'"(.+)"', across=True), "AILB614", WITH_MACS
    ),
    kind(
        "mac-missing", "a NIC is not matched by its MAC", delete(text(FILE, r"^ *match:\n.*\n")), "AILB614", WITH_MACS
    ),
    kind("mac-garbled", "a MAC is no MAC", replace(MAC, r'"(..)', "zz"), "AILB614 AILB601", WITH_MACS),
    kind(
        "set-name",
        "a NIC gets another name than its entry",
        replace(text(FILE, r"set-name: .*\n"), r": (\w+)", "eth9"),
        "AILB614",
        WITH_MACS,
    ),
    kind(
        "set-name-missing",
        "a matched NIC keeps its name",
        delete(text(FILE, r"^ *set-name: .*\n")),
        "AILB614",
        WITH_MACS,
    ),
    kind(
        "mac-in-topology",
        "a MAC of the topology is not netplan's",
        replace(NIC, r':(\w\w)", "addr', "fe"),
        "AILB614 AILB008",
        WITH_MACS,
    ),
    kind(
        "address-in-topology",
        "an address of the topology does not come of the MAC",
        replace(NIC, r':(\w+)"$', "1"),
        "AILB614 AILB008",
        WITH_MACS,
    ),
)
KINDS = (*SYSCTLS, *TABLES, *UNITS, *ENVIRONMENT, *MACS)
