"""A NETCONF session of a device, with the faults that happen at each phase.

Source: RFC 6242; Juniper's `xml-mode netconf need-trailer`.
"""

from __future__ import annotations

from collections.abc import Sequence

import asyncssh
from lxml import etree

from ailb_gen.emulator.channel_session import ChannelSession
from ailb_gen.emulator.device import REBOOT_S, REBOOT_SOON_S
from ailb_gen.emulator.framing import Decoder, FramingError, frame
from ailb_gen.emulator.host import DeviceHost
from ailb_gen.emulator.messages import (
    BASE_1_1,
    OK,
    MessageError,
    Rpc,
    RpcRefusedError,
    hello,
    parse_hello,
    parse_rpc,
    refusal,
    reply,
)
from ailb_gen.emulator.rpc import answer, phase_of
from ailb_gen.junos.tokens import MAX_DIGITS, long_number

# Junos's request and that of Junos OS Evolved.
REBOOTS = frozenset({"request-reboot", "request-system-reboot"})
REBOOT_RESULTS = """\
<request-reboot-results>
<request-reboot-status reboot-time="{when}">
Shutdown NOW!
[pid {number}]
</request-reboot-status>
</request-reboot-results>
"""


class NetconfSession(ChannelSession):
    """NETCONF on one channel."""

    def __init__(self, host: DeviceHost, channel: asyncssh.SSHServerChannel[bytes], user: str) -> None:
        """Open the session and send the hello."""
        super().__init__(host, channel, user, "netconf")
        self._decoder = Decoder()
        self._greeted = False
        self._waiting: list[Rpc] = []
        channel.write(frame(hello(self._who.number), False))

    def feed(self, data: bytes) -> None:
        """Take received bytes; requests are answered one after another."""
        if self._ended:
            return
        try:
            self._decoder.feed(data)
            while (message := self._decoder.next()) is not None:
                self._take(message)
        except (FramingError, MessageError) as error:
            self._refuse_malformed(error)
            return
        if self._waiting:
            self._wake()

    def _forget(self) -> None:
        self._waiting.clear()

    def _take(self, message: bytes) -> None:
        if not self._greeted:
            self._decoder.chunked = BASE_1_1 in parse_hello(message)
            self._greeted = True
        elif message.strip():
            self._waiting.append(parse_rpc(message))

    def _refuse_malformed(self, error: Exception) -> None:
        """Answer a message that cannot be read with an error, and end the session."""
        if self._channel.is_closing():
            return
        refused = refusal(str(error), "malformed-message", "rpc")
        self._send(self._framed((), refused.xml()))
        self.close()

    def _framed(self, attributes: Sequence[tuple[str, str]], body: str) -> bytes:
        release = self._host.device.version.partition("-")[0].rpartition(".")[0]
        return frame(reply(attributes, body, release), self._decoder.chunked)

    def _send(self, data: bytes) -> None:
        if not self._channel.is_closing():
            self._channel.write(data)

    async def _serve(self) -> None:
        while self._waiting:
            rpc = self._waiting.pop(0)
            try:
                body = await self._answer(rpc)
            except RpcRefusedError as error:
                body = error.xml()
            self._send(await self._stalled(self._framed(rpc.attributes, body), self._send))
            self._host.watch()
            if rpc.operation.tag == "close-session":
                self.close()

    async def _answer(self, rpc: Rpc) -> str:
        """Answer one request, with its injected faults. Raises RpcRefusedError, DroppedError."""
        for node in rpc.operation.iter():
            if any(long_number(str(text)) >= 0 for text in (node.text or "", *node.attrib.values())):
                raise refusal(f"a number of more than {MAX_DIGITS:,} digits", "invalid-value", element=str(node.tag))
        if rpc.operation.tag == "close-session":
            return OK
        if rpc.operation.tag == "kill-session":
            return self._kill(rpc)
        if rpc.operation.tag in REBOOTS:
            return self._reboot(rpc.operation)
        device = self._host.device
        phase = phase_of(device, rpc.operation)
        return await self._with_faults(phase, lambda: answer(device, self._who, rpc.operation))

    def _reboot(self, operation: etree._Element) -> str:
        """Restart the device at once. Raises RpcRefusedError for another time."""
        for child in operation.iterchildren(etree.Element):
            if (child.tag, (child.text or "").strip()) != ("in", "0"):
                raise refusal("this emulator reboots only at once", "operation-not-supported", element=str(child.tag))
        self._host.reboot(REBOOT_S, REBOOT_SOON_S)
        return REBOOT_RESULTS.format(when=int(self._host.device.now()), number=self._who.number)

    def _kill(self, rpc: Rpc) -> str:
        """End another session; its lock is free at once (RFC 6241 section 7.9)."""
        number = (rpc.operation.findtext("session-id") or "").strip()
        if number.isdecimal() and int(number) == self._who.number:
            raise refusal("a session cannot kill itself", "invalid-value", element="session-id")
        if not number.isdecimal() or not self._host.kill(int(number)):
            text = f"session {number or 'without a number'} does not exist"
            raise refusal(text, "invalid-value", element="session-id")
        return OK
