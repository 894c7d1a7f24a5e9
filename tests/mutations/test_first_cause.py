"""The first cause that a report names is the statement that was changed."""

from __future__ import annotations

import re

import pytest

from ailb_gen.checks.model import Finding
from ailb_gen.render.artifacts import to_set
from tests.mutations.score import CHECKS, findings, golden
from tests.mutations.test_causes import headlines as headlines_of
from tests.mutations.tree import Changes, sealed, text_of

EXAMPLE = "lab"
SPINE, LEAF = "switches/spine1.conf", "switches/stripe1-leaf1.conf"


def headlines(changes: Changes, example: str = EXAMPLE) -> list[Finding]:
    """The causes in the order of the report."""
    return headlines_of(findings(example, sealed(golden(example), changes), CHECKS))


def edited(file: str, old: str, new: str, example: str = EXAMPLE) -> Changes:
    """A file with its first match of a regular expression replaced."""
    text, count = re.subn(old, new, text_of(golden(example), file), count=1)
    assert count
    return {file: text.encode()}


def pointed_at(finding: Finding, changes: Changes) -> str:
    """The line that a finding points to."""
    assert finding.place is not None
    text = changes[finding.place.file]
    assert isinstance(text, bytes)
    return text.decode().split("\n")[finding.place.line - 1].strip()


