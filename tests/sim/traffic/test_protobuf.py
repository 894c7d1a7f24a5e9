"""The wire format of Protocol Buffers: examples of its specification, and bytes that are not in it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.sim.traffic.protobuf import WireError, fields, messages, packed, signed, varint, zigzag
from tests.conftest import examples


def test_the_examples_of_the_specification() -> None:
    assert list(fields(bytes.fromhex("089601"))) == [(1, 0, 150)]
    assert list(fields(bytes.fromhex("120774657374696e67"))) == [(2, 2, b"testing")]
    assert packed(bytes.fromhex("038e029ea705")) == [3, 270, 86942]
    assert [zigzag(one) for one in (0, 1, 2, 3, 0xFFFFFFFF)] == [0, -1, 1, -2, -2147483648]
    assert signed(varint(bytes.fromhex("feffffffffffffffff01"), 0)[0]) == -2
    assert list(fields(b"\x0d\x01\x02\x03\x04\x11" + bytes(8))) == [(1, 5, b"\x01\x02\x03\x04"), (2, 1, bytes(8))]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x08\x96", "the file ends inside a number"),
        (b"\x08" + b"\xff" * 11, "more than 64 bits"),
        (b"\x12\x07test", "field 2 has 7 bytes, and 4 follow"),
        (b"\x0d\x01", "field 1 has 4 bytes, and 1 follow"),
        (b"\x0b", "unknown wire type 3"),
        (b"\x00", "a field has the number 0"),
    ],
)
def test_what_is_not_a_message(data: bytes, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        list(fields(data))


def test_messages_are_as_long_as_they_say() -> None:
    assert list(messages(b"\x02ab\x00\x01c")) == [b"ab", b"", b"c"]
    with pytest.raises(WireError, match="a message of 3 bytes, and 1 bytes follow"):
        list(messages(b"\x03a"))


@settings(max_examples=examples(200))
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        found = sum(len(message) for message in messages(data))
    except WireError:
        return
    assert found <= len(data)
