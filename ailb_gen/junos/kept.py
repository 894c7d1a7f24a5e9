"""What a walk found in blocks that several configurations share, to be taken over.

Files of one role share most of their blocks: the reader gives equal ones as the same object. Below a block in which
nothing is wrong a walk finds the same wherever the block stands, but for constraints, which may look around.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ailb_gen.junos.instance import Instance
from ailb_gen.junos.schema import Definition
from ailb_gen.junos.substitution import Substitution
from ailb_gen.junos.tree import Node, words_of

# Where constraints stand: what they are, in which statement, and whether there is a value.
Place = tuple[int, Definition, bool]
# Constraints of a statement: the instance, they with their messages, the value, its node, whether it is a leaf, and
# the words of the statement below the instance.
Constraints = tuple[Instance, list[list[str]], str | None, Node, bool, tuple[str, ...]]
# What has to be evaluated of the constraints of a place, in configurations that lack the same words of constraints.
Open = dict[Place, list[list[str]]]

# A leaf, and which of the new words of a substitution is its value.
OtherValue = tuple[Definition, int]

# Of so many files is kept what was found: more than a fabric has kinds of files.
FILES = 8
# So many blocks inside each other; more have only files that were made to be deep.
DEEPEST = 64
_OPENS = 64


class KeptWalk:
    """What a walk found below a container or list entry: nothing wrong.

    `instance` stands in nothing. `met` are the constraints in their order, those of an inner block as a `Taken`;
    `words` counts the words, `constraints` the constraints. `rest` is what of `met` the evaluation for `open_` left.

    For blocks that are like it: `looked_at` are the words that the constraints left for `settled_for` look at, None
    where they look at more than the block (`likeness.py`).
    """

    __slots__ = (
        "_names",
        "constraints",
        "file",
        "instance",
        "looked_at",
        "met",
        "open_",
        "rest",
        "settled_for",
        "words",
    )

    def __init__(self, instance: Instance, met: list[Constraints | Taken], words: int, constraints: int) -> None:
        self.instance = instance
        self.met = met
        self.words = words
        self.constraints = constraints
        self.file = 0
        self.open_: Open | None = None
        self.rest: list[Constraints | Taken] = []
        self.settled_for: Open | None = None
        self.looked_at: frozenset[str] | None = None
        self._names: frozenset[str] | None = None

    @property
    def names(self) -> frozenset[str]:
        """The words below."""
        if self._names is None:
            self._names = frozenset(words_of(self.instance.node))
        return self._names


class Taken:
    """A kept walk, and the instance in whose place it is taken over; with `words` for a block with these other ones."""

    __slots__ = ("instance", "walk", "words")

    def __init__(self, walk: KeptWalk, instance: Instance, words: tuple[str, ...] = ()) -> None:
        self.walk = walk
        self.instance = instance
        self.words = words


@dataclass(frozen=True, slots=True)
class BlockPart:
    """What a walk finds in the part of a block in which a substitution changes only `values`; the rest is `apart`.

    `walk` is None where that says nothing about blocks like it. `before` are the values of the block.
    """

    block: Node
    substitution: Substitution
    walk: KeptWalk | None = None
    values: tuple[OtherValue, ...] = ()
    before: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()


class KeptWalks:
    """What walks of the latest files found, by the identity of the node; to be used by one thread at a time."""

    def __init__(self) -> None:
        # The instance in a value holds the node, so that no other gets its id.
        self.walks: dict[int, KeptWalk] = {}
        # By the ids of the block and of the substitution, which the values hold, too.
        self.parts: dict[tuple[int, int], BlockPart] = {}
        self._files: dict[int, list[KeptWalk]] = {}
        self._count = 0
        # The words whose absence decides constraints that were met so far.
        self._deciding: set[str] = set()
        self._opens: dict[frozenset[str], Open] = {}

    def add(self, made: list[KeptWalk], used: Iterable[int]) -> None:
        """Keep what the walk of a file found, and the files of which it took something over; forget the oldest."""
        for file in used:
            self._files[file] = self._files.pop(file)
        if made:
            self._count += 1
            self._files[self._count] = made
            for one in made:
                one.file = self._count
                self.walks[id(one.instance.node)] = one
        while len(self._files) > FILES:
            self.parts.clear()
            for one in self._files.pop(next(iter(self._files))):
                node = id(one.instance.node)
                if self.walks.get(node) is one:
                    del self.walks[node]

    def open_of(self, words: AbstractSet[str]) -> Open:
        """Return what is known to be left of constraints in configurations that have these words."""
        return self._opens.get(frozenset(self._deciding & words), {})

    def keep_open(self, words: AbstractSet[str], found: Open, deciding: AbstractSet[str]) -> None:
        """Keep what is left of constraints in configurations with these words; `deciding` are those of new ones."""
        self._deciding |= deciding
        # It may stand at fewer words, for files that differ in those of the new constraints.
        self._opens = {key: one for key, one in self._opens.items() if one is not found}
        if len(self._opens) >= _OPENS:
            self._opens.clear()
        self._opens[frozenset(self._deciding & words)] = found


def place_of(one: Constraints) -> Place:
    """Return where constraints stand."""
    return id(one[1]), one[0].definition, one[2] is None


def renewed(instance: Instance, old: Instance, new: Instance) -> Instance:
    """Return an instance in or below `old` as it is in or below `new`."""
    if instance is old:
        return new
    around = instance.parent
    assert around is not None  # noqa: S101 - `old` is one of those around
    return Instance(instance.definition, instance.node, renewed(around, old, new), instance.key)
