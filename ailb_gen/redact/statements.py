"""Secrets in the statements of a Junos configuration: by the statements that hold them, and by Junos' own mark."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from ailb_gen.junos.commands import COMMANDS
from ailb_gen.junos.tokens import TOKEN, token_pattern
from ailb_gen.redact import ENDINGS, FILE, MARK, SECRET_WORDS, is_secret_name

# Statements whose next word is a secret below one of these levels; in quotes it is one everywhere. Juniper's
# models: `authentication` of `system commit peers` and of `chassis jnu-management`; OSPF's `md5 1 key "..."`.
BELOW = {
    "authentication": frozenset({"peers", "jnu-management"}),
    "key": frozenset({"md5", "multi-active-md5", "authentication", "license", "tls"}),
    "auth_key": frozenset({"authentication-key"}),
}
# Below `snmp`: an SNMPv2c community, and the trap group whose name is sent as one.
SNMP_NAMES = frozenset({"community", "trap-group"})
# All names whose next word is a secret at some places.
HOLDERS = SNMP_NAMES.union(BELOW, ("value",))
# Below these levels, or behind these words, a community is one of BGP, and so it is in front of these.
POLICY = frozenset({"policy-options", "policy-statement", "term", "from", "then"})
OF_POLICY = frozenset({"members", "invert-match", "add", "delete", "set", "is", "are", "was", "has", "have", "cannot"})
# Where no level is known, a statement of SNMP stands no further in than this: with the sign of a diff.
FURTHEST = 5
BEFORE = COMMANDS | {"bad", "duplicate", "invalid", "snmp"}
# Words that stand between such a statement and its secret.
BETWEEN = frozenset({"ascii-text", "hexadecimal"})
# A word, the level below which it holds none, and the words that follow then: rules for the passwords of users; the
# number of an NTP key.
HARMLESS = (
    ("password", "login", re.compile(r"(?:minimum|maximum)-[a-z-]{1,32}|change-type|format")),
    ("authentication-key", "ntp", re.compile(r"\d{1,10}")),
)
# All levels that matter.
LEVELS = frozenset({"authentication-key", "snmp", *(level for _, level, _ in HARMLESS)}).union(POLICY, *BELOW.values())
# Words that follow such a word in a sentence: "the password of spine1 is wrong".
PROSE = frozenset(
    (
        *(
            "a",
            "an",
            "and",
            "are",
            "as",
            "at",
            "authentication",
            "by",
            "cannot",
            "expired",
            "for",
            "from",
            "has",
            "have",
        ),
        *("in", "is", "length", "may", "must", "needs", "no", "not", "of", "on", "or", "that", "the", "to", "was"),
        *("were", "which", "will", "with"),
        *(
            "did",
            "do",
            "does",
            "failed",
            "invalid",
            "key",
            "mismatch",
            "missing",
            "name",
            "refused",
            "rejected",
            "required",
        ),
        *("requires", "too", "wrong", "aging", "be", "can", "database", "expires", "field", "file", "files", "hash"),
        *("hashes", "if", "into", "over", "prompt", "prompts", "settings", "string", "this", "using", "when"),
    )
)
# Without one of these words in it, in lower case, a text has no secret that its statements show; first a quick look.
HINTS = (
    *(
        "pass",
        "secret",
        "token",
        "psk",
        "cak",
        "key",
        "community",
        "trap-group",
        "hexadecimal",
        "ascii-text",
        "authent",
    ),
    "snmp",
)
NAMES = "|".join((ENDINGS, *sorted(SECRET_WORDS), "auth_key", r"(?<![\w-])(?:key|authentication|snmp)"))
TELLING = re.compile(rf"(?:{NAMES})(?![\w-])")
# One that can be of SNMP.
COMMUNITY = re.compile(r"community\s+(?!(?:add|delete|set)\b|\S+\s+(?:members|invert-match)\b)")
PLACE = re.compile(FILE)
# Tokens where nothing closes a quote, a comment, or either any more.
ENDLESS = {
    "": TOKEN,
    '"': token_pattern(string=""),
    "/": token_pattern(block_comment=""),
    '"/': token_pattern(string="", block_comment=""),
}
# Where a quote that nothing closes ends at the latest: in front of the next statement.
COMMAND = "|".join(sorted(COMMANDS))
NEXT = re.compile(rf"\n(?=[ \t]*+(?:[-+!<>@][^\n]*|\[edit|[^\n]*[;{{}}][ \t]*(?:\n|$)|(?:{COMMAND})\b))|\Z")
# Lines that are a command each, as a push has thousands: what one of them says is said by it alone.
ALONE = re.compile(rf'(?:(?:{COMMAND}) (?:[^\n"{{}}\[\];#/]|/(?!\*)|"[^"\n\\]*+")*+(?:\n|\Z))*+')
# The sign that a diff puts in front of a line, with or without a space behind it.
SIGN = re.compile(r"[-+!<>]+(?=[A-Za-z\"]|$)")
# The text that a message puts around a statement.
QUOTES = "'`\""
AROUND = "'`(),"
HIDDEN = "## SECRET-DATA"


def mask_statements(text: str) -> str:
    """Return Junos text with every secret replaced: curly, set, patches with `[edit ...]` levels, unified diffs.

    The text may be a part of a configuration, or cut off. Public keys, names and everything else stay; lines stay
    lines.
    """
    pieces: list[str] = []
    end = 0
    for start, stop in sorted(set(_spans(text))) if _tells(text.lower()) else ():
        if start >= end:
            pieces += [text[end:start], _marks(text[start:stop])]
            end = stop
    return "".join([*pieces, text[end:]])


def secrets_of(text: str) -> frozenset[str]:
    """Return the values that are secrets, without quotes: other text may repeat them without the statement."""
    if not _tells(text.lower()):
        return frozenset()
    found = (text[start:stop] for start, stop in _spans(text))
    return frozenset(one[1:-1] if one.startswith('"') else one for one in found) - {""}


def _tells(lower: str) -> bool:
    """Return whether a text in lower case has a word that announces a secret."""
    if not any(hint in lower for hint in HINTS):
        return False
    if "trap-group" in lower or "## secret-data" in lower or COMMUNITY.search(lower) is not None:
        return True
    # Every word once: a text has few.
    return TELLING.search(" ".join(set(lower.split()))) is not None


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Iterate over the start and end of every secret that statements show; of lines by themselves few can have one."""
    if ALONE.fullmatch(text) is None:
        yield from _Secrets(text).spans()
        return
    at = 0
    for line in text.split("\n"):
        lower = line.lower()
        if any(hint in lower for hint in HINTS):
            yield from ((at + start, at + stop) for start, stop in _Secrets(line).spans())
        at += len(line) + 1


