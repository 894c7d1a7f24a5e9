"""A tree of words walked along the schema: what each word is, and what is wrong with it."""

from __future__ import annotations

from ailb_gen.junos import check_result as kinds
from ailb_gen.junos.blocks import BlockCollector
from ailb_gen.junos.check_result import Violation
from ailb_gen.junos.faults import key_names
from ailb_gen.junos.grammar import WITH_VALUE, is_wildcard
from ailb_gen.junos.instance import Instance, key_is_named, written
from ailb_gen.junos.kept import Constraints, KeptWalk, KeptWalks
from ailb_gen.junos.likeness import other_words, part_of
from ailb_gen.junos.schema import CHOICE_IDENT, CHOICE_VALUE, WORDS, Definition
from ailb_gen.junos.statements import CONTAINER, LEAF, LIST, ONE_LINE, PLAIN, PRESENCE
from ailb_gen.junos.substitution import Adapted
from ailb_gen.junos.tree import ENDS, Node, words_of
from ailb_gen.junos.values import Wrong, canonical, has_host_bits, host_bits
from ailb_gen.wording import counted


class Walk(BlockCollector):
    """The walk over one tree; violations and constraints are collected on the way.

    Work is kept on a stack of instances, their nodes and whether the words behind the node follow on the same line
    after a value: what then fits the statement around belongs to it. None instead ends a block.
    """

    def __init__(self, kept: KeptWalks, keeps: bool, alike: bool = False) -> None:
        super().__init__(kept)
        self.unreadable: dict[str, str] = {}
        self.extra: dict[int, dict[str, Node]] = {}
        self.groups: list[Instance] = []
        self._keeps = keeps
        self._alike = alike

    def run(self, stack: list[tuple[Instance, Node, bool | None]]) -> None:
        """Walk what is on a stack and all that is below it."""
        self._stack = stack
        while stack:
            instance, node, follows = stack.pop()
            if follows is None:
                self._end(instance)
                continue
            if follows is False and instance.parent is not None and not self.in_groups:
                kept = self._kept.walks.get(id(node))
                if kept is not None and kept.instance.definition is instance.definition:
                    self._take_over(kept, instance)
                    continue
                # What differs from a kept file will hardly be met again.
                if self._keeps and not self.used:
                    instance = self._begin(instance)
            self.words += len(node.children)
            self.names.update(node.children)
            if follows:
                for child in node.children.values():
                    self._follow(instance, child)
                continue
            known = instance.definition.words
            for word, child in node.children.items():
                definition = known.get(word)
                if definition is None:
                    if not self._take_bare(instance, child):
                        self._misplaced(instance, child)
                elif (
                    definition.fine is None
                    or len(child.children) != 1
                    or not self._is_fine(instance, definition, child)
                ):
                    self._take(instance, definition, child)

    def _go_below(self, instance: Instance, node: Node) -> None:
        kept = self._kept.walks.get(id(node))
        if kept is None and self._alike and isinstance(node, Adapted) and self._is_like(instance, node):
            return
        if kept is None or kept.met or kept.instance.definition is not instance.definition or self.in_groups:
            self._stack.append((instance, node, False))
        else:
            # Constraints keep their order, which here are none.
            self._take_over(kept, instance)

    def _is_like(self, instance: Instance, node: Adapted) -> bool:
        """Take over what was found in the block that this one is like; return whether that holds of this one, too.

        Statements in it that differ in more than values are walked.
        """
        if self.in_groups:
            return False
        key = id(node.like), id(node.substitution)
        part = self._kept.parts.get(key)
        if part is None:
            part = self._kept.parts[key] = part_of(instance.definition, node, self._kept, self._walk_of)
        kept = part.walk
        words = other_words(part, kept, node) if kept is not None else None
        if kept is None or words is None or kept.instance.definition is not instance.definition:
            return False
        self._take_over(kept, instance, words)
        self.names.update(words)
        self.words += len(part.apart)
        self.names.update(part.apart)
        for child in map(node.children.__getitem__, part.apart):
            self._statement(instance, child)
        return True

    def _walk_of(self, instance: Instance) -> KeptWalk | None:
        """Return what is found in a block that stands in nothing; None if anything is wrong or depends on the place."""
        walk = Walk(self._kept, keeps=False)
        walk.run([(instance, instance.node, False)])
        if walk.violations or walk._placed:
            return None
        found = KeptWalk(instance, walk.met, walk.words, walk.constraints)
        found.file = max(walk.used, default=0)
        return found

    def _statement(self, instance: Instance, node: Node) -> None:
        definition = instance.definition.words.get(node.word)
        if definition is not None:
            self._take(instance, definition, node)
        elif not self._take_bare(instance, node):
            self._misplaced(instance, node)

    def _misplaced(self, instance: Instance, node: Node) -> None:
        # A container on one line may be followed by what belongs to the statement around it.
        one_line = instance.definition.flags & ONE_LINE and not instance.node.flags & ENDS
        if not (one_line and instance.parent is not None and self._belongs(instance.parent, node)):
            self._unknown(instance, node)

    def _is_fine(self, instance: Instance, definition: Definition, node: Node) -> bool:
        """Take a leaf whose only value is known to fit: most statements are such; return whether it is one."""
        (value,) = node.children.values()
        word = value.word
        if value.children or (definition.check is not None and word not in (definition.fine or ())):
            return False
        self.words += 1
        self.names.add(word)
        if definition.musts:
            self._meet((instance, definition.musts, word, value, True, written(instance, definition, word)))
        return True

    def _follow(self, instance: Instance, node: Node) -> None:
        if self._belongs(instance, node):
            return
        if node.word in instance.definition.words:
            self.names |= words_of(node)
            message = "it stands behind the value of another statement"
            self._fault(kinds.UNKNOWN, instance, node, message, "end that one with ';'")
        else:
            self._unknown(instance, node)

    def _belongs(self, instance: Instance | None, node: Node) -> bool:
        """Take a word that follows on the same line, into this statement or into one around it on that line."""
        inner = instance
        while instance is not None and instance.parent is not None:
            one_line = instance.definition.flags & (ONE_LINE | PLAIN)
            # `user x uid 2000 class y`: what was opened on this line goes on.
            if not one_line and (instance is not inner or instance.node.flags & ENDS):
                return False
            definition = instance.definition.words.get(node.word)
            if definition is not None or any(self._fits(one, node) for one in instance.definition.bare):
                self._placed += 1
                self._once_more(instance, definition, node)
                self.extra.setdefault(id(instance.node), {})[node.word] = node
                self._statement(instance, node)
                return True
            if not one_line or instance.node.flags & ENDS:
                return False
            instance = instance.parent
        return False

    def _once_more(self, instance: Instance, definition: Definition | None, node: Node) -> None:
        """Find a leaf that has been written before on the same line or elsewhere."""
        if definition is None or definition.kind != LEAF:
            return
        before = instance.node.children.get(node.word) or self.extra.get(id(instance.node), {}).get(node.word)
        if before is not None and before is not node and before.children.keys() != node.children.keys():
            self._fault(kinds.DUPLICATE, instance, node, f"{node.word!r} is written twice")

    def _take(self, instance: Instance, definition: Definition, node: Node) -> None:
        if definition.cases:
            self._choose(instance, definition, node)
        kind = definition.kind
        if kind == CONTAINER:
            self._container(instance, definition, node)
        elif kind == LIST:
            self._list(instance, definition, node)
        elif definition.value == "none":
            if definition.musts:
                self._meet((instance, definition.musts, None, node, True, (node.word,)))
            if node.children:
                self._stack.append((instance, node, True))
        elif node.children:
            self._values(instance, definition, node)
        elif definition.value in {"one", "words"}:
            self._fault(kinds.MISSING, instance, node, f"{node.word!r} needs a value")

    def _take_bare(self, instance: Instance, node: Node) -> bool:
        """Walk a statement whose name is not written and whose first word is `node`; return whether there is one."""
        for definition in instance.definition.bare:
            if not definition.plain_key and not self._fits(definition, node):
                continue
            if definition.cases:
                self._choose(instance, definition, node)
            if definition.kind == LIST:
                if definition.plain_key:
                    self._entry(instance, definition, node, (node.word,))
                else:
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
            self._meet((below, definition.musts, None, node, False, ()))
        if node.children:
            self._go_below(below, node)
        elif definition.flags & ONE_LINE and not definition.flags & PRESENCE and definition.bare:
            self._fault(kinds.MISSING, instance, node, f"{node.word!r} needs a value")

    def _values(self, instance: Instance, definition: Definition, node: Node) -> None:
        values = list(node.children.values())
        self.words += len(values)
        self.names.update(node.children)
        if definition.value == "words":
            self.names |= words_of(node)
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
            words = ", ".join(_short(value.word) for value in values[:4])
            message = f"{definition.name!r} has {len(values)} values: {words}"
            self._fault(kinds.DUPLICATE, instance, values[1], message, before=(definition.name,))
            return
        if definition.most and len(values) > definition.most:
            message = f"{definition.name!r} has {counted(len(values), 'entry')}; at most {definition.most} are allowed"
            self._fault(kinds.TOO_MANY, instance, values[definition.most], message)
        first = definition.keys[0] if definition.kind == LIST and len(definition.keys) == 1 else definition
        if first.is_address:
            seen: dict[object, Node] = {}
            for value in values:
                other = seen.setdefault(canonical(value.word), value)
                if other is not value:
                    message = f"{value.word} is the same as {other.word}"
                    path = (*instance.path(), *written(instance, definition, value.word))
                    self.violations.append(Violation(kinds.DUPLICATE, path, value.line, message))

    def _value(self, instance: Instance, definition: Definition, node: Node, whole: bool = False) -> None:
        word = node.word
        wrong = self._misfit(instance, definition, definition, word)
        if wrong is not None and not (self.in_groups and is_wildcard(word)):
            self._wrong((*instance.path(), *written(instance, definition, word)), definition, node, wrong)
        if definition.musts or definition.enum_musts:
            self._ask(instance, definition, node, word, written(instance, definition, word))
        if node.children and not whole:
            self._stack.append((instance, node, True))

    def _misfit(self, instance: Instance, definition: Definition, leaf: Definition, word: str) -> Wrong | None:
        """Return why a word is no value of a leaf, or of a key, of a statement; None if it is."""
        if leaf.unreadable:
            self._placed += 1
            self.unreadable |= leaf.unreadable
        wrong = leaf.check(word) if leaf.check is not None else None
        if wrong is None:
            if leaf.is_address and "/" in word and has_host_bits(word):
                self._placed += 1
                return host_bits((*instance.path(), definition.name), word)
            if leaf.fine is not None and len(leaf.fine) < WORDS:
                leaf.fine.add(word)
        return wrong

    def _ask(self, instance: Instance, leaf: Definition, node: Node, word: str, below: tuple[str, ...]) -> None:
        for musts in (leaf.musts, leaf.enum_musts.get(word)):
            if musts:
                self._meet((instance, musts, word, node, True, below))

    def _meet(self, constraints: Constraints) -> None:
        self.met.append(constraints)
        self.constraints += len(constraints[1])

    def _once(self, instance: Instance, definition: Definition, node: Node) -> None:
        """Find a second value of a leaf whose values are not below one word."""
        if instance.once is None:
            instance.once = {}
        other = instance.once.setdefault(definition, node.word)
        if other != node.word:
            self._fault(kinds.DUPLICATE, instance, node, f"{definition.name!r} has 2 values: {other}, {node.word}")

    def _list(self, instance: Instance, definition: Definition, node: Node) -> None:
        entries = list(node.children.values())
        if not entries:
            self._fault(kinds.MISSING, instance, node, f"{node.word!r} needs {key_names(definition)}")
        elif len(entries) > 1:
            self._several(instance, definition, entries)
        self.words += len(entries)
        self.names.update(node.children)
        if definition.plain_key:
            for entry in entries:
                self._entry(instance, definition, entry, (entry.word,))
            return
        keys = definition.written_keys
        walk_key = self._key if not keys or key_is_named(keys[0]) else self._key_value
        for entry in entries:
            walk_key(instance, definition, entry, ())

    def _key(self, instance: Instance, definition: Definition, node: Node, done: tuple[str, ...]) -> None:
        """Walk one key of a list entry, then those behind it or the entry; `done` are the keys in front of it."""
        keys = definition.written_keys
        if len(done) >= len(keys):
            self._unknown(instance, node)
            return
        key = keys[len(done)]
        if not key_is_named(key):
            self._key_value(instance, definition, node, done)
        elif node.word == key.name and node.children:
            self.names.update(node.children)
            for value in node.children.values():
                self._key_value(instance, definition, value, done)
        else:
            self._incomplete(instance, definition, node, done)

    def _key_value(self, instance: Instance, definition: Definition, node: Node, done: tuple[str, ...]) -> None:
        word = node.word
        keys = definition.written_keys
        key = keys[len(done)]
        wrong = self._misfit(instance, definition, key, word)
        if wrong is not None and not (self.in_groups and is_wildcard(word)):
            path = Instance(definition, node, instance, (*done, word)).path()
            self._wrong(path, definition, node, wrong)
        done = (*done, word)
        if len(done) == len(keys) or (keys[len(done)].name == CHOICE_VALUE and word not in WITH_VALUE):
            self._entry(instance, definition, node, done)
        elif not node.children:
            self._incomplete(instance, definition, node, done)
        else:
            self.names.update(node.children)
            for child in node.children.values():
                self._key(instance, definition, child, done)

    def _incomplete(self, instance: Instance, definition: Definition, node: Node, done: tuple[str, ...]) -> None:
        """Report what is missing of an entry whose keys `done` are there."""
        self.names |= words_of(node)
        key = definition.written_keys[len(done)]
        one_of = key.check("") if key.name == CHOICE_IDENT and key.check is not None else None
        what = one_of.message.removeprefix("'' is not ") if one_of is not None else repr(key.name)
        if key.name == CHOICE_VALUE:
            what = f"a value after {node.word!r}"
        path = Instance(definition, node, instance, done).path()
        self.violations.append(Violation(kinds.MISSING, path, node.line, f"{definition.name!r} needs {what}"))

    def _entry(self, instance: Instance, definition: Definition, node: Node, key: tuple[str, ...]) -> None:
        entry = Instance(definition, node, instance, key)
        if definition.musts:
            self._meet((entry, definition.musts, key[-1], node, False, ()))
        for one, word in zip(definition.keys, key, strict=False):
            if one.musts or one.enum_musts:
                self._ask(entry, one, node, word, ())
        if definition.name == "groups" and instance.parent is None:
            self._placed += 1
            self.names |= words_of(node)
            self.groups.append(entry)
        elif node.children:
            self._go_below(entry, node)

    def _choose(self, instance: Instance, definition: Definition, node: Node) -> None:
        if instance.cases is None:
            instance.cases = {}
        for choice, _, case in definition.cases:
            taken, other = instance.cases.setdefault(choice, (case, node.word))
            if taken != case:
                message = f"{other!r} and {node.word!r} are mutually exclusive"
                self._fault(kinds.CHOICE, instance, node, message)
                return


def _short(word: str) -> str:
    return repr(word if len(word) < 80 else word[:76] + "…")
