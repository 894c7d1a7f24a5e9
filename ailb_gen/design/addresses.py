"""Address arithmetic on integers: the /64 of stripe, leaf and uplink, and IPv4 text."""

from socket import AF_INET, inet_ntop

from ailb_gen.intent.plans import Addressing


def ipv4_text(address: int) -> str:
    """Write an IPv4 address in dotted decimal."""
    return inet_ntop(AF_INET, address.to_bytes(4, "big"))


def capacity(bits: tuple[int, int]) -> int:
    """Return the highest number that fits into the bits first to last of a prefix; numbering starts at 1."""
    return (1 << (bits[1] - bits[0] + 1)) - 1


def network(addressing: Addressing, stripe: int, leaf: int, uplink: int) -> int:
    """Return the /64 of a leaf's uplink number; all numbers count from 1."""
    value = addressing.pool.address
    for (_, last), number in (
        (addressing.stripe, stripe),
        (addressing.leaf, leaf),
        (addressing.uplink, uplink),
    ):
        value |= number << (127 - last)
    return value
