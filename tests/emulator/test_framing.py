"""Both framings, split anywhere."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.emulator.framing import END, Decoder, FramingError, frame

MESSAGES = st.lists(st.binary(min_size=1, max_size=200).filter(lambda data: END not in data + END[:-1]), max_size=6)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    """Cut a stream at offsets."""
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    return [stream[start:end] for start, end in pairwise(places)]


def decode(decoder: Decoder, parts: list[bytes]) -> list[bytes]:
    """Feed parts one by one and return every message."""
    found = []
    for part in parts:
        decoder.feed(part)
        while (message := decoder.next()) is not None:
            found.append(message)
    return found


@given(MESSAGES, st.lists(st.integers(0, 10_000), max_size=20), st.booleans())
def test_what_is_framed_is_decoded_however_it_arrives(messages: list[bytes], cuts: list[int], chunked: bool) -> None:
    decoder = Decoder()
    decoder.chunked = chunked
    stream = b"".join(frame(message, chunked) for message in messages)
    assert decode(decoder, pieces(stream, cuts)) == messages


@given(st.binary(min_size=1, max_size=300), st.lists(st.integers(1, 40), min_size=1), st.lists(st.integers(0, 999)))
def test_a_message_in_many_chunks(message: bytes, sizes: list[int], cuts: list[int]) -> None:
    stream, rest = b"", message
    while rest:
        size = sizes[len(stream) % len(sizes)]
        stream += b"\n#%d\n%b" % (len(rest[:size]), rest[:size])
        rest = rest[size:]
    decoder = Decoder()
    decoder.chunked = True
    assert decode(decoder, pieces(stream + b"\n##\n", cuts)) == [message]


def test_the_framing_changes_behind_the_hello() -> None:
    decoder = Decoder()
    decoder.feed(frame(b"<hello/>", False) + frame(b"<rpc/>", True))
    assert decoder.next() == b"<hello/>"
    decoder.chunked = True
    assert decoder.next() == b"<rpc/>"
    assert decoder.next() is None


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (b"<rpc/>", "a chunk starts with"),
        (b"\n#0\n", "a chunk starts with"),
        (b"\n#x", "a chunk starts with"),
        (b"\n#12345678901\n", "a chunk starts with"),
        (b"\n##\n", "without a chunk"),
        (b"\n#3\nabcd", "a chunk starts with"),
        (b"\n#1001\n", "more than 1,000 bytes"),
        (b"\n#600\n" + b"x" * 600 + b"\n#600\n", "more than 1,000 bytes"),
    ],
)
def test_broken_chunks(stream: bytes, reason: str) -> None:
    decoder = Decoder(1000)
    decoder.chunked = True
    decoder.feed(stream)
    with pytest.raises(FramingError, match=reason):
        decoder.next()


def test_a_message_too_long_to_end() -> None:
    decoder = Decoder(1000)
    decoder.feed(b"x" * 1001)
    with pytest.raises(FramingError, match="more than 1,000 bytes"):
        decoder.next()


def test_what_a_framing_cannot_carry() -> None:
    with pytest.raises(FramingError, match="cannot hold"):
        frame(b"a]]>]]>b", False)
    with pytest.raises(FramingError, match="no chunks"):
        frame(b"", True)
