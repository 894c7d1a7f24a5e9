"""Where the statement stands that a finding about a switch is about, or where it is missing.

Checks name statements by their words. The files are read again for those that have findings, so that a reader keeps no
line of every statement of thousands of switches. What a file holds and takes out again, by commands of set text or as
comments, stands there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import SequenceMatcher, get_close_matches
from itertools import takewhile
from pathlib import Path

from ailb_gen.checks.model import Finding, Result, by_place
from ailb_gen.errors import AilbError, Place
from ailb_gen.junos.commands import commands
from ailb_gen.junos.groups import inherited
from ailb_gen.junos.interface_ranges import RANGE, expand_ranges
from ailb_gen.junos.reader import is_set, read
from ailb_gen.junos.tokens import plain
from ailb_gen.junos.tree import ENDS, INACTIVE, Node
from ailb_gen.network.model import Switch
from ailb_gen.network.policy import Policy
from ailb_gen.textio import read_text

# Stands between statements of which the first that is there counts. Behind the last one it says that otherwise the
# finding stays where it is.
OR = " | "
# Stands for a name that the check does not know, or for whatever is below a statement.
ANY = "*"
Words = tuple[str, ...]


def located(results: Iterable[Result], root: Path) -> tuple[Result, ...]:
    """Return results whose findings point to their statements in the files below `root`.

    A missing statement is placed where it is inactive, else at the innermost block around it that is there; `gap` is
    the first of its words that is missing, with those before it. What comes from a group or an interface range is
    placed there, and what the file takes out again where it does; the message says so. Findings of files that cannot be
    read stay as they are.
    """
    results = tuple(results)
    found: dict[str, list[Finding]] = defaultdict(list)
    for result in results:
        for finding in result.findings:
            if finding.statement and finding.place is not None:
                found[finding.place.file].append(finding)
    moved: dict[Finding, Finding] = {}
    for file, findings in found.items():
        outline = _outline(root, file)
        if outline is not None:
            moved |= _instead({finding: outline.placed(finding) for finding in findings})
    return tuple(
        replace(result, findings=by_place(moved.get(finding, finding) for finding in result.findings))
        for result in results
    )


def _outline(root: Path, file: str) -> _Outline | None:
    try:
        text = read_text(root / file, file)
        return _Outline(file, read(text, file), text)
    except AilbError:
        return None


class _Outline:
    """The statements of a switch's file: as they are written, and as they act."""

    __slots__ = ("acting", "file", "is_set", "lines", "sources", "taken", "written")

    def __init__(self, file: str, written: Node, text: str) -> None:
        self.file, self.written, self.lines = file, written, text.split("\n")
        self.is_set = is_set(text)
        self.acting = expand_ranges(written, inherited(written))
        self.sources = dict(_sources(written))
        self.taken = taken_out(text, file, written, self.is_set)

    def placed(self, finding: Finding) -> Finding:
        """Return a finding at the line of its statement, or of what is around the place where it is missing."""
        words = self._chosen(finding.statement)
        if not words:
            return finding
        node, known = _reached(self.acting, words)
        line, gap, note = node.line, "", ""
        taken = None if finding.instead else self._taken(words)
        if taken is not None:
            line, note = self.taken[taken][0], f" (`{' '.join(taken)}` {self.taken[taken][1]} here)"
            gap = f"{self.file} {' '.join(taken)}"
        elif known == len(words) and not finding.instead and (off := _inactive(self.written, words)) is not None:
            # Of several values one is inactive.
            line, note = off[1], f" (`{' '.join(off[0])}` is inactive)"
        elif known == len(words):
            line = _value(node).line
            source = self.sources.get(line)
            note = f" (inherited from {source})" if source else ""
        else:
            path = words[: known + 1]
            line = self._around(words[:known]) or line
            off, other = _inactive(self.written, words), _below_another_name(self.written, words, known)
            if off is not None:
                path, line = off
                note = f" (`{' '.join(path)}` is inactive)"
            elif other is not None:
                name, line = other
                note = f" (it is written below `{name}`)"
            gap = f"{self.file} {' '.join(path)}"
        # Around what is missing at the top there is nothing but the file.
        place = Place(self.file, line) if line else finding.place
        statement = " ".join(words)
        return replace(finding, place=place, statement=statement, gap=gap, message=finding.message + note)

    def _around(self, words: Words) -> int:
        """Return the line of the innermost block on a path; of set commands the first one that begins with the path.

        The first word of a statement of several, such as `prefix`, is no block. 0 where there is none.
        """
        for length in range(len(words), 0, -1):
            node, known = _reached(self.written, words[:length])
            if known < length:
                continue
            if self.is_set:
                return min(_lines(node))
            is_block = 0 < node.line <= len(self.lines) and self.lines[node.line - 1].rstrip().endswith("{")
            # What opens a block is its last word; a statement of one line is around the words that it lacks.
            opens = is_block and all(child.line != node.line for child in node)
            if opens or set(_lines(node)) == {node.line}:
                return node.line
        return 0

    def _taken(self, words: Words) -> Words | None:
        """Return the path of what is taken out, if a statement is that, a part of it, or around it."""
        named = words[:-1] if words[-1] == ANY else words
        around = (path for path in self.taken if path == named[: len(path)] or named == path[: len(named)])
        return max(around, key=len, default=None)

    def _chosen(self, statement: str) -> Words:
        """Return the first of several statements that is there, else the last."""
        choices = [tuple(text.split()) for text in statement.split(OR)]
        return next((words for words in choices if self._is_there(words)), choices[-1])

    def _is_there(self, words: Words) -> bool:
        if words and words[-1] == ANY:
            return _inactive(self.written, words) is not None or self._taken(words) is not None
        return _reached(self.acting, words)[1] == len(words)


