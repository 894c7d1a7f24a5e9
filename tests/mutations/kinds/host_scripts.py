"""Damage to the servers' scripts."""

from __future__ import annotations

from tests.mutations.edits import add, borrow, delete, replace, rewrite, swap, trade
from tests.mutations.kind import kind
from tests.mutations.kinds.netplan import hextet
from tests.mutations.spots import files, line, text

SCRIPT = "*/usr/local/sbin/ailb-net"
QOS = "*/usr/local/sbin/ailb-qos"
ROW = text(SCRIPT, r"^\w+ 1\d{4} \w+_subnet.*\n")
FIRST_ROW = text(SCRIPT, r"^\w+ 1\d{4} \w+_subnet1 .*\n")
QOS_ROW = text(QOS, r"^\w+_eth mlx5_\d+\n")

TABLES = (
    kind("script-row-missing", "the script lacks a table", delete(ROW), "AILB607"),
    kind("script-nic", "the script has a NIC that is not there", replace(ROW, r"^(\w+)", "gpu9_eth"), "AILB607"),
    kind("script-nics-swapped", "the script has two tables on each other's NIC", swap(FIRST_ROW, r"^(\w+)"), "AILB607"),
    kind("script-table", "the script's table is not netplan's", replace(ROW, r" (\d+) gpu", add(100)), "AILB607"),
    kind(
        "script-name",
        "the script's table name is not that of rt_tables",
        replace(ROW, r"(subnet\d+)", "subnet9"),
        "AILB607 AILB608",
    ),
    kind(
        "script-priority",
        "the script's rule priority is not netplan's",
        replace(ROW, r"subnet\d+ (\d+)", add(300)),
        "AILB607",
    ),
    kind(
        "script-prefix-rail",
        "the script's prefix is that of another rail",
        replace(ROW, r" (\S+::)/64", hextet(2)),
        "AILB607",
    ),
    kind("script-prefix-color", "the script's prefix is that of another color", borrow(ROW, r" (\S+)/64"), "AILB607"),
    kind("script-prefix-length", "the script's prefix is a /48", replace(ROW, r"/(64)", "48"), "AILB607"),
    kind(
        "script-gateway-rail",
        "the script's gateway is that of another rail",
        replace(ROW, r" (\S+::)1$", hextet(2)),
        "AILB607",
    ),
    kind(
        "script-gateway-color", "the script's gateway is that of another color", borrow(ROW, r" (\S+::1)$"), "AILB607"
    ),
    kind("script-gateway-two", "the script's gateway is ::2", replace(ROW, r"::(1)$", "2"), "AILB607"),
    kind("script-row-cell", "a row of the script lacks a cell", replace(ROW, r"( \S+)$", ""), "AILB601 AILB607"),
    kind(
        "script-row-twice",
        "a row of the script stands twice",
        replace(ROW, r"(?s).+", lambda old: old + old),
        "AILB607",
    ),
    kind("script-no-rule", "the script sets no rules", delete(line(SCRIPT, r" +ip -6 rule add from.*")), "AILB616"),
    kind(
        "script-no-default",
        "the script sets no default route",
        replace(line(SCRIPT, r" +ip -6 route replace .*"), r" && ip -6 route replace default.*(?= \|\|)", ""),
        "AILB616",
    ),
    kind(
        "script-main-table",
        "the script sets routes in the main table",
        replace(line(SCRIPT, r" +ip -6 route replace .*"), r' table "\$2"', ""),
        "AILB616",
    ),
    kind("script-empty", "the script is empty", rewrite(SCRIPT, lambda _: b""), "AILB601 AILB607"),
    kind(
        "script-prefixes-swapped",
        "the scripts of two stripes have each other's prefixes",
        trade(lambda tree: files(tree, SCRIPT), r"^\w+ \d+ \w+ \d+ (\w+:\w+):"),
        "AILB607",
    ),
)

