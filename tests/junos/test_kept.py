import random
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.checks.run import ThreadWalks
from ailb_gen.errors import AilbError, JunosSyntaxError
from ailb_gen.junos.alike import AlikeReader
from ailb_gen.junos.check import check
from ailb_gen.junos.check_result import CheckResult
from ailb_gen.junos.groups import active, inherited
from ailb_gen.junos.instance import Instance
from ailb_gen.junos.kept import FILES, KeptWalks
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import ENDS, Node, words_of
from ailb_gen.junos.walk import Walk
from tests.conftest import ROOT, need_shared
from tests.junos.models import schema
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import changes_of, chosen
from tests.mutations.score import golden

EXAMPLES = sorted({path.parts[-3] for path in ROOT.glob("tests/golden/*/switches/*.conf")})
LEAF = (ROOT / "tests/golden/lab/switches/stripe1-leaf1.conf").read_text()
PORT = ("interfaces", "et-0/0/0")
# What may be written at a block, also where it means something to constraints elsewhere.
LATE = """
type internal
multihop
encapsulation ppp-over-ether
family vpls
flexible-vlan-tagging
native-vlan-id 7
address 10.1.2.3/24
route 10.1.2.3/24 discard
nonsense
mtu 9216
if-route-exists
routing-instances
"""


class Sharing:
    """Gives equal blocks of several trees as the same object: with the same words, tags and lines."""

    def __init__(self) -> None:
        self._blocks: dict[object, Node] = {}

    def shared(self, node: Node) -> Node:
        """Return the node that stands for this one and what is below it."""
        node.children = {word: self.shared(child) for word, child in node.children.items()}
        key = (node.word, node.flags, node.line, tuple(map(id, node)))
        return self._blocks.setdefault(key, node)


def _is_taken_over(texts: Iterable[str]) -> int:
    """Check texts in their order with what was kept, and alone; return how many blocks are kept in the end."""
    sharing, kept = Sharing(), KeptWalks()
    reader, kept_alike = AlikeReader(), KeptWalks()
    for text in texts:
        try:
            written = active(read(text))
            tree = inherited(written)
        except AilbError:
            continue
        groups = written.get("groups")
        alone = check(tree, schema(), groups)
        with suppress(JunosSyntaxError):
            assert check(inherited(active(reader.read(text, "")[0])), schema(), groups, kept_alike) == alone
        assert check(sharing.shared(tree), schema(), groups, kept) == alone
        # The words of the tree decide which constraints are evaluated.
        walk = Walk(KeptWalks(), keeps=False)
        walk.run([(Instance(schema().root, tree, None), tree, False)])
        assert walk.names == words_of(tree)
    return len(kept.walks)


def _texts(example: str) -> list[str]:
    return [path.read_text() for path in sorted(ROOT.glob(f"tests/golden/{example}/switches/*.conf"))]


@pytest.mark.parametrize("example", EXAMPLES)
def test_switches_are_judged_after_others_as_alone(example: str) -> None:
    texts = _texts(example)[:12]
    assert _is_taken_over([*texts, *reversed(texts)])


def test_published_configurations_are_judged_after_others_as_alone() -> None:
    corpus = need_shared("junos-corpus")
    files = [*sorted(corpus.rglob("*.conf")), *sorted(corpus.rglob("*.set"))]
    assert _is_taken_over(text for file in files[::4] for text in [file.read_text()] * 2)


@pytest.mark.long
def test_all_published_configurations_are_judged_after_others_as_alone() -> None:
    corpus = need_shared("junos-corpus")
    texts = [file.read_text() for file in sorted([*corpus.rglob("*.conf"), *corpus.rglob("*.set")])]
    assert _is_taken_over([*texts, *reversed(texts)])


def _damaged(every: int) -> Iterable[str]:
    """Iterate over switches of the examples and, after each, over what the kinds of damage make of it."""
    for number, row in enumerate(KINDS[::every]):
        for example in row.examples:
            tree = golden(example)
            changes = changes_of(row, tree, chosen(row, tree, example, number))
            for path, entry in changes.items():
                before = tree.get(path)
                if path.startswith("switches/") and isinstance(entry, bytes) and isinstance(before, bytes):
                    yield before.decode()
                    yield entry.decode("utf-8", "replace")


