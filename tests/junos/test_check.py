import random
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.checks.families.junos import findings_of
from ailb_gen.errors import AilbError
from ailb_gen.junos.check import check, holds_without
from ailb_gen.junos.check_result import CheckResult, Violation
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import ENDS, Node, words_of
from ailb_gen.junos.writer import to_set
from tests.conftest import ROOT, need_shared
from tests.junos.models import outcome_of, outcome_of_file, outcome_of_tree, said, schema

GAPS = yaml.safe_load((Path(__file__).parent / "corpus_gaps.yaml").read_text())
WRONG = yaml.safe_load((Path(__file__).parent / "wrong_statements.yaml").read_text())
GOLDEN = sorted(ROOT.glob("tests/golden/*/switches/*.conf"))

RIGHT = [
    "version 23.4X100-D41.2-EVO",
    "interfaces et-0/0/0 mtu 9216",
    "interfaces et-0/0/0 unit 0 family inet6 address fc00:1:1:1::1/64",
    "interfaces et-0/0/0 unit 0 family inet address 10.0.0.1/31 primary",
    "interfaces ae0 aggregated-ether-options lacp active",
    "interfaces et-0/0/0 ether-options 802.3ad ae0",
    "interfaces interface-range spines member-range et-0/0/0 to et-0/0/5",
    "system syslog host 10.0.0.1 any any",
    "system login user x authentication ssh-ed25519 key",
    "interfaces ae0 unit 0 family inet address 10.0.0.1/24 vrrp-group 1 virtual-address 10.0.0.2",
    "protocols bgp traceoptions file bgp.log size 10m files 3 world-readable",
    "routing-options static route 10.0.0.0/8 qualified-next-hop 10.0.0.1 preference 10",
    "policy-options prefix-list p 10.0.0.0/8",
    "firewall family inet filter f term t from source-address 10.0.0.0/8 except",
    "class-of-service rewrite-rules dscp r forwarding-class x loss-priority low code-point 000000",
    "policy-options policy-statement p from route-filter fc00::/16 upto /64",
    "policy-options policy-statement p from route-filter fc00::/16 orlonger",
    "policy-options policy-statement p from route-filter fc00::/16 exact accept",
    "policy-options policy-statement p then community add x",
    "policy-options policy-statement p then metric 5",
    "policy-options policy-statement p then metric add 5",
    "policy-options community c members color:0:1",
    "class-of-service classifiers dscp x forwarding-class CNP loss-priority low code-points 110000",
    "class-of-service schedulers s drop-profile-map loss-priority any protocol any drop-profile dp1",
    "class-of-service forwarding-classes class NO-LOSS queue-num 4 no-loss pfc-priority 3",
    "class-of-service interfaces et-* unit * classifiers dscp mydscp",
    "routing-options autonomous-system 4200000001",
    "routing-options static route 0.0.0.0/0 next-hop 10.0.0.1",
    "routing-options static route 0/0 next-hop 10.0.0.1",
    "policy-options prefix-list p 10.1/16",
    "policy-options prefix-list p 10.0.0.1",
    # Host bits that a device takes; those that it refuses are among the wrong statements.
    "policy-options prefix-list p 10.1.2.3/24",
    "policy-options policy-statement p from route-filter 10.1.2.3/24 exact",
    "snmp client-list x 10.1.2.3/24",
    "snmp community y clients 10.1.2.3/24",
    "protocols bgp group g allow fc00:1::3/64",
    "interfaces et-0/0/0 unit 0 family inet address 10.1.2.3/24",
    "routing-options static route 10.1.2.3/32 discard",
    "firewall family inet filter f term t from destination-address 10.1.2.3",
    "system syslog file messages any notice",
    "system login user x uid 2000 class super-user",
    "groups g interfaces <et-*> unit <*> family inet6 mtu 9000",
    "apply-groups [ g h ]",
    "protocols bgp group g import [ A B ]",
    "protocols bgp group g import ( A && ! B )",
    "firewall family inet filter f term t then discard",
]


