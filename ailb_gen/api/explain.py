"""The whole of a fabric: what it uses, what is left, and how far it can grow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.inputs import intent_of
from ailb_gen.progress import Warn, unheeded

if TYPE_CHECKING:
    from ailb_gen.design.addition import Addition
    from ailb_gen.design.headroom import Headroom
    from ailb_gen.design.model import Design
    from ailb_gen.design.usage import Load, Pool, PortUsage
    from ailb_gen.intent.growth import Unit
    from ailb_gen.intent.load import Intent


@dataclass(frozen=True, slots=True)
class FabricSummary:
    """A fabric as a whole: its design, names of switches by use of ports and of leaves by load, pools, and its room.

    `next` is what the next step of each unit takes as `grow` adds it; units that cannot be added are left out.
    """

    design: Design
    ports: dict[PortUsage, list[str]]
    loads: dict[Load, list[str]]
    pools: tuple[Pool, ...]
    headroom: tuple[Headroom, ...]
    next: dict[Unit, Addition]


def summarize(fabric: Intent | str | Path, warn: Warn = unheeded) -> FabricSummary:
    """Compute what a fabric uses and how far it can grow. Raises IntentError for one that has no design."""
    from ailb_gen.design.build import DesignBuilder
    from ailb_gen.design.headroom import every_headroom
    from ailb_gen.design.larger import larger
    from ailb_gen.design.problems import collapsed
    from ailb_gen.design.usage import loads, pools, port_usage

    intent = intent_of(fabric)
    builder = DesignBuilder(intent)
    design = builder.design()
    for problem in collapsed(builder.problems.warnings):
        warn(str(problem))
    found = every_headroom(intent, design)
    return FabricSummary(
        design=design,
        ports=port_usage(builder, design),
        loads=loads(design),
        pools=pools(builder),
        headroom=found,
        next={row.unit: larger(intent, design, row.unit, row.step).addition for row in found if row.most},
    )
