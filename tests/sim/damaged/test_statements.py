"""One statement of generated files is changed: the result changes as physics has it, or says why it cannot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.checks.trees import rendered
from tests.mutations.tree import Tree, copy_with, read_tree
from tests.sim.damaged.runs import INCAST, INTENT, PERMUTATION, Seen, edited, simulated

LEAF, SPINE = "switches/stripe1-leaf1.conf", "switches/spine1.conf"
PROFILE = "profiles/stripe1/"
QOS, NCCL, NETPLAN = (
    f"{PROFILE}{file}" for file in ("usr/local/sbin/ailb-qos", "etc/ailb/nccl.env", "etc/netplan/60-ailb-gpu.yaml")
)
LONG_INCAST = INCAST.replace("300KiB", "900KiB")
DLB = PERMUTATION.replace("{", "{balancer: dlb, ", 1)
# An uplink is busy when the flows begin: DLB sees that, a hash does not.
LOADED = (
    "{balancer: dlb, traffic: [{background: {links: ['stripe1-leaf1:et-0/0/0'], load: 90%, duration: 1ms}}, "
    "{collective: {kind: permutation, bytes: 300KiB, start: 100us}}], seeds: 10}"
)
ECMP = PERMUTATION.replace("{", "{balancer: ecmp, ", 1)
FAILING = INCAST.replace("{", "{failures: [{name: spine1, at: 1us, back: 2us}], ", 1)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A changed statement, and what follows: `what` is a word for how a figure changes, or where its text is found."""

    name: str
    file: str
    pattern: str
    new: str
    what: str
    about: str
    scenario: str = INCAST


def holds(row: Damaged, before: Seen, after: Seen) -> bool:
    """Whether what was to follow did."""
    if row.what == "refused":
        return row.about in after.refused
    if after.refused:
        return False
    if row.what in ("listed", "warned"):
        texts = ["\n".join(one.left_out if row.what == "listed" else one.warnings) for one in (before, after)]
        return row.about in texts[1] and row.about not in texts[0]
    then, now = before.figures[row.about], after.figures[row.about]
    return {"some": then == 0 < now, "more": now > then, "fewer": now < then}[row.what]


PORT_WITHOUT_PFC = r"""        et-0/0/0 {
            scheduler-map sm1;
            unit * { classifiers { dscp mydscp; } }
        }
        et-* {"""
