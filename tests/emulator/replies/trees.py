"""The structure of replies in XML and JSON: elements, nesting, order, attributes, namespaces; never values."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lxml import etree

from tests.emulator.replies.samples import Sample, Source

# Elements of one name that hold different things: the element inside that says which kind it is.
KINDS = {"bgp-peer": "peer-state", "rt-entry": "protocol-name"}
# An element that stands for every engine or member, on devices that have several.
WRAPPERS = ("rpc-reply", "multi-routing-engine-results", "multi-routing-engine-item", "cli")
RELEASE = re.compile(r"(?<=xml\.juniper\.net/junos/)[^/]+(?=/)")
JUNOS = re.compile(r"http://xml\.juniper\.net/junos/[^/]+/junos$")
SPACE = "xmlns"
# Attributes that have no prefix on a device.
BARE = ("name", SPACE, "reboot-time", "root-path")


@dataclass(frozen=True, slots=True)
class Seen:
    """One element that was seen: the names of its children in order, of its attributes, and what it holds."""

    source: Source
    children: tuple[str, ...]
    attributes: frozenset[str]
    content: str
    space: str


Shape = dict[str, list[Seen]]


def parse(sample: Sample) -> list[etree._Element]:
    """Return the replies in a sample, without what wraps them; none if it is text in an element."""
    text = sample.text()
    root = of_json(text) if sample.form == "json" else etree.fromstring(text.encode(), etree.XMLParser(recover=True))
    return [found for found in unwrapped(root) if name(found) != "output"]


def unwrapped(root: etree._Element) -> Iterator[etree._Element]:
    if name(root) not in WRAPPERS:
        yield root
        return
    for child in root.iterchildren(etree.Element):
        if name(child) not in ("re-name", "banner"):
            yield from unwrapped(child)


def of_json(text: str) -> etree._Element:
    """Return the element that a reply in JSON stands for; a prompt may follow it."""
    data, _ = json.JSONDecoder().raw_decode(text.strip())
    [(tag, [value])] = data.items()
    return _filled(etree.Element(tag), value)


def _filled(element: etree._Element, value: dict[str, object]) -> etree._Element:
    for key, entry in value.items():
        if key == "attributes":
            for attribute, text in entry.items():  # type: ignore[attr-defined]
                element.set(attribute.replace(":", "__"), text)
        elif key == "data":
            element.text = "".join(text for text in [entry] if isinstance(text, str))
        elif isinstance(entry, list):
            for one in entry:
                _filled(etree.SubElement(element, key), one)
    return element


def name(element: etree._Element) -> str:
    return etree.QName(element).localname


def shape(replies: Iterable[etree._Element], source: Source) -> Shape:
    """Return what was seen of every element, by its path."""
    made: Shape = defaultdict(list)
    for reply in replies:
        _see(reply, "", source, made)
    return made


def _see(element: etree._Element, parent: str, source: Source, made: Shape) -> None:
    path = f"{parent}/{_labeled(element)}" if parent else _labeled(element)
    children = list(element.iterchildren(etree.Element))
    names = tuple(dict.fromkeys(map(_labeled, children)))
    content = "elements" if children else "text" if (element.text or "").strip() else "nothing"
    attributes = {_attribute(str(key), source) for key in element.attrib} - {SPACE}
    made[path].append(Seen(source, names, frozenset(attributes), content, _space(element)))
    for child in children:
        _see(child, path, source, made)


def _labeled(element: etree._Element) -> str:
    tag = name(element)
    kind = next((child.text for child in element.iterchildren(etree.Element) if name(child) == KINDS.get(tag)), None)
    return f"{tag}[{kind.strip()}]" if kind else tag


def _attribute(key: str, source: Source) -> str:
    space, _, local = key.rpartition("}")
    if "__" in key:
        return key.replace("__", ":")
    if key.startswith("junos_"):
        return key.replace("_", ":", 1)
    if space:
        return f"junos:{local}" if JUNOS.match(space[1:]) else f"{space[1:]}:{local}"
    return f"junos:{key}" if key not in BARE and not (source.spaces and source.whole) else key


def _space(element: etree._Element) -> str:
    """Return the default namespace, if an element changes it, without the release in it."""
    own = etree.QName(element).namespace or element.get(SPACE) or ""
    parent = element.getparent()
    above = etree.QName(parent).namespace or "" if parent is not None else ""
    return RELEASE.sub("*", own) if own != above else ""


def differences(ours: Shape, real: Shape) -> list[str]:
    """Return where our replies differ from the real ones, as `PATH what`."""
    found: list[str] = []
    for path, mine in ours.items():
        theirs = real.get(path)
        if theirs:
            found += [f"{path} {text}" for text in _compared(mine, theirs)]
        elif "/" not in path:
            found.append(f"{path} is no real reply")
    return found


def _compared(mine: list[Seen], theirs: list[Seen]) -> Iterator[str]:
    yield from _members([one.children for one in mine], [one.children for one in theirs], theirs, "")
    yield from _members([one.attributes for one in mine], [one.attributes for one in theirs], theirs, "@")
    yield from _order(mine, theirs)
    contents = {one.content for one in theirs}
    odd = {one.content for one in mine} - contents
    # Where something is in it at times, it may be without.
    if odd and not (odd == {"nothing"} and "elements" in contents):
        yield f"holds {' or '.join(sorted(odd))}, there {' or '.join(sorted(contents))}"
    spaces = {one.space for one in theirs if one.source.spaces}
    wrong = {one.space for one in mine} - spaces
    if spaces and wrong:
        yield f"namespace {' or '.join(sorted(wrong)) or '-'}, there {' or '.join(sorted(spaces)) or '-'}"


def _members(
    mine: Iterable[Iterable[str]], theirs: Iterable[Iterable[str]], seen: list[Seen], mark: str
) -> Iterator[str]:
    """Compare the sets of children or attributes: what the nearest sources always have, and what none ever has."""
    ours, rows = [set(one) for one in mine], [set(one) for one in theirs]
    nearest = min(one.source.rank for one in seen)
    always = set.intersection(*(row for row, one in zip(rows, seen, strict=True) if one.source.rank == nearest))
    for lacking in sorted(always):
        if any(lacking not in row and not _is_kind(lacking, row) for row in ours):
            yield f"lacks {mark}{lacking}"
    if any(one.source.whole for one in seen):
        known = set.union(*rows)
        yield from (f"has {mark}{odd}" for odd in sorted(set.union(*ours) - known) if not _is_kind(odd, known))


def _is_kind(label: str, names: set[str]) -> bool:
    """Return whether an element is known, only its kind was never seen: it cannot be judged."""
    tag = label.partition("[")[0]
    return "[" in label and any(known.partition("[")[0] == tag for known in names)


def _order(mine: list[Seen], theirs: list[Seen]) -> Iterator[str]:
    """Find the first two children whose order is never that of the nearest real replies that have both."""
    before: dict[tuple[str, str], int] = {}
    for one in theirs:
        for at, first in enumerate(one.children):
            for second in one.children[at + 1 :]:
                before[first, second] = min(one.source.rank, before.get((first, second), one.source.rank))
    for one in mine:
        for at, first in enumerate(one.children):
            for second in one.children[at + 1 :]:
                right, wrong = before.get((first, second)), before.get((second, first))
                if first.partition("[")[0] == second.partition("[")[0]:
                    continue
                if wrong is not None and (right is None or wrong < right):
                    yield f"has {first} before {second}"
                    return
