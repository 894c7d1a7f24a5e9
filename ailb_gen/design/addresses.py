"""Address arithmetic on integers: the /64 of stripe, leaf and uplink, and IPv4 text."""

from dataclasses import dataclass
from socket import AF_INET, inet_ntop

from ailb_gen.intent.plans import Addressing


def ipv4_text(address: int) -> str:
    """Write an IPv4 address in dotted decimal."""
    return inet_ntop(AF_INET, address.to_bytes(4, "big"))


@dataclass(frozen=True, slots=True)
class BitField:
    """A number inside the upper 64 bits of an address: bits `first`…`last`, counted from the left."""

    name: str
    first: int
    last: int

    @property
    def capacity(self) -> int:
        """The highest number that fits; numbering starts at 1."""
        return (1 << (self.last - self.first + 1)) - 1

    def place(self, number: int) -> int:
        """Return the address bits of `number`."""
        return number << (127 - self.last)


@dataclass(frozen=True, slots=True)
class AddressPlan:
    """The bits of stripe, leaf and uplink number in the prefix."""

    pool: int
    pool_length: int
    stripe: BitField
    leaf: BitField
    uplink: BitField
    gateway: int

    def network(self, stripe: int, leaf: int, uplink: int) -> int:
        """Return the /64 of a leaf's uplink number; all numbers count from 1."""
        return self.pool | self.stripe.place(stripe) | self.leaf.place(leaf) | self.uplink.place(uplink)


def address_plan(addressing: Addressing) -> AddressPlan:
    """Make the plan that the intent describes, unchecked."""
    return AddressPlan(
        pool=addressing.pool.address,
        pool_length=addressing.pool.length,
        stripe=BitField("stripe", *addressing.stripe),
        leaf=BitField("leaf", *addressing.leaf),
        uplink=BitField("uplink", *addressing.uplink),
        gateway=addressing.gateway,
    )
