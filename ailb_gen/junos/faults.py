"""What is wrong with a configuration, collected on a walk along the schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from ailb_gen.junos import check_result as kinds
from ailb_gen.junos.check_result import Violation
from ailb_gen.junos.grammar import HIERARCHIES
from ailb_gen.junos.instance import Instance
from ailb_gen.junos.schema import CHOICE_VALUE, Definition
from ailb_gen.junos.statements import LIST
from ailb_gen.junos.tokens import LIKE_TAG, TAG_HINT
from ailb_gen.junos.tree import Node, words_of
from ailb_gen.junos.values import Wrong, host_bits

# Statements that came with a feature: models without any of them are of an older release, which is reported once.
FEATURE = "BGP-DPF"
FEATURE_WORDS = ("fabric-advertise", "fabric-color")
FEATURE_HINT = "use the models of 25.4R1 or later, or those of 23.4X100-D4x for the QFX5240"

_BGP = ("protocols", "bgp")
_HINTS = 200  # violations of one file that get a did-you-mean: looking for one takes a millisecond


class FaultCollector:
    """The violations of one tree, and what its models do not have; `names` are the words of the tree."""

    def __init__(self) -> None:
        self.violations: list[Violation] = []
        self.names: set[str] = set()
        self.unmodeled: dict[str, int] = {}
        self.unmodeled_lines: dict[str, int] = {}
        self.later: list[tuple[Instance, Node]] = []
        # What depends on the place of a block, besides violations: such a block is not kept.
        self._placed = 0
        self._hints: dict[tuple[Definition, str], str] = {}

    def tell_later(self) -> None:
        """Make one violation of all statements that models of a later release have."""
        if self.later:
            instance, node = min(self.later, key=lambda found: found[1].line)
            message = f"these models lack {FEATURE} ({', '.join(FEATURE_WORDS)}); what needs it is not checked"
            self._fault(kinds.RELEASE, instance, node, message, FEATURE_HINT)

    def _unknown(self, instance: Instance, node: Node) -> None:
        self._placed += 1
        self.names |= words_of(node)
        at_top = instance.parent is None or (instance.parent.parent is None and instance.definition.name == "groups")
        if at_top and node.word in HIERARCHIES:
            self.unmodeled[node.word] = self.unmodeled.get(node.word, 0) + sum(not one.children for one in node.below())
            self.unmodeled_lines.setdefault(node.word, node.line)
            self.violations += _host_bits((*instance.path(), node.word), node)
            return
        definition = instance.definition
        if node.word in FEATURE_WORDS and not definition.schema.has(*_BGP, FEATURE_WORDS[0]):
            self.later.append((instance, node))
            return
        # In front of a name, such as that of an interface, it is taken for the name.
        if any(map(LIKE_TAG.fullmatch, (*instance.path()[-1:], node.word))):
            self._fault(kinds.UNKNOWN, instance, node, "Junos has no such tag", TAG_HINT)
            return
        around = instance.parent
        named = definition.kind == LIST and around is not None and definition not in around.definition.bare
        if named and around is not None and instance.key and instance.key[-1] in definition.words:
            # Where the name is missing, the first statement of the block is taken for it.
            what, path = f"{instance.key[-1]!r} is read as its name", (*around.path(), definition.name)
            entries = around.node.children.get(definition.name)
            if entries is not None and not entries.children.keys() <= definition.words.keys():
                # Other entries have names: the word stands among them.
                path = instance.path()
            message = f"{definition.name!r} needs {key_names(definition)}: {what}"
            self.violations.append(Violation(kinds.MISSING, path, instance.node.line, message))
            return
        hint = self._close((definition, node.word), definition.words)
        for one in () if hint else definition.bare:
            first = one.keys[0] if one.kind == LIST and one.keys else one
            wrong = first.check(node.word) if first.check is not None else None
            if wrong is not None:
                self._wrong((*instance.path(), node.word), one, node, wrong)
                return
        self._fault(kinds.UNKNOWN, instance, node, "there is no such statement", hint)

    def _wrong(self, path: tuple[str, ...], definition: Definition, node: Node, wrong: Wrong) -> None:
        hint = self._close((definition, node.word), wrong.names)
        self.violations.append(Violation(wrong.kind, path, node.line, wrong.message, wrong.juniper, hint))

    def _close(self, key: tuple[Definition, str], names: Iterable[str]) -> str:
        if key not in self._hints and len(self._hints) < _HINTS:
            close = get_close_matches(key[1][:80], names, 1)
            self._hints[key] = f"did you mean {close[0]!r}?" if close else ""
        return self._hints.get(key, "")

    def _fault(
        self, kind: str, instance: Instance, node: Node, message: str, hint: str = "", before: tuple[str, ...] = ()
    ) -> None:
        self.violations.append(Violation(kind, (*instance.path(), *before, node.word), node.line, message, "", hint))


def key_names(definition: Definition) -> str:
    """Return the names of the keys of a list, as a message has them."""
    return " and ".join(repr(key.name) for key in definition.keys if key.name != CHOICE_VALUE)


def _host_bits(path: tuple[str, ...], around: Node) -> Iterator[Violation]:
    """Find bits behind the length of prefixes below a node that has no model: routing instances have the same words."""
    stack = [(path, around)]
    while stack:
        above, node = stack.pop()
        for child in node:
            if "/" in child.word and (wrong := host_bits(above, child.word)):
                yield Violation(wrong.kind, (*above, child.word), child.line, wrong.message)
            elif child.children:
                stack.append(((*above, child.word), child))