@pytest.mark.parametrize("case", WRONG, ids=[case["statement"] for case in WRONG])
def test_a_wrong_statement(case: dict[str, str]) -> None:
    statement = case["statement"]
    [violation] = outcome_of(f"set {statement}\n").findings
    where = case.get("where", statement)
    assert (violation.kind, " ".join(violation.path), violation.message) == (case["kind"], where, case["message"])


@pytest.mark.parametrize("statement", RIGHT)
def test_a_right_statement(statement: str) -> None:
    assert said(f"set {statement}\n") == []


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("set interfaces et-0/0/0 mtuu 9", "did you mean 'mtu'?"),
        ("set system services ssh root-login allo", "did you mean 'allow'?"),
        ("set intefaces x", "did you mean 'interfaces'?"),
        ("set interfaces et-0/0/0 zzzzzzzz 9", ""),
        ("interfaces { et-0/0/0 { mtu 9 description x; } }", "end that one with ';'"),
    ],
)
def test_did_you_mean(text: str, hint: str) -> None:
    [violation] = outcome_of(text).findings
    assert violation.hint == hint


@pytest.mark.parametrize(
    "text",
    ["interfaces { unused: et-0/0/0 { mtu 9; } }", "system { services { Inactive: ssh; } }", "disabled: vlans { a; }"],
)
def test_a_misspelled_tag_is_told_with_the_tags_that_there_are(text: str) -> None:
    [violation] = outcome_of(text).findings
    assert violation.message == "Junos has no such tag"
    assert violation.hint.startswith("those that it has are inactive:, protect:")


def test_a_name_that_is_missing_is_told_at_its_list() -> None:
    text = "protocols { bgp {\n    group {\n        type external;\n        export x;\n    }\n} }\n"
    first, *_ = outcome_of(text).findings
    assert first.path == ("protocols", "bgp", "group")
    assert first.message == "'group' needs 'name': 'type' is read as its name"
    several = outcome_of("set protocols bgp group a type external\nset protocols bgp group type external\n").findings
    assert [(one.line, one.path[-2:]) for one in several] == [(2, ("group", "type"))]


def test_places_are_lines() -> None:
    text = "interfaces {\n    et-0/0/0 {\n        mtuu 9;\n        unit 0 {\n            famly inet6;\n}}}\n"
    assert [violation.line for violation in outcome_of(text).findings] == [3, 5]


AS = "set routing-options autonomous-system"
CLASS = "set class-of-service forwarding-classes class"
INET6 = "set interfaces irb unit 2 family inet6 address"
ROUTE = "set routing-options static route"


@pytest.mark.parametrize(
    ("text", "kind", "line", "message"),
    [
        (
            "routing-options {\n    router-id 10.0.0.1;\n    router-id 10.0.0.2;\n}\n",
            *("duplicate", 3, "'router-id' has 2 values: '10.0.0.1', '10.0.0.2'"),
        ),
        (f"{AS} 1\n{AS} 2\n", "duplicate", 2, "'as-number' has 2 values: 1, 2"),
        (f"{INET6} fc00::1/64\n{INET6} FC00:0::1/64\n", "duplicate", 2, "FC00:0::1/64 is the same as fc00::1/64"),
        (f"{ROUTE} 10/8 discard\n{ROUTE} 10.0.0.0/8 discard\n", "duplicate", 2, "10.0.0.0/8 is the same as 10/8"),
        (
            "set vlans v2 vlan-id 2\nset vlans v2 vlan-id-list 3\n",
            *("choice", 2, "'vlan-id' and 'vlan-id-list' are mutually exclusive"),
        ),
        (
            "".join(f"{CLASS} c{number} queue-num 1\n" for number in range(17)),
            *("too-many", 17, "'class' has 17 entries; at most 16 are allowed"),
        ),
    ],
)
def test_statements_that_do_not_go_together(text: str, kind: str, line: int, message: str) -> None:
    [violation] = outcome_of(text).findings
    assert (violation.kind, violation.line, violation.message) == (kind, line, message)