BUFFERS = r"(buffer-partition lossless \{\s+)percent 1;"
THRESHOLD = r"dynamic-threshold 0;"
ROWS = (
    Damaged("pfc-not-sent", LEAF, r"code-point 011010 \{\s+pfc;\s+\}", "", "some", "drops"),
    Damaged("pfc-off-at-one-port", LEAF, r"        et-\* \{", PORT_WITHOUT_PFC, "more", "queue", LONG_INCAST),
    Damaged("class-not-lossless", LEAF, " no-loss pfc-priority 3;", ";", "some", "drops"),
    Damaged("pfc-priority-of-leaf", LEAF, "pfc-priority 3", "pfc-priority 4", "some", "drops"),
    Damaged("pfc-not-obeyed-by-spine", SPINE, "flow-control-queue 4", "flow-control-queue 5", "some", "drops"),
    Damaged("pfc-code-point", LEAF, "code-point 011010 {", "code-point 011011 {", "some", "drops"),
    Damaged("pfc-profile-missing", LEAF, r"            congestion-notification-profile cnp;\n", "", "some", "drops"),
    Damaged("pfc-of-nics-off", QOS, "pfc=0,0,0,1", "pfc=0,0,0,0", "some", "drops"),
    Damaged("pfc-priority-of-nics", QOS, "^priority=3", "priority=4", "some", "drops"),
    Damaged("classifier-missing", LEAF, r"            unit \* \{.*?\}\s+\}\n", "", "some", "drops"),
    Damaged("classifier-code-point", LEAF, "low code-points 011010", "low code-points 011011", "some", "drops"),
    Damaged("class-of-cnp", LEAF, "forwarding-class NO-LOSS {", "forwarding-class CNP {", "some", "drops"),
    Damaged("class-of-service-of-leaf", LEAF, "^class-of-service {", "inactive: class-of-service {", "fewer", "marks"),
    Damaged("class-of-service-of-spine", SPINE, "^class-of-service {", "inactive: class-of-service {", "some", "drops"),
    Damaged("headroom-none", LEAF, "percent 24", "percent 0", "some", "drops"),
    Damaged("pool-none", LEAF, BUFFERS, r"\1percent 0;", "more", "pauses"),
    Damaged("pool-large", LEAF, BUFFERS, r"\1percent 90;", "fewer", "pauses"),
    Damaged("pool-missing", LEAF, BUFFERS, r"\1", "fewer", "pauses"),
    Damaged("alpha-of-leaf", LEAF, THRESHOLD, "dynamic-threshold 7;", "fewer", "pauses"),
    Damaged("alpha-of-spine", SPINE, THRESHOLD, "dynamic-threshold 7;", "fewer", "paused", PERMUTATION),
    Damaged("alpha-default", LEAF, THRESHOLD, "", "fewer", "pauses"),
    Damaged("queue-by-alpha", LEAF, THRESHOLD, "dynamic-threshold 10;", "more", "queue"),
    Damaged("ecn-off", LEAF, "explicit-congestion-notification;", "", "fewer", "marks"),
    Damaged("ecn-late", LEAF, r"fill-level \[ 1 2 \]", "fill-level [ 55 90 ]", "fewer", "marks"),
    Damaged("ecn-early", LEAF, r"fill-level \[ 1 2 \]", "fill-level [ 0 1 ]", "more", "marks"),
    Damaged("ecn-seldom", LEAF, r"drop-probability \[ 0 100 \]", "drop-probability [ 0 1 ]", "fewer", "marks"),
    Damaged("ecn-profile-missing", LEAF, r"drop-profile-map [^;]*;", "", "fewer", "marks"),
    Damaged("scheduler-map-missing", LEAF, r"            scheduler-map sm1;\n", "", "fewer", "marks"),
    Damaged("scheduler-of-cnp", LEAF, "NO-LOSS scheduler s1", "NO-LOSS scheduler s2-cnp", "fewer", "marks"),
    Damaged("dscp-of-some-servers", QOS, "traffic_class=106", "traffic_class=42", "refused", "different DSCPs"),
    Damaged("mtu-of-uplink", LEAF, "mtu 9216", "mtu 1500", "some", "lost"),
    Damaged("mtu-of-spine", SPINE, "mtu 9216", "mtu 4000", "some", "lost"),
    Damaged("mtu-missing", LEAF, "        mtu 9216;\n", "", "some", "lost"),
    Damaged("mtu-of-irb", LEAF, "mtu 9170", "mtu 1500", "some", "lost"),
    Damaged("mtu-of-nics", NETPLAN, "mtu: 9000", "mtu: 1500", "refused", "write 'packets: {payload: 1024}'"),
    Damaged("mtu-just-too-small", LEAF, "mtu 9216", f"mtu {14 + 80 + 4095}", "some", "lost"),
    Damaged(
        "uplink-disabled", LEAF, "        mtu 9216;", "        disable;\n        mtu 9216;", "more", "time", PERMUTATION
    ),
    Damaged("uplink-disabled-at-spine", SPINE, "        mtu 9216;", "disable; mtu 9216;", "more", "time", PERMUTATION),
    Damaged("server-port-disabled", LEAF, "to.server-001:gpu0_eth;", "to; disable;", "some", "unreachable"),
    Damaged(
        "speed-of-uplink", LEAF, "        mtu 9216;", "        speed 100g;\n mtu 9216;", "more", "time", PERMUTATION
    ),
    Damaged(
        "group-inactive", LEAF, "group fabric-green {", "inactive: group fabric-green {", "more", "time", PERMUTATION
    ),
    Damaged("prefix-not-advertised", LEAF, r"route fc00\S+ \{", "inactive: \\g<0>", "some", "unreachable"),
    Damaged(
        "prefix-of-other-color", LEAF, r"(route \S+ \{\s+)color green", r"\1color blue", "more", "uneven", PERMUTATION
    ),
    Damaged(
        "as-list",
        LEAF,
        r"as-list spines-green members \d+",
        "as-list spines-green members 1",
        "more",
        "time",
        PERMUTATION,
    ),
    Damaged("fewer-addresses", LEAF, r"                address fc00\S+;\n", "", "warned", "queue pair 1"),
    Damaged("no-advertisement", LEAF, r"            prefix fc00\S+;\n", "", "warned", "no router announces"),
    Damaged("dlb-off", LEAF, r"forwarding-options \{.*?\n\}\n", "", "more", "pauses", LOADED),
    Damaged("dlb-of-ipv4", LEAF, "ipv6;(\\s+\\}\\s+sampling)", r"ipv4;\1", "more", "pauses", LOADED),
    Damaged("dlb-per-packet", LEAF, r"flowlet \{.*?\n            \}\n", "per-packet;\n", "more", "reordered", DLB),
    Damaged("dlb-short-flowlets", LEAF, r"inactivity-interval \d+", "inactivity-interval 0", "more", "reordered", DLB),
    Damaged("one-path", LEAF, "        export PFE-LB;\n", "", "more", "uneven", ECMP),
    Damaged(
        "glb-of-one-leaf", LEAF, "        log-updown;", "global-load-balancing load-balancer-only;", "refused", "GLB"
    ),
    Damaged("watchdog", LEAF, "pfc-watchdog;", "pfc-watchdog { detection 5; }", "listed", "detection 5"),
    Damaged("shaping", LEAF, "        s1 {", "        s1 { shaping-rate 100g;", "listed", "s1 shaping-rate 100g"),
    Damaged(
        "weight",
        LEAF,
        "        s1 {",
        "        s1 { transmit-rate percent 50;",
        "listed",
        "s1 transmit-rate percent 50",
    ),
    Damaged(
        "port-shaping",
        LEAF,
        "        et-\\* {",
        "et-* { shaping-rate 50g;",
        "listed",
        "interfaces et-* shaping-rate 50g",
    ),
    Damaged(
        "dedicated-buffer", LEAF, "(dedicated-buffer .*?)percent 15", r"\1percent 1", "listed", "ingress percent 1 ("
    ),
    Damaged("filter", LEAF, "family inet6 {", "family inet6 { filter { input DROP; }", "listed", "filter input DROP"),
    Damaged(
        "hash",
        LEAF,
        "enhanced-hash-key {",
        "enhanced-hash-key { inet6 { no-ipv6-flow-label; }",
        "listed",
        "no-ipv6-flow",
    ),
    Damaged("hold-time", LEAF, "mtu 9216;", "mtu 9216; hold-time down 2000;", "listed", "hold-time down 2000", FAILING),
    Damaged(
        "storm-control",
        LEAF,
        "family ethernet-switching {",
        "family ethernet-switching { storm-control x;",
        "listed",
        "storm-control x",
    ),
    Damaged("bgp-hold-time", LEAF, "log-updown;", "log-updown; hold-time 10;", "listed", "protocols bgp hold-time 10"),
    Damaged("queue-pairs", NCCL, "CONNECTION=2", "CONNECTION=8", "listed", "NCCL_IB_QPS_PER_CONNECTION=8"),
    Damaged("algorithm", NCCL, r"\Z", "NCCL_ALGO=Tree\n", "listed", "NCCL_ALGO=Tree"),
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rendered(INTENT, tmp_path_factory.mktemp("damaged"))[1]


@cache
def before(root: Path, scenario: str) -> Seen:
    return simulated(root, scenario)


@cache
def tree(root: Path) -> Tree:
    return read_tree(root)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_one_statement_decides(row: Damaged, base: Path, tmp_path: Path) -> None:
    copy_with(base, edited(tree(base), row.file, row.pattern, row.new), tmp_path / "out")
    then, now = before(base, row.scenario), simulated(tmp_path / "out", row.scenario)
    assert not then.refused
    assert holds(row, then, now), (then, now)
