"""The patch that `show | compare` prints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.emulator.load_config import load, load_set
from ailb_gen.emulator.show_compare import patch
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.tree import Node

OLD = """\
system { host-name a; }
interfaces { et-0/0/0 { description one; unit 0 { family inet6 { address fe80::1/64; } } } }
policy-options { policy-statement p { term a { then accept; } term b { then reject; } } }
protocols { bgp { group g { export [ x y ]; } } }
"""

CASES = {
    "set system host-name b": "[edit system]\n-  host-name a;\n+  host-name b;\n",
    "set system domain-name d": "[edit system]\n+   domain-name d;\n",
    "delete protocols": "[edit]\n-   protocols {\n-       bgp {\n-           group g {\n"
    "-               export [ x y ];\n-           }\n-       }\n-   }\n",
    "set interfaces et-0/0/1 mtu 9216": "[edit interfaces]\n+   et-0/0/1 {\n+       mtu 9216;\n+   }\n",
    "set interfaces et-0/0/0 unit 0 family inet6 address fe80::2/64": "[edit interfaces et-0/0/0 unit 0 family inet6]\n"
    "+    address fe80::2/64;\n",
    "set protocols bgp group g export z": "[edit protocols bgp group g]\n-  export [ x y ];\n+  export [ x y z ];\n",
    "deactivate interfaces et-0/0/0": "[edit interfaces]\n!   inactive: et-0/0/0 { ... }\n",
    "deactivate system host-name": "[edit system]\n!   inactive: host-name a;\n",
    "insert policy-options policy-statement p term b before term a": "[edit policy-options policy-statement p]\n"
    "!    term b { ... }\n",
    "set policy-options policy-statement p term c then accept": "[edit policy-options policy-statement p]\n"
    "     term b { ... }\n+    term c {\n+        then accept;\n+    }\n",
    'annotate system "why"': "",
    "set system root-authentication encrypted-password secret": "[edit system]\n+   root-authentication {\n"
    '+       encrypted-password "secret"; ## SECRET-DATA\n+   }\n',
    'set system login message "a;\n}\nb"': '[edit system]\n+   login {\n+       message "a;\n}\nb";\n+   }\n',
}


def old() -> Node:
    return load(Node(""), read_curly(OLD), "override")


@pytest.mark.parametrize("command", CASES)
def test_patches(command: str) -> None:
    assert patch(old(), load_set(old(), command)[0]) == CASES[command]


def test_back_and_forth() -> None:
    tree, _ = load_set(old(), "deactivate interfaces et-0/0/0\nset system domain-name d")
    assert patch(tree, old()) == "[edit system]\n-   domain-name d;\n[edit interfaces]\n!   active: et-0/0/0 { ... }\n"


WORDS = st.sampled_from(["system", "host-name", "term", "a", "b", "unit", "0", "family", "inet6", "mtu", "then", "x y"])
PATHS = st.lists(st.lists(WORDS, min_size=1, max_size=5), max_size=8)


@given(PATHS, PATHS)
def test_a_patch_is_empty_only_for_equal_trees(first: list[list[str]], second: list[list[str]]) -> None:
    trees = []
    for paths in (first, second):
        text = "".join(f"set {' '.join(f'{chr(34)}{word}{chr(34)}' for word in path)}\n" for path in paths)
        trees.append(load_set(Node(""), text)[0])
    same = {tuple(path) for path in trees[0].paths()} == {tuple(path) for path in trees[1].paths()}
    assert patch(trees[0], trees[0]) == ""
    if not same:
        assert patch(*trees)
