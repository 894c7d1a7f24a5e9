"""Bits of a flow's packets, shape (flows, words): 32 in a word, as many words (2^n) as its packets in flight take.

Those of packets that are further apart are the same.
"""

from ailb_gen.sim.engine.jit import inlined
from ailb_gen.sim.engine.records import Ints


@inlined
def is_noted(bits: Ints, flow: int, sequence: int) -> bool:
    """Return whether the bit of a packet is set."""
    return bool((bits[flow, (sequence >> 5) & (bits.shape[1] - 1)] >> (sequence & 31)) & 1)


@inlined
def note(bits: Ints, flow: int, sequence: int) -> None:
    """Set the bit of a packet."""
    bits[flow, (sequence >> 5) & (bits.shape[1] - 1)] |= 1 << (sequence & 31)


@inlined
def forget(bits: Ints, flow: int, sequence: int) -> None:
    """Clear the bit of a packet."""
    bits[flow, (sequence >> 5) & (bits.shape[1] - 1)] &= ~(1 << (sequence & 31))


@inlined
def forget_all(bits: Ints, flow: int) -> None:
    """Clear the bits of an earlier flow, which may have been given up."""
    for word in range(bits.shape[1]):
        bits[flow, word] = 0
