"""Reading the wire format of Protocol Buffers: messages one after the other, each after its length, and their fields.

Source: "Encoding", the specification of the wire format (protobuf.dev).
"""

from collections.abc import Iterator

# A varint of 64 bits has at most ten bytes.
MAX_VARINT_BYTES = 10
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
WIDTHS = {FIXED64: 8, FIXED32: 4}
SIGN, WRAP = 1 << 63, 1 << 64

Field = tuple[int, int, int | bytes]


class WireError(ValueError):
    """Bytes that are not in the wire format."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the varint at a place, and the place after it. Raises WireError."""
    value = 0
    for number, byte in enumerate(data[at : at + MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * number)
        if byte < 0x80:
            return value % WRAP, at + number + 1
    if len(data) - at < MAX_VARINT_BYTES:
        raise WireError("the file ends inside a number")
    raise WireError("a number has more than 64 bits")


def messages(data: bytes) -> Iterator[bytes]:
    """Yield messages, each after its length. Raises WireError."""
    at = 0
    while at < len(data):
        length, at = varint(data, at)
        if length > len(data) - at:
            raise WireError(f"a message of {length:,} bytes, and {len(data) - at:,} bytes follow")
        yield data[at : at + length]
        at += length


def fields(message: bytes) -> Iterator[Field]:
    """Yield the fields of a message: number, wire type, and value, varints as int, else bytes. Raises WireError."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise WireError("a field has the number 0")
        if kind == VARINT:
            value, at = varint(message, at)
            yield number, kind, value
            continue
        if kind == LENGTH:
            length, at = varint(message, at)
        elif kind in WIDTHS:
            length = WIDTHS[kind]
        else:
            raise WireError(f"field {number} has the unknown wire type {kind}")
        if length > len(message) - at:
            raise WireError(f"field {number} has {length:,} bytes, and {len(message) - at:,} follow")
        yield number, kind, message[at : at + length]
        at += length


def packed(value: int | bytes) -> list[int]:
    """Return the numbers of a repeated field: one, or several packed into bytes. Raises WireError."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


def signed(value: int) -> int:
    """Return a varint as a signed number (two's complement of 64 bits)."""
    return value - WRAP if value >= SIGN else value


def zigzag(value: int) -> int:
    """Return a varint of a `sint` field as a signed number."""
    return (value >> 1) ^ -(value & 1)
