"""Secrets in lines of text, as the files of servers have them: YAML, INI, shell.

There is no grammar that all these files share, so it goes by the names of keys, and hides too much rather than too
little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ailb_gen.redact import MARK
from ailb_gen.redact.line_patterns import DATA, HINTS, ITEM, NAMED, OPTION, SECRET, SECRET_KIND, VALUE

# The beginning of a value of several lines (YAML 1.2, 8.1), perhaps behind a tag, or its lines alone.
BLOCK = re.compile(r"(?:(?:[!&]\S*\s+)?[|>][-+0-9]*)?(?:\s*#.*)?")
# A value of brackets that this line does not close.
BRACKETS = re.compile(r"[\[{\s]*[\[{]\s*")
# A value that begins with a quote which this line does not close.
OPEN = re.compile(r"""(\"{3}|'{3})(?!.*\1)|([\"'])(?:(?!\2)[^\\]|\\.)*+$""")
# The end of quoted text, which stays where the secret is a part of it: a description that has one.
CLOSED = re.compile(r'"\s*+(?:;\s*+)?$')
# A line, and in front of what the secret stands in the next one.
FOLLOWED = ((NAMED, VALUE), (OPTION, ITEM))
# A mark of an earlier replacement.
DONE = (MARK, f'"{MARK}', f"'{MARK}")
# A shell's here-document for the commands that set passwords.
HERE = re.compile(
    r"""\b(?:ch|smb)?passwd\b[^|;&]{0,200}?<<-?\s*["']?(\w+)"""
    r"""|<<-?\s*["']?(\w+)["']?\s*\|\s*(?:sudo\s+)?(?:ch|smb)?passwd\b"""
)


# Of a long line so many letters are searched at once, and so many again with the next: no name of a secret, with what
# stands in front of it, is longer. One search holds up all threads of the program.
WINDOW, OVERLAP = 12 << 10, 2 << 10
# The last lines that were searched and hold no secret: those of one switch are most of the next one's. Only short ones.
CLEAN: set[str] = set()
MOST_CLEAN, SHORT = 4096, 512
# A unified diff: the first letter of every line is not the file's.
DIFF = re.compile(r"^@@ -\d", re.MULTILINE)


def mask_lines(text: str) -> str:
    """Return text with every secret replaced that a line shows; lines stay lines, also those of a unified diff."""
    lower = text.lower()
    # Every word once: a text has few. Hints of two words are looked for in the text itself.
    words = f" {' '.join(set(lower.split()))} "
    present = [hint for hint in HINTS if hint in (lower if " " in hint.strip() else words)]
    held = SECRET_KIND.search(text) is not None if "secret" in lower else False
    if not present:
        return text
    lines, at = text.split("\n"), 1 if DIFF.search(text) else 0
    hidden = _hidden((line[at:].removesuffix("\r") for line in lines), present, held)
    ends = ("\r" if line.endswith("\r") else "" for line in lines)
    return "\n".join(line[:at] + shown + end for line, shown, end in zip(lines, hidden, ends, strict=True))


def _hidden(lines: Iterable[str], hints: Sequence[str], held: bool) -> Iterator[str]:
    """Iterate over the lines as they are shown; `held`: they are of a Secret of Kubernetes, whose data is secret."""
    until, quote, deeper, continued, listed, brackets = "", "", -1, False, False, 0
    following: re.Pattern[str] | None = None
    for line in lines:
        lower = line.lower()
        hinted = any(hint in lower for hint in hints)
        alone = not (held or quote or brackets > 0 or until or deeper >= 0 or continued or following or "<<" in line)
        if alone and (not hinted or line in CLEAN):
            yield line
            continue
        words = line.lstrip()
        indent = line[: len(line) - len(words)]
        if quote:
            quote = "" if _closes(line, quote) else quote
            yield f"{indent}{MARK}"
            continue
        if brackets > 0:
            brackets += _opened(line, 0)
            yield f"{indent}{MARK}" if any(map(str.isalnum, line)) else line
            continue
        if until and not words.startswith(until):
            yield MARK
            continue
        until = _until(line) if "<<" in line and "passwd" in line else ""
        # The items of a list may stand as far in as their key.
        if deeper >= 0 and words and len(indent) <= deeper - (listed and words.startswith("- ")):
            deeper = -1
        found = following.match(line) if following else None
        found = found or (_secret(line) if hinted else None) or (DATA.search(line) if held else None)
        following = next((then for name, then in FOLLOWED if name.match(line)), None) if hinted else None
        if continued or (deeper >= 0 and words):
            continued = continued and line.endswith("\\")
            yield f"{indent}{MARK}"
        elif found is None:
            _remember(line, alone and following is None)
            yield line
        elif line[found.end() :] == "\\":
            continued = True
            yield line
        elif BRACKETS.fullmatch(line, found.end()):
            brackets = _opened(line, found.end())
            yield line
        elif BLOCK.fullmatch(line, found.end()):
            deeper, listed = len(indent), not words.startswith("-")
            yield line
        else:
            opened = OPEN.match(line, found.end())
            quote = (opened[1] or opened[2]) if opened else ""
            brackets = _opened(line, found.end()) if line.startswith(("[", "{"), found.end()) else 0
            yield f"{line[: found.end()]}{MARK}{_tail(line, found.end())}"


def _remember(line: str, alone: bool) -> None:
    """Note that a line holds no secret; only of what stands `alone`: the lines around it have no part in it."""
    if alone and len(line) <= SHORT:
        if len(CLEAN) >= MOST_CLEAN:
            CLEAN.clear()
        CLEAN.add(line)


def _secret(line: str) -> re.Match[str] | None:
    """Return the first place of a line behind which a secret stands that is not replaced yet."""
    for at in range(0, len(line), WINDOW):
        for found in SECRET.finditer(line, at, at + WINDOW + OVERLAP):
            if not line.startswith(DONE, found.end()):
                return found
    return None


def _opened(line: str, at: int) -> int:
    """Return how many brackets a line opens from a place on, and does not close."""
    return sum(line.count(one, at) for one in "[{") - sum(line.count(one, at) for one in "]}")


def _tail(line: str, at: int) -> str:
    """Return the end of the quoted text around the secret at a place of a line; empty without quotes."""
    closed = CLOSED.search(line, at) if line.count('"', 0, at) % 2 else None
    return closed[0] if closed else ""


def _closes(line: str, quote: str) -> bool:
    return re.search(rf"(?:^|[^\\]){quote}", line) is not None


def _until(line: str) -> str:
    """Return how the line begins that ends the secret lines after this one; empty where none follow."""
    here = HERE.search(line)
    return (here[1] or here[2]) if here else ""
