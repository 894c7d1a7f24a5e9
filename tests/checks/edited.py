"""Shipped fabrics, the lab above all, with the texts of some switches changed, for the checks that look at routes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache

from ailb_gen.checks.expected import ExpectedFabric, expected_fabric
from ailb_gen.checks.model import Finding, Result
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.reader import read
from ailb_gen.network.fabric import Network
from ailb_gen.network.switch import switch
from tests.checks.trees import GOLDEN, fabric_of, findings, network_of

LAB = "lab"
LEAF, SPINE = "stripe1-leaf1", "spine2"
Texts = dict[str, str]
Checks = Callable[[ExpectedFabric, Network], Iterable[Result]]
# name of the switch, text that stands in its file, what stands there afterwards
Edit = tuple[str, str, str]


@cache
def unchanged(example: str = LAB) -> Network:
    """A fabric as it was generated."""
    return network_of(GOLDEN / example)


@cache
def intended(example: str = LAB) -> ExpectedFabric:
    """What its intent specifies."""
    return expected_fabric(fabric_of(example))


@cache
def text_of(name: str, example: str = LAB) -> str:
    """The text of a switch."""
    return (GOLDEN / f"{example}/switches/{name}.conf").read_text()


def edited(*edits: Edit, example: str = LAB) -> Texts:
    """The texts of the switches that the edits change, each at its first place; what is not there is an error."""
    texts: Texts = {}
    for name, old, new in edits:
        text = texts.get(name, text_of(name, example))
        assert old in text, f"{old!r} is not in {name}"
        texts[name] = text.replace(old, new, 1)
    return texts


def network(texts: Texts, example: str = LAB) -> Network:
    """The fabric with some switches of another text; new names are switches that no cable leads to."""
    base = unchanged(example)
    changed = {name: switch(name, f"switches/{name}.conf", effective(read(text, name))) for name, text in texts.items()}
    return replace(base, switches={**base.switches, **changed})


def without(*names: str, example: str = LAB) -> Network:
    """The fabric without the files of some switches."""
    base = unchanged(example)
    return replace(base, switches={name: found for name, found in base.switches.items() if name not in names})


def judged(checks: Checks, found: Network, example: str = LAB) -> list[Finding]:
    """The findings of some checks about a network."""
    return findings(checks(intended(example), found))


def lines(texts: Texts, found: Iterable[Finding], example: str = LAB) -> Iterator[tuple[str, str]]:
    """The check of every finding with the line that it points at."""
    for finding in found:
        assert finding.place is not None, finding
        name = finding.place.file.removeprefix("switches/").removesuffix(".conf")
        text = texts.get(name) or text_of(name, example)
        yield finding.check, text.split("\n")[finding.place.line - 1].strip()
