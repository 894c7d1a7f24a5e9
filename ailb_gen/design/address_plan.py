"""The address plan: which bits of a /64 hold the numbers of stripe, leaf and uplink, and which could."""

from collections.abc import Sequence

from ailb_gen.design.inventory import StripeSlot
from ailb_gen.design.numbers import capacity
from ailb_gen.design.problems import Problems
from ailb_gen.intent.plans import Addressing
from ailb_gen.wording import counted
from ailb_gen.yamlio import Path


def check_plan(plan: Addressing, stripes: tuple[StripeSlot, ...], colors: int, problems: Problems) -> None:
    """Note fields of the address plan that overlap, lie in the pool, or are too small."""
    pool = plan.pool.length
    fields = (
        ("stripe", plan.stripe, len(stripes)),
        ("leaf", plan.leaf, max(len(s.leaves) for s in stripes)),
        ("uplink", plan.uplink, colors),
    )
    layout = fitting_layout(pool, [needed for _, _, needed in fields])
    if layout is None:
        left, bits = max(64 - pool, 0), sum(needed.bit_length() for _, _, needed in fields)
        reason = f"a /{pool} leaves {counted(left, 'bit')} of the /64 for stripe, leaf and uplink, which need {bits}"
        problems.error("bad-plan", ("addressing", "pool"), reason, "use a shorter pool, at most a /48 for most fabrics")
        return
    hint = f"possible in addressing: {{{layout_text(layout)}}}"
    for number, (name, (first, last), needed) in enumerate(fields):
        path: Path = ("addressing", name)
        if first < pool:
            reason = f"bits {first}-{last} are inside the pool's /{pool}"
            problems.error("bad-plan", path, reason, hint)
        if needed > capacity((first, last)):
            reason = f"{needed} numbers are needed, bits {first}-{last} hold {capacity((first, last))}"
            problems.error("pool-exhausted", path, reason, hint)
        for other, (other_first, other_last), _ in fields[:number]:
            if first <= other_last and other_first <= last:
                problems.error("bad-plan", path, f"bits {first}-{last} are also those of {other}", hint)


def fitting_layout(pool: int, needed: Sequence[int]) -> tuple[tuple[int, int], ...] | None:
    """Return first and last bits of stripe, leaf and uplink that hold the `needed` numbers in a pool of this length.

    Fields end at hexadecimal digits if there is room. None if the bits from the pool to the /64 are too few.
    """
    left = 64 - pool
    for step in (4, 1):
        widths = [-(-count.bit_length() // step) * step for count in needed]
        if sum(widths) <= left:
            break
    else:
        return None
    widths[0] += (left - sum(widths)) % step
    while sum(widths) < left:
        widths[widths.index(min(widths))] += step
    lasts = [pool + sum(widths[: number + 1]) - 1 for number in range(len(widths))]
    return tuple((last - width + 1, last) for width, last in zip(widths, lasts, strict=True))


def layout_text(layout: Sequence[tuple[int, int]]) -> str:
    """Return the layout of an address plan as fabric.yaml has it."""
    fields = zip(("stripe", "leaf", "uplink"), layout, strict=True)
    return ", ".join(f'{name}: "{first}-{last}"' for name, (first, last) in fields)
