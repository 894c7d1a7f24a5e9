"""Pictures of the golden trees, read once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ailb_gen.checks.expected import ExpectedFabric, expected_fabric
from ailb_gen.network.fabric import Cable, End
from ailb_gen.picture.build import picture_in
from ailb_gen.picture.model import DrawnDevice, Picture
from tests.checks.trees import GOLDEN, fabric_of


@cache
def expected(name: str) -> ExpectedFabric:
    return expected_fabric(fabric_of(name))


@cache
def picture(name: str) -> Picture:
    found, defects = picture_in(expected(name), GOLDEN / name)
    assert defects == ()
    return found


def large(stripes: int = 6, rails: int = 4, spines: int = 8, servers: int = 20, colors: int = 4) -> Picture:
    """A fabric that is too large for a line per link: two links from every leaf to every spine."""
    names = ("green", "blue", "red", "orange", "purple")[:colors]
    tops = [DrawnDevice(f"spine{n}", "spine", colors=(names[n % colors],)) for n in range(spines)]
    leaves = [DrawnDevice(f"s{s}-l{r}", "leaf", s, r) for s in range(1, stripes + 1) for r in range(rails)]
    hosts = [DrawnDevice(f"s{s}-h{n}", "server", s) for s in range(1, stripes + 1) for n in range(servers)]
    links = [
        Cable(
            End(leaf.name, f"up{2 * at + n}"),
            End(top.name, f"down{2 * number + n}"),
            top.colors[0],
            400 * 10**9,
        )
        for number, leaf in enumerate(leaves)
        for at, top in enumerate(tops)
        for n in range(2)
    ]
    attachments = [
        Cable(End(leaf.name, f"host{at}"), End(host.name, f"gpu{leaf.rail}"), "", 400 * 10**9)
        for leaf in leaves
        for at, host in enumerate(host for host in hosts if host.stripe == leaf.stripe)
    ]
    return Picture("large", names, (*tops, *leaves, *hosts), tuple(links), tuple(attachments))


def without_color(picture: Picture, number: int) -> Picture:
    """The picture with one link that has no color."""
    links = list(picture.links)
    links[number] = replace(links[number], color="")
    return replace(picture, links=tuple(links))


def two_colors() -> Picture:
    """The large fabric, in which every spine carries two colors."""
    found = large()
    tops = {one.name: one for one in found.devices if one.role == "spine"}
    pairs = {name: (one.colors[0], "purple") for name, one in tops.items()}
    devices = tuple(replace(one, colors=pairs.get(one.name, ())) for one in found.devices)
    links = tuple(replace(link, color=pairs[link.b.device][number % 2]) for number, link in enumerate(found.links))
    return replace(found, colors=(*found.colors, "purple"), devices=devices, links=links)
