"""Statements on a switch besides its file: a push leaves them alone, but they may change the fabric.

A push owns texts. Groups, interface ranges and other hierarchies reach into what these texts do without a word in them.
So what the switch will do, groups inherited and ranges expanded, is compared with what its file alone would do.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from ailb_gen.deploy.ownership import Ownership, Pattern
from ailb_gen.forwarding.filters import discovery_packets, session_packets, stopped
from ailb_gen.junos.diff import diff
from ailb_gen.junos.tree import Node
from ailb_gen.network.consequences import consequence
from ailb_gen.network.filters import Attachment
from ailb_gen.network.model import Switch, Unmodelled

# What the file defines by name must be exactly as in the file, wherever else on the switch it is extended.
NAMED: tuple[Pattern, ...] = (("policy-options", "prefix-list"), ("firewall", "family", "*", "filter"))
# Families that carry no traffic of the fabric.
OTHER_FAMILIES = frozenset({"inet", "mpls", "iso", "vpls", "ccc"})


def besides(own: Switch, acting: Node, alone: Callable[[], Switch], file: Node, rights: Ownership) -> tuple[str, ...]:
    """Return what changes what the file says, in words; `acting` and `file` are effective trees, the file by itself.

    `own` and `alone` are what the two do; the second is computed only where it matters, and the file's lines with it.
    """
    found = [*_statements(acting, file, rights)]
    # What is owned is compared word by word.
    mine = (*rights.owned, *rights.kept)
    unmodelled = [one for one in own.unmodelled if not _below(one.whole.split(), mine)]
    attached = [one for one in own.filters.attached if one.family not in OTHER_FAMILIES]
    if unmodelled or attached:
        reference = alone()
        found += [*_unmodelled(unmodelled, reference), *_filters(attached, own, reference)]
    return tuple(dict.fromkeys(found))


def _statements(acting: Node, file: Node, rights: Ownership) -> Iterator[str]:
    """Compare the parts that are owned, and what the file defines by name."""
    meant = (*rights.owned, *_named(file))
    for change in diff(file, acting):
        verb, _, path = change.command.partition(" ")
        words = path.split()
        if not _below(words, meant) or _below(words, rights.kept):
            continue
        if verb == "set":
            yield f"{path}: takes effect on the switch and is not in the file; look for groups and interface ranges"
        elif verb == "insert":
            yield f"{path}: takes effect in another order than in the file"
        else:
            yield f"{path}: is in the file and has no effect"


def _named(file: Node) -> Iterator[Pattern]:
    """Yield the paths of what the file defines by name."""
    for pattern in NAMED:
        found: list[tuple[tuple[str, ...], Node]] = [((), file)]
        for glob in pattern:
            found = [
                ((*path, child.word), child) for path, node in found for child in node if fnmatchcase(child.word, glob)
            ]
        yield from ((*path, child.word) for path, node in found for child in node)


def _below(words: Sequence[str], patterns: Iterable[Pattern]) -> bool:
    """Return whether a path is below one of the patterns."""
    return any(len(words) >= len(pattern) and all(map(fnmatchcase, words, pattern)) for pattern in patterns)


def _unmodelled(found: Iterable[Unmodelled], alone: Switch) -> Iterator[str]:
    """Compare what is neither computed nor known to be harmless."""
    known = {one.whole for one in alone.unmodelled}
    for one in found:
        if one.whole not in known:
            yield f"{one.whole}: is not in the file; {consequence(one.statement)}"


def _filters(attached: Iterable[Attachment], own: Switch, alone: Switch) -> Iterator[str]:
    """Send what sessions live on through filters that the file does not attach."""
    for attachment in attached:
        if _same(attachment, own, alone):
            continue
        where = f"{attachment.name} ({attachment.direction})"
        chain = []
        for name in attachment.filters:
            found = own.filters.defined.get((attachment.family, name)) or own.filters.defined.get(("any", name))
            if found is not None:
                chain.append(found)
        if attachment.kind != "interface":
            names = " ".join(attachment.filters)
            yield f"filter {names} on {where}: is not in the file, and all packets pass through it"
            continue
        packets = (*session_packets(True), *discovery_packets(links_only=attachment.name == "lo0.0"))
        for packet in packets if chain else ():
            stop = stopped(tuple(chain), packet, own.filters)
            if stop is not None:
                yield f"on {where}: {stop.reason}"


def _same(attachment: Attachment, own: Switch, alone: Switch) -> bool:
    """Return whether the file attaches the same filters there, with the same terms."""
    names = [(family, name) for name in attachment.filters for family in (attachment.family, "any")]
    return attachment in alone.filters.attached and all(
        own.filters.defined.get(name) == alone.filters.defined.get(name) for name in names
    )
