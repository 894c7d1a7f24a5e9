"""The command line of a device: operational mode, configuration mode and shell.

Source: Juniper, CLI User Guide; CLI Reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from lxml import etree

from ailb_gen.emulator.config_database import UserSession
from ailb_gen.emulator.configmode import ConfigMode
from ailb_gen.emulator.configuration import head, rollback_words
from ailb_gen.emulator.device import REBOOT_S, REBOOT_SOON_S, EmulatedDevice
from ailb_gen.emulator.host import DeviceHost
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations import as_text, check_named, declared, reply_of, to_json
from ailb_gen.emulator.operations.commands import NAMES, next_options, resolve, rpc_of
from ailb_gen.emulator.pipes import TypedLine, as_it_is, check_displays, filtered, read_line
from ailb_gen.emulator.shell import Shell
from ailb_gen.emulator.show_compare import patch
from ailb_gen.emulator.show_configuration import show_tree, wrapped
from ailb_gen.junos.tokens import MAX_DIGITS, long_number

# How `start shell` may name the kind of shell; all are the same here.
SHELLS = frozenset({("sh",), ("csh",), ("type", "sh"), ("type", "csh")})
# Also within the quotes of `cli -c '...'`.
NO_MORE = re.compile(r"\|\s*no-m[ore]*\b")


class CommandLine:
    """One user at a command line. `done` is true when the user has left it."""

    def __init__(self, device: EmulatedDevice, session: UserSession, host: DeviceHost) -> None:
        self._device, self._session, self._host = device, session, host
        self._config: ConfigMode | None = None
        self._shell: Shell | None = None
        self._question: Callable[[str], str] | None = None
        self._settings = {"complete-on-space": "on", "screen-length": "24", "screen-width": "80"}
        self.done = False

    def log_in(self) -> None:
        """Begin after login: root begins in a shell."""
        if self._session.user == "root":
            self._shell = Shell(self._device, "root")

    # Called by the terminal.

    @property
    def banner(self) -> str:
        """The banner at login."""
        return f"--- JUNOS {self._device.version} Linux (x86_64)\n"

    @property
    def prompt(self) -> str:
        """The prompt of the next line."""
        if self._asking or self.reading:
            return ""
        who = f"{self._session.user}@{self._device.host_name}"
        if self._shell is not None:
            return self._shell.prompt
        if self._config is not None:
            return f"\n{self._config.heading}{who}# "
        return f"\n{self._settings.get('prompt', f'{who}> ')}"

    def resize(self, columns: int, rows: int) -> None:
        """Take the size of the window for that of the screen; 0 is not known."""
        for name, value in (("screen-width", columns), ("screen-length", rows)):
            if value > 0:
                self._settings[name] = str(value)

    def screen(self, text: str) -> tuple[int, int]:
        """Return how many rows and columns the output of a line has for each screen; 0 is no limit."""
        if self._asking or NO_MORE.search(text):
            return 0, 0
        return int(self._settings["screen-length"]), int(self._settings["screen-width"])

    @property
    def hidden(self) -> bool:
        """Return whether the next line must not be shown."""
        return self._shell is not None and self._shell.hidden

    @property
    def reading(self) -> bool:
        """Return whether lines are text to be loaded, until Ctrl-D."""
        return self._config is not None and self._config.reading

    @property
    def _asking(self) -> bool:
        return self._question is not None or (self._config is not None and self._config.answer is not None)

    def phase(self, text: str) -> str:
        """Return at which phase of a change a line comes, for faults."""
        words = text.split()
        if self._shell is not None or self._asking or not words:
            return ""
        if self._config is not None:
            return self._config.phase(words)
        if words[0] == "configure" and words[1:] == ["exclusive"]:
            return "lock"
        return "running" if words[:2] == ["show", "configuration"] else "verify"

    @property
    def helps(self) -> bool:
        """Return whether `?` asks for help: not in a shell, a text that is loaded, or an answer."""
        return self._shell is None and not self._asking and not self.reading

    def completions(self, text: str) -> list[str]:
        """Return the words that can come next, for `?`."""
        words = text.split()
        if self._config is not None and words[:1] != ["run"]:
            return self._config.completions(text)
        if self._config is not None:
            text = text.lstrip().removeprefix("run")
            words.pop(0)
        part = words.pop() if words and not text.endswith(" ") else ""
        names = {*NAMES, *BUILT_IN}
        found, rest = resolve(words, names)
        at = len(found)
        nexts = {name[at] for name in names if not rest and list(name[:at]) == found and len(name) > at}
        nexts.update(next_options(found, rest))
        return sorted(word for word in nexts if word.startswith(part))

    def run(self, text: str) -> str:
        """Carry out a line and return its output. Raises RpcRefusedError."""
        if long_number(text) >= 0:
            raise refusal(f"syntax error, a number of more than {MAX_DIGITS:,} digits")
        if self._question is not None:
            reply, self._question = self._question, None
            return reply(text)
        if self._shell is not None:
            shown = self._shell.run(text, self.operational)
            if self._shell.done:
                self._shell = None
            return shown
        if self._config is not None:
            answer = self._config.answer
            shown = answer(text) if answer is not None else self._config.run(text, self.operational)
            if self._config.done:
                self._config = None
            return shown
        return self.operational(text) if text.strip() else ""

    def interrupt(self) -> None:
        """Take Ctrl-C: drop the question, and the text that is being loaded."""
        self._question = None
        if self._config is not None:
            self._config.give_up()

    def end_of_text(self) -> str:
        """Take Ctrl-D: the end of text that is loaded from the terminal, else nothing. Raises RpcRefusedError."""
        return self._config.end_of_text() if self._config is not None else ""

    # Operational mode.

    def operational(self, text: str) -> str:
        """Carry out a command of operational mode. Raises RpcRefusedError."""
        line = read_line(text)
        if not line.words:
            return ""
        names, rest = resolve(line.words, {*NAMES, *BUILT_IN})
        if not names:
            raise refusal("unknown command", element=line.words[0])
        for size in range(len(names), 0, -1):
            found = BUILT_IN.get(tuple(names[:size]))
            if found is not None:
                words = (*names[size:], *rest)
                if found.most is not None and len(words) > found.most:
                    raise refusal("syntax error", element=words[found.most])
                return found.act(self, line, words)
        return self._operation(line)

    def _operation(self, line: TypedLine) -> str:
        rpc = rpc_of(line.text)
        if line.display("xml") and any(pipe.words[1:2] == ("rpc",) for pipe in line.pipes):
            check_named(rpc)
            return filtered(wrapped(self._device.version, f"<rpc>\n    {_pretty(rpc)}</rpc>"), line.pipes)
        check_displays(line)
        reply = reply_of(self._device, rpc)
        if line.display("json"):
            shown = f"{to_json(declared(reply))}\n"
        elif line.display("xml"):
            shown = wrapped(self._device.version, _pretty(declared(reply)))
        else:
            shown = (as_text(rpc, reply).text or "").removeprefix("\n")
        return filtered(shown, line.pipes)

    def _show_configuration(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        database = self._device.database
        shown = show_tree(self._device, database.active, rest, line)
        return shown if rest or line.pipes else f"{head(self._device, database.active)}{shown}"

    def _configure(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        kind = rest[0] if rest else ""
        kinds = [name for name in ("exclusive", "private") if name.startswith(kind)]
        if kind and len(kinds) != 1:
            raise refusal("syntax error, expecting exclusive, private", element=kind)
        self._config = ConfigMode(self._device, self._session, kinds[0] if kind else "")
        return self._config.entering

    def _exit(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        self.done = True
        return ""

    def _set_cli(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        name, value = rest[0] if rest else "", rest[1] if len(rest) > 1 else ""
        if len(rest) > 2:
            raise refusal("syntax error", element=rest[2])
        if name == "complete-on-space" and value in ("on", "off"):
            self._settings[name] = value
            return f"{'Enabling' if value == 'on' else 'Disabling'} complete-on-space\n"
        if name in ("screen-length", "screen-width", "idle-timeout"):
            if not value.isdecimal():
                raise refusal(f"invalid numeric value: '{value}'", element=value)
            self._settings[name] = value
            texts = {"idle-timeout": f"Idle timeout set to {value} minutes"}
            return texts.get(name, f"{name.replace('-', ' ').capitalize()} set to {value}") + "\n"
        if (name, value) == ("timestamp", "disable"):
            return "CLI timestamp disabled\n"
        if name in ("prompt", "restart-on-upgrade", "terminal") and value:
            self._settings[name] = value
            return ""
        if name in ("timestamp", "logical-system", "directory"):
            raise refusal(f"this emulator has no 'set cli {name}'", element=name)
        raise refusal("syntax error", element=name or "cli")

    def _show_cli(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        rows = [f"CLI {name.replace('-', ' ')} set to {value}" for name, value in sorted(self._settings.items())]
        return as_it_is("".join(f"{row}\n" for row in rows), line)

    def _start_shell(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        root = rest == ("user", "root")
        if rest and not root and rest not in SHELLS:
            raise refusal("syntax error", element=rest[-1])
        self._shell = Shell(self._device, "root" if root else self._session.user, ask=root)
        return "Password:" if root else ""

    def _rescue(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        return show_tree(self._device, self._device.database.rescue_tree(), (), line)

    def _save_rescue(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        self._device.database.set_rescue(self._device.database.active_text)
        return ""

    def _delete_rescue(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        self._device.database.set_rescue("")
        return ""

    def _rollback_shown(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        database, (number, base) = self._device.database, rollback_words(rest)
        if base is not None:
            return as_it_is(patch(database.rollback_tree(base), database.rollback_tree(number)), line)
        return show_tree(self._device, database.rollback_tree(number), (), line)

    def _log_out(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        number = rest[1] if rest[:1] == ("pid",) and len(rest) > 1 else ""
        if not number.isdecimal() or not self._host.kill(int(number)):
            raise refusal(f"session {number or 'without a number'} does not exist")
        return ""

    def _reboot(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        self._question = self._reboot_answered
        return "Reboot the system ? [yes,no] (no) "

    def _reboot_answered(self, text: str) -> str:
        if text.strip() != "yes":
            return ""
        self._host.reboot(REBOOT_S, REBOOT_SOON_S)
        return "Shutdown NOW!\n"

    def _help(self, line: TypedLine, rest: tuple[str, ...]) -> str:
        if rest[:1] != ("apropos",) or len(rest) < 2:
            raise refusal("this emulator has no help pages; 'help apropos WORD' and '?' name commands", element="help")
        rows = sorted(" ".join(name) for name in {*NAMES, *BUILT_IN} if any(rest[1] in word for word in name))
        return as_it_is("".join(f"{row}\n" for row in rows), line)


def _pretty(element: etree._Element) -> str:
    return etree.tostring(element, encoding="unicode", pretty_print=True)


class BuiltIn(NamedTuple):
    """A command that is no RPC, and how many words may follow its name; None if it looks at them itself."""

    act: Callable[[CommandLine, TypedLine, tuple[str, ...]], str]
    most: int | None = 0


BUILT_IN: dict[tuple[str, ...], BuiltIn] = {
    ("configure",): BuiltIn(CommandLine._configure, 1),
    ("edit",): BuiltIn(CommandLine._configure, 1),
    ("exit",): BuiltIn(CommandLine._exit),
    ("help",): BuiltIn(CommandLine._help, None),
    ("quit",): BuiltIn(CommandLine._exit),
    ("request", "system", "configuration", "rescue", "delete"): BuiltIn(CommandLine._delete_rescue),
    ("request", "system", "configuration", "rescue", "save"): BuiltIn(CommandLine._save_rescue),
    ("request", "system", "logout"): BuiltIn(CommandLine._log_out, 2),
    ("request", "system", "reboot"): BuiltIn(CommandLine._reboot),
    ("set", "cli"): BuiltIn(CommandLine._set_cli, None),
    ("show", "cli"): BuiltIn(CommandLine._show_cli),
    ("show", "configuration"): BuiltIn(CommandLine._show_configuration, None),
    ("show", "system", "configuration", "rescue"): BuiltIn(CommandLine._rescue),
    ("show", "system", "rollback"): BuiltIn(CommandLine._rollback_shown, None),
    ("start", "shell"): BuiltIn(CommandLine._start_shell, 2),
}
