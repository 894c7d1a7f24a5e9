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
    kind("sysctl-accept-ra-off", replace(sysctl("accept_ra"), r"= (\d)", "0"), "AILB610"),
    kind("sysctl-accept-ra-missing", delete(sysctl("accept_ra")), "AILB610"),
    kind("sysctl-defrtr", replace(sysctl("accept_ra_defrtr"), r"= (\d)", "1"), "AILB610"),
    kind("sysctl-defrtr-missing", delete(sysctl("accept_ra_defrtr")), "AILB610"),
    kind("sysctl-autoconf", replace(sysctl("autoconf"), r"= (\d)", "0"), "AILB610"),
    kind("sysctl-autoconf-missing", delete(sysctl("autoconf")), "AILB610"),
    kind("sysctl-addr-gen-mode", replace(sysctl("addr_gen_mode"), r"= (\d)", "1"), "AILB610 AILB609"),
    kind("sysctl-addr-gen-mode-missing", delete(sysctl("addr_gen_mode")), "AILB610 AILB609"),
    kind("sysctl-tempaddr", replace(sysctl("use_tempaddr"), r"= (\d)", "2"), "AILB610 AILB609"),
    kind("sysctl-tempaddr-missing", delete(sysctl("use_tempaddr")), "AILB610 AILB609"),
    kind("sysctl-nic", replace(sysctl(r"\w+"), r"conf\.(\w+)", "eth7"), "AILB602 AILB610"),
    kind("sysctl-nic-missing", delete(text(SYSCTL, r"^(?:net\.ipv6\.conf\.gpu1_eth\..*\n)+")), "AILB602 AILB610"),
    kind(
        "sysctl-ipv6-off", replace(sysctl("accept_ra"), r"\A()", "net.ipv6.conf.gpu0_eth.disable_ipv6 = 1\n"), "AILB610"
    ),
    kind(
        "sysctl-max-addresses",
        replace(sysctl("accept_ra"), r"\A()", "net.ipv6.conf.gpu0_eth.max_addresses = 2\n"),
        "AILB610",
    ),
    kind(
        "sysctl-overridden",
        replace(text(SYSCTL, r"\A(?s:.+)"), r"\Z()", "net.ipv6.conf.gpu0_eth.accept_ra = 0\n"),
        "AILB610",
    ),
    kind("sysctl-forwarding", replace(sysctl("accept_ra"), r"\A()", "net.ipv6.conf.all.forwarding = 1\n"), "AILB610"),
    kind("sysctl-garbled", replace(sysctl("accept_ra"), r"( = )", " "), "AILB601"),
    kind("sysctl-empty", rewrite(SYSCTL, lambda _: b""), "AILB601 AILB610"),
)

TABLES = (
    kind("table-name-missing", delete(NAME), "AILB608"),
    kind("table-number", replace(NAME, r"^(\d+)", add(200)), "AILB608"),
    kind("table-names-swapped", swap(NAME, r" (\w+)"), "AILB608"),
    kind("table-numbers-equal", borrow(NAME, r"^(\d+)"), "AILB608"),
    kind("table-name", replace(NAME, r"subnet(\d+)", add(10)), "AILB608"),
    kind("table-reserved", replace(NAME, r"^(\d+)", "254"), "AILB608"),
    kind("table-garbled", replace(NAME, r"( )", ""), "AILB601 AILB608"),
)

UNITS = (
    kind("drop-in-gateway", replace(line(DROP_IN, "UseGateway=no"), "=(no)", "yes"), "AILB611"),
    kind("drop-in-no-gateway", delete(line(DROP_IN, "UseGateway=no")), "AILB611"),
    kind("drop-in-dns", replace(line(DROP_IN, "UseDNS=no"), "=(no)", "yes"), "AILB611"),
    kind("drop-in-section", replace(line(DROP_IN, r"\[IPv6AcceptRA\]"), r"\[(.+)\]", "Network"), "AILB611"),
    kind("drop-in-no-section", delete(line(DROP_IN, r"\[IPv6AcceptRA\]")), "AILB601 AILB611"),
    kind("drop-in-of-another-nic", put(renamed_drop_in), "AILB601 AILB602 AILB611"),
    kind("net-unit-nic", delete(line(NET_UNIT, "After=sys-subsystem-net-devices-.*")), "AILB615"),
    kind("net-unit-wants", delete(line(NET_UNIT, "Wants=sys-subsystem-net-devices-.*")), "AILB615"),
    kind(
        "net-unit-nic-strange", replace(line(NET_UNIT, "After=sys-.*"), r"devices-(\w+)\.", "ens9"), "AILB615 AILB602"
    ),
    kind("net-unit-script", replace(line(NET_UNIT, "ExecStart=.*"), "ailb-net", "ailb-old"), "AILB615"),
    kind("net-unit-verb", replace(line(NET_UNIT, "ExecStart=.*"), r"(apply)", "remove"), "AILB615"),
    kind("net-unit-no-start", delete(line(NET_UNIT, "ExecStart=.*")), "AILB615"),
    kind("net-unit-condition", delete(line(NET_UNIT, "ConditionPathExists=.*")), "AILB615"),
    kind("net-unit-condition-reversed", replace(line(NET_UNIT, "ConditionPathExists=.*"), "=(!)", ""), "AILB615"),
    kind("net-unit-type", replace(line(NET_UNIT, "Type=oneshot"), "oneshot", "simple"), "AILB615"),
    kind("net-unit-not-installed", delete(line(NET_UNIT, "WantedBy=.*")), "AILB615"),
    kind("qos-unit-nic", delete(line(QOS_UNIT, "After=sys-subsystem-net-devices-.*")), "AILB615"),
    kind("qos-unit-script", replace(line(QOS_UNIT, "ExecStart=.*"), "ailb-qos", "ailb-net"), "AILB615"),
    kind("qos-unit-not-installed", delete(line(QOS_UNIT, "WantedBy=.*")), "AILB615"),
)


