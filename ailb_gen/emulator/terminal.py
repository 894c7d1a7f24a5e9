"""The terminal of a command line: input, echo and output.

With a pseudo-terminal lines are echoed and prompted for, and longer output is shown a screen at a time. Input waits
while a command runs, as on a device.
"""

from __future__ import annotations

import codecs
import re

import asyncssh

from ailb_gen.emulator.channel_session import ChannelSession
from ailb_gen.emulator.commandline import CommandLine
from ailb_gen.emulator.host import DeviceHost
from ailb_gen.emulator.messages import RpcError, RpcRefusedError
from ailb_gen.emulator.pager import Pager

INTERRUPT, END, ERASE_LINE, ERASE_WORD = "\x03", "\x04", "\x15", "\x17"
BACKSPACES = "\x08\x7f"
ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z~]|O[A-Z])")
UP, DOWN = ("\x1b[A", "\x1bOA"), ("\x1b[B", "\x1bOB")
# A command up to a semicolon or the end of a line; those in quotes are part of it.
COMMAND = re.compile(r'(?:[^;\n"]|"[^"]*"?)+')
# No line is longer.
MOST_CHARACTERS = 1024 * 1024


class Terminal(ChannelSession):
    """One channel with a command line on it."""

    def __init__(
        self, host: DeviceHost, channel: asyncssh.SSHServerChannel[bytes], user: str, size: tuple[int, int] | None
    ) -> None:
        """Open a session; `size` is that of the pseudo-terminal in columns and rows, None if there is none."""
        super().__init__(host, channel, user, "cli")
        self._pty = self._echo = size is not None
        self._cli = CommandLine(host.device, self._who, host)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._typed = ""
        self._line = ""
        self._history: list[str] = []
        self._at = 0
        self._pager: Pager | None = None
        if size is not None:
            self.resize(*size)
        self._eof = self._failed = False

    # Called by the channel.

    def resize(self, columns: int, rows: int) -> None:
        """Take another size of the window; 0 is not known."""
        self._cli.resize(columns, rows)

    def greet(self) -> None:
        """Show the banner and the first prompt."""
        self._cli.log_in()
        if self._echo:
            self._write(self._cli.banner)
            self._prompt()

    def feed(self, data: bytes) -> None:
        """Take typed characters."""
        self._typed += self._decoder.decode(data)
        if len(self._typed) > MOST_CHARACTERS:
            self.close()
        self._wake()

    def eof(self) -> None:
        """Carry out the typed lines, then close."""
        self._eof = True
        self._wake()

    def run_all(self, commands: str) -> None:
        """Run commands between semicolons and close; errors go to the error output, and make the exit code 1."""
        self._echo, self._eof = False, True
        self._typed = "".join(f"{command}\n" for command in COMMAND.findall(commands) if command.strip())
        self._wake()

    def _forget(self) -> None:
        self._typed = ""

    # Input.

    async def _serve(self) -> None:
        """Take typed characters until there are no more, or the user has left."""
        while self._typed and not self._ended:
            if self._pager is not None:
                self._turn(self._pager)
                continue
            line = self._next_line()
            if line is not None:
                await self._run(line)
        if self._eof and not self._ended:
            self._pager = None
            if self._line:
                last, self._line = self._line, ""
                await self._run(last)
            self._leave()

    def _turn(self, pager: Pager) -> None:
        escape = ESCAPE.match(self._typed)
        key = escape[0] if escape is not None else self._typed[0]
        self._typed = self._typed[len(key) :]
        self._write(pager.press("\r" if key in DOWN else key))
        if pager.done:
            self._pager = None
            self._go_ahead()

    def _next_line(self) -> str | None:
        """Take one key; return the line that it ends."""
        escape = ESCAPE.match(self._typed)
        if escape is not None:
            self._typed = self._typed[escape.end() :]
            self._recall(escape[0])
            return None
        key, self._typed = self._typed[0], self._typed[1:]
        if key == "\r" and self._typed[:1] == "\n":
            self._typed = self._typed[1:]
        if key in "\r\n":
            line, self._line = self._line, ""
            self._show("\r\n")
            return line
        if key == END and (self._cli.reading or not self._line):
            return END
        if key == INTERRUPT:
            self._line = ""
            self._cli.interrupt()
            self._show("^C\r\n")
            self._prompt()
        elif key in BACKSPACES or key in (ERASE_LINE, ERASE_WORD):
            self._erase(key)
        elif key in "?\t" and self._echo and self._cli.helps and self._line.count('"') % 2 == 0:
            self._help(key)
        elif key == "\t" or key >= " ":
            self._line += key
            self._show(key)
        return None

    def _show(self, text: str) -> None:
        if self._echo and (not self._cli.hidden or text == "\r\n"):
            self._send(text)

    def _send(self, text: str) -> None:
        """Write to the channel; a client that has gone misses it."""
        if not self._ended and not self._channel.is_closing():
            self._channel.write(text.encode())

    def _erase(self, key: str) -> None:
        kept = {ERASE_LINE: "", ERASE_WORD: re.sub(r"\S*\s*$", "", self._line)}.get(key, self._line[:-1])
        self._show("\b \b" * (len(self._line) - len(kept)))
        self._line = kept

    def _recall(self, key: str) -> None:
        if key not in (*UP, *DOWN) or not self._history:
            return
        self._at = min(max(self._at + (1 if key in DOWN else -1), 0), len(self._history))
        self._erase(ERASE_LINE)
        self._line = self._history[self._at] if self._at < len(self._history) else ""
        self._show(self._line)

    def _help(self, key: str) -> None:
        """Show possible completions, and the line again; a tab completes a word with a single completion."""
        try:
            names = self._cli.completions(self._line)
        except RpcRefusedError:
            # A word before is wrong: nothing can come next.
            names = []
        if key == "\t" and len(names) == 1 and names[0][0] != "<":
            begun = len(self._line) - (self._line.rfind(" ") + 1)
            rest = f"{names[0][begun:]} "
            self._line += rest
            self._show(rest)
            return
        rows = "".join(f"  {name}\n" for name in names)
        self._write(
            f"{key.strip()}\nPossible completions:\n{rows}" if names else f"{key.strip()}\nNo valid completions\n"
        )
        self._send(f"{self._cli.prompt.lstrip(chr(10)).rpartition(chr(10))[2]}{self._line}")

    # Output.

    async def _run(self, line: str) -> None:
        phase = self._cli.phase(line)
        # The column of a word that is refused is counted from the start of the line on the screen.
        indent = len(self._cli.prompt.rpartition("\n")[2]) if self._echo else 0
        if line.strip() and line != END and not self._cli.hidden:
            self._history.append(line)
            self._at = len(self._history)
        try:
            if line == END:
                shown = self._end_of_text()
            else:
                shown = await self._with_faults(phase, lambda: self._cli.run(line))
                shown = await self._stalled(shown, self._write)
            self._page(shown, line)
        except RpcRefusedError as error:
            self._refuse(error, line, indent)
        self._host.watch()
        if self._pager is None:
            self._go_ahead()

    def _page(self, shown: str, line: str) -> None:
        """Show a text, only the first screen if it is longer and there is a screen."""
        length, width = self._cli.screen(line) if self._echo else (0, 0)
        pager = Pager(shown, length, width)
        self._write(pager.start())
        self._pager = None if pager.done else pager

    def _go_ahead(self) -> None:
        if self._cli.done:
            self._leave()
        else:
            self._prompt()

    def _end_of_text(self) -> str:
        """Take Ctrl-D: the end of a text, or of the session."""
        if not self._cli.reading:
            return self._cli.run("exit")
        self._show("\r\n")
        return self._cli.end_of_text()

    def _refuse(self, error: RpcRefusedError, line: str, indent: int) -> None:
        self._failed = True
        text = "".join(_error_text(one, line, indent, self._echo) for one in error.errors)
        if self._pty:
            self._write(text)
        elif not self._channel.is_closing():
            self._channel.write_stderr(text.encode())

    def _write(self, text: str) -> None:
        """Show a text; a terminal takes the carriage back at each end of line."""
        self._send(text.replace("\n", "\r\n") if self._pty else text)

    def _prompt(self) -> None:
        if self._echo:
            self._write(self._cli.prompt)

    def _leave(self) -> None:
        self.end()
        if not self._channel.is_closing():
            self._channel.exit(1 if self._failed and not self._echo else 0)


def _error_text(error: RpcError, line: str, indent: int, screen: bool) -> str:
    """Write an error as the command line does: below the wrong word, or after `error:`."""
    where = line.find(error.element) if error.element else -1
    if screen and where >= 0 and error.message.startswith(("syntax error", "unknown command")):
        return f"{' ' * (indent + where)}^\n{error.message.rstrip('.')}.\n"
    if error.path:
        element = f"  '{error.element}'\n" if error.element else ""
        return f"{error.path}\n{element}    {error.message}\n"
    behind = f": {error.element}" if error.element and error.element not in error.message else ""
    return f"{'warning' if error.severity == 'warning' else 'error'}: {error.message}{behind}\n"
