"""What the files of a fabric say about packets and a simulation leaves out: one list, by statement, with places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ailb_gen.errors import Place
from ailb_gen.hosts.harmless import ENVIRONMENT, setting_is_harmless
from ailb_gen.hosts.model import ServerProfile, Setting
from ailb_gen.intent.nccl import QUEUE_PAIRS
from ailb_gen.junos.tree import Node
from ailb_gen.layout import ENVIRONMENT as VARIABLES_FILE
from ailb_gen.layout import QOS
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch
from ailb_gen.network.statements import consequence
from ailb_gen.network.supported_statements import ANYWHERE, KINDS, Standing, standing
from ailb_gen.sim.nics import ServerNic, server_nics
from ailb_gen.sim.statements import SWITCHES, VARIABLES, Fate, Group

NO_TABLE = Group(Fate.LEFT_OUT, "", "")
CNP = "marks return on acknowledgements; there are no CNPs"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A statement, or several alike, that is not simulated: the first one, why, and the places of all."""

    statement: str
    reason: str
    places: tuple[Place, ...]
    after_failures: bool = False

    def plain(self) -> dict[str, object]:
        """Return it as JSON has it."""
        places = [f"{place.file}:{place.line}" for place in self.places]
        return {"statement": self.statement, "reason": self.reason, "places": places}

    def __str__(self) -> str:
        more = f" and {len(self.places) - 1} more" if len(self.places) > 1 else ""
        place = self.places[0]
        return f"{self.statement} ({place.file}:{place.line}{more}): {self.reason}"


@dataclass(frozen=True, slots=True)
class Found:
    """A statement of one switch that is not simulated; those with one `kind` are listed together."""

    kind: str
    statement: str
    group: Group
    line: int


@dataclass(slots=True)
class _Level:
    """What may follow a word of patterns; the group of the pattern that ends here."""

    below: dict[str, _Level] = field(default_factory=dict)
    group: Group | None = None

    def add(self, words: list[str], group: Group) -> None:
        if not words:
            self.group = group
            return
        for word in words[0].split("|"):
            self.below.setdefault(word, _Level()).add(words[1:], group)

    def follow(self, word: str) -> Iterator[_Level]:
        """Yield what fits a word: the word itself first, then kinds of words."""
        if word in self.below:
            yield self.below[word]
        yield from (level for kind, level in self.below.items() if kind in KINDS and KINDS[kind](word))


def _patterns() -> _Level:
    top = _Level()
    for group in SWITCHES:
        for line in filter(str.strip, group.patterns.split("\n")):
            top.add(line.split(), group)
    return top


PATTERNS = _patterns()


def of_switch(written: Node, tree: Node) -> tuple[Found, ...]:
    """Return the statements of a switch that are not simulated; for `read_network`."""
    # As it takes effect: groups are inherited.
    return tuple(_judge(tree, (PATTERNS,), None, ()))


def fate_of(words: Iterable[str]) -> tuple[Group | None, int]:
    """Return the group of the longest pattern that a statement's words begin with, and how many words that has."""
    levels: tuple[_Level, ...] = (PATTERNS,)
    group, length = None, 0
    for count, word in enumerate(words, 1):
        levels = tuple(level for one in levels for level in one.follow(word))
        own = next((level.group for level in levels if level.group is not None), None)
        group, length = (own, count) if own is not None else (group, length)
    return group, length


def _judge(above: Node, levels: tuple[_Level, ...], group: Group | None, path: tuple[str, ...]) -> Iterator[Found]:
    for word, node in above.children.items():
        if word in ANYWHERE:
            continue
        here = tuple(level for one in levels for level in one.follow(word))
        own = next((level.group for level in here if level.group is not None), group)
        deeper = any(level.below for level in here)
        words = (*path, word)
        if own is not None and own.fate in (Fate.SIMULATED, Fate.NO_EFFECT) and not deeper:
            continue
        if node.children and (deeper or own is None):
            yield from _judge(node, here, own, words)
        elif own is None and here:
            # It says no more than that there may be others, such as `family inet6`.
            continue
        elif own is None or own.fate not in (Fate.SIMULATED, Fate.NO_EFFECT):
            yield from _found(node, words, own)