def _reached(root: Node, words: Words) -> tuple[Node, int]:
    """Return the last node on a path that is there, and the number of words that lead to it."""
    node = root
    for known, word in enumerate(words):
        below = node.get(word)
        if below is None:
            return node, known
        node = below
    return node, len(words)


def _value(node: Node) -> Node:
    """Return the value of a setting, of several the last one; a block, or a statement of its own, is that itself."""
    last = next(reversed(node.children.values()), None)
    return node if last is None or node.flags & ENDS or any(child.children for child in node) else last


def _inactive(root: Node, words: Words) -> tuple[Words, int] | None:
    """Return the first statement on a path that is inactive, with its line; None if none is."""
    node = root
    for known, word in enumerate(words):
        if word == ANY:
            found = next(_all_inactive(node), None)
            return (words[:known] + found[0], found[1]) if found is not None else None
        below = node.get(word)
        if below is None:
            return None
        node = below
        if node.flags & INACTIVE:
            return words[: known + 1], node.line
    return next(((words, child.line) for child in node if child.flags & INACTIVE), None)


def _below_another_name(root: Node, words: Words, known: int) -> tuple[str, int] | None:
    """Return the name like that of a block on a path under which the statement is written instead, with its line.

    Below that name there is nothing else: a set command has it wrong.
    """
    for length in range(known, 1, -1):
        above, reached = _reached(root, words[: length - 1])
        if reached < length - 1:
            continue
        names = [child.word for child in above if child.word != words[length - 1]]
        for name in get_close_matches(words[length - 1], names, 1, 0.7):
            node, depth = _reached(above, (name, *words[length:]))
            if depth > len(words) - length and len(set(_lines(above.children[name]))) == 1:
                return name, node.line
    return None


def _all_inactive(node: Node) -> Iterator[tuple[Words, int]]:
    stack: list[tuple[Words, Node]] = [((child.word,), child) for child in reversed([*node])]
    while stack:
        words, one = stack.pop()
        if one.flags & INACTIVE:
            yield words, one.line
        stack += [((*words, child.word), child) for child in reversed([*one])]


def _sources(written: Node) -> Iterator[tuple[int, str]]:
    """Yield every line of a group and of an interface range with the name of it."""
    for kind, above in (("group", written.get("groups")), (RANGE, written.get("interfaces", RANGE))):
        for source in above or ():
            yield from ((line, f"{kind} {source.word}") for line in _lines(source))


def _lines(node: Node) -> Iterator[int]:
    # A line may have more words than calls can be nested.
    stack = [node]
    while stack:
        one = stack.pop()
        yield one.line
        stack += one


