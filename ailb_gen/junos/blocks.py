"""The blocks of a walk: what is found below each is kept, and taken over from earlier walks."""

from __future__ import annotations

from ailb_gen.junos.faults import FaultCollector
from ailb_gen.junos.instance import Instance
from ailb_gen.junos.kept import DEEPEST, Constraints, KeptWalk, KeptWalks, Taken
from ailb_gen.junos.tree import Node


class BlockCollector(FaultCollector):
    """What a walk finds, block by block: faults, `words` and `constraints` by number, constraints as they were `met`.

    What it finds below a block is taken over from `kept` walks, or kept if there is nothing wrong and nothing that
    depends on what stands around; with `alike` it is also taken over for blocks like them. `names` are the words of the
    tree, and may be those of blocks that its own are like.
    """

    def __init__(self, kept: KeptWalks) -> None:
        super().__init__()
        self.met: list[Constraints | Taken] = []
        self.constraints = 0
        self.words = 0
        self.made: list[KeptWalk] = []
        self.used: set[int] = set()
        self.in_groups = False
        self._kept = kept
        # The blocks around: what was counted in front of each, and the constraints met there.
        self._around: list[tuple[int, int, int, list[Constraints | Taken], Instance]] = []
        self._stack: list[tuple[Instance, Node, bool | None]] = []

    def _take_over(self, kept: KeptWalk, instance: Instance, words: tuple[str, ...] = ()) -> None:
        self.used.add(kept.file)
        self.words += kept.words
        self.constraints += kept.constraints
        self.names |= kept.names
        if kept.met:
            self.met.append(Taken(kept, instance, words))

    def _begin(self, instance: Instance) -> Instance:
        """Begin a block that may be kept; return the instance that stands for it below."""
        if len(self._around) >= DEEPEST:
            self._placed += 1
            return instance
        inner = Instance(instance.definition, instance.node, instance.parent, instance.key)
        wrong = self._placed + len(self.violations)
        self._around.append((wrong, self.words, self.constraints, self.met, instance))
        self.met = []
        self._stack.append((inner, instance.node, None))
        return inner

    def _end(self, inner: Instance) -> None:
        wrong, words, constraints, around, instance = self._around.pop()
        met, self.met = self.met, around
        if wrong != self._placed + len(self.violations):
            around += met
            return
        # The tree around is not kept.
        inner.parent = None
        kept = KeptWalk(inner, met, self.words - words, self.constraints - constraints)
        self.made.append(kept)
        if met:
            around.append(Taken(kept, instance))
