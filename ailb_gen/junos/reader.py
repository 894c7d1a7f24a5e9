"""Curly and set text to a tree."""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from pathlib import Path

from ailb_gen.errors import JunosSyntaxError, UsageError
from ailb_gen.garbage import no_garbage_collection
from ailb_gen.junos.capture import SAVE, format_fault, line_fault, odd_line, open_comment, second_device, second_heading
from ailb_gen.junos.commands import COMMANDS, REFUSED
from ailb_gen.junos.curly import UNCLOSED, UNOPENED, CurlyReader
from ailb_gen.junos.setreader import SetReader
from ailb_gen.junos.tokens import (
    CONTROL,
    MAX_DIGITS,
    MAX_TEXT,
    TOKEN,
    check_characters,
    long_number,
    marked,
    oversize,
    wrong,
)
from ailb_gen.junos.tree import DELETE, FLAT, REPLACE, Node
from ailb_gen.textio import UNRESOLVED, conflict

CONTROLS = bytes(code for code in range(128) if CONTROL.match(chr(code)))
MAX_LINE = 1_000_000
# What a device prints around a configuration: the command that printed it, behind a prompt or alone; a prompt alone or
# with another command that changes nothing; the role of its routing engine, the level that is edited.
SHOW = r"(?:run\s+)?show(?:\s[^;{}]*)?"
QUIET = r"set\s+cli\s+screen-\w+\s+[0-9]+|exit|quit|logout|cli|configure"
BANNER = re.compile(
    rf"\s*(?:\S+@\S+[>#%](?:\s+(?:{SHOW}|{QUIET}))?|{SHOW}|\[edit.*\]"
    r"|\{(?:master|backup|primary|secondary|linecard|line-card)[^{};\s]*\}(?:\[edit.*\])?)\s*",
    re.ASCII,
)
LEVEL = re.compile(r"\[edit\s+\S", re.ASCII)
FIRST = re.compile(r"(?:\s++|#[^\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*/)*([a-z]*)(?=\s)", re.ASCII)
# A tag of curly text, or a command of set text.
PROTECTION = re.compile(r"(?<![^\s{};])(?:un)?protect(?::?\s)", re.ASCII)
BOM, BLANKS = "\ufeff", " \t"


def read(text: str, file: str = "") -> Node:
    """Read curly or set text, whichever it is; `file` is what errors call it.

    Lines count from 1; banners and prompts of a captured session before and behind the configuration are passed
    over. Raises JunosSyntaxError.
    """
    text = _lines(text)
    if text.startswith(BOM):
        raise wrong(file, text, 0, "a byte order mark, which a device adds to the first word; save the file without it")
    marker = conflict(text)
    if marker is not None:
        raise wrong(file, text, marker, UNRESOLVED)
    start, line = _head(text)
    end = _tail(text, start)
    if reason := format_fault(text, start) or line_fault(text, start):
        raise wrong(file, text, start, reason)
    form = SetReader if is_set(text, start) else CurlyReader
    level = LEVEL.search(text, 0, start) or LEVEL.search(text, end)
    if level is not None and form is CurlyReader:
        raise wrong(file, text, level.start(), f"this was shown at a level of the configuration; {SAVE}")
    root = _read(form, text[:end], file, start, line)
    if found := second_device(root, text, form is SetReader) or second_heading(root, text, file):
        raise JunosSyntaxError(file, found[0], 1, found[1])
    return root


def _lines(text: str) -> str:
    """Return a text with the ends of lines of Unix; terminals write two carriage returns at times."""
    return text.replace("\r\r\n", "\n").replace("\r\n", "\n") if "\r" in text else text


def read_whole(text: str, file: str = "") -> Node:
    """Read the whole configuration of a device as `read` does; refuse load tags, too. Raises JunosSyntaxError.

    `replace:` and `delete:` say what to do with a configuration that is there: `load replace` does it, `override`
    passes over them.
    """
    root = read(text, file)
    if root.flags & (REPLACE | DELETE) and not root.flags & FLAT:
        tagged = (node for node in root.below() if node is not root and node.flags & (REPLACE | DELETE))
        found = min(tagged, key=lambda node: node.line, default=root)
        tag = "replace:" if found.flags & REPLACE else "delete:"
        reason = f"{tag} in front of {found.word[:60]!r} is carried out by `load replace` and passed over by `override`"
        raise JunosSyntaxError(file, found.line, 1, f"{reason}; write the resulting statements, without it")
    return root