CLASSES = (
    kind("qos-nic-missing", "the RoCE script lacks a NIC", delete(QOS_ROW), "AILB602"),
    kind(
        "qos-rdma-swapped",
        "the RoCE script has two NICs with each other's RDMA device",
        swap(QOS_ROW, r" (\S+)$"),
        "AILB602 AILB708 AILB612",
    ),
    kind(
        "qos-rdma-strange",
        "the RoCE script has an RDMA device that is not there",
        replace(QOS_ROW, r" (\S+)$", "mlx5_99"),
        "AILB602 AILB708 AILB612",
    ),
    kind(
        "qos-nic-strange", "the RoCE script has a NIC that is not there", replace(QOS_ROW, r"^(\w+)", "ens9"), "AILB602"
    ),
    kind(
        "qos-trust",
        "NICs trust 802.1p instead of DSCP",
        replace(line(QOS, r".*--trust dscp.*"), "dscp", "pcp"),
        "AILB708 AILB616",
    ),
    kind(
        "qos-pfc",
        "NICs have PFC on another priority",
        replace(line(QOS, r".*--pfc.*"), "0,0,0,1,0,0,0,0", "0,0,0,0,1,0,0,0"),
        "AILB708 AILB616",
    ),
    kind(
        "qos-pfc-none",
        "NICs have no PFC",
        replace(line(QOS, r".*--pfc.*"), "0,0,0,1,0", "0,0,0,0,0"),
        "AILB708 AILB616",
    ),
    kind(
        "qos-pfc-two",
        "NICs have PFC on two priorities",
        replace(line(QOS, r".*--pfc.*"), "0,0,0,1,0", "0,0,0,1,1"),
        "AILB708 AILB616",
    ),
    kind(
        "qos-dscp",
        "NICs map another DSCP to the lossless priority",
        replace(line(QOS, r".*--dscp2prio.*"), r"set,(26)", "24"),
        "AILB708 AILB616",
    ),
    kind(
        "qos-dscp-priority",
        "NICs map the DSCP to another priority",
        replace(line(QOS, r".*--dscp2prio.*"), r"26,(3)", "2"),
        "AILB708 AILB616",
    ),
    kind("qos-dscp-missing", "NICs do not map the DSCP", delete(line(QOS, r".*--dscp2prio.*")), "AILB708 AILB616"),
    kind(
        "qos-trust-missing",
        "NICs' trust and PFC are not set",
        delete(line(QOS, r".*--trust dscp.*")),
        "AILB708 AILB616",
    ),
    kind(
        "qos-tos",
        "connections have another ToS",
        replace(line(QOS, r".*cma_roce_tos -d.*"), r"-t (106)", "104"),
        "AILB708 AILB616",
    ),
    kind(
        "qos-tos-missing",
        "connections of the connection manager have no ToS",
        delete(line(QOS, r".*cma_roce_tos -d.*")),
        "AILB708 AILB616",
    ),
    kind(
        "qos-traffic-class",
        "data leaves with another traffic class",
        replace(line(QOS, r".*traffic_class.*"), r"echo (106)", "96"),
        "AILB708 AILB616",
    ),
    kind(
        "qos-traffic-class-missing",
        "the traffic class is not set",
        delete(line(QOS, r".*traffic_class.*")),
        "AILB708 AILB616",
    ),
    kind(
        "qos-cnp-dscp",
        "CNPs leave with another DSCP",
        replace(line(QOS, r".*cnp_dscp.*"), r"echo (48)", "46"),
        "AILB708 AILB616",
    ),
    kind("qos-cnp-missing", "the DSCP of CNPs is not set", delete(line(QOS, r".*cnp_dscp.*")), "AILB708 AILB616"),
    kind(
        "qos-cnp-priority",
        "CNPs have another 802.1p priority",
        replace(line(QOS, r".*cnp_802p_prio.*"), r"echo (6)", "3"),
        "AILB708 AILB616",
    ),
    kind(
        "qos-ecn-off",
        "ECN is off on one side of the NICs",
        replace(line(QOS, r".*roce_[nr]p/enable.*"), r"echo (1)", "0"),
        "AILB708 AILB616",
    ),
    kind(
        "qos-ecn-priority",
        "ECN is on for another priority",
        replace(line(QOS, r".*roce_[nr]p/enable.*"), r"enable/(3)", "4"),
        "AILB708 AILB616",
    ),
    kind(
        "qos-ecn-missing",
        "ECN is not set on the receiving side",
        delete(line(QOS, r".*roce_np/enable.*")),
        "AILB708 AILB616",
    ),
    kind("qos-empty", "the RoCE script is empty", rewrite(QOS, lambda _: b""), "AILB601 AILB708 AILB602 AILB616"),
)
KINDS = (*TABLES, *CLASSES)
