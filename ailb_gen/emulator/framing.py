"""NETCONF messages in a stream of bytes: end-of-message (1.0) and chunked (1.1) framing.

Source: RFC 6242 sections 4.2 and 4.3.
"""

from __future__ import annotations

import re

END = b"]]>]]>"
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
# RFC 6242 allows chunks of up to 4294967295 bytes.
CHUNK = re.compile(rb"\n#([1-9][0-9]{0,9})\n")
CHUNKS_END = b"\n##\n"
# No longer head than this begins a chunk.
LONGEST_HEAD = len(b"\n#4294967295\n")


class FramingError(Exception):
    """Bytes that are no message; the session ends, as nothing after them can be read."""


def frame(message: bytes, chunked: bool) -> bytes:
    """Return a message as it is sent. Raises FramingError for one that its framing cannot carry."""
    if chunked:
        if not message:
            raise FramingError("an empty message has no chunks")
        return b"\n#%d\n%b%b" % (len(message), message, CHUNKS_END)
    if END in message:
        raise FramingError("a message cannot hold ']]>]]>' in end-of-message framing")
    return message + END


class Decoder:
    """Turns received bytes into messages; `chunked` may change between two messages (after the hello)."""

    def __init__(self, limit_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.chunked = False
        self._limit = limit_bytes
        self._buffer = bytearray()
        # How much of the buffer is known to hold no end of message; the chunks of the message that is open.
        self._seen = 0
        self._chunks: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Take more bytes."""
        self._buffer += data

    def next(self) -> bytes | None:
        """Return the next message without its framing, or None until more bytes are there. Raises FramingError."""
        return self._next_chunked() if self.chunked else self._next_ended()

    def _next_ended(self) -> bytes | None:
        at = self._buffer.find(END, self._seen)
        self._check_size(len(self._buffer) if at < 0 else at)
        if at < 0:
            self._seen = max(len(self._buffer) - len(END) + 1, 0)
            return None
        message = bytes(self._buffer[:at])
        del self._buffer[: at + len(END)]
        self._seen = 0
        return message

    def _next_chunked(self) -> bytes | None:
        while True:
            if self._buffer.startswith(CHUNKS_END):
                if not self._chunks:
                    raise FramingError("a message without a chunk")
                message = b"".join(self._chunks)
                del self._buffer[: len(CHUNKS_END)]
                self._chunks, self._size = [], 0
                return message
            head = CHUNK.match(self._buffer)
            if head is None:
                self._check_head()
                return None
            size = int(head[1])
            self._check_size(self._size + size)
            if len(self._buffer) < head.end() + size:
                return None
            self._chunks.append(bytes(self._buffer[head.end() : head.end() + size]))
            self._size += size
            start = head.end()
            del head  # it holds the buffer, which could not shrink
            del self._buffer[: start + size]

    def _check_head(self) -> None:
        """Refuse bytes that cannot become the head of a chunk."""
        head = bytes(self._buffer[:LONGEST_HEAD])
        begun = CHUNKS_END.startswith(head) or re.fullmatch(rb"\n(#([1-9][0-9]{0,9})?)?", head)
        if head and not begun:
            raise FramingError(f"a chunk starts with a newline, '#' and its size in bytes, not with {head!r}")

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            raise FramingError(f"a message of more than {self._limit:,} bytes")