def _instead(placed: Mapping[Finding, Finding]) -> dict[Finding, Finding]:
    """Mark statements that are written instead of a missing one: they get the same gap.

    In a block as many statements are wrong as are missing, or there is one that no switch knows and that is like it.
    """
    result = dict(placed)
    missing: dict[Words, list[str]] = defaultdict(list)
    for now in placed.values():
        if now.gap and now.gap not in (gaps := missing[_around(now.gap)]):
            gaps.append(now.gap)
    surplus: dict[Words, list[Finding]] = defaultdict(list)
    for was, now in placed.items():
        if not now.gap and now.instead:
            surplus[_around(f"{now.place.file if now.place else ''} {now.statement}")].append(was)
    for around, findings in surplus.items():
        gaps = list(missing.get(around, ()))
        for was in findings:
            if gaps:
                gap = max(gaps, key=_likeness(was.statement))
                gaps.remove(gap)
                result[was] = replace(result[was], gap=gap)
    return result


def _around(gap: str) -> Words:
    return tuple(gap.split(" ")[:-1])


def _likeness(statement: str) -> Callable[[str], float]:
    word = statement.rpartition(" ")[2]
    return lambda gap: SequenceMatcher(None, word, gap.rpartition(" ")[2]).ratio()


def at_fault(above: str, name: str, reference: str, unused: Collection[str], is_known: bool) -> str:
    """Return the statement to look at for a name that is used by `reference` and not defined below `above`.

    It is the definition if that is inactive, or if other switches have it (`is_known`): then one of the `unused`
    definitions, that is like it, has its name wrong, or it is missing. Else it is the reference; an empty one says that
    the finding stays where it is.
    """
    choices = [f"{above} {name} {ANY}"]
    if not is_known:
        return OR.join((*choices, reference))
    instead = get_close_matches(name, unused, 1, 0.5)
    return OR.join((*choices, f"{above} {instead[0] if instead else name}"))


def known_names(defined: Iterable[Mapping[str, Collection[str]]]) -> dict[str, set[str]]:
    """Return the names of every kind that any switch defines."""
    found: dict[str, set[str]] = defaultdict(set)
    for kinds in defined:
        for kind, names in kinds.items():
            found[kind].update(names)
    return found


def used_policies(switch: Switch) -> Iterator[Policy]:
    """Iterate over the policies that sessions or the forwarding table refer to; others have no effect."""
    used = {name for group in switch.groups for name in (*group.imports, *group.exports)} | switch.balancing.policies
    return (policy for policy in switch.policies.values() if policy.name in used)


# What the commands do, and the words behind which they name another place of the same statement.
VERBS = {"delete": "is deleted", "insert": "is moved"}
PLACES = ("before", "after")
# A line that was a statement before `#` came in front of it.
LINE = re.compile(r"^([ \t]*)#+(?=[ \t]*(?:set[ \t]|[^#\n]*[;{}][ \t]*$))", re.MULTILINE)
# What a comment has that holds statements.
STATEMENTS = re.compile(r"[;{}]|^\s*set\s")


def taken_out(text: str, file: str, written: Node, is_set: bool) -> dict[Words, tuple[int, str]]:
    """Return the statements taken out of a file that was read as `written`: line and manner, by path."""
    found: dict[Words, tuple[int, str]] = {}
    if is_set and any(verb in text for verb in VERBS):
        for command in commands(text, file):
            if command.verb in VERBS:
                words = takewhile(lambda word: word not in PLACES, map(plain, command.words))
                found[tuple(words)] = (command.line, VERBS[command.verb])
    opened = LINE.sub(r"\1", "".join(_without_marks(text)))
    if opened != text:
        try:
            found |= {words: (line, "is a comment") for words, line in _more(read(opened, file), written)}
        except AilbError:
            # Such comments are no statements.
            return found
    return found


def _without_marks(text: str) -> Iterator[str]:
    """Yield a text in pieces, with blanks for the marks of comments that hold statements."""
    done = 0
    while (start := text.find("/*", done)) >= 0 and (end := text.find("*/", start + 2)) >= 0:
        inside, stop = text[start + 2 : end], end + 2
        yield text[done:start]
        yield f"  {inside}  " if STATEMENTS.search(inside) else text[start:stop]
        done = stop
    yield text[done:]


def _more(opened: Node, written: Node) -> Iterator[tuple[Words, int]]:
    """Yield the paths that only the first of two trees has, each to where it leaves the second, with its line."""
    stack: list[tuple[Words, Node, Node]] = [((), opened, written)]
    while stack:
        words, node, known = stack.pop()
        for child in node:
            other = known.get(child.word)
            if other is None:
                yield (*words, child.word), child.line
            else:
                stack.append(((*words, child.word), child, other))