def test_the_path_of_an_address_written_in_two_ways() -> None:
    [violation] = outcome_of(f"{INET6} fc00::1/64\n{INET6} FC00:0::1/64\n").findings
    assert " ".join(violation.path) == "interfaces irb unit 2 family inet6 address FC00:0::1/64"


def test_a_constraint_says_what_juniper_says() -> None:
    [violation] = outcome_of("set protocols bgp fabric-advertise route fc00::/64 backup-color blue\n").findings
    assert violation == Violation(
        "must",
        ("protocols", "bgp", "fabric-advertise", "route", "fc00::/64", "backup-color", "blue"),
        1,
        'the commit constraint (".. color") does not hold',
        "backup-color can only be configured together with color",
    )


def test_hierarchies_without_a_model_are_counted() -> None:
    outcome = outcome_of("set routing-instances a interface x\nset routing-instances b interface y\nset access z\n")
    assert outcome.findings == ()
    assert outcome.unmodeled == {"routing-instances": 2, "access": 1}


def test_wildcards_belong_to_groups() -> None:
    assert said("set groups g interfaces et-0/0/0 mtu <*>") == []
    assert [kind for kind, _, _ in said("set interfaces et-0/0/0 mtu <*>")] == ["type"]


def test_groups_count_where_they_are_applied() -> None:
    text = (
        "set groups g interfaces <et-*> mtu 9000\nset groups g interfaces <et-*> speed fast\n"
        "set interfaces et-0/0/0 unit 0 family inet6\n"
    )
    # The value is wrong in the group, and, once applied, on the interface.
    assert [where for _, where, _ in said(text)] == ["groups g interfaces <et-*> speed fast"]
    applied = said(f"{text}set apply-groups g\n")
    assert [where for _, where, _ in applied] == [
        "groups g interfaces <et-*> speed fast",
        "interfaces et-0/0/0 speed fast",
    ]


def test_what_is_inactive_does_not_count() -> None:
    assert said("interfaces { inactive: et-0/0/0 { mtuu 9; } }") == []
    bad = "set protocols bgp group g type external\nset protocols bgp group g type internal\n"
    assert said(bad) != []
    assert said(f"{bad}deactivate protocols bgp group g\n") == []


def test_constraints_are_not_asked_of_groups() -> None:
    assert said("set groups g protocols bgp fabric-advertise route fc00::/64 backup-color blue") == []


def _share(outcomes: list[CheckResult]) -> float:
    evaluated = sum(outcome.evaluated for outcome in outcomes)
    return evaluated / (evaluated + sum(len(outcome.unevaluated) for outcome in outcomes))


def test_golden_trees_pass() -> None:
    assert len(GOLDEN) > 50
    outcomes = {path: outcome_of_file(path) for path in GOLDEN}
    assert {path.name: outcome.findings for path, outcome in outcomes.items() if outcome.findings} == {}
    assert _share(list(outcomes.values())) >= 0.95


def test_the_corpus_passes_but_for_known_gaps() -> None:
    corpus = need_shared("junos-corpus")
    files = sorted([*corpus.rglob("*.conf"), *corpus.rglob("*.set")])
    assert len(files) > 20
    used, unexplained = set(), []
    outcomes = []
    for path in files:
        outcome = outcome_of_file(path)
        outcomes.append(outcome)
        for violation in outcome.findings:
            gap = _gap(path, violation)
            used.add(gap)
            if gap is None:
                unexplained.append((path.name, violation))
    assert unexplained == []
    assert [gap["statement"] for number, gap in enumerate(GAPS) if number not in used] == []
    assert _share(outcomes) >= 0.95
    assert sum(outcome.evaluated for outcome in outcomes) > 5000