def check_protection(text: str, file: str = "") -> None:
    """Refuse what protects a statement of a text that was read, or ends that. Raises JunosSyntaxError.

    A device carries it out, and then refuses what the next push changes there.
    """
    # The expression alone takes as long as a tenth of reading.
    if "protect" not in text or PROTECTION.search(text) is None:
        return
    for found in TOKEN.finditer(text):
        if found.lastgroup == "word" and PROTECTION.fullmatch(text, found.start(), found.end() + 1):
            tag = found[0]
            if tag[-1] == ":" or text.rfind("\n", 0, found.start()) + 1 == found.start():
                reason = "is a command to the device, which refuses later changes to what is protected; delete it"
                raise wrong(file, text, found.start(), f"{tag} {reason}")


def read_curly(text: str) -> Node:
    """Read a piece of curly text and nothing else: no set lines, no banners. Raises JunosSyntaxError."""
    return _read(CurlyReader, _lines(text), "", 0, 1)


def read_file(path: Path) -> Node:
    """Read a file; `-` is standard input. Raises UsageError for what cannot be read, JunosSyntaxError."""
    piped = str(path) == "-"
    name = "standard input" if piped else str(path)
    if piped and sys.stdin is None:
        raise UsageError(f"{name}: cannot be read: it is closed")
    try:
        with nullcontext(sys.stdin.buffer) if piped else path.open("rb") as stream:
            content = stream.read(MAX_TEXT + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{name[:200]}: cannot be read: {reason}") from error
    if len(content) > MAX_TEXT:
        raise UsageError(f"{name[:200]}: larger than {MAX_TEXT >> 20} MiB; no device has such a configuration")
    try:
        return read(content.decode("utf-8"), name)
    except UnicodeDecodeError as error:
        before = content[: error.start]
        column = error.start - before.rfind(b"\n")
        raise JunosSyntaxError(name, before.count(b"\n") + 1, column, "this is not UTF-8 text") from error


def _read(form: type[CurlyReader | SetReader], text: str, file: str, start: int, line: int) -> Node:
    # The expression takes ten times as long: it only says which one it is.
    if b"\0" in marked(text, CONTROLS) and (control := CONTROL.search(text)):
        raise wrong(file, text, control.start(), f"a control character {control[0]!r}")
    if (number := long_number(text)) >= 0:
        raise wrong(file, text, number, f"a number of more than {MAX_DIGITS:,} digits")
    check_characters(file, text, start)
    _check_lines(text, file)
    if reason := oversize(text):
        raise wrong(file, text, 0, reason)
    # A tree holds no cycles: looking for them among millions of new nodes would take longer than reading.
    with no_garbage_collection():
        try:
            return form(text, file).read(start, line)
        except JunosSyntaxError as error:
            if error.reason not in (UNOPENED, UNCLOSED):
                raise
            if (opened := open_comment(text)) >= 0:
                reason = f"{error.reason} (line {error.line}); a comment has no `*/` in front of the next `/*`"
                raise wrong(file, text, opened, reason) from error
            if not (odd := odd_line(text))[0]:
                raise
            reason = f"{error.reason} (line {error.line}); by the indentation, {odd[1]}"
            raise JunosSyntaxError(file, odd[0], 1, reason) from error


def _check_lines(text: str, file: str) -> None:
    """Refuse a line longer than any device prints, before time and memory are spent on its words."""
    start = 0
    while len(text) - start > MAX_LINE:
        end = text.rfind("\n", start, start + MAX_LINE + 1)
        if end < 0:
            raise wrong(file, text, start, f"a line of more than {MAX_LINE:,} characters")
        start = end + 1


def is_set(text: str, start: int = 0) -> bool:
    """Return whether text is a list of commands: no statement of curly text starts with one of their names."""
    found = FIRST.match(text, start)
    return found is not None and found[1] in COMMANDS | REFUSED


def stands_alone(text: str) -> bool:
    """Return whether a configuration starts on the first line of a text, and only blanks are behind it."""
    return _head(text)[0] == 0 and not text[_tail(text, 0) :].strip(BLANKS + "\n")


def _head(text: str) -> tuple[int, int]:
    """Return where the configuration starts: offset and line."""
    start, line = 0, 1
    while True:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end - start > 1000 or (text[start:end].strip(BLANKS) and not BANNER.fullmatch(text, start, end)):
            return start, line
        if end == len(text):
            return end, line
        start, line = end + 1, line + 1


def _tail(text: str, start: int) -> int:
    """Return where the configuration ends."""
    end = len(text)
    while end > start:
        begin = max(text.rfind("\n", start, end), start - 1) + 1
        body = text[begin:end]
        if len(body) > 1000 or (body.strip(BLANKS) and not BANNER.fullmatch(body)):
            return end
        end = max(begin - 1, start)
    return end