# What is replaced, by what, and the line of the only cause.
SPINES = {
    "port disabled": (r"( {8})mtu 9216;", r"\1disable;\n\1mtu 9216;", "disable;"),
    "no IPv6": (r"            family inet6;\n", "", "unit 0 {"),
    "another unit": (r"unit 0 \{\n( +)family inet6;", r"unit 8 {\n\1family inet6;", "unit 8 {"),
    "bfd multiplier": ("multiplier 3", "multiplier 4", "multiplier 4;"),
    "bfd interval": ("minimum-interval 300", "minimum-interval 30", "minimum-interval 30;"),
    "no multipath": (r"                multiple-as;\n", "", "multipath {"),
    "multipath off": ("multiple-as;", "disable;", "disable;"),
    "aigp off": ("aigp;", "aigp disable;", "aigp disable;"),
    "internal": ("type external", "type internal", "type internal;"),
    "import of what is exported": ("import FABRIC-IN", "import FABRIC-OUT", "import FABRIC-OUT;"),
    "export of nothing": ("export FABRIC-OUT", "export FABRIC-OT", "export FABRIC-OT;"),
    "another list": ("peer-as-list leaves", "peer-as-list leves", "peer-as-list leves;"),
    "list renamed": ("as-list leaves", "as-list leves", "as-list leves members 65101-65104;"),
    "inactive group": (r"group fabric-green", "inactive: group fabric-green", "inactive: group fabric-green {"),
    "no discovery": (r"family inet6 \{\n +ipv6-nd;\n +\}\n", "", "peer-auto-discovery {"),
    "inactive discovery": (
        r"family inet6 \{\n( +)ipv6-nd;",
        r"inactive: family inet6 {\n\1ipv6-nd;",
        "inactive: family inet6 {",
    ),
    "inactive action": (
        r"then reject;\n        \}\n    \}\n    /\* Every",
        "inactive: then reject;\n        }\n    }\n    /* Every",
        "inactive: then reject;",
    ),
    "accepted by the last term": (
        r"then reject;\n        \}\n    \}\n    /\* Every",
        "then accept;\n        }\n    }\n    /* Every",
        "then accept;",
    ),
    "exact prefix": ("fabric-pool orlonger", "fabric-pool exact", "prefix-list-filter fabric-pool exact;"),
    "other pool": ("fc00::/16;", "fc05::/16;", "fc05::/16;"),
    "condition": ("protocol bgp;", "protocol bgp;\n                as-path X;", "as-path X;"),
    "expression": ("import FABRIC-IN", "import ( FABRIC-IN && FABRIC-OUT )", "import ( FABRIC-IN && FABRIC-OUT );"),
    "consistent hash": ("load-balance per-packet", "load-balance consistent-hash", "load-balance consistent-hash;"),
    "rejected by the forwarding table": (
        r"( +)load-balance per-packet;",
        r"\1load-balance per-packet;\n\1reject;",
        "reject;",
    ),
    "pfc priority": (
        "no-loss pfc-priority 3",
        "no-loss pfc-priority 4",
        "class NO-LOSS queue-num 4 no-loss pfc-priority 4;",
    ),
    "pfc watchdog": (r"            pfc-watchdog;\n", "", "cnp {"),
    "pause": ("code-point 011 ", "code-point 100 ", "code-point 100 {"),
    "pause for another": ("code-point 011010", "code-point 011011", "code-point 011011 {"),
    "next term": (
        r"from community local;\n( +)then reject",
        r"from community local;\n\1then next term",
        "then next term;",
    ),
    "other tag": ("local members 0:15", "local members 0:16", "community local members 0:16;"),
    "two tags": ("local members 0:15", "local members [ 0:15 0:16 ]", "community local members [ 0:15 0:16 ];"),
    "multipath is a comment": (r"multiple-as;", "/* multiple-as; */", "/* multiple-as; */"),
    "drop profile of TCP": (
        "protocol any drop",
        "protocol tcp drop",
        "drop-profile-map loss-priority any protocol tcp drop-profile dp1;",
    ),
    "number missing": ("local-as 65001;", "local-as ;", "local-as ;"),
    "fill": (r"\[ 55 90 \]", "[ 55 95 ]", "fill-level [ 55 95 ];"),
    "rate": ("percent 5;", "percent 50;", "transmit-rate percent 50;"),
    "one scheduler for two": (
        "NO-LOSS scheduler s1;",
        "NO-LOSS scheduler s2-cnp;",
        "forwarding-class NO-LOSS scheduler s2-cnp;",
    ),
    "inactive profile": ("    drop-profiles {", "    inactive: drop-profiles {", "inactive: drop-profiles {"),
    "profile renamed": ("        dp1 {", "        dp2 {", "dp2 {"),
    "default classifier": ("dscp mydscp;", "dscp default;", "dscp default;"),
    "scheduler map": ("scheduler-map sm1", "scheduler-map sm9", "scheduler-map sm9;"),
    "undiscovered port": (r" +interface et-0/0/3.0;\n( +\}\n +\}\n +peer)", r"\1", "peer-auto-discovery {"),
    "empty policy": (r"then \{\n +load-balance per-packet;\n +\}\n", "", "policy-statement PFE-LB {"),
    "policy renamed": ("policy-statement PFE-LB", "policy-statement PFE-LB-old", "policy-statement PFE-LB-old {"),
    "unknown setting of DLB": ("sampling-rate", "sampling-rtae", "sampling-rtae 1000000;"),
    "port renamed": (r"et-0/0/3 \{", "et-0/0/4 {", "et-0/0/4 {"),
    "router-id": ("router-id 10.255.0.1", "router-id 10.255.0.9", "router-id 10.255.0.9;"),
    "conflict": (
        r"( +)peer-as-list leaves;\n",
        r"<<<<<<< HEAD\n\1peer-as-list leaves;\n=======\n\1peer-as-list x;\n>>>>>>> b\n",
        "<<<<<<< HEAD",
    ),
    "another section": ("forwarding-options \\{", "forwarding-option {", "forwarding-option {"),
    "a capital": ("system \\{", "System {", "System {"),
    "no number": ("local-as 65001", "local-as 4400000000", "local-as 4400000000;"),
    "protected": ("export FABRIC-OUT", "protect: export FABRIC-OUT", "protect: export FABRIC-OUT;"),
    "no sessions at all": (r"(?s)    bgp \{.*(?=    lldp \{)", "", "protocols {"),
}
# Each makes many findings, or depends on what another switch says.
OFTEN = ("port disabled", "bfd multiplier", "inactive group", "condition", "default classifier", "no sessions at all")


def check(name: str) -> None:
    old, new, line = SPINES[name]
    changes = edited(SPINE, old, new)
    (cause,) = headlines(changes)
    assert pointed_at(cause, changes) == line, cause


