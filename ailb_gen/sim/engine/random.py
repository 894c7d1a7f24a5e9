"""Random numbers, hashes in 32-bit steps and powers, the same on every machine, compiled or not."""

import numpy as np

from ailb_gen.sim.engine.jit import inlined
from ailb_gen.sim.engine.records import EngineState, Ints

MASK = 0xFFFFFFFF


@inlined
def random_bits(state: EngineState, node: int) -> int:
    """Return 32 random bits of a node's own generator (Marsaglia, Xorshift RNGs, 2003, xor128).

    So what is drawn does not depend on the order of events at different nodes.
    """
    words = state.random[node]
    first = words[0]
    first ^= (first << 11) & MASK
    last = words[3]
    words[0], words[1], words[2] = words[1], words[2], last
    last = last ^ (last >> 19) ^ first ^ (first >> 8)
    words[3] = last
    return int(last)


@inlined
def random_below(state: EngineState, node: int, count: int) -> int:
    """Return a random number of a node from 0 to count - 1."""
    return (random_bits(state, node) * int(count)) >> 32


@inlined
def happens(state: EngineState, node: int, probability: float) -> bool:
    """Return True with a probability, as a node draws."""
    return random_bits(state, node) < probability * 4294967296.0


@inlined
def mix(value: int) -> int:
    """Return a 32-bit hash of a number of 62 bits."""
    word = (int(value) ^ (int(value) >> 31)) & MASK
    word = ((word ^ (word >> 16)) * 0x7FEB352D) & MASK
    # A product of two numbers of 32 bits would not fit into 63.
    word ^= word >> 15
    word = (word * 0x46CA68B + ((word & 1) << 31)) & MASK
    return word ^ (word >> 16)


@inlined
def power(value: float, exponent: int) -> float:
    """Return a power, the same on every machine, other than that of its library."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= value
        value *= value
        exponent >>= 1
    return result


def seeded(seed: int, count: int) -> Ints:
    """Return words of 32 bits from a seed: of generators, or by which nodes hash (Steele et al., SplitMix, 2014)."""
    words, value = np.zeros(count, np.int64), seed & (2**64 - 1)
    for number in range(count):
        value = (value + 0x9E3779B97F4A7C15) & (2**64 - 1)
        mixed = value
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        words[number] = ((mixed ^ (mixed >> 31)) & MASK) or 1
    return words
