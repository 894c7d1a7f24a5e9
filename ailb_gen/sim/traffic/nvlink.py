"""The time that collectives take inside a NVLink domain.

A GPU sends over NVLink what its rings, one per rail, pass through it, and with PXN what leaves over the NICs of other
rails. All of it flows while the network carries its part, as NCCL pipelines both, so a collective lasts as long as
the slower of the two.
"""

from fractions import Fraction
from functools import lru_cache

from ailb_gen.sim.fabric import PS_PER_S

# Times the vector that a ring of many ranks passes on.
PASSES = {"all-reduce": 2, "reduce-scatter": 1, "all-gather": 1, "all-to-all": 1}


@lru_cache(maxsize=4096)
def nvlink_share(collective: str, n: int, domain: int, nvls: bool) -> Fraction:
    """Return the bytes that a GPU sends over NVLink, per byte of a collective of n ranks, `domain` of them together.

    `nvls`: switches of the domain reduce and copy, so that a GPU sends its vector once and the sums of its share to
    all (NVLS), instead of twice in a ring.
    """
    if domain == 1:
        return Fraction(0)
    if nvls and collective == "all-reduce":
        return 1 + Fraction(1, domain)
    passes, others = PASSES.get(collective, 1), Fraction(domain - 1, domain)
    if collective == "all-to-all":
        # To other GPUs of the domain as targets, or to their NICs (PXN).
        return passes * others
    # In one domain all hops of a ring are NVLink; else the last rank of a domain sends over its NIC.
    passed = Fraction(n - 1, n) if collective in PASSES else Fraction(1)
    return passes * passed * (1 if domain == n else others)


def nvlink_ps(size: int, share: Fraction, bps: int) -> int:
    """Return the time of that share of `size` bytes at a rate in bit/s, rounded up."""
    return -(-(size * share.numerator * 8 * PS_PER_S) // (share.denominator * bps))
