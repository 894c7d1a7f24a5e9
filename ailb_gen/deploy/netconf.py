"""NETCONF over a login that is there already, for ncclient and so for PyEZ and NAPALM.

What ncclient lacks and a hostile or broken device needs: framing that does not trip over text cut in the middle of a
character (RFC 6242), answers that are parsed once and while they come in (`messages.py`), and an error instead of
silence for what cannot be read.
"""

import re
import time
from contextlib import ExitStack, closing
from selectors import BaseSelector
from typing import Any

import paramiko
from lxml import etree
from ncclient import manager
from ncclient.devices.junos import JunosDeviceHandler
from ncclient.operations.errors import TimeoutExpiredError
from ncclient.operations.third_party.juniper.rpc import ExecuteRpc
from ncclient.transport import SSHSession
from ncclient.transport.session import NetconfBase
from ncclient.xml_ import NCElement
from paramiko.ssh_exception import SSHException

from ailb_gen.deploy.netconf_messages import SHORT, AnswerError, Limit, Message, limit_of
from ailb_gen.deploy.resource_limits import TOO_SLOW, WINDOW_BYTES, BoundedSocket, Share

END = b"]]>]]>"
# A chunk's header and the end of chunks (RFC 6242, section 4.2).
CHUNK = re.compile(rb"\n#(?:([1-9][0-9]{0,9})|(#))\n")
LONGEST_HEADER = len(b"\n#4294967295\n")
# What is read at once.
PIECE = 64 << 10
# The time for all that is read over a session, as a multiple of that of one answer.
READINGS = 3
PARAMETERS = {"name": "junos", "local": False, "use_filter": False}


def open_netconf(
    client: paramiko.SSHClient, timeout_s: float, answer_s: float, connection: BoundedSocket
) -> manager.Manager:
    """Start NETCONF on a login. Returns ncclient's Manager; raises what ncclient and paramiko do.

    `connection` is the one of the login; `answer_s` is what one answer may take.
    """
    handler = _Handler(PARAMETERS)  # type: ignore[no-untyped-call]
    session = _NetconfSession(handler, READINGS * answer_s, connection)
    session.start_on(client, timeout_s)
    return manager.Manager(session, handler)


class _Handler(JunosDeviceHandler):
    """ncclient's handler of Junos, with requests whose answers are trees already."""

    def add_additional_operations(self) -> dict[str, type]:
        return {"rpc": _JunosRpc}


class _NoTransformation(_Handler):
    """What an answer is handled by: nothing is left that would have to be taken out of it."""

    def transform_reply(self) -> None:
        return None


class _JunosRpc(ExecuteRpc):
    """A request, and a limit for its answer."""

    _session: "_NetconfSession"

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - ncclient's own
        super().__init__(*arguments, **options)  # type: ignore[no-untyped-call]
        self._device_handler = _NoTransformation(PARAMETERS)  # type: ignore[no-untyped-call]

    def request(self, rpc: etree._Element, filter_xml: str | None = None) -> NCElement:  # type: ignore[override]
        name, session, begun = etree.QName(rpc).localname, self._session, time.monotonic()
        session.expect(limit_of(name))
        reading = name.startswith("get-")
        if reading and session.left_s <= 0:
            raise TimeoutExpiredError("all answers together take too long")
        if reading:
            self._timeout = min(self._timeout, session.left_s)
        reply = super().request(rpc, filter_xml)  # type: ignore[no-untyped-call]
        if reading:
            session.left_s -= time.monotonic() - begun
        if name == "get-configuration":
            _check_configuration(reply._root, compared=rpc.get("compare") is not None)
        return NCElement(reply, lambda root: root)


def _check_configuration(root: etree._Element, compared: bool) -> None:
    """Make sure that an answer holds a configuration, or differences. Raises AnswerError."""
    if compared and not len(root) and not (root.text or "").strip():
        # Some releases of Junos say nothing where nothing differs (PR 1564189).
        return
    if next(root.iter("configuration-text", "configuration-output"), None) is None:
        raise AnswerError("there is no configuration in it")


