"""A fabric with other numbers of spines, and what can fail in it."""

from __future__ import annotations

from pathlib import Path

from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.exports.optics import DIRECT
from ailb_gen.intent.load import Intent, parse
from ailb_gen.study.reliability.elements import HOURS_PER_YEAR, KINDS, Elements, FailingParts, Parts
from ailb_gen.study.reliability.models import SECONDS_PER_HOUR, Reliability
from ailb_gen.textio import read_text
from ailb_gen.yaml_text import to_yaml
from ailb_gen.yamlio import read_yaml

# Of every cable.
ENDS = 2


def with_spines(path: Path, spines: int) -> Intent:
    """Return the fabric file at `path` with so many spines; of a list, the first ones.

    Raises UsageError for a longer list than the file has, IntentError where another key does not fit the number.
    """
    data = dict(read_yaml(read_text(path, str(path)), str(path)).data)
    listed = data["spines"]
    if isinstance(listed, list) and spines > len(listed):
        raise UsageError(f"the fabric file lists {len(listed)} spines, fewer than {spines}")
    data["spines"] = listed[:spines] if isinstance(listed, list) else spines
    return parse(to_yaml(data, f"{path.name} with {spines} spines"), str(path), path.parent)


def inventory_of(design: Design, asked: Reliability, used: int, packed: bool) -> FailingParts:
    """Return what can fail around a job on `used` servers of a fabric.

    `packed`: they are the first ones, and leaves of other stripes do not matter.
    """
    size = max(len(server.ports) for server in design.servers)
    stripes = {server.stripe for server in (design.servers[:used] if packed else design.servers)}
    optics = 0 if asked.media in DIRECT else ENDS

    def parts(count: int, **each: int) -> Parts:
        return Parts(count, tuple(one for kind, number in each.items() for one in elements(kind, number)))

    def elements(kind: str, number: int) -> tuple[Elements, ...]:
        mtbf, mttr = hours_of(asked, kind)
        return () if mtbf is None or not number else (Elements(kind, number, mtbf, mttr),)

    return FailingParts(
        links=parts(len(design.links), links=1, optics=optics),
        spines=parts(len(design.spines), spines=1),
        leaves=parts(sum(leaf.stripe in stripes for leaf in design.leaves), leaves=1),
        servers=parts(len(design.servers), nics=size, links=size, optics=optics * size),
        used=used,
    )


def hours_of(asked: Reliability, kind: str) -> tuple[float | None, float]:
    """Return MTBF, None if they do not fail, and MTTR of elements of a kind in hours."""
    rates = getattr(asked.elements, kind)
    mttr = (asked.mttr if rates.mttr is None else rates.mttr) / SECONDS_PER_HOUR
    if rates.mtbf is not None:
        return rates.mtbf / SECONDS_PER_HOUR, mttr
    if rates.afr is not None:
        return HOURS_PER_YEAR / rates.afr, mttr
    return KINDS[kind].mtbf_h, mttr
