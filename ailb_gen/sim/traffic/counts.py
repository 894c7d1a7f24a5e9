"""Number and sizes of the messages of collectives, without making them, to estimate memory."""

from __future__ import annotations

from collections.abc import Callable

from ailb_gen.sim.traffic.options import Options

# Messages of a collective of n ranks and a size, and the bytes that each of them has at least.
Count = Callable[[int, int, Options], tuple[int, int]]


def ring(passes: int) -> Count:
    """Return how to count a ring that the vector goes around so many times."""

    def count(n: int, size: int, options: Options) -> tuple[int, int]:
        steps = passes * (n - 1)
        steps = min(steps, options.rounds or steps)
        if options.stream:
            size, steps = size * steps, 1
        return steps * n * options.slices, size // (options.per_server * n * options.slices)

    return count


def chain(n: int, size: int, options: Options) -> tuple[int, int]:
    """Count the messages of a chain."""
    return (n - 1) * options.slices, size // options.slices


def double_tree(n: int, size: int, options: Options) -> tuple[int, int]:
    """Count the messages up and down two trees."""
    return 4 * (n - 1) * options.slices, size // 2 // options.slices


def halving_doubling(n: int, size: int, options: Options) -> tuple[int, int]:
    """Count the messages of recursive halving and doubling, and those of ranks beyond a power of two."""
    levels = n.bit_length() - 1
    power = 1 << levels
    return 2 * levels * power + 2 * (n - power), size // power


def all_to_all(n: int, size: int, options: Options) -> tuple[int, int]:
    """Count a message of every NIC to every other server, without PXN to every GPU of the other servers."""
    rails = 1 if options.pxn else options.per_server
    return (n // options.per_server - 1) * n * rails, size // n * (options.per_server // rails)


def incast(n: int, size: int, options: Options) -> tuple[int, int]:
    """Count a message of every other rank."""
    return n - 1, size


def permutation(n: int, size: int, options: Options) -> tuple[int, int]:
    """Count a message of every rank."""
    return n, size