def variable(name: str) -> Selector:
    """Select the line of a variable."""
    return line(ENV, f"{name}=.*")


DEVICES = variable("UCX_NET_DEVICES")
ENVIRONMENT = (
    kind("nccl-qps", replace(variable("NCCL_IB_QPS_PER_CONNECTION"), r"=(\d+)", add(-2)), "AILB612"),
    kind("nccl-qps-more", replace(variable("NCCL_IB_QPS_PER_CONNECTION"), r"=(\d+)", "16"), "AILB612"),
    kind("nccl-qps-missing", delete(variable("NCCL_IB_QPS_PER_CONNECTION")), "AILB612"),
    kind("nccl-split", replace(variable("NCCL_IB_SPLIT_DATA_ON_QPS"), "=(1)", "0"), "AILB612"),
    kind("nccl-split-missing", delete(variable("NCCL_IB_SPLIT_DATA_ON_QPS")), "AILB612"),
    kind("nccl-family", replace(variable("NCCL_IB_ADDR_FAMILY"), "AF_INET6", "AF_INET"), "AILB612"),
    kind("nccl-socket-family", replace(variable("NCCL_SOCKET_FAMILY"), "AF_INET6", "AF_INET"), "AILB612"),
    kind("nccl-plugin", replace(variable("NCCL_NET_PLUGIN"), "=(.+)", "ib"), "AILB612"),
    kind("nccl-plugin-missing", delete(variable("NCCL_NET_PLUGIN")), "AILB612"),
    kind("nccl-threads", replace(variable("NCCL_SOCKET_NTHREADS"), "=(.+)", "1"), "AILB612"),
    kind("ucx-gid", replace(variable("UCX_IB_GID_INDEX"), "=(.+)", "0"), "AILB612"),
    kind(
        "ucx-devices-order",
        replace(DEVICES, r"=([^,]+,[^,\n]+)", lambda old: ",".join(reversed(old.split(",")))),
        "AILB612",
    ),
    kind("ucx-device-missing", replace(DEVICES, r"(,[^,]+)$", ""), "AILB612"),
    kind("ucx-device-port", replace(DEVICES, r":(1)$", "2"), "AILB612"),
    kind("ucx-devices-missing", delete(DEVICES), "AILB612"),
    kind("nccl-sockets-none", replace(variable("NCCL_SOCKET_FAMILY"), r"\A()", "NCCL_SOCKET_IFNAME=none\n"), "AILB612"),
    kind("nccl-sockets-gpu", replace(variable("NCCL_SOCKET_FAMILY"), r"\A()", "NCCL_SOCKET_IFNAME=gpu\n"), "AILB612"),
    kind("nccl-sockets-other", replace(variable("NCCL_SOCKET_IFNAME"), "=(.+)", "eth0_gpu"), "AILB612", WITH_MACS),
    kind("nccl-sockets-missing", delete(variable("NCCL_SOCKET_IFNAME")), "AILB612", WITH_MACS),
    kind("nccl-order", replace(variable("NCCL_IB_ADAPTIVE_ROUTING"), "=(1)", "0"), "AILB612", WITH_MACS),
    kind("nccl-order-missing", delete(variable("NCCL_IB_ADAPTIVE_ROUTING")), "AILB612", WITH_MACS),
    kind("library-path", delete(variable("LD_LIBRARY_PATH")), "AILB612"),
    kind("env-empty", rewrite(ENV, lambda _: b""), "AILB612 AILB601"),
)

MAC = text(FILE, r"macaddress: .*\n")
NIC = text(TOPOLOGY, r'"mac": "[^"]+", "addresses": \["[^"]+"')
MACS = (
    kind("mac-twice-on-server", borrow(MAC, r'"(.+)"'), "AILB614", WITH_MACS),
    kind("macs-swapped", swap(MAC, r'"(.+)"'), "AILB614", WITH_MACS),
    kind("mac-of-another-server", borrow(MAC, r'"(.+)"', across=True), "AILB614", WITH_MACS),
    kind("mac-missing", delete(text(FILE, r"^ *match:\n.*\n")), "AILB614", WITH_MACS),
    kind("mac-garbled", replace(MAC, r'"(..)', "zz"), "AILB614 AILB601", WITH_MACS),
    kind("set-name", replace(text(FILE, r"set-name: .*\n"), r": (\w+)", "eth9"), "AILB614", WITH_MACS),
    kind("set-name-missing", delete(text(FILE, r"^ *set-name: .*\n")), "AILB614", WITH_MACS),
    kind("mac-in-topology", replace(NIC, r':(\w\w)", "addr', "fe"), "AILB614 AILB008", WITH_MACS),
    kind("address-in-topology", replace(NIC, r':(\w+)"$', "1"), "AILB614 AILB008", WITH_MACS),
)
KINDS = (*SYSCTLS, *TABLES, *UNITS, *ENVIRONMENT, *MACS)
