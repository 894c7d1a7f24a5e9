import random

import pytest

from ailb_gen.junos import check
from ailb_gen.junos.check import holds_without, words_of
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import ENDS, Node
from tests.conftest import ROOT
from tests.junos.models import outcome_of_tree

WORDS = words_of(read("set interfaces et-0/0/0 unit 0 family inet6"))
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
    assert holds_without(constraint, WORDS) is holds


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
            patch.setattr(check, "holds_without", lambda text, words: False)
            assert outcome_of_tree(root) == quick
        failed += any(one.kind == "must" for one in quick.findings)
    assert failed
