"""The shell of a device, as far as clients need it: nothing runs on this machine.

Commands: cli, echo, exit, hostname, pwd, true, false, uname, whoami; every other one is not found.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.messages import RpcRefusedError
from ailb_gen.emulator.operations.system import HOME

NOT_FOUND = 127


class Shell:
    """A shell; `done` is true when the user has left it. With `ask` a password comes first."""

    def __init__(self, device: EmulatedDevice, user: str, ask: bool = False) -> None:
        self._device, self._user = device, user
        self._code = 0
        self.hidden = ask
        self.done = False

    @property
    def prompt(self) -> str:
        """The prompt of the next line."""
        if self.hidden:
            return ""
        return f"root@{self._device.host_name}:~ # " if self._user == "root" else "% "

    def run(self, text: str, operational: Callable[[str], str]) -> str:
        """Carry out a line and return its output; `operational` runs a command of the command line."""
        if self.hidden:
            # The emulated root has no password of its own.
            self.hidden = False
            return ""
        try:
            words = shlex.split(text.replace("$?", str(self._code)))
        except ValueError as error:
            self._code = 1
            return f"{error}\n"
        if not words:
            return ""
        if words[0] in ("exit", "logout"):
            self.done = True
            return "exit\n"
        return self._command(words, operational)

    def _command(self, words: list[str], operational: Callable[[str], str]) -> str:
        known: dict[str, str] = {
            "echo": f"{' '.join(words[1:])}\n",
            "hostname": f"{self._device.host_name}\n",
            "pwd": f"{HOME}\n",
            "true": "",
            "uname": "Linux\n",
            "whoami": f"{self._user}\n",
        }
        self._code = 0
        if words[0] == "cli":
            if words[1:2] == ["-c"] and len(words) > 2:
                return self._cli(words[2], operational)
            self.done = True
            return ""
        if words[0] in known:
            return known[words[0]]
        self._code = 1 if words[0] == "false" else NOT_FOUND
        return "" if words[0] == "false" else f"{words[0]}: Command not found.\n"

    def _cli(self, text: str, operational: Callable[[str], str]) -> str:
        try:
            return operational(text)
        except RpcRefusedError as error:
            self._code = 1
            return f"error: {error}\n"
