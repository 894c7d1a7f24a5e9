"""Secrets kept out of what people read: known values in any text, and the secrets of a Junos configuration.

`Redactor` knows the values that were resolved and takes them out of errors and of the record of a run.
`redact_config` knows none: it goes by the statements that hold secrets, by Junos' own mark, and by the form of hashes.
"""

import re
import shlex
from collections.abc import Iterator
from itertools import chain
from json import dumps
from threading import Lock
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape, quoteattr

from ailb_gen.junos.commands import COMMANDS
from ailb_gen.junos.tokens import TOKEN

MARK = "***"
# Statements whose next word is a secret. Junos CLI reference; the YANG models call most of these types `unreadable`.
SECRET_WORDS = frozenset(
    {
        "ascii-text",
        "authentication-key",
        "authentication-password",
        "boot-server-password",
        "cak",
        "chap-secret",
        "community-name",
        "default-chap-secret",
        "encrypted-password",
        "hello-authentication-key",
        "hexadecimal",
        "local-password",
        "master-password",
        "passphrase",
        "password",
        "plain-text-password-value",
        "privacy-key",
        "privacy-password",
        "private-key",
        "secret",
        "shared-secret",
        "simple-password",
    }
)
# Below `snmp`: an SNMPv2c community, and the trap group whose name is sent as one.
SNMP_NAMES = frozenset({"community", "trap-group"})
# Words that stand between such a statement and its secret.
BETWEEN = frozenset({"ascii-text", "hexadecimal"})
# A word, and the level below which it holds none: rules for the passwords of users; the number of an NTP key.
HARMLESS = (("password", "login"), ("authentication-key", "ntp"))
# crypt(3) and Junos: $1$ MD5, $5$ and $6$ SHA-2, $8$ with the master password, $9$ reversible.
HASH = re.compile(r"\$(?:[0-9][a-z]?|sha1|y|gy)\$[^\s\";<>\]}]+")
XML = re.compile(rf"<({'|'.join(sorted(SECRET_WORDS))})((?:\s[^<>]*)?)>[^<]+<")
# The password in a URL (RFC 3986, section 3.2.1), up to the last @: in quotes, and as a bare word.
URLS = (
    re.compile(r"""("[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"]*:)[^"\n]+@"""),
    re.compile(r"""([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>;]*:)[^\s"'<>;]+@"""),
)
# Without one of these words in it, a text has no secret that its statements show.
TELLING = re.compile(
    rf"(?:^|(?<=[^\w-]))[-+!<>]*(?:{'|'.join(sorted({*SECRET_WORDS, 'key', 'snmp'}))})(?![\w-])|## SECRET-DATA",
    re.MULTILINE,
)
# What a diff puts in front of a line, with or without a space behind it.
SIGN = re.compile(r"[-+!<>]+(?=[A-Za-z\"]|$)")
HIDDEN = "## SECRET-DATA"


