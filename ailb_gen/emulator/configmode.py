"""Configuration mode of the command line: what is edited, at which level, and how it is committed and left.

Source: Juniper, CLI User Guide, "Configuration Mode".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ailb_gen.emulator.changing import load_commands, load_text, roll_back
from ailb_gen.emulator.faulty import disk_full
from ailb_gen.emulator.loading import ACTIONS
from ailb_gen.emulator.messages import RefusedError, RpcError
from ailb_gen.emulator.operations.build import date
from ailb_gen.emulator.pipes import Line, choose, read_line
from ailb_gen.emulator.showing import show_tree
from ailb_gen.junos.grammar import form_of, inside

if TYPE_CHECKING:
    from ailb_gen.emulator.device import Device
    from ailb_gen.emulator.store import Session

EDITING = (
    *("activate", "annotate", "copy", "deactivate", "delete", "insert", "protect", "rename", "replace", "set"),
    *("unprotect", "wildcard"),
)
COMMANDS = (
    *EDITING,
    *("commit", "edit", "exit", "load", "quit", "rollback", "run", "show", "status", "top", "up", "update"),
)
PHASES = {"commit": "commit", "load": "load", "rollback": "rollback", "exit": "unlock", "quit": "unlock"}
# As many minutes as Junos waits for a confirmation if nothing is said, and at most.
DEFAULT_MINUTES, MOST_MINUTES = 10, 65535
CHANGED = "The configuration has been changed but not committed\n"
DISCARDED = "uncommitted changes will be discarded on exit"
PLACE = re.compile(r"^syntax error: line \d+, column \d+: ")
WITHOUT_EFFECT = ("force", "no-synchronize", "peers-synchronize", "synchronize")


class ConfigMode:
    """One stay in configuration mode: shared, `exclusive` or `private`."""

    def __init__(self, device: Device, session: Session, kind: str) -> None:
        """Enter it. Raises RefusedError when somebody else holds the database."""
        self._device, self._session, self._kind = device, session, kind
        self._levels: list[tuple[str, ...]] = [()]
        self._leaving = False
        self._load: tuple[str, list[str]] | None = None
        self.done = False
        self.question = ""
        others = [one for one in device.store.editors() if one.number != session.number]
        said = f"warning: {DISCARDED}\n" if kind else ""
        if kind == "exclusive":
            device.store.lock(session)
        elif kind == "private":
            device.store.open_private(session)
        said += "Entering configuration mode\n"
        if others:
            said += "Users currently editing the configuration:\n" + "".join(
                f"  {one.user} terminal (pid {one.number}) on since {date(one.since)}\n"
                + ("      exclusive [edit]\n" if one is device.store.holder else "      [edit]\n")
                for one in others
            )
        if device.store.modified and not kind:
            said += CHANGED
        self.entering = said

    @property
    def heading(self) -> str:
        """The line above the prompt, with a reminder while a commit waits for its confirmation."""
        pending = self._device.store.pending
        reminder = ""
        if pending is not None:
            minutes = max(round((pending.deadline - self._device.now()) / self._device.minute_s), 1)
            reminder = f"# commit confirmed will be rolled back in {_minutes(minutes)}\n"
        return f"{reminder}[edit{''.join(f' {word}' for word in self._path)}]\n"

    @property
    def reading(self) -> bool:
        """Tell whether lines are text to be loaded."""
        return self._load is not None

    @property
    def _path(self) -> tuple[str, ...]:
        return self._levels[-1]

    def phase(self, words: list[str]) -> str:
        """Return at which phase of a change a command comes, for faults."""
        if words[0] == "commit":
            if "check" in words:
                return "check"
            return "confirm" if self._device.store.pending is not None and "confirmed" not in words else "commit"
        if words[0] == "show" and "compare" in words:
            return "compare"
        return PHASES.get(words[0], "load" if words[0] in EDITING else "verify")

    def completions(self, text: str) -> list[str]:
        """Return the commands that a word begins, for `?`."""
        words = text.split()
        if len(words) > 1 or text.endswith(" "):
            return []
        return sorted(name for name in COMMANDS if name.startswith(words[0] if words else ""))

    def run(self, text: str, operational: Callable[[str], str]) -> str:
        """Carry out a line and return what it shows. Raises RefusedError."""
        if self._load is not None:
            self._load[1].append(text)
            return ""
        word, _, behind = text.strip().partition(" ")
        if not word or word[0] == "#":
            return ""
        name = choose(word, COMMANDS)
        if name in EDITING:
            # A `|` may stand in a value; nothing is filtered here.
            return self._edit(name, behind)
        line = read_line(text)
        rest = line.text.partition(" ")[2]
        if name == "run":
            pipes = text[text.index("|") :] if line.pipes else ""
            return operational(f"{rest} {pipes}")
        return _ACTS[name](self, line, rest)

    def answer(self, text: str) -> str:
        """Take the answer to the question whether to leave with uncommitted changes."""
        self.question = ""
        if not "yes".startswith(text.strip() or "yes"):
            return ""
        said = "warning: discarding uncommitted changes\nload complete\n" if self._kind == "exclusive" else ""
        return said + self._leave()

    def give_up(self) -> None:
        """Forget what was being loaded or asked."""
        self._load, self.question = None, ""

    def end_of_text(self) -> str:
        """Load what has been typed. Raises RefusedError."""
        if self._load is None:
            return ""
        (action, lines), self._load = self._load, None
        text = "".join(f"{line}\n" for line in lines)
        if action == "set":
            return self._said(load_commands(self._device, self._session, text)) + "load complete\n"
        load_text(self._device, self._session, text, action)
        return "load complete\n"

    # Editing.

    def _edit(self, name: str, rest: str) -> str:
        """Carry out set, delete and the like at the level that is edited. Raises RefusedError."""
        self._may_edit()
        level = f"edit {' '.join(self._path)}\n" if self._path else ""
        try:
            return self._said(load_commands(self._device, self._session, f"{level}{name} {rest}\n"))
        except RefusedError as error:
            first, *others = error.errors
            reason = PLACE.sub("", first.message)
            if reason != first.message and not reason.startswith("syntax error"):
                reason = f"syntax error: {reason}"
            raise RefusedError(replace(first, message=reason), *others) from error

    def _may_edit(self) -> None:
        if not self._device.store.is_private(self._session):
            self._device.store.may_edit(self._session)

    @staticmethod
    def _said(warnings: list[str]) -> str:
        return "".join(f"warning: {text}\n" for text in warnings)

    def _to_level(self, line: Line, rest: str) -> str:
        self._levels.append((*self._path, *rest.split()))
        return ""

    def _up(self, line: Line, rest: str) -> str:
        words = list(line.words[1:])
        count = int(words.pop(0)) if words and words[0].isdecimal() else 1
        ends = [0, *_statement_ends(self._path)]
        return self._elsewhere(self._path[: ends[max(len(ends) - 1 - count, 0)]], words)

    def _top(self, line: Line, rest: str) -> str:
        return self._elsewhere((), rest.split())

    def _elsewhere(self, path: tuple[str, ...], words: list[str]) -> str:
        """Go to another level; with a command behind it, only for that command. Raises RefusedError."""
        if not words:
            self._levels = [(), path] if path else [()]
            return ""
        here = self._levels
        self._levels = [path]
        try:
            shown = self.run(" ".join(words), _no_run)
            if choose(words[0], COMMANDS) == "edit":
                here = [*here, self._path]
            return shown
        finally:
            self._levels = here

    # Looking.

    def _show(self, line: Line, rest: str) -> str:
        tree = self._device.store.edited_by(self._session)
        path = tuple(word.strip('"') for word in self._path)
        shown = show_tree(self._device, tree, (*path, *line.words[1:]), line)
        if path or line.words[1:] or line.pipes:
            return shown
        modified = self._device.store.modified_by(self._session)
        return f"## Last changed: {date(self._device.now())}\n{shown}" if modified else shown

    def _status(self, line: Line, rest: str) -> str:
        who = self._device.store.editors()
        if not who:
            return "No other users are editing the configuration\n"
        rows = "".join(f"  {one.user} terminal (pid {one.number}) on since {date(one.since)}\n" for one in who)
        return f"Users currently editing the configuration:\n{rows}"

    # Going back, committing, leaving.

    def _roll_back(self, line: Line, rest: str) -> str:
        self._may_edit()
        roll_back(self._device, self._session, line.words[1] if len(line.words) > 1 else "0")
        return "load complete\n"

    def _update(self, line: Line, rest: str) -> str:
        self._device.store.update(self._session)
        return ""

    def _start_load(self, line: Line, rest: str) -> str:
        words = line.words[1:]
        actions = (*ACTIONS, "set")
        action = choose(words[0], actions) if words else ""
        if not action or words[-1] != "terminal":
            raise RefusedError(
                RpcError("this emulator has no files: load (merge|override|replace|set|update) terminal")
            )
        self._may_edit()
        self._load = (action, [])
        return "[Type ^D at a new line to end input]\n"

    def _commit(self, line: Line, rest: str) -> str:
        words = list(line.words[1:])
        check = quits = confirmed = False
        minutes, log = DEFAULT_MINUTES, ""
        while words:
            word = choose(words.pop(0), ("and-quit", "at", "check", "comment", "confirmed", *WITHOUT_EFFECT))
            if word == "at":
                raise RefusedError(RpcError("this emulator commits only at once", element="at"))
            if word == "comment":
                if not words:
                    raise RefusedError(RpcError("syntax error, comment takes a text", element="comment"))
                log = words.pop(0)
            check, quits = check or word == "check", quits or word == "and-quit"
            confirmed = confirmed or word == "confirmed"
            if word == "confirmed" and words and words[0].isdecimal():
                minutes = int(words.pop(0))
        if not 0 < minutes <= MOST_MINUTES:
            raise RefusedError(RpcError(f"invalid numeric value: '{minutes}'", element=str(minutes)))
        if check:
            self._device.store.check(self._session)
            self._device.store.confirm()
            return "configuration check succeeds\n"
        self._make_active(log, minutes if confirmed else 0)
        said = ""
        if confirmed:
            said = f"commit confirmed will be automatically rolled back in {_minutes(minutes)} unless confirmed\n"
        return f"{said}commit complete\n{self._leave() if quits else ''}"

    def _make_active(self, log: str, minutes: int) -> None:
        try:
            self._device.store.commit(self._session, log, minutes * self._device.minute_s, minutes)
        except OSError as error:
            raise disk_full(error) from error

    def _exit(self, line: Line, rest: str) -> str:
        if len(self._levels) > 1 and not rest:
            self._levels.pop()
            return ""
        if self._device.store.modified_by(self._session):
            warning = f"warning: Auto rollback on exiting 'configure {self._kind}'\n" if self._kind else ""
            what = "Discard uncommitted changes?" if self._kind else "Exit with uncommitted changes?"
            self.question = f"{CHANGED}{warning}{what} [yes,no] (yes) "
            return self.question
        return self._leave()

    def _leave(self) -> str:
        self._device.store.end(self._session)
        self.done = True
        return "Exiting configuration mode\n"


def _statement_ends(path: tuple[str, ...]) -> list[int]:
    """Return how many words of a path end a statement: `unit 0` is one."""
    ends, parent, at = [], "", 0
    while at < len(path):
        keys, _ = form_of(parent, path[at])
        parent = inside(parent, path[at])
        at += 1 + keys
        ends.append(min(at, len(path)))
    return ends


def _no_run(text: str) -> str:
    raise RefusedError(RpcError("syntax error", element="run"))


def _minutes(count: int) -> str:
    return f"{count} minute{'s' if count != 1 else ''}"


_ACTS: dict[str, Callable[[ConfigMode, Line, str], str]] = {
    "commit": ConfigMode._commit,
    "edit": ConfigMode._to_level,
    "exit": ConfigMode._exit,
    "load": ConfigMode._start_load,
    "quit": ConfigMode._exit,
    "rollback": ConfigMode._roll_back,
    "show": ConfigMode._show,
    "status": ConfigMode._status,
    "top": ConfigMode._top,
    "up": ConfigMode._up,
    "update": ConfigMode._update,
}
