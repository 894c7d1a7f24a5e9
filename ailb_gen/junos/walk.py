"""A tree of words walked along the schema: what each word is, and what is wrong with it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from ailb_gen.junos import outcome as kinds
from ailb_gen.junos.instance import Instance, key_is_named
from ailb_gen.junos.outcome import Fault
from ailb_gen.junos.schema import CHOICE_VALUE
from ailb_gen.junos.statements import CONTAINER, LEAF, LEAF_LIST, LIST, ONE_LINE, PLAIN, PRESENCE
from ailb_gen.junos.tree import ENDS
from ailb_gen.junos.values import canonical, is_wildcard

if TYPE_CHECKING:
    from ailb_gen.junos.schema import Definition
    from ailb_gen.junos.tree import Node
    from ailb_gen.junos.values import Wrong

# The hierarchies at the top of Junos; where a set of models lacks one, its statements are counted and not judged.
HIERARCHIES = frozenset(
    [
        *("access", "access-profile", "accounting-options", "applications", "bridge-domains", "chassis"),
        *("class-of-service", "diameter", "dynamic-profiles", "ethernet-switching-options", "event-options", "fabric"),
        *("firewall", "forwarding-options", "interfaces", "jsrc", "jsrc-partition", "logical-systems", "multi-chassis"),
        *("multicast-snooping-options", "poe", "policy-options", "protocols", "routing-instances", "routing-options"),
        *("security", "services", "session-limit-group", "snmp", "switch-options", "system", "tenants"),
        *("unified-edge", "virtual-chassis", "vlans", "vmhost", "wlan"),
    ]
)

# The words of a `choice-ident` key that have a value (CLI reference, route-filter).
_WITH_VALUE = frozenset({"upto", "through", "prefix-length-range", "address-mask"})
_HINTS = 200  # faults of one file that get a did-you-mean: looking for one takes a millisecond


class Walk:
    """The walk over one tree; faults and constraints are collected on the way.

    Work is kept on a stack of instances, their nodes and whether the words behind the node follow on the same line
    after a value: what then fits the statement around belongs to it.
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.musts: list[tuple[Instance, list[list[str]], str | None, Node, bool]] = []
        self.extra: dict[int, dict[str, Node]] = {}
        self.groups: list[Instance] = []
        self.in_groups = False
        self.unmodelled: dict[str, int] = {}
        self.words = 0
        self._stack: list[tuple[Instance, Node, bool]] = []
        self._hints: dict[tuple[Definition, str], str] = {}

    def run(self, stack: list[tuple[Instance, Node, bool]]) -> None:
        """Walk what is on a stack and all that is below it."""
        self._stack = stack
        while stack:
            instance, node, follows = stack.pop()
            for child in node.children.values():
                self.words += 1
                if follows:
                    self._follow(instance, child)
                else:
                    self._statement(instance, child)

    def _statement(self, instance: Instance, node: Node) -> None:
        definition = instance.definition.words.get(node.word)
        if definition is not None:
            self._take(instance, definition, node)
        elif not self._take_bare(instance, node):
            # A container on one line may be followed by what belongs to the statement around it.
            one_line = instance.definition.flags & ONE_LINE and not instance.node.flags & ENDS
            if not (one_line and instance.parent is not None and self._belongs(instance.parent, node)):
                self._unknown(instance, node)

    def _follow(self, instance: Instance, node: Node) -> None:
        if not self._belongs(instance, node):
            self._unknown(instance, node)

    def _belongs(self, instance: Instance | None, node: Node) -> bool:
        """Take a word that follows on the same line, into this statement or into one around it on that line."""
        while instance is not None and instance.definition.flags & (ONE_LINE | PLAIN):
            definition = instance.definition.words.get(node.word)
            if definition is not None or any(self._fits(one, node) for one in instance.definition.bare):
                self.extra.setdefault(id(instance.node), {})[node.word] = node
                self._statement(instance, node)
                return True
            if instance.node.flags & ENDS:
                return False
            instance = instance.parent
        return False

    def _take(self, instance: Instance, definition: Definition, node: Node) -> None:
        """Walk a statement whose name is `node`."""
        if definition.cases:
            self._choose(instance, definition, node)
        kind = definition.kind
        if kind == CONTAINER:
            self._container(instance, definition, node)
        elif kind == LIST:
            self._list(instance, definition, node)
        elif definition.value == "none":
            self._empty(instance, definition, node)
        elif node.children:
            self._values(instance, definition, node)
        elif definition.value in {"one", "words"}:
            self._fault(kinds.MISSING, instance, node, f"{node.word!r} needs a value")

    def _take_bare(self, instance: Instance, node: Node) -> bool:
        """Walk a statement whose name is not written and whose first word is `node`; tell whether there is one."""
        for definition in instance.definition.bare:
            if not self._fits(definition, node):
                continue
            if definition.cases:
                self._choose(instance, definition, node)
            if definition.kind == LIST:
                self._key(instance, definition, node, ())
            else:
                if definition.kind == LEAF:
                    self._once(instance, definition, node)
                self._value(instance, definition, node)
            return True
        return False

    def _fits(self, definition: Definition, node: Node) -> bool:
        first = definition.keys[0] if definition.kind == LIST and definition.keys else definition
        if first.check is None or first.check(node.word) is None:
            return True
        return self.in_groups and is_wildcard(node.word)

    def _container(self, instance: Instance, definition: Definition, node: Node) -> None:
        below = Instance(definition, node, instance)
        if definition.musts:
            self.musts.append((below, definition.musts, None, node, False))
        if node.children:
            self._stack.append((below, node, False))
        elif definition.flags & ONE_LINE and not definition.flags & PRESENCE and definition.bare:
            self._fault(kinds.MISSING, instance, node, f"{node.word!r} needs a value")

    def _empty(self, instance: Instance, definition: Definition, node: Node) -> None:
        if definition.musts:
            self.musts.append((instance, definition.musts, None, node, True))
        if node.children:
            self._stack.append((instance, node, True))

    def _values(self, instance: Instance, definition: Definition, node: Node) -> None:
        values = list(node.children.values())
        self.words += len(values)
        if definition.value == "words":
            # An expression of policies, `( A && B )`, is not looked into.
            self._value(instance, definition, values[0], whole=True)
            return
        if len(values) > 1:
            self._several(instance, definition, values)
        for value in values:
            self._value(instance, definition, value)

    def _several(self, instance: Instance, definition: Definition, values: list[Node]) -> None:
        """Find what is wrong with several values or list entries of one statement."""
        if definition.kind == LEAF:
            words = ", ".join(value.word for value in values[:4])
            self._fault(kinds.DUPLICATE, instance, values[1], f"{definition.name!r} has {len(values)} values: {words}")
            return
        if definition.most and len(values) > definition.most:
            message = f"{definition.name!r} has {len(values)} entries; at most {definition.most} are allowed"
            self._fault(kinds.TOO_MANY, instance, values[definition.most], message)
        first = definition.keys[0] if definition.kind == LIST and len(definition.keys) == 1 else definition
        if first.is_address:
            seen: dict[object, Node] = {}
            for value in values:
                other = seen.setdefault(canonical(value.word), value)
                if other is not value:
                    message = f"{value.word} is the same as {other.word}"
                    self._fault(kinds.DUPLICATE, instance, value, message)

    def _value(self, instance: Instance, definition: Definition, node: Node, whole: bool = False) -> None:
        word = node.word
        wrong = definition.check(word) if definition.check is not None else None
        if wrong is not None and not (self.in_groups and is_wildcard(word)):
            self._wrong(instance, definition, node, wrong)
        if definition.musts:
            self.musts.append((instance, definition.musts, word, node, True))
        if definition.enum_musts and word in definition.enum_musts:
            self.musts.append((instance, definition.enum_musts[word], word, node, True))
        if node.children and not whole:
            self._stack.append((instance, node, True))

    def _once(self, instance: Instance, definition: Definition, node: Node) -> None:
        """Find a second value of a leaf whose values are not below one word."""
        if instance.once is None:
            instance.once = {}
        other = instance.once.setdefault(definition, node.word)
        if other != node.word:
            message = f"{definition.name!r} has 2 values: {other}, {node.word}"
            self._fault(kinds.DUPLICATE, instance, node, message)

    def _list(self, instance: Instance, definition: Definition, node: Node) -> None:
        entries = list(node.children.values())
        if not entries:
            self._fault(kinds.MISSING, instance, node, f"{node.word!r} needs {_named(definition)}")
        elif len(entries) > 1:
            self._several(instance, definition, entries)
        for entry in entries:
            self.words += 1
            self._key(instance, definition, entry, ())

    def _key(self, instance: Instance, definition: Definition, node: Node, done: tuple[str, ...]) -> None:
        """Walk one key of a list entry, then those behind it or the entry; `done` are the keys in front of it."""
        keys = definition.keys
        key = keys[len(done)] if len(done) < len(keys) else None
        if key is not None and key.name == CHOICE_VALUE and len(done) + 1 < len(keys):
            # What chose has its value in a key of its own behind it.
            key, keys = keys[len(done) + 1], keys[:-1]
        if key is None:
            self._unknown(instance, node)
            return
        if key_is_named(key):
            if node.word != key.name or not node.children:
                self._fault(kinds.MISSING, instance, node, f"{definition.name!r} needs {key.name!r} and its value")
                return
            for value in node.children.values():
                self._key_value(instance, definition, key, value, done, keys)
            return
        self._key_value(instance, definition, key, node, done, keys)

    def _key_value(
        self,
        instance: Instance,
        definition: Definition,
        key: Definition,
        node: Node,
        done: tuple[str, ...],
        keys: tuple[Definition, ...],
    ) -> None:
        word = node.word
        wrong = key.check(word) if key.check is not None else None
        if wrong is not None and not (self.in_groups and is_wildcard(word)):
            self._wrong(instance, definition, node, wrong)
        done = (*done, word)
        if len(done) == len(keys):
            self._entry(instance, definition, node, done)
        elif keys[len(done)].name == CHOICE_VALUE and len(done) + 1 == len(keys):
            self._choice_value(instance, definition, node, done)
        elif not node.children:
            self._fault(kinds.MISSING, instance, node, f"{definition.name!r} needs {keys[len(done)].name!r}")
        else:
            for child in node.children.values():
                self._key(instance, definition, child, done)

    def _choice_value(self, instance: Instance, definition: Definition, node: Node, done: tuple[str, ...]) -> None:
        if node.word not in _WITH_VALUE:
            self._entry(instance, definition, node, done)
        elif not node.children:
            self._fault(kinds.MISSING, instance, node, f"{node.word!r} needs a value")
        for child in node.children.values() if node.word in _WITH_VALUE else ():
            self._entry(instance, definition, child, (*done, child.word))

    def _entry(self, instance: Instance, definition: Definition, node: Node, key: tuple[str, ...]) -> None:
        entry = Instance(definition, node, instance, key)
        if definition.musts:
            self.musts.append((entry, definition.musts, key[-1], node, False))
        for one, word in zip(definition.keys, key, strict=False):
            if one.musts:
                self.musts.append((entry, one.musts, word, node, True))
            if one.enum_musts and word in one.enum_musts:
                self.musts.append((entry, one.enum_musts[word], word, node, True))
        if definition.name == "groups" and instance.parent is None:
            self.groups.append(entry)
        elif node.children:
            self._stack.append((entry, node, False))

    def _choose(self, instance: Instance, definition: Definition, node: Node) -> None:
        if instance.cases is None:
            instance.cases = {}
        for choice, _, case in definition.cases:
            taken, other = instance.cases.setdefault(choice, (case, node.word))
            if taken != case:
                message = f"{other!r} and {node.word!r} exclude each other"
                self._fault(kinds.CHOICE, instance, node, message)
                return

    def _wrong(self, instance: Instance, definition: Definition, node: Node, wrong: Wrong) -> None:
        self._fault(wrong.kind, instance, node, f"{definition.name}: {wrong.message}", wrong.juniper)

    def _unknown(self, instance: Instance, node: Node) -> None:
        if (instance.parent is None or instance in self.groups) and node.word in HIERARCHIES:
            self.unmodelled[node.word] = self.unmodelled.get(node.word, 0) + _statements(node)
            return
        definition = instance.definition
        names = [one for one in definition.bare if one.kind in {LEAF, LEAF_LIST}]
        if names and not definition.words.keys() - {"apply-groups", "apply-groups-except", "apply-macro"}:
            wrong = names[0].check(node.word) if names[0].check is not None else None
            if wrong is not None:
                self._wrong(instance, names[0], node, wrong)
                return
        place = " ".join(instance.path()) or "the top"
        self._fault(
            kinds.UNKNOWN,
            instance,
            node,
            f"no statement {node.word!r} in {place}",
            hint=self._hint(definition, node.word),
        )

    def _hint(self, definition: Definition, word: str) -> str:
        key = (definition, word)
        if key not in self._hints and len(self._hints) < _HINTS:
            close = get_close_matches(word[:80], definition.words, 1)
            self._hints[key] = f"did you mean {close[0]!r}?" if close else ""
        return self._hints.get(key, "")

    def _fault(
        self, kind: str, instance: Instance, node: Node, message: str, juniper: str = "", hint: str = ""
    ) -> None:
        self.faults.append(Fault(kind, (*instance.path(), node.word), node.line, message, juniper, hint))


def _named(definition: Definition) -> str:
    return " and ".join(repr(key.name) for key in definition.keys if key.name != CHOICE_VALUE)


def _statements(node: Node) -> int:
    """Count the statements below a node: the nodes without children."""
    count, stack = 0, [node]
    while stack:
        one = stack.pop()
        count += not one.children
        stack += one.children.values()
    return count


def _short(word: str) -> str:
    return repr(word if len(word) < 80 else word[:76] + "…")