@pytest.mark.parametrize("name", OFTEN)
def test_one_change_is_one_cause_at_its_line(name: str) -> None:
    check(name)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in SPINES if name not in OFTEN])
def test_every_change_is_one_cause_at_its_line(name: str) -> None:
    check(name)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (r" +prefix fc00:1:1:3::/64;\n", "", "interface irb.2 {"),
        (r" +host-name stripe1-leaf1;\n", "", "system {"),
        (r"forwarding-class CNP \{", "forwarding-class CNPx {", "forwarding-class CNPx {"),
        (
            "blue members color:0:2",
            "blue members [ color:0:2 color:0:3 ]",
            "community blue members [ color:0:2 color:0:3 ];",
        ),
        (r"vlans \{\n( +)vn2 \{", r"vlans {\n\1vn02 {", "vn02 {"),
        ("spines-red members 65003", "spines-red members 65009", "as-list spines-red members 65009;"),
        ("route-filter fc00::/16", "route-filter ::/0", "route-filter ::/0 orlonger;"),
        ("fc00::/16 orlonger", "fc00::/16 exact", "route-filter fc00::/16 exact;"),
        ("low code-points 011010", "low code-points 11010", "dscp mydscp {"),
        ("low code-points 110000", "low code-points 011010", "loss-priority low code-points 011010;"),
        ("peer-as-list spines-red", "peer-as-list spines-blue", "peer-as-list spines-blue;"),
        (
            r"green members 65001;\n(.*)blue members 65002",
            r"green members 65002;\n\1blue members 65001",
            "as-list spines-green members 65002;",
        ),
        (
            r"CNP scheduler s2-cnp;\n(.*)NO-LOSS scheduler s1",
            r"CNP scheduler s1;\n\1NO-LOSS scheduler s2-cnp",
            "forwarding-class NO-LOSS scheduler s2-cnp;",
        ),
    ],
)
def test_what_is_wrong_on_a_leaf_is_told_first_at_its_line(old: str, new: str, line: str) -> None:
    changes = edited(LEAF, old, new)
    assert pointed_at(headlines(changes)[0], changes) == line


@pytest.mark.sampled(4)
@pytest.mark.parametrize("file", [SPINE, LEAF])
@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (r"address fd00::1:1:", "address fd00::1:9:", "address fd00::1:9:"),
        (r" +address fd00::.*\n", "", "family inet6 {"),
        (r"(family inet6 \{\n +address fd00::)", r"inactive: \1", "inactive: family inet6 {"),
        (r" +family inet6 \{\n +address fd00::.*\n +\}\n", "", "unit 0 {"),
        (r"neighbor fd00::1:1:", "neighbor fd00::1:9:", "neighbor fd00::1:9:"),
        (r"neighbor fd00::1:1:", "inactive: neighbor fd00::1:1:", "inactive: neighbor fd00::1:1:"),
        (r" +fabric-color green;\n", "", "neighbor fd00::1:1:"),
        (r"fabric-color green;", "inactive: fabric-color green;", "inactive: fabric-color green;"),
        (r"fabric-color green;", "fabric-color orange;", "fabric-color orange;"),
        (r"(fabric-color green;\n +description facing_\S+:et-0/0/)0", r"\g<1>9", "description facing_"),
        (r"(fabric-color green;)\n +description .*", r"\1", "neighbor fd00::1:1:"),
        (r"peer-as 65\d01;", "peer-as 65009;", "peer-as 65009;"),
    ],
)
def test_damage_to_static_neighbors_is_one_cause_at_its_line(file: str, old: str, new: str, line: str) -> None:
    changes = edited(file, old, new, "static")
    (cause,) = headlines(changes, "static")
    assert pointed_at(cause, changes).startswith(line)


def test_a_variable_that_is_written_again_is_told_where_its_last_value_stands() -> None:
    file = "profiles/stripe1/etc/ailb/nccl.env"
    changes: Changes = {file: f"{text_of(golden(EXAMPLE), file)}NCCL_NET_PLUGIN=none\n".encode()}
    assert pointed_at(headlines(changes)[0], changes) == "NCCL_NET_PLUGIN=none"