class _NetconfSession(SSHSession):  # type: ignore[misc]
    """ncclient's session on a transport that is logged in."""

    def __init__(self, handler: object, left_s: float, connection: BoundedSocket) -> None:
        super().__init__(handler)
        # Seconds that are left for answers to questions: a device that answers each at the last moment would keep a run
        # for hours. What changes something has a time of its own each.
        self.left_s = left_s
        self.parser: Any = _Framing(self)
        self.limit, self.received, self.share = SHORT, 0, Share(oust=connection.oust)
        self._watch = connection.watch
        self._waited_on = ExitStack()

    def start_on(self, client: paramiko.SSHClient, timeout_s: float) -> None:
        transport = client.get_transport()
        if transport is None:
            raise AnswerError("the connection was closed")
        self._transport, self._connected = transport, True
        self._channel = transport.open_session(WINDOW_BYTES, timeout=timeout_s)
        self._watch(self._channel)
        self._channel_id = self._channel.get_id()
        try:
            self._channel.invoke_subsystem("netconf")
        except SSHException:
            if not transport.is_active():
                raise
            # Junos without the service has it as a command, for those who may.
            self._channel = transport.open_session(WINDOW_BYTES, timeout=timeout_s)
            self._watch(self._channel)
            self._channel.exec_command("xml-mode netconf need-trailer")
        self._post_connect(timeout_s)

    def expect(self, limit: Limit) -> None:
        """Set the limit of the next answer; memory of the last one is freed."""
        self.limit, self.received = limit, 0
        self.share.done()

    def close(self) -> None:
        """End the session; never waits for its thread, which ends with the connection."""
        self._closing.set()
        self._transport.close()
        self._connected = False
        self.rest()

    def run(self) -> None:
        # What ncclient waits on, and the channel's pipe, stay open otherwise, and a run has thousands of sessions.
        with self._waited_on:
            super().run()

    def _transport_register(self, selector: BaseSelector, event: int) -> None:
        self._waited_on.enter_context(selector)
        self._waited_on.enter_context(closing(self._channel))
        super()._transport_register(selector, event)

    def rest(self) -> None:
        self.parser.message = None
        self.share.rest()

    def message(self) -> Message:
        return Message(self.limit, self.share)

    def arrived(self, message: Message) -> None:
        root = message.root()
        self.share.whole()
        if root.tag not in ("hello", "rpc-reply"):
            raise AnswerError(f"an unexpected message: <{root.tag[:40]}>")
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener.callback((root.tag, root.attrib), root)

    def _transport_read(self) -> bytes:
        data: bytes = self._channel.recv(PIECE)
        if self.share.ousted:
            raise AnswerError(TOO_SLOW)
        # Of all messages together: a device may send any number of them.
        self.received += len(data)
        if self.received > self.limit.size + PIECE:
            raise AnswerError(f"it is longer than {self.limit.size >> 20} MiB")
        return data


class _Framing:
    """Cuts what comes into messages: end-of-message framing, or chunks once both ends have agreed (RFC 6242)."""

    def __init__(self, session: "_NetconfSession") -> None:
        self.session = session
        self.buffer = bytearray()
        self.message: Message | None = None
        # What is still to come of the chunk.
        self.left = 0

    def parse(self, data: bytes) -> None:
        self.buffer += data
        while self._chunk() if self.session._base == NetconfBase.BASE_11 else self._until_end():
            pass

    def _take(self, size: int) -> Message:
        """Move some of the buffer to the message."""
        if self.message is None:
            self.message = self.session.message()
        self.message.feed(bytes(self.buffer[:size]))
        del self.buffer[:size]
        return self.message

    def _over(self, size: int, trailer: int) -> None:
        """End the message after `size` bytes of the buffer, and drop the trailer."""
        message, self.message = self._take(size), None
        del self.buffer[:trailer]
        self.session.arrived(message)

    def _until_end(self) -> bool:
        at = self.buffer.find(END)
        if at < 0:
            # The end may be cut in two. Before anything is there, nothing is known of the next message's limit.
            if len(self.buffer) >= len(END):
                self._take(len(self.buffer) - len(END) + 1)
            return False
        self._over(at, len(END))
        return True

    def _chunk(self) -> bool:
        if self.left:
            size = min(self.left, len(self.buffer))
            self._take(size)
            self.left -= size
            return not self.left
        found = CHUNK.match(bytes(self.buffer[:LONGEST_HEADER]))
        if found is None:
            # After the hello's end some devices send line breaks of their own.
            if self.message is None and bytes(self.buffer[:2]) in (b"\n\n", b"\r\n", b"\n\r"):
                del self.buffer[:1]
                return True
            if len(self.buffer) >= LONGEST_HEADER or not b"\n#".startswith(bytes(self.buffer[:2])):
                raise AnswerError("it is not in chunks")
            return False
        if found[2]:
            self._over(0, found.end())
            return True
        del self.buffer[: found.end()]
        self.left = int(found[1])
        return True
