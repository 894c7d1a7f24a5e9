"""How much of the tokens goes to each rank of an expert-parallel group."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ailb_gen.errors import UsageError

# Weights are whole numbers of at most this, so that they are the same on every machine.
RESOLUTION = 1 << 16
MOST_EXPERTS = 4096


@dataclass(frozen=True, slots=True)
class ExpertLoads:
    """The loads of the ranks of an expert-parallel group, as whole numbers; `kept` of all tokens are not dropped."""

    weights: tuple[int, ...]
    kept: Fraction


def imbalance(weights: Sequence[int]) -> Fraction:
    """Return the largest of the loads over their mean; 1 without any."""
    return Fraction(max(weights) * len(weights), sum(weights)) if weights else Fraction(1)


def expert_loads(
    ranks: int, experts: int | None = None, skew: float = 0.0, capacity: float | None = None
) -> ExpertLoads:
    """Return the loads of the ranks of a group, each with the next `experts` / `ranks` experts.

    The load of expert i is i ** -skew (Zipf's law), with capacity at most that many times the mean; what exceeds it is
    dropped (Fedus et al. 2021). `experts`: None is one per rank. Raises UsageError if the ranks do not divide the
    experts evenly.
    """
    count = ranks if experts is None else experts
    if count % ranks or count > MOST_EXPERTS:
        raise UsageError(f"{count:,} experts: must be a multiple of expert {ranks}, and at most {MOST_EXPERTS:,}")
    loads = [max(1, round(RESOLUTION * number**-skew)) for number in range(1, count + 1)]
    wanted = sum(loads)
    if capacity is not None:
        loads = [min(load, round(capacity * wanted / count)) for load in loads]
    each = count // ranks
    weights = tuple(sum(loads[first : first + each]) for first in range(0, count, each))
    return ExpertLoads(weights, Fraction(sum(loads), wanted))
