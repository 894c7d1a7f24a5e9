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

HOST_FILE = "*/etc/ailb/host.json"
HOST_NIC = text(HOST_FILE, r'^  \{"name": .*$')
HOST_COLOR = text(HOST_FILE, r'^   \{"name": .*$')

PROGRAM = (
    kind("host-file-empty", rewrite(HOST_FILE, lambda _: b""), "AILB601"),
    kind("host-file-format", replace(line(HOST_FILE, r' "format": .*'), r"(1)", "2"), "AILB601"),
    kind("host-file-half", rewrite(HOST_FILE, lambda old: old[: len(old) // 2]), "AILB601"),
    kind("host-file-rdma", replace(HOST_NIC, r"mlx5_(\d+)", add(1)), "AILB620"),
    kind("host-file-nic", replace(HOST_NIC, r'"name": "(\w+)"', "gpu9_eth"), "AILB620"),
    kind("host-file-mac", replace(HOST_NIC, r'"mac": "([^"]*)"', "02:00:00:00:00:99"), "AILB620"),
    kind("host-file-rail", replace(HOST_NIC, r'"rail": (\d+)', add(1)), "AILB620"),
    kind("host-file-dscp", replace(HOST_NIC, r'"dscp": (\w+)', "9"), "AILB620"),
    kind("host-file-dscp-text", replace(HOST_NIC, r'"dscp": (\w+)', '"26"'), "AILB601"),
    kind("host-file-mtu", replace(HOST_NIC, r'"mtu": (\d+)', "1500"), "AILB620"),
    kind("host-file-mtu-text", replace(HOST_NIC, r'"mtu": (\d+)', '"9000"'), "AILB601"),
    kind("host-file-color", replace(HOST_COLOR, r'"name": "(\w+)"', "purple"), "AILB620"),
    kind("host-file-colors-swapped", borrow(HOST_COLOR, r'"name": "(\w+)"'), "AILB620"),
    kind("host-file-prefix", borrow(HOST_COLOR, r'"prefix": "([^"]+)"'), "AILB620"),
    kind("host-file-prefix-length", replace(HOST_COLOR, r"/(64)", "48"), "AILB620"),
    kind("host-file-gateway", replace(HOST_COLOR, r'::(1)"', "2"), "AILB620"),
    kind("host-file-table", replace(HOST_COLOR, r'"table": (\d+)', add(100)), "AILB620"),
    kind("host-file-priority", replace(HOST_COLOR, r'"priority": (\d+)', add(100)), "AILB620"),
    kind("host-file-color-missing", delete(text(HOST_FILE, r'^   \{"name": .*,\n')), "AILB620"),
    kind(
        "host-file-color-twice",
        replace(text(HOST_FILE, r'^   \{"name": .*,\n'), r"(?s).+", lambda old: old + old),
        "AILB620",
    ),
    kind(
        "host-program-edited", rewrite("*/sbin/ailb-host", lambda old: old.replace(b"return", b"retrun", 1)), "AILB621"
    ),
    kind("host-program-empty", rewrite("*/sbin/ailb-host", lambda _: b""), "AILB621"),
)

TABLES = (
    kind("script-row-missing", delete(ROW), "AILB607"),
    kind("script-nic", replace(ROW, r"^(\w+)", "gpu9_eth"), "AILB607"),
    kind("script-nics-swapped", swap(FIRST_ROW, r"^(\w+)"), "AILB607"),
    kind("script-table", replace(ROW, r" (\d+) gpu", add(100)), "AILB607"),
    kind("script-name", replace(ROW, r"(subnet\d+)", "subnet9"), "AILB607 AILB608"),
    kind("script-priority", replace(ROW, r"subnet\d+ (\d+)", add(300)), "AILB607"),
    kind("script-prefix-rail", replace(ROW, r" (\S+::)/64", hextet(2)), "AILB607"),
    kind("script-prefix-color", borrow(ROW, r" (\S+)/64"), "AILB607"),
    kind("script-prefix-length", replace(ROW, r"/(64)", "48"), "AILB607"),
    kind("script-gateway-rail", replace(ROW, r" (\S+::)1$", hextet(2)), "AILB607"),
    kind("script-gateway-color", borrow(ROW, r" (\S+::1)$"), "AILB607"),
    kind("script-gateway-two", replace(ROW, r"::(1)$", "2"), "AILB607"),
    kind("script-row-cell", replace(ROW, r"( \S+)$", ""), "AILB601 AILB607"),
    kind("script-row-twice", replace(ROW, r"(?s).+", lambda old: old + old), "AILB607"),
    kind("script-no-rule", delete(line(SCRIPT, r" +ip -6 rule add from.*")), "AILB616"),
    kind(
        "script-no-default",
        replace(line(SCRIPT, r" +ip -6 route replace .*"), r" && ip -6 route replace default.*(?= \|\|)", ""),
        "AILB616",
    ),
    kind("script-main-table", replace(line(SCRIPT, r" +ip -6 route replace .*"), r' table "\$2"', ""), "AILB616"),
    kind("script-empty", rewrite(SCRIPT, lambda _: b""), "AILB601 AILB607"),
    kind("script-prefixes-swapped", trade(lambda tree: files(tree, SCRIPT), r"^\w+ \d+ \w+ \d+ (\w+:\w+):"), "AILB607"),
)

CLASSES = (
    kind("qos-nic-missing", delete(QOS_ROW), "AILB602"),
    kind("qos-rdma-swapped", swap(QOS_ROW, r" (\S+)$"), "AILB602 AILB708 AILB612"),
    kind("qos-rdma-strange", replace(QOS_ROW, r" (\S+)$", "mlx5_99"), "AILB602 AILB708 AILB612"),
    kind("qos-nic-strange", replace(QOS_ROW, r"^(\w+)", "ens9"), "AILB602"),
    kind("qos-dscp", replace(line(QOS, r"dscp=.*"), r"(26)", "24"), "AILB708"),
    kind("qos-dscp-missing", delete(line(QOS, r"dscp=.*")), "AILB708 AILB616"),
    kind("qos-priority", replace(line(QOS, r"priority=.*"), r"(3)", "2"), "AILB708"),
    kind("qos-pfc", replace(line(QOS, r"pfc=.*"), "0,0,0,1,0,0,0,0", "0,0,0,0,1,0,0,0"), "AILB708"),
    kind("qos-pfc-none", replace(line(QOS, r"pfc=.*"), "0,0,0,1,0", "0,0,0,0,0"), "AILB708"),
    kind("qos-pfc-two", replace(line(QOS, r"pfc=.*"), "0,0,0,1,0", "0,0,0,1,1"), "AILB708"),
    kind("qos-traffic-class", replace(line(QOS, r"traffic_class=.*"), r"(106)", "96"), "AILB708"),
    kind("qos-traffic-class-missing", delete(line(QOS, r"traffic_class=.*")), "AILB708 AILB616"),
    kind("qos-cnp-dscp", replace(line(QOS, r"cnp_dscp=.*"), r"(48)", "46"), "AILB708"),
    kind("qos-cnp-missing", delete(line(QOS, r"cnp_dscp=.*")), "AILB708 AILB616"),
    kind("qos-cnp-priority", replace(line(QOS, r"cnp_priority=.*"), r"(6)", "3"), "AILB708"),
    kind("qos-trust", replace(line(QOS, r".*--trust dscp.*"), "dscp", "pcp"), "AILB616"),
    kind("qos-map-missing", delete(line(QOS, r".*--dscp2prio.*")), "AILB616"),
    kind("qos-tos-missing", delete(line(QOS, r".*cma_roce_tos -d.*-t.*")), "AILB616"),
    kind(
        "qos-file",
        replace(line(QOS, r"(?:traffic_class|cnp_\w+) \$.*/sys/class.*"), r"/sys/class/(\w+)", "x"),
        "AILB616",
    ),
    kind("qos-ecn-off", replace(line(QOS, r"ecn_[nr]p 1.*"), r"p (1)", "0"), "AILB616"),
    kind("qos-ecn-priority", replace(line(QOS, r"ecn_[nr]p 1.*"), r"(\$priority)", "4"), "AILB616"),
    kind("qos-ecn-missing", delete(line(QOS, r"ecn_np 1.*")), "AILB616"),
    kind("qos-dcb-missing", delete(line(QOS, r" +run dcb (?:pfc set|app replace).*")), "AILB616"),
    kind("qos-dcb-off", replace(line(QOS, r" +run dcb pfc set.*"), r"priority:(on)", "off"), "AILB616"),
    kind("qos-broadcom-ecn", replace(line(QOS, r"ecn 1 .*"), r"ecn (1)", "0"), "AILB616"),
    kind("qos-broadcom-apply", delete(line(QOS, r".*cc/apply.*")), "AILB616"),
    kind("qos-nicctl-missing", delete(line(QOS, r" +run nicctl update (?!.*other).*")), "AILB616"),
    kind("qos-nicctl-lossy", replace(line(QOS, r".*--no-drop enable.*"), r"(enable)", "disable"), "AILB616"),
    kind("qos-vendor", replace(line(QOS, r" +0x\w{4}\) echo.*"), r"(0x\w+)", "0x8086"), "AILB616"),
    kind("qos-verify", replace(line(QOS, r" +\[ \"\$found\" = .*"), r'"\$found" (=)', "!="), "AILB616"),
    kind("qos-not-applied", replace(line(QOS, r"case .*apply.*"), r"(:-apply)", ":-show"), "AILB616"),
    kind("qos-empty", rewrite(QOS, lambda _: b""), "AILB601 AILB708 AILB602 AILB616"),
)
KINDS = (*PROGRAM, *TABLES, *CLASSES)