def _found(node: Node, path: tuple[str, ...], group: Group | None) -> Iterator[Found]:
    """Yield the statements below a node: as a group has it, or as validation knows what no group has."""
    for whole, line in _ends(node, path):
        text = " ".join(whole)
        if group is not None:
            yield Found(f"{group.reason} {' '.join(whole[fate_of(whole)[1] - 1 :])}", text, group, line)
            continue
        known, count = standing(whole)
        if known is not Standing.HARMLESS:
            yield Found(" ".join([*map(_alike, whole[: count - 1]), *whole[count - 1 :]]), text, NO_TABLE, line)


def _ends(node: Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the words of every statement below a node, from the top, with its line."""
    if not node.children:
        yield path, node.line
    for child in node:
        yield from _ends(child, (*path, child.word))


def _alike(word: str) -> str:
    """Return what words stand for that are alike, such as those of ports."""
    return "#" if any(letter.isdigit() for letter in word) else word


def left_out(network: Network, found: Mapping[str, Iterable[Found]]) -> list[LeftOut]:
    """Return what is not simulated of a network: of its switches, as `of_switch` found it, and of its servers."""
    rows: dict[str, list[tuple[Found, Place]]] = {}
    for name, statements in found.items():
        for one in (*statements, *_unread(network.switches[name])):
            rows.setdefault(one.kind, []).append((one, Place(network.switches[name].file, one.line)))
    listed = [
        LeftOut(
            same[0][0].statement,
            same[0][0].group.reason or consequence(same[0][0].statement),
            tuple(dict.fromkeys(place for _, place in same)),
            same[0][0].group.fate is Fate.AFTER_FAILURES,
        )
        for same in rows.values()
    ]
    return [*listed, *_of_servers(network)]


def _unread(switch: Switch) -> Iterator[Found]:
    """Yield the statements below simulated ones that validation does not read."""
    for entry in switch.unmodeled:
        words = entry.statement.split()
        group = fate_of(words)[0]
        if group is not None and group.fate is Fate.SIMULATED:
            kind = " ".join([*map(_alike, words[:-1]), *entry.whole.split()[len(words) - 1 :]])
            yield Found(kind, entry.whole, NO_TABLE, entry.line)


def _of_servers(network: Network) -> Iterator[LeftOut]:
    profiles = {host.profile.folder: host.profile for host in network.hosts.values()}
    nics = server_nics(network)
    same: dict[tuple[str, str], list[Place]] = {}
    for folder, profile in profiles.items():
        users = {host.name for host in network.hosts.values() if host.profile is profile}
        for statement, reason, file, line in _of_profile(profile, [nic for nic in nics if nic.server in users]):
            same.setdefault((statement, reason), []).append(Place(f"{folder}/{file}", line))
    yield from (LeftOut(statement, reason, tuple(places)) for (statement, reason), places in same.items())


def _of_profile(profile: ServerProfile, nics: Iterable[ServerNic]) -> Iterator[tuple[str, str, str, int]]:
    """Yield what is not simulated of a folder of servers: statement, reason, file and line."""
    for setting in profile.environment:
        reason = _of_variable(setting, nics)
        if reason:
            yield f"{setting.key}={setting.value}", reason, VARIABLES_FILE, setting.line
    for setting in profile.qos.settings if profile.qos is not None else ():
        if setting.key.startswith("cnp_"):
            yield f"{setting.key}={setting.value}", CNP, QOS, setting.line


def _of_variable(setting: Setting, nics: Iterable[ServerNic]) -> str:
    """Return why a variable of jobs is not simulated; empty for one that is, or that does not matter."""
    if setting.key == QUEUE_PAIRS:
        counts = sorted({len(nic.pairs) for nic in nics})
        same = [str(count) for count in counts] == [str(setting.value)]
        return "" if same else f"a connection has as many queue pairs as addresses ({', '.join(map(str, counts))})"
    for fate, name, value, reason in VARIABLES:
        if name.fullmatch(setting.key) and value.fullmatch(str(setting.value)):
            return reason if fate is Fate.LEFT_OUT else ""
    return "" if setting_is_harmless(ENVIRONMENT, setting) else "its effect on traffic is not simulated"