@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        (LEAF, "mtu 9170", "mtu 8170", "mtu 8170;"),
        (
            "cabling.csv",
            "stripe2-leaf1,et-0/0/2,spine3,et-0/0/2",
            "stripe2-leaf1,et-0/0/2,spine3,et-0/0/1",
            "stripe2-leaf1,et-0/0/2,spine3,et-0/0/1,400g,fabric,red,",
        ),
    ],
)
def test_what_several_checks_find_is_one_cause(file: str, old: str, new: str, line: str) -> None:
    changes = edited(file, old, new)
    (cause,) = headlines(changes)
    assert pointed_at(cause, changes) == line


def test_a_loopback_of_another_switch_is_told_of_the_one_that_has_it_wrongly() -> None:
    changes = edited(LEAF, "address 10.255.16.1/32", "address 10.255.16.2/32")
    assert pointed_at(headlines(changes)[0], changes) == "address 10.255.16.2/32;"


@pytest.mark.long
@pytest.mark.parametrize("file", [SPINE, LEAF])
def test_a_file_that_is_cut_at_the_top_level_is_one_cause(file: str) -> None:
    text = text_of(golden(EXAMPLE), file)
    starts = [found.start() for found in re.finditer(r"^[a-z-]+ \{$", text, re.MULTILINE)][2:]
    assert len(starts) >= 5
    for start in starts:
        (cause,) = headlines({file: text[:start].encode()})
        assert cause.check == "AILB011"


@pytest.mark.parametrize(
    ("body", "check"),
    [
        ("interfaces {\n<et-*> {\ndisable;\n}\n}\n", "AILB108"),
        ("protocols {\nbgp {\ngroup <*> {\nmultipath {\ndisable;\n}\n}\n}\n}\n", "AILB205"),
    ],
)
def test_what_a_group_says_of_many_is_one_cause_that_names_it(body: str, check: str) -> None:
    text = f"{text_of(golden(EXAMPLE), SPINE)}groups {{\nREMOTE {{\n{body}}}\n}}\napply-groups REMOTE;\n"
    changes: Changes = {SPINE: text.encode()}
    (cause,) = headlines(changes)
    assert (cause.check, pointed_at(cause, changes)) == (check, "disable;")
    assert "inherited from group REMOTE" in cause.message


def set_text(file: str) -> str:
    return to_set(text_of(golden(EXAMPLE), file), file)


def as_set(file: str, text: str) -> Changes:
    return {file: None, file.replace(".conf", ".set"): text.encode()}