def test_damaged_switches_are_judged_after_others_as_alone() -> None:
    assert _is_taken_over(_damaged(every=9))


@pytest.mark.long
def test_all_damaged_switches_are_judged_after_others_as_alone() -> None:
    assert _is_taken_over(_damaged(every=1))


@given(st.lists(st.tuples(st.integers(0), st.sampled_from(LATE.split("\n")), st.booleans()), max_size=6))
def test_a_switch_with_any_changes_is_judged_as_alone(changes: list[tuple[int, str, bool]]) -> None:
    sharing, kept = Sharing(), KeptWalks()
    for count in range(len(changes) + 1):
        root = read(LEAF)
        nodes = list(root.below())[1:]
        for number, words, goes in changes[:count]:
            node = nodes[number % len(nodes)]
            if goes:
                node.children.clear()
            for word in words.split():
                node = node.children.setdefault(word, Node(word, node.line, ENDS))
        alone = check(root, schema())
        assert check(sharing.shared(root), schema(), None, kept) == alone


def _checked(root: Node, sharing: Sharing, kept: KeptWalks) -> CheckResult:
    return check(sharing.shared(root), schema(), None, kept)


def test_what_is_shared_is_not_walked_again() -> None:
    sharing, kept = Sharing(), KeptWalks()
    first = _checked(read(LEAF), sharing, kept)
    blocks = dict(kept.walks)
    assert len(blocks) > 50
    again = read(LEAF.replace("host-name stripe1-leaf1", "host-name stripe1-leaf9"))
    walk = Walk(kept, keeps=True)
    tree = sharing.shared(again)
    walk.run([(Instance(schema().root, tree, None), tree, False)])
    # All but the name: no block was made.
    assert not walk.made
    assert walk.used == {1}
    assert _checked(again, sharing, kept) == first
    assert kept.walks == blocks


def test_a_constraint_of_a_shared_block_is_evaluated_where_it_stands() -> None:
    sharing, kept = Sharing(), KeptWalks()
    right = (
        "interfaces { et-0/0/0 { unit 0 { family inet6; } } }\n"
        "protocols { router-advertisement {\n interface et-0/0/0.0;\n} }\n"
    )
    results = [_checked(read(text), sharing, kept) for text in (right, right.replace("inet6", "inet"))]
    assert [[one.kind for one in result.findings] for result in results] == [[], ["must"]]


def test_a_prefix_is_judged_by_the_words_in_front_of_it() -> None:
    sharing, kept = Sharing(), KeptWalks()
    block = "{ term a {\n from { source-address { 10.1.2.3/24;\n } }\n then accept; } }"
    texts = [f"firewall {{ family inet {{ filter {name} {block} }} }}" for name in ("a", "b")]
    results = [_checked(read(text), sharing, kept) for text in texts]
    assert [[one.path[4] for one in result.findings] for result in results] == [["a"], ["b"]]


def test_what_is_kept_is_of_the_latest_files() -> None:
    kept, chosen_words = KeptWalks(), random.Random(1)
    for number in range(FILES + 5):
        lines = "\n" * number + LEAF.replace("stripe1-leaf1", f"leaf{chosen_words.randrange(10**6)}")
        check(read(lines), schema(), None, kept)
    one = KeptWalks()
    check(read(LEAF), schema(), None, one)
    assert len(kept.walks) == FILES * len(one.walks)
    assert all(walk.instance.parent is None for walk in kept.walks.values())


def test_the_first_file_outlives_others_while_it_is_used() -> None:
    sharing, kept = Sharing(), KeptWalks()
    first = sharing.shared(read(LEAF))
    check(first, schema(), None, kept)
    node = first.get(*PORT)
    assert node is not None
    for number in range(1, FILES + 5):
        check(read("\n" * number + LEAF), schema(), None, kept)
        check(first, schema(), None, kept)
    assert kept.walks[id(node)].instance.node is node


def test_threads_do_not_share_what_was_found() -> None:
    # As on a Dask worker: each thread waits until the other one has asked.
    walks, both = ThreadWalks(), Barrier(2)

    def asked(_: int) -> KeptWalks:
        both.wait(60)
        return walks.of(schema())

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(asked, range(2))
    assert first is not second
    assert walks.of(schema()) is walks.of(schema())