def _marks(secret: str) -> str:
    """Return the replacement of a secret: a mark, of several lines as many, which are one value again."""
    lines = secret.count("\n")
    return f'"{MARK}{f"{chr(10)}{MARK}" * lines}"' if lines else MARK


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """Iterate over the tokens of a text.

    Behind a quote or comment that nothing closes nothing closes any other one: it is not looked for again.
    """
    at, without = 0, ""
    while at < len(text):
        for found in ENDLESS[without].finditer(text, at):
            yield found
            if found.lastgroup == "bad" and found[0] not in without:
                at, without = found.end(), "".join(sorted({*without, found[0]}))
                break
        else:
            return


class _Secrets:
    """Follows the statements of a text closely enough to know which words are secrets."""

    def __init__(self, text: str) -> None:
        self.text = text
        # Of the words of the levels that a statement is in those that matter, and the same further out.
        self.level: frozenset[str] = frozenset()
        self.stack: list[frozenset[str]] = []
        # The words of the statement being read with their spans, and the last word of the one before.
        self.words: list[tuple[str, int, int]] = []
        self.last: tuple[int, int] | None = None

    def spans(self) -> Iterator[tuple[int, int]]:
        """Iterate over the start and end of every secret."""
        text = self.text
        stop = -1
        for found in _tokens(text):
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
                # A quote that nothing closes: the text was cut off, and a secret may be what is left of it. Another one
                # in there is a part of it.
                if found.start() < stop:
                    self.words.append((token, found.start(), found.end()))
                    continue
                closed = NEXT.search(text, found.start())
                stop = closed.start() if closed else len(text)
                self.words.append((text[found.start() : stop], found.start(), stop))
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
                self.level, self.stack = LEVELS.intersection(word for word, _, _ in self.words[1:]), []
                yield from self.finish()
            return
        names = [word for word, _, _ in self.words]
        last = self.words[-1][1:] if len(self.words) > 1 else None
        yield from self.finish()
        self.last = last
        if mark == "{":
            self.stack.append(self.level)
            self.level |= LEVELS.intersection(names)
        elif mark == "}" and self.stack:
            self.level = self.stack.pop()

    def finish(self) -> Iterator[tuple[int, int]]:
        """End a statement; iterate over its secrets."""
        words = [word for word, _, _ in self.words]
        # A statement may be all that an XML element holds.
        names = [word.rpartition(">")[2].strip(AROUND) for word in words]
        holders = [at for at, name in enumerate(names[:-1]) if name in HOLDERS or is_secret_name(name)]
        if not holders:
            self.words = []
            return
        context = self.level | LEVELS.intersection(names)
        if "community" in names and any("polic" in name.lower() for name in names):
            context |= POLICY
        for at in holders:
            word = words[at + 1]
            following = word.strip(AROUND)
            # A line that ends with the name of a secret is a sentence, or a key of YAML; strings are carried over.
            if following == MARK or (self._breaks(at + 1) and not word.startswith('"')):
                continue
            alone = names[at] == "community" and self._is_of_snmp(at, following, names, context)
            if alone or _holds(names[at], following, context, word.startswith('"')):
                yield self.words[at + 1][1:]
        self.words = []

    def _is_of_snmp(self, at: int, following: str, names: Sequence[str], context: AbstractSet[str]) -> bool:
        """Return whether a community of no known level can be one of SNMP: it begins a statement or a quote."""
        if not _is_value(following) or not context.isdisjoint(POLICY):
            return False
        word, start, _ = self.words[at]
        began = at == 0 or self._breaks(at)
        if not (began or names[at - 1].endswith(":") or names[at - 1].lower() in BEFORE or not word[0].isalpha()):
            return False
        far = start > FURTHEST and "\n" not in self.text[start - FURTHEST - 1 : start]
        closed = self.words[at + 1][0].endswith(tuple(QUOTES)) or at + 2 == len(names) or self._breaks(at + 2)
        return following not in OF_POLICY and (closed or names[at + 2] not in OF_POLICY) and not (began and far)

    def _breaks(self, at: int) -> bool:
        return "\n" in self.text[self.words[at - 1][2] : self.words[at][1]]


def _holds(name: str, following: str, context: frozenset[str], quoted: bool) -> bool:
    """Return whether the word that follows `name` is a secret, by the words of the statement and of its levels."""
    if not _is_value(following):
        return False
    if any(name == word and level in context and rule.fullmatch(following) for word, level, rule in HARMLESS):
        return False
    if name in BELOW:
        # A key chain: `key 1 secret "..."`.
        return not following.isdecimal() and (quoted or not context.isdisjoint(BELOW[name]))
    if name == "value":
        return "authentication-key" in context
    if name in SNMP_NAMES:
        return "snmp" in context or (name == "trap-group" and context.isdisjoint(POLICY))
    return following not in BETWEEN and is_secret_name(name)


def _is_value(word: str) -> bool:
    """Return whether a word can be a secret: no word of a sentence, no sign, no file and no command that has it."""
    if word.rstrip(":;.,") in PROSE or _is_label(word) or word.startswith(("$(", "<(")) or PLACE.match(word):
        return False
    return any(map(str.isalnum, word))


def _is_label(word: str) -> bool:
    """Return whether a word names the secret that follows it: `psk, password: x`, `password value: x`."""
    return word.endswith(":") and (word == "value:" or is_secret_name(word[:-1]))
