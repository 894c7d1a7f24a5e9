"""Configuration mode of the command line: levels, editing, commit, exit.

Source: Juniper, CLI User Guide, "Configuration Mode".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from ailb_gen.emulator.completion import WORDS, next_words
from ailb_gen.emulator.config_database import DEFAULT_MINUTES, MOST_MINUTES, UserSession
from ailb_gen.emulator.configuration import head
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.load_config import ACTIONS, load_set
from ailb_gen.emulator.load_operations import check_syntax, load_commands, load_text, roll_back
from ailb_gen.emulator.messages import RpcRefusedError, refusal
from ailb_gen.emulator.operations.build import date
from ailb_gen.emulator.outline import top
from ailb_gen.emulator.pipes import TypedLine, as_it_is, choose, read_line
from ailb_gen.emulator.show_configuration import show_tree
from ailb_gen.emulator.wildcard import expanded, matching
from ailb_gen.junos.renaming import EXISTS, NOT_FOUND, statement_ends
from ailb_gen.junos.tokens import quote

EDITING = (
    *("activate", "annotate", "copy", "deactivate", "delete", "insert", "protect", "rename", "replace", "set"),
    *("unprotect", "wildcard"),
)
CHANGED = "The configuration has been changed but not committed\n"
DISCARDED = "uncommitted changes will be discarded on exit"
PLACE = re.compile(r"^syntax error: line \d+, column \d+: ")
WITHOUT_EFFECT = ("force", "no-synchronize", "peers-synchronize", "synchronize")


class ConfigMode:
    """Configuration mode, from `configure` to `exit`: shared, `exclusive` or `private`."""

    def __init__(self, device: EmulatedDevice, session: UserSession, kind: str) -> None:
        """Enter the mode. Raises RpcRefusedError when another session holds the database."""
        self._device, self._session, self._kind = device, session, kind
        self._levels: list[tuple[str, ...]] = [()]
        # Action, whether it is relative to the level, and the lines so far.
        self._load: tuple[str, bool, list[str]] | None = None
        self.done = False
        # Takes the answer to the last question.
        self.answer: Callable[[str], str] | None = None
        others = [one for one in device.database.editors() if one.number != session.number]
        entering = f"warning: {DISCARDED}\n" if kind else ""
        if kind == "exclusive":
            device.database.lock(session)
        elif kind == "private":
            device.database.open_private(session)
        entering += "Entering configuration mode\n"
        if others:
            entering += "Users currently editing the configuration:\n" + "".join(
                f"  {one.user} terminal (pid {one.number}) on since {date(one.since)}\n"
                + ("      exclusive [edit]\n" if one is device.database.holder else "      [edit]\n")
                for one in others
            )
        if device.database.modified and not kind:
            entering += CHANGED
        self.entering = entering

    @property
    def heading(self) -> str:
        """The line above the prompt, with a reminder while a commit waits for its confirmation."""
        pending = self._device.database.pending
        reminder = ""
        if pending is not None:
            minutes = max(round((pending.deadline - self._device.now()) / self._device.minute_s), 1)
            reminder = f"# commit confirmed will be rolled back in {_minutes(minutes)}\n"
        return f"{reminder}[edit{''.join(f' {word}' for word in self._path)}]\n"

    @property
    def reading(self) -> bool:
        """Return whether lines are text to be loaded."""
        return self._load is not None

    @property
    def _path(self) -> tuple[str, ...]:
        return self._levels[-1]

    def phase(self, words: list[str]) -> str:
        """Return at which phase of a change a command comes, for faults."""
        if words[0] == "commit":
            if "check" in words:
                return "check"
            return "confirm" if self._device.database.pending is not None and "confirmed" not in words else "commit"
        if words[0] == "show" and "compare" in words:
            return "compare"
        return "load" if words[0] in EDITING else ACTS[words[0]].phase if words[0] in ACTS else "verify"

    def completions(self, text: str) -> list[str]:
        """Return the words that can come next, for `?` and the tab key. Raises RpcRefusedError."""
        words = text.split()
        part = words.pop() if words and not text.endswith(" ") else ""
        path = list(self._path)
        while words and choose(words[0], COMMANDS) in ("top", "up"):
            path = [] if choose(words.pop(0), COMMANDS) == "top" else path[: ([0, 0, *statement_ends(path)])[-2]]
        if not words:
            names = list(COMMANDS)
        else:
            known = top(self._device.schema)
            behind = [*path, *words[1:]] if choose(words[0], COMMANDS) not in WORDS else words[1:]
            tree = self._device.database.edited_by(self._session)
            names = next_words(choose(words[0], COMMANDS), known, tree, behind)
        return sorted(name for name in names if name.startswith(part) or name[0] == "<")

    def run(self, text: str, operational: Callable[[str], str]) -> str:
        """Carry out a line and return its output. Raises RpcRefusedError."""
        if self._load is not None:
            self._load[2].append(text)
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
            return operational(f"{rest} {line.piped}")
        act = ACTS[name]
        if act.alone and len(line.words) > 1:
            raise refusal("syntax error", element=line.words[1])
        if not line.pipes or act.piped:
            return act.run(self, line, rest)
        # Refused before anything is carried out.
        as_it_is("", line)
        return as_it_is(act.run(self, line, rest), line)

    def _ask(self, question: str, default: str, yes: Callable[[], str]) -> str:
        """Ask whether to do something; `default` is the answer of an empty line."""

        def answer(text: str) -> str:
            self.answer = None
            return yes() if "yes".startswith(text.strip().lower() or default) else ""

        self.answer = answer
        return f"{question} [yes,no] ({default}) "

    def give_up(self) -> None:
        """Drop the text that is being loaded, and the question."""
        self._load = self.answer = None

    def end_of_text(self) -> str:
        """Load the typed text. Raises RpcRefusedError."""
        if self._load is None:
            return ""
        (action, relative, lines), self._load = self._load, None
        text = "".join(f"{line}\n" for line in lines)
        if relative and self._path and action == "set":
            text = f"edit {' '.join(self._path)}\n{text}"
        elif relative and self._path:
            starts = [0, *statement_ends(self._path)]
            heads = [" ".join(self._path[start:end]) for start, end in pairwise(starts)]
            text = f"{' { '.join(heads)} {{\n{text}{'}' * len(heads)}\n"
        if action == "set":
            return self._warnings(load_commands(self._device, self._session, text)) + "load complete\n"
        load_text(self._device, self._session, text, action)
        return "load complete\n"

    # Editing.

    def _edit(self, name: str, rest: str) -> str:
        self._device.database.may_edit(self._session)
        if name == "wildcard":
            return self._wildcard(rest.split())
        if name == "delete" and not rest.strip():
            return self._ask("Delete everything under this level?", "no", self._later("delete", [""]))
        return self._load_lines(name, [rest], self._path)

    def _wildcard(self, words: list[str]) -> str:
        kind = choose(words[0], ("delete", "range")) if len(words) > 1 else ""
        if kind == "range" and len(words) > 2:
            name = choose(words[1], ("activate", "deactivate", "delete", "set"))
            return self._load_lines(name, expanded(" ".join(words[2:])), self._path)
        if kind != "delete":
            raise refusal("syntax error, expecting delete PATH PATTERN, or range COMMAND")
        path = [*self._path, *words[1:-1]]
        found = matching(self._device.database.edited_by(self._session), path, words[-1].strip('"'))
        if not found:
            return f"warning: {NOT_FOUND}\n"
        rows = "".join(f"  matched: {word}\n" for word in found)
        lines = [" ".join(map(quote, [*words[1:-1], word])) for word in found]
        return rows + self._ask(f"  Delete {len(found)} objects?", "no", self._later("delete", lines))

    def _later(self, name: str, lines: list[str]) -> Callable[[], str]:
        path = self._path
        return lambda: self._load_lines(name, lines, path)

    def _load_lines(self, name: str, lines: list[str], path: tuple[str, ...]) -> str:
        level = f"edit {' '.join(path)}\n" if path else ""
        try:
            text = "".join(f"{name} {line}\n" for line in lines)
            return self._warnings(load_commands(self._device, self._session, f"{level}{text}"))
        except RpcRefusedError as error:
            first, *others = error.errors
            reason = PLACE.sub("", first.message)
            if reason != first.message and not reason.startswith(("syntax error", NOT_FOUND, EXISTS)):
                reason = f"syntax error: {reason}"
            raise RpcRefusedError(replace(first, message=reason), *others) from error

    @staticmethod
    def _warnings(warnings: list[str]) -> str:
        return "".join(f"warning: {text}\n" for text in warnings)

    def _to_level(self, line: TypedLine, rest: str) -> str:
        path = (*self._path, *rest.split())
        schema, tree = self._device.schema, self._device.database.edited_by(self._session)
        if schema is not None and not tree.has(*path):
            check_syntax(schema, tree, load_set(tree, f"set {' '.join(path)}\n")[0])
        self._levels.append(path)
        return ""

    def _up(self, line: TypedLine, rest: str) -> str:
        first, _, behind = rest.partition(" ")
        count, command = (int(first), behind) if first.isdecimal() else (1, rest)
        ends = [0, *statement_ends(self._path)]
        return self._elsewhere(self._path[: ends[max(len(ends) - 1 - count, 0)]], command, line)

    def _top(self, line: TypedLine, rest: str) -> str:
        return self._elsewhere((), rest, line)

    def _elsewhere(self, path: tuple[str, ...], command: str, line: TypedLine) -> str:
        """Go to another level; with a command, only for that command. Raises RpcRefusedError."""
        if not command:
            self._levels = [(), path] if path else [()]
            return ""
        here = self._levels
        self._levels = [path]
        try:
            shown = self.run(f"{command} {line.piped}", _no_run)
            if choose(command.split(maxsplit=1)[0], COMMANDS) == "edit":
                here = [*here, self._path]
            return shown
        finally:
            self._levels = here

    # Showing.

    def _show(self, line: TypedLine, rest: str) -> str:
        tree = self._device.database.edited_by(self._session)
        path = tuple(word.strip('"') for word in self._path)
        shown = show_tree(self._device, tree, (*path, *line.words[1:]), line)
        if path or line.words[1:] or line.pipes:
            return shown
        modified = self._device.database.modified_by(self._session)
        return f"{head(self._device, tree)}{shown}" if modified else shown

    def _status(self, line: TypedLine, rest: str) -> str:
        who = self._device.database.editors()
        if not who:
            return "No other users are editing the configuration\n"
        rows = "".join(f"  {one.user} terminal (pid {one.number}) on since {date(one.since)}\n" for one in who)
        return f"Users currently editing the configuration:\n{rows}"

    # Rolling back, committing, leaving.

    def _roll_back(self, line: TypedLine, rest: str) -> str:
        self._device.database.may_edit(self._session)
        if len(line.words) > 2:
            raise refusal("syntax error", element=line.words[2])
        roll_back(self._device, self._session, line.words[1] if len(line.words) > 1 else "0")
        return "load complete\n"

    def _update(self, line: TypedLine, rest: str) -> str:
        self._device.database.update(self._session)
        return ""

    def _start_load(self, line: TypedLine, rest: str) -> str:
        words = line.words[1:]
        action = choose(words[0], (*ACTIONS, "set")) if words else ""
        where, *more = words[1:] or ("",)
        if not action or not where:
            raise refusal("syntax error, expecting (merge|override|replace|set|update) terminal")
        if where != "terminal":
            raise refusal(f"could not open {where}: this emulator has no files, only 'terminal'")
        if more not in ([], ["relative"]) or (more and action == "override"):
            raise refusal("syntax error", element=more[0])
        self._device.database.may_edit(self._session)
        self._load = (action, bool(more), [])
        return "[Type ^D at a new line to end input]\n"

    def _commit(self, line: TypedLine, rest: str) -> str:
        words = list(line.words[1:])
        check = quits = confirmed = False
        minutes, log = DEFAULT_MINUTES, ""
        while words:
            word = choose(words.pop(0), ("and-quit", "at", "check", "comment", "confirmed", *WITHOUT_EFFECT))
            if word == "at":
                raise refusal("this emulator commits only at once", element="at")
            if word == "comment":
                if not words:
                    raise refusal("syntax error, comment takes a text", element="comment")
                log = words.pop(0)
            check, quits = check or word == "check", quits or word == "and-quit"
            confirmed = confirmed or word == "confirmed"
            if word == "confirmed" and words and words[0].isdecimal():
                minutes = int(words.pop(0))
        if not 0 < minutes <= MOST_MINUTES:
            raise refusal(f"invalid numeric value: '{minutes}'", element=str(minutes))
        if check:
            self._device.database.check(self._session)
            self._device.database.confirm()
            return "configuration check succeeds\n"
        confirm = minutes if confirmed else 0
        self._device.database.commit(self._session, log, confirm * self._device.minute_s, confirm)
        reminder = ""
        if confirmed:
            reminder = f"commit confirmed will be automatically rolled back in {_minutes(minutes)} unless confirmed\n"
        return f"{reminder}commit complete\n{self._leave() if quits else ''}"

    def _exit(self, line: TypedLine, rest: str) -> str:
        if rest:
            choose(rest, ("configuration-mode",))
        if len(self._levels) > 1 and not rest:
            self._levels.pop()
            return ""
        if self._device.database.modified_by(self._session):
            warning = f"warning: Auto rollback on exiting 'configure {self._kind}'\n" if self._kind else ""
            what = "Discard uncommitted changes?" if self._kind else "Exit with uncommitted changes?"
            return self._ask(f"{CHANGED}{warning}{what}", "yes", self._discard)
        return self._leave()

    def _discard(self) -> str:
        warning = "warning: discarding uncommitted changes\nload complete\n" if self._kind == "exclusive" else ""
        return warning + self._leave()

    def _save(self, line: TypedLine, rest: str) -> str:
        raise refusal("this emulator has no files to save to")

    def _leave(self) -> str:
        self._device.database.end(self._session)
        self.done = True
        return "Exiting configuration mode\n"


def _no_run(text: str) -> str:
    raise refusal("syntax error", element="run")


def _minutes(count: int) -> str:
    return f"{count} minute{'s' if count != 1 else ''}"


class Act(NamedTuple):
    """A command that edits nothing: with `alone` nothing stands behind it, with `piped` it handles pipes itself.

    The phase is that of a change, for faults.
    """

    run: Callable[[ConfigMode, TypedLine, str], str]
    phase: str = "verify"
    piped: bool = False
    alone: bool = False


ACTS = {
    "commit": Act(ConfigMode._commit, "commit"),
    "edit": Act(ConfigMode._to_level, piped=True),
    "exit": Act(ConfigMode._exit, "unlock"),
    "load": Act(ConfigMode._start_load, "load"),
    "quit": Act(ConfigMode._exit, "unlock"),
    "rollback": Act(ConfigMode._roll_back, "rollback"),
    "save": Act(ConfigMode._save),
    "show": Act(ConfigMode._show, piped=True),
    "status": Act(ConfigMode._status, alone=True),
    "top": Act(ConfigMode._top, piped=True),
    "up": Act(ConfigMode._up, piped=True),
    "update": Act(ConfigMode._update, alone=True),
}
COMMANDS = (*EDITING, *ACTS, "run")
