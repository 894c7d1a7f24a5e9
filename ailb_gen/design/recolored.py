"""Existing links that would get another color: the links of an older tree against the design that replaces it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from ailb_gen.design.colors import default_names, step_of, uplinks_by_color
from ailb_gen.design.model import Design, Link
from ailb_gen.errors import Problem
from ailb_gen.intent.load import Intent
from ailb_gen.intent.models import Fabric

CODE = "links-recolored"
PATH = ("colors",)

# The cable of a link: leaf and its port, spine and its port.
Ends = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class OldColors:
    """The colors of a fabric as it was: their names in order, and the name of each link's color."""

    names: tuple[str, ...]
    links: Mapping[Ends, str]


def recolored(intent: Intent, design: Design, old: OldColors, where: str) -> list[Problem]:
    """Return a warning when existing links get another color than they have in `old`, the tree at `where`.

    A link exists when both fabrics have a cable between the same two ports.
    """
    existing = [link for link in design.links if _ends(link) in old.links]
    moved = [link for link in existing if old.links[_ends(link)] != link.color.name]
    if not moved:
        return []
    first = moved[0]
    example = f"{first.leaf} {first.leaf_interface} ({old.links[_ends(first)]} -> {first.color.name})"
    number = f"{len(moved)} of {len(existing)} existing links"
    reason = f"{number} get another color than in {where}: their BGP sessions restart; such as {example}"
    return [intent.problem(CODE, PATH, reason, _way_out(intent.fabric, design, old), "warning")]


def unknown(intent: Intent, where: str, reason: str) -> Problem:
    """Return a warning that the colors of the tree at `where` cannot be compared."""
    text = f"cannot compare the colors of existing links: {where}: {reason}"
    return intent.problem(CODE, PATH, text, "compare with the last tree from version control", "warning")


def _ends(link: Link) -> Ends:
    return link.leaf, link.leaf_interface, link.spine, link.spine_interface


def _way_out(fabric: Fabric, design: Design, old: OldColors) -> str:
    """Return which values of `colors` keep the colors of existing links, with more spines if it takes them."""
    numbers = _numbers(fabric, design, old)
    now = tuple(color.name for color in design.colors)
    before = len({spine for _, _, spine, _ in old.links})
    for spines, names, step in _candidates(fabric, now, old.names, before):
        shares = uplinks_by_color(len(names), step, spines, fabric.links_per_spine)
        if _keeps(numbers, len(names), step) and len(set(shares)) == 1:
            more = f"with {spines} spines, a multiple of {before}, " if spines != len(fabric.spines) else ""
            keys = list(_keys(fabric, now, names, step))
            return f"{more}{' and '.join(keys)} keep{'' if len(keys) > 1 else 's'} them"
    return "no colors.count and colors.step keep them: push this in a maintenance window"


def _candidates(
    fabric: Fabric, now: tuple[str, ...], old: tuple[str, ...], before: int
) -> Iterator[tuple[int, tuple[str, ...], int]]:
    """Yield numbers of spines, names of colors and steps to try; `before` is the number of spines that there were.

    It is the first step to try: unlike others that fit now it still fits when the fabric grows again.
    """
    added = tuple(name for name in now if name not in old)[: max(0, len(now) - len(old))]
    first = before if fabric.links_per_spine > 1 else step_of(fabric)
    for spines in dict.fromkeys((len(fabric.spines), -(-len(fabric.spines) // before) * before)):
        for names in dict.fromkeys(((*old, *added), old)):
            for step in dict.fromkeys((first, step_of(fabric), *range(1, len(names) + 1))):
                yield spines, names, step


def _numbers(fabric: Fabric, design: Design, old: OldColors) -> dict[tuple[int, int], int]:
    """Return the numbers of the old colors by spine and link, all from 0.

    A place whose color differs between leaves has -1, which no step gives.
    """
    places = product(design.leaves, range(len(fabric.spines)), range(fabric.links_per_spine))
    of = {name: at for at, name in enumerate(old.names)}
    found: dict[tuple[int, int], int] = {}
    for link, (_, spine, number) in zip(design.links, places, strict=True):
        name = old.links.get(_ends(link))
        if name is not None and found.setdefault((spine, number), of[name]) != of[name]:
            found[spine, number] = -1
    return found


def _keeps(numbers: Mapping[tuple[int, int], int], count: int, step: int) -> bool:
    return all((link * step + spine) % count == number for (spine, link), number in numbers.items())


def _keys(fabric: Fabric, now: tuple[str, ...], names: tuple[str, ...], step: int) -> Iterator[str]:
    if names != now:
        given = fabric.colors is not None and fabric.colors.names
        is_default = not given and names == default_names(len(names))
        yield f"'colors.count: {len(names)}'" if is_default else f"'colors.names: [{', '.join(names)}]'"
    if step != step_of(fabric):
        yield f"'colors.step: {step}'"