def _gap(path: Path, violation: Violation) -> int | None:
    for number, gap in enumerate(GAPS):
        wanted = (gap["statement"], gap["kind"])
        if (
            fnmatchcase(" ".join(violation.path), wanted[0])
            and violation.kind == wanted[1]
            and path.match(gap["files"])
        ):
            return number
    return None


SOME_WORDS = """
interfaces et-0/0/0 unit 0 family inet6 address fc00::1/64 protocols bgp group g type external neighbor vlans v2
vlan-id 2 then from route-filter exact upto accept policy-options policy-statement term community add metric 5
class-of-service schedulers drop-profile-map loss-priority any protocol groups <*> apply-groups system syslog file
messages size traceoptions routing-options static route next-hop $x ( && ) -1 0x10 1e9 ethernet-switching
"""
WORDS = st.sampled_from(SOME_WORDS.split())


@given(st.lists(st.lists(WORDS, min_size=1, max_size=12), max_size=12))
def test_any_words_are_judged(lines: list[list[str]]) -> None:
    root = Node("")
    for number, words in enumerate(lines, 1):
        node = root
        for word in words:
            node = node.children.setdefault(word, Node(word, number))
    outcome = check(root, schema())
    assert all(violation.line and violation.path and violation.message for violation in outcome.findings)


@given(st.binary(max_size=300))
def test_any_bytes_are_judged_or_refused(content: bytes) -> None:
    try:
        root = read(content.decode("utf-8", "replace"))
    except AilbError:
        return
    check(root, schema())


@pytest.mark.untraced
@pytest.mark.parametrize("words", ["x", "interfaces traceoptions file a size 1", "policy-options community", "groups"])
def test_deep_trees(words: str) -> None:
    root = node = Node("")
    for word in [*words.split(), *(["size", "1", "x", "groups"] * 10_000)]:
        child = Node(word, 1)
        node.children[word] = child
        node = child
    assert check(root, schema()).words > 0


# Words behind which a name stands that may be anything.
NAMES_BEHIND = """
unit
    interfaces vlans classifiers dscp drop-profiles congestion-notification-profile scheduler-maps schedulers
    policy-options policy-statement term community as-list group dynamic-neighbor forwarding-class class interface
"""
NAMES = set(NAMES_BEHIND.split())


def test_every_misspelt_statement_of_a_switch_is_found() -> None:
    root = read((ROOT / "tests/golden/lab/switches/stripe1-leaf1.conf").read_text())
    passed, found = [], 0
    stack = [root]
    while stack:
        node = stack.pop()
        children = node.children
        stack += children.values()
        for word, child in children.items():
            wrong = Node(f"{word}-zz", child.line, child.flags)
            wrong.children = child.children
            node.children = {other: one for other, one in children.items() if other != word} | {wrong.word: wrong}
            if check(root, schema()).findings:
                found += 1
            elif child.children and node.word not in NAMES:
                passed.append((node.word, word))
        node.children = children
    # What passes is the value of a statement, or a name behind one of the words above.
    assert passed == []
    assert found > 200


@pytest.mark.parametrize(
    "statement",
    [
        "backup-router 10.0.0.1",
        "backup-router 10.0.0.1 destination [ 10.0.0.0/8 192.168.0.0/16 ]",
        "inet6-backup-router fc00::1 destination ::/0",
        "accounting traceoptions file x size 10m files 2",
        "services netconf traceoptions file a size 1m world-readable",
        "scripts commit traceoptions file y",
        "services outbound-ssh client c 192.0.2.1 port 2200",
        "arp interfaces ge-0/0/0.0 aging-timer 5",
        "services dhcp-local-server group g dynamic-profile DP",
    ],
)
def test_a_keyword_that_is_not_written_in_the_system_hierarchy(statement: str) -> None:
    assert said(f"set system {statement}") == []
    assert said(f"system {{ {statement}; }}") == []


