"""Secrets of a Junos configuration kept out of what people read.

`redact_config` goes by the statements that hold secrets, by Junos' own mark, and by the form of hashes.
"""

import re
from collections.abc import Iterator

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