def causes(error: BaseException) -> Iterator[BaseException]:
    """Iterate over an error and all that led to it."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            # PyEZ keeps the first error under a name of its own.
            waiting += [one.__cause__, one.__context__, getattr(one, "_orig", None)]


class Redactor:
    """Replaces known secrets in text; more can be added at any time and from any thread."""

    __slots__ = ("_lock", "_mark", "_pattern", "_values")

    def __init__(self, *values: str) -> None:
        self._lock = Lock()
        self._values: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None
        self._mark = MARK
        self.add(*values)

    def __repr__(self) -> str:
        return f"<Redactor of {len(self._values)} values>"

    def add(self, *values: str) -> None:
        """Know more secrets, and how they look when something has written them down: quoted, escaped, encoded."""
        with self._lock:
            found = self._values.union(*(_spellings(value) for value in values if value))
            if found == self._values:
                return
            # A character that is in no secret: so the mark neither holds one nor completes one with its neighbours.
            used = frozenset("".join(found))
            sign = next(sign for sign in chain("*#-=~_", map(chr, range(0x2580, 0x110000))) if sign not in used)
            self._mark = 3 * sign
            self._values = found
            self._pattern = re.compile("|".join(map(re.escape, sorted(found, key=lambda value: (-len(value), value)))))

    def __call__(self, text: str) -> str:
        """Return the text without any known secret."""
        with self._lock:
            pattern, mark = self._pattern, self._mark
        return pattern.sub(mark, text) if pattern else text

    def clean(self, error: BaseException) -> None:
        """Take known secrets out of the messages of an error and of what led to it, before they are printed."""
        for one in causes(error):
            one.args = tuple(arg if (text := self(str(arg))) == str(arg) else text for arg in one.args)


# A secret may hold bytes that are no UTF-8; Python has them as lone surrogates.
ANY = "surrogatepass"


def _spellings(value: str) -> set[str]:
    """Return a value as programs print it: bare, in Python, JSON, XML, a URL and a shell."""
    ways = (
        value,
        repr(value)[1:-1],
        ascii(value)[1:-1],
        dumps(value)[1:-1],
        dumps(value, ensure_ascii=False)[1:-1],
        value.replace("\\", "\\\\").replace('"', '\\"'),
        escape(value),
        quoteattr(value)[1:-1],
        quote(value, safe="", errors=ANY),
        quote(value, errors=ANY),
        quote_plus(value, errors=ANY),
        shlex.quote(value),
    )
    return {way for way in ways if way}


def redact_config(text: str) -> str:
    """Return Junos text with every secret replaced: curly, set, patches with `[edit ...]` levels, unified diffs, XML.

    The text may be a part of a configuration, or cut off. Public keys, names and everything else stay; lines stay
    lines. What marks a secret: `## SECRET-DATA` behind the statement, the statements of SECRET_WORDS, the form of a
    hash, the password in a URL, and the names of SNMP communities.
    """
    pieces: list[str] = []
    end = 0
    for start, stop in sorted(set(_Secrets(text).spans())) if TELLING.search(text) else ():
        if start >= end:
            pieces += [text[end:start], MARK]
            end = stop
    done = "".join([*pieces, text[end:]])
    done = mask_urls(done)
    return HASH.sub(MARK, XML.sub(rf"<\1\2>{MARK}<", done))


def mask_urls(text: str) -> str:
    """Return text with the passwords in URLs replaced."""
    if "://" in text:
        for url in URLS:
            text = url.sub(rf"\1{MARK}@", text)
    return text


class _Secrets:
    """Follows the statements of a text closely enough to know which words are secrets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.level: list[str] = []
        self.stack: list[int] = []
        # The words of the statement being read with their spans, and the last word of the one before.
        self.words: list[tuple[str, int, int]] = []
        self.last: tuple[int, int] | None = None

    def spans(self) -> Iterator[tuple[int, int]]:
        """Iterate over the start and end of every secret."""
        text = self.text
        for found in TOKEN.finditer(text):
            kind, token = found.lastgroup, found[0]
            if kind == "space":
                if "\n" in token:
                    yield from self.line_end(found.end())
            elif kind == "comment":
                if token.startswith(HIDDEN) and (hidden := self.hidden()):
                    yield hidden
            elif kind == "mark":
                yield from self.mark(token)
            elif kind == "bad":
                # A quote that nothing closes: the text was cut off, and a secret may be what is left of it.
                stop = text.find("\n", found.start())
                self.words.append((token, found.start(), len(text) if stop < 0 else stop))
            else:
                self.word(token, found.start(), found.end())
        yield from self.finish()

    def word(self, token: str, start: int, end: int) -> None:
        """Add a word to the statement; not the sign that a diff puts in front of it."""
        found = None if self.words else SIGN.match(token)
        if found:
            token, start = token[found.end() :], start + found.end()
        if token:
            self.words.append((token, start, end))

    def hidden(self) -> tuple[int, int] | None:
        """Return the value of the statement that the mark of Junos stands behind."""
        return self.words[-1][1:] if len(self.words) > 1 else self.last

    def line_end(self, following: int) -> Iterator[tuple[int, int]]:
        """End the statement where a line of set text does, or where the next line shows that it is over."""
        self.last = None
        if self.words and (self.words[0][0] in COMMANDS or self.is_new(following)):
            yield from self.finish()

    def is_new(self, following: int) -> bool:
        """Return whether the next line starts a statement of its own although nothing ended this one."""
        return self.text.startswith(("[edit", "+", "-", "@@"), following)

    def mark(self, mark: str) -> Iterator[tuple[int, int]]:
        """Follow braces and ends of statements."""
        if mark == "[":
            return
        if mark == "]":
            if self.words and self.words[0][0] == "edit":
                self.level, self.stack = [word for word, _, _ in self.words[1:]], []
                yield from self.finish()
            return
        names = [word for word, _, _ in self.words]
        last = self.words[-1][1:] if len(self.words) > 1 else None
        yield from self.finish()
        self.last = last
        if mark == "{":
            self.stack.append(len(self.level))
            self.level += names
        elif mark == "}" and self.stack:
            del self.level[self.stack.pop() :]

    def finish(self) -> Iterator[tuple[int, int]]:
        """End a statement; iterate over its secrets."""
        names = [word for word, _, _ in self.words]
        context = frozenset(self.level + names)
        for at in range(len(names) - 1):
            if _holds(names[at], names[at + 1], context):
                yield self.words[at + 1][1:]
        self.words = []


def _holds(name: str, following: str, context: frozenset[str]) -> bool:
    """Return whether the word that follows `name` is a secret, by the words of the statement and of its levels."""
    if any(name == word and level in context for word, level in HARMLESS):
        return False
    if name in SECRET_WORDS:
        return following not in BETWEEN
    if name == "key":
        # OSPF: `md5 1 key "..."`; a key chain: `key 1 secret "..."`.
        return not following.isdecimal()
    if name == "value":
        return "authentication-key" in context
    return name in SNMP_NAMES and "snmp" in context