def test_what_stands_for_a_silent_keyword_is_still_checked() -> None:
    assert [kind for kind, _, _ in said("set system backup-router 10.0.0.999")] == ["type"]


def test_a_hierarchy_without_a_model_has_its_line() -> None:
    text = "system {\n    host-name a;\n}\n\naccess-profile x;\ninactive: access {\n}\n"
    outcome = outcome_of(text)
    assert outcome.unmodeled_lines == {"access-profile": 5}
    places = [one.place.line for one in findings_of(outcome, "a", "a.conf") if one.place is not None]
    assert places == [5]
    assert outcome_of("set system host-name a\nedit access\nset x\n").unmodeled_lines == {"access": 2}


@pytest.mark.parametrize(
    "text",
    [
        "/* one\ntwo */\nset nonsense x\n",
        '# a comment\nannotate system "c"\nset nonsense x # here\n',
        "set protocols\ndeactivate protocols\nset nonsense x\n",
        'set system host-name a\nannotate interfaces "none is set"\nset nonsense x\n',
    ],
)
def test_comments_and_empty_blocks_of_set_text_move_no_line(text: str) -> None:
    assert [(one.kind, one.path[0], one.line) for one in outcome_of(text).findings] == [("unknown", "nonsense", 3)]


def test_what_is_only_named_is_not_configured() -> None:
    root = read('set a\nannotate b "c"\nprotect c d\nactivate e\ndeactivate f\nedit g\nannotate h "i"\nset j\n')
    assert sorted(root.paths()) == [("a",), ("f",), ("g", "j")]
    assert root.comment == ["/* c */"]
    assert to_set(read("delete: x {\n    a;\n}\n")) == "delete x\n"


STATED = words_of(read("set interfaces et-0/0/0 unit 0 family inet6"))
# Words of constraints of Juniper's models, to be met where they are not expected.
LATE = (
    "encapsulation ppp-over-ether",
    "family vpls",
    "container-options container-list x",
    "es-options backup-interface et-0/0/0.0",
    "type internal",
    "multihop",
    "routing-instances",
)


@pytest.mark.parametrize(
    ("constraint", "holds"),
    [
        ('(!("interfaces ${interface} container-options"))', True),
        ('(!(".. es-options backup-interface $$"))', True),
        ('(!(any "vlans <*> vlan-id") && !(".. mtu"))', True),
        ('(!("vlans" && "interfaces"))', False),
        ('(!("interfaces ${interface} unit"))', False),
        ('(!(".. $$"))', False),
        ('("vlans" || !("vlans"))', True),
        ('("vlans")', False),
        ('(!(all "vlans <*> vlan-id"))', False),
        ('(unique "vlans <*> vlan-id")', False),
        ('(!("vlans"', False),
        ("", False),
    ],
)
def test_what_holds_because_words_are_missing(constraint: str, holds: bool) -> None:
    assert holds_without(constraint, STATED) is holds


@pytest.mark.parametrize("name", ["stripe1-leaf1", "spine1"])
def test_findings_are_those_of_evaluating_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root = read((ROOT / f"tests/golden/lab/switches/{name}.conf").read_text())
    chosen = random.Random(name)
    nodes = [root]
    for node in nodes:
        nodes += node.children.values()
    failed, ports = 0, list(root.each("interfaces"))
    for _ in range(30):
        node = chosen.choice(chosen.choice([nodes, ports]))
        for word in chosen.choice(LATE).split():
            node = node.children.setdefault(word, Node(word, 1, ENDS))
            nodes.append(node)
        quick = outcome_of_tree(root)
        with monkeypatch.context() as patch:
            patch.setattr("ailb_gen.junos.check.holds_without", lambda text, words: False)
            assert outcome_of_tree(root) == quick
        failed += any(one.kind == "must" for one in quick.findings)
    assert failed