# File, the words of a command as they are and as they become, where the first cause is.
SETS = {
    "deleted": (SPINE, "set protocols bgp group fabric-green type external\n", "", "fabric-color green"),
    "deleted value": (
        SPINE,
        r"\Z",
        "delete protocols bgp group fabric-green fabric-color green\n",
        "delete protocols bgp group fabric-green fabric-color green",
    ),
    "inactive value": (
        SPINE,
        r"\Z",
        "deactivate class-of-service drop-profiles dp1 interpolate fill-level 55\n",
        "deactivate class-of-service drop-profiles dp1 interpolate fill-level 55",
    ),
    "discovery in another group": (
        LEAF,
        r"interface et-0/0/2.0\n(?=set protocols bgp group fabric-red peer)",
        "interface et-0/0/1.0\n",
        "fabric-red dynamic-neighbor spines-red peer-auto-discovery interface et-0/0/1.0",
    ),
    "earlier discovery": (
        LEAF,
        r"discovery interface et-0/0/1.0\n",
        "discovery interface et-0/0/2.0\n",
        "fabric-blue dynamic-neighbor spines-blue peer-auto-discovery interface et-0/0/2.0",
    ),
    "queue": (LEAF, "NO-LOSS queue-num 4", "NO-LOSS queue-num 3", "NO-LOSS queue-num 3"),
    "policy of the forwarding table": (LEAF, "export FABRIC-OUT", "export PFE-LB", "fabric-green export PFE-LB"),
    "description deleted": (
        SPINE,
        r"\Z",
        "delete interfaces et-0/0/0 description\n",
        "delete interfaces et-0/0/0 description",
    ),
    "list of leaves": (SPINE, "peer-as-list leaves", "peer-as-list spines-red", "peer-as-list spines-red"),
    "unknown mode": (SPINE, r"(?s)ecmp-dlb flowlet inactivity.*quality-delta 6", "ecmp-dlb flowet", "ecmp-dlb flowet"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SETS)
def test_what_is_wrong_in_set_text_is_told_first_at_its_line(name: str) -> None:
    file, old, new, line = SETS[name]
    text, count = re.subn(old, new, set_text(file), count=1)
    assert count
    changes = as_set(file, text)
    first = headlines(changes)[0]
    assert pointed_at(first, changes).endswith(line), first


PROFILE = "profiles/stripe1/etc"
QOS = "profiles/stripe1/usr/local/sbin/ailb-qos"
NETPLAN = f"{PROFILE}/netplan/60-ailb-gpu.yaml"
TABLES = f"{PROFILE}/iproute2/rt_tables.d/jnpr_nccl_net.conf"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        (NETPLAN, 'to: "fc00:1:1:3::/64', 'to: "fc00:1:1:8::/64', '- to: "fc00:1:1:8::/64"'),
        (NETPLAN, 'to: "fc00:1:1:3::/64', 'to: "fc00:1:1:3::/65', '- to: "fc00:1:1:3::/65"'),
        (TABLES, "10001 gpu0_subnet2\n", "", "10000 gpu0_subnet1"),
        (TABLES, "10001 gpu0_subnet2", "#10001 gpu0_subnet2", "10000 gpu0_subnet1"),
        (
            f"{PROFILE}/sysctl.d/99-accept-ra.conf",
            "net.ipv6.conf.gpu1_eth.autoconf = 1\n",
            "",
            "net.ipv6.conf.gpu1_eth.accept_ra_defrtr = 0",
        ),
        (f"{PROFILE}/ailb/nccl.env", "NCCL_IB_QPS.*\n", "", "NCCL_NET_PLUGIN=juniper-ib"),
        (QOS, "roce_np/enable", "roce_pn/enable", "ecn_np 1 /sys/class/net/$1/ecn/roce_pn/enable/$priority"),
        (QOS, "\ntraffic_class=106", "\ntraffic_class=96", "traffic_class=96"),
        (QOS, r'-t "\$traffic_class" &&', '-t "$traffic_class" ||', 'run cma_roce_tos -d "$2" -t "$traffic_class" ||'),
        (TABLES, "10001 gpu0_subnet2", "10006 gpu0_subnet2", "10006 gpu0_subnet2"),
        (
            f"{PROFILE}/sysctl.d/99-accept-ra.conf",
            "ipv6.conf.gpu1_eth.autoconf",
            "ipv4.conf.gpu1_eth.autoconf",
            "net.ipv4.conf.gpu1_eth.autoconf = 1",
        ),
        (
            "cabling.csv",
            "stripe2-leaf1,et-0/0/0,spine1",
            "stripe2-leaf2,et-0/0/0,spine1",
            "stripe2-leaf2,et-0/0/0,spine1,et-0/0/2,400g,fabric,green,",
        ),
        (
            "cabling.csv",
            "stripe2-leaf1,et-0/0/2,spine3",
            '"stripe2-leaf1,et-0/0/2,spine3',
            '"stripe2-leaf1,et-0/0/2,spine3,et-0/0/2,400g,fabric,red,',
        ),
        (
            "topology.json",
            r'\{"name": "blue", (?=.*"all-colors"\},)',
            '{"name": "bleu", ',
            '{"name": "bleu", "community": "color:0:2", "backup": "all-colors"},',
        ),
        ("topology.json", r"\n \],\n", "\n },\n", "},"),
    ],
)
def test_what_is_wrong_in_other_files_is_told_first_at_its_line(file: str, old: str, new: str, line: str) -> None:
    changes = edited(file, old, new)
    assert pointed_at(headlines(changes)[0], changes) == line
