"""NETCONF over a login that is there already, for ncclient and so for PyEZ and NAPALM.

What ncclient lacks and a hostile or broken device needs: framing that does not trip over text cut in the middle of a
character (RFC 6242), a limit of what comes as an answer, no DTD (RFC 6241, section 3.2), and an error instead of
silence for what cannot be read.
"""

import re
from typing import Any

import paramiko
from ncclient import NCClientError, manager
from ncclient.transport import SSHSession
from ncclient.transport.session import NetconfBase
from ncclient.xml_ import parse_root
from paramiko.ssh_exception import SSHException

# What is read of one answer; the configuration of the largest switch is a tenth of this.
MAX_ANSWER_BYTES = 64 << 20
END = b"]]>]]>"
# A chunk's header and the end of chunks (RFC 6242, section 4.2); no chunk is larger than an answer may be.
CHUNK = re.compile(rb"\n#(?:([1-9][0-9]{0,9})|(#))\n")
LONGEST_HEADER = len(b"\n#4294967295\n")
# All routes of the largest fabric are a third of this.
MAX_TAGS = 3_000_000
# An element with 64 attributes; Junos has four. Parsers compare each with each.
MANY_ATTRIBUTES = re.compile(r"""<[^<>"']*(?:(?:"[^"<]*"|'[^'<]*')[^<>"']*){64}""")
# What may stand before the root element.
PROLOG = re.compile(r"\s+|<\?(?:[^?]|\?(?!>))*\?>|<!--(?:[^-]|-(?!->))*-->")


class AnswerError(NCClientError):
    """An answer that is too long, or that is no answer; the session is of no use any more."""


def open_netconf(client: paramiko.SSHClient, timeout_s: float) -> manager.Manager:
    """Start NETCONF on a login. Returns ncclient's Manager; raises what ncclient and paramiko do."""
    handler = manager.make_device_handler({"name": "junos", "local": False, "use_filter": False})
    session = _Session(handler)
    session.start_on(client, timeout_s)
    return manager.Manager(session, handler)


class _Session(SSHSession):  # type: ignore[misc]
    """ncclient's session on a transport that is logged in."""

    def __init__(self, handler: object) -> None:
        super().__init__(handler)
        self.parser: Any = _Framing(self)
        self.received = 0

    def start_on(self, client: paramiko.SSHClient, timeout_s: float) -> None:
        """Open the subsystem and exchange hellos."""
        transport = client.get_transport()
        if transport is None:
            raise AnswerError("the connection was closed")
        self._transport, self._connected = transport, True
        self._channel = transport.open_session(timeout=timeout_s)
        self._channel_id = self._channel.get_id()
        try:
            self._channel.invoke_subsystem("netconf")
        except SSHException:
            if not transport.is_active():
                raise
            # Junos without the service has it as a command, for those who may.
            self._channel = transport.open_session(timeout=timeout_s)
            self._channel.exec_command("xml-mode netconf need-trailer")
        self._post_connect(timeout_s)

    def send(self, message: str) -> None:
        """Send a request; what comes from here on is its answer."""
        self.received = 0
        super().send(message)

    def close(self) -> None:
        """End the session; never waits for its thread, which ends with the connection."""
        self._closing.set()
        self._transport.close()
        self._connected = False

    def _transport_read(self) -> bytes:
        data: bytes = super()._transport_read()
        self.received += len(data)
        if self.received > MAX_ANSWER_BYTES:
            raise AnswerError(f"its answer is longer than {MAX_ANSWER_BYTES >> 20} MiB")
        return data

    def _dispatch_message(self, raw: str) -> None:
        refuse_dtd(raw)
        refuse_bulk(raw)
        try:
            parse_root(raw)
        except Exception as error:
            # The handler repairs what some releases of Junos send; for anything else ncclient would go on waiting.
            if not self._device_handler.handle_raw_dispatch(raw):
                raise AnswerError("its answer is not XML") from error
        super()._dispatch_message(raw)


def refuse_bulk(text: str) -> None:
    """Refuse what takes a parser more memory or time than it is long. Raises AnswerError."""
    if text.count("<") > MAX_TAGS:
        raise AnswerError(f"its answer has more than {MAX_TAGS} tags")
    if MANY_ATTRIBUTES.search(text):
        raise AnswerError("its answer has an element with too many attributes")


def refuse_dtd(text: str) -> None:
    """Refuse a document type declaration in any form. Raises AnswerError."""
    at = 0
    while found := PROLOG.match(text, at):
        at = found.end()
    if text[at : at + 1] != "<" or text[at + 1 : at + 2] in ("!", "?", ""):
        raise AnswerError("its answer is not a plain XML document: a DTD, or no element at all")


class _Framing:
    """Cuts what comes into messages: end-of-message framing, or chunks once both ends have agreed (RFC 6242)."""

    def __init__(self, session: _Session) -> None:
        self.session = session
        self.buffer = bytearray()
        self.chunks: list[bytes] = []
        self.searched = 0

    def parse(self, data: bytes) -> None:
        """Buffer data, and dispatch the messages that are whole."""
        self.buffer += data
        while self._chunk() if self.session._base == NetconfBase.BASE_11 else self._message():
            pass

    def _message(self) -> bool:
        at = self.buffer.find(END, max(0, self.searched - len(END)))
        if at < 0:
            self.searched = len(self.buffer)
            return False
        message = bytes(self.buffer[:at])
        del self.buffer[: at + len(END)]
        self.searched = 0
        self._dispatch(message)
        return True

    def _chunk(self) -> bool:
        found = CHUNK.match(self.buffer)
        if found is None:
            # After the hello's end some devices send line breaks of their own.
            if not self.chunks and bytes(self.buffer[:2]) in (b"\n\n", b"\r\n", b"\n\r"):
                del self.buffer[:1]
                return True
            if len(self.buffer) >= LONGEST_HEADER or not b"\n#".startswith(bytes(self.buffer[:2])):
                raise AnswerError("its answer is not in chunks")
            return False
        if found[2]:
            message, self.chunks = b"".join(self.chunks), []
            del self.buffer[: found.end()]
            self._dispatch(message)
            return True
        size = int(found[1])
        if size > MAX_ANSWER_BYTES:
            raise AnswerError(f"its answer is longer than {MAX_ANSWER_BYTES >> 20} MiB")
        if len(self.buffer) < found.end() + size:
            return False
        self.chunks.append(bytes(self.buffer[found.end() : found.end() + size]))
        del self.buffer[: found.end() + size]
        return True

    def _dispatch(self, message: bytes) -> None:
        try:
            text = message.decode().strip()
        except UnicodeDecodeError as error:
            raise AnswerError("its answer is not UTF-8 text") from error
        self.session._dispatch_message(text)
