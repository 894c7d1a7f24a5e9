"""Parts common to curly and set text: tokens, quotes, and adding the words of a statement to the tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.grammar import FIRST_COUNTS, LINE, PREFIX, WITH_VALUE, form_of, one_line
from ailb_gen.junos.tree import DELETE, ENDS, INACTIVE, LIST, PROTECT, QUOTED, REPLACE, Node
from ailb_gen.textio import character_name, odd_characters

# Possessive wherever it can be: long text must not fill the memory with ways back. Not around groups, of which Python
# before 3.11.5 keeps a half that did not match (gh-106052): a string has at most so many escapes.
STRING = r'|(?P<string>"[^"\\]*+(?:\\[\s\S][^"\\]*+){0,100000}")'
BLOCK_COMMENT = r"/\*[\s\S]*?\*/|"


def token_pattern(
    string: str = STRING, block_comment: str = BLOCK_COMMENT, inside: str = r"/(?!\*)"
) -> re.Pattern[str]:
    """Return the expression of a token; what is left out counts as `bad`. `inside` is a slash within a word."""
    rest = r"[^\s{};\[\]\"/]*+"
    return re.compile(
        r"(?P<space>\s++)"
        rf"|(?P<comment>{block_comment}\#[^\n]*+)"
        rf"{string}"
        r"|(?P<mark>[{};\[\]])"
        rf'|(?P<word>(?=[^\s{{}};\[\]"])(?!/\*){rest}(?:{inside}{rest})*)'
        r"|(?P<bad>[\s\S])",
        # What Unicode counts among the blanks is part of a word on a device; `check_characters` refuses it there.
        re.ASCII,
    )


TOKEN = token_pattern()
# In a command `/*` starts a comment in front of a word alone: `set class-of-service interfaces et-0/0/* unit 0`.
COMMAND_TOKEN = token_pattern(inside="/")
# No number of Junos has more than 39; Python refuses to compute with more than 4,300.
MAX_DIGITS = 1000
SYNTAX = frozenset('{};[]"')
# What word processors write for quotes.
QUOTES = frozenset("\u201c\u201d\u201e\u201f\u2033")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# What may need a closer look than splitting a line at its spaces.
SPECIAL = b'"[]#(;{}*'
# A word that needs no quotes; one that looks like a tag, like something that a terminal printed, or like another
# vendor's comment does.
PLAIN = re.compile(
    r"(?!#|(?:in)?active:$|(?:un)?protect:$|replace:$|delete:$"
    r"|!|[+-]$|--|[^@]+@.*[>#%]$|<(?:[?!]|rpc-reply|data|configuration|nc:))"
    r'(?:(?:[^\s{};\[\]"/]|/(?!\*))+|\( [^"]* \))'
)
BEHIND_STRING = frozenset(" \t\r\n;{}[]/#)")

# Words in front of a statement, or of a part of one; `active:` and `unprotect:` say what is so anyway.
TAGS = {
    "inactive:": INACTIVE,
    "protect:": PROTECT,
    "replace:": REPLACE,
    "delete:": DELETE,
    "active:": 0,
    "unprotect:": 0,
}
# A word that was meant to be a tag; addresses and what Junos names otherwise have more than letters and a colon.
LIKE_TAG = re.compile(r"[A-Za-z-]+:")
TAG_HINT = f"those that it has are {', '.join(TAGS)}"

# A statement in the making: words as written, quotes included, and lists of such words.
Words = list["str | list[str]"]


class Tagged(str):
    """A word with tags in front of it; `flags` are theirs."""

    __slots__ = ("flags",)
    flags: int

    def __new__(cls, word: str, flags: int) -> Tagged:
        """Return the word with flags."""
        made = super().__new__(cls, word)
        made.flags = flags
        return made


def unquote(token: str) -> str:
    r"""Return what stands in quotes; `\"` becomes a quote, other escapes stay as written."""
    body = token[1:-1]
    return "\\\\".join(part.replace('\\"', '"') for part in body.split("\\\\")) if "\\" in body else body


def quote(word: str) -> str:
    """Write a word in quotes; nothing in it can end them."""
    parts = [part.replace('\\"', '"').replace('"', '\\"') for part in word.split("\\\\")]
    tail = "\\" if parts[-1].endswith("\\") else ""
    body = "\\\\".join(parts)
    return f'"{body}{tail}"'


def written(node: Node) -> str:
    """Return the word of a node as it stands in Junos text."""
    word = node.word
    if node.flags & QUOTED or not PLAIN.fullmatch(word) or (word[0] == "(" and word.count("(") != word.count(")")):
        return quote(word)
    if not word.isascii() and odd_characters(word):
        return quote(word)
    return word


# The longest configuration that a push reads of a device; the largest fabric's have 230,000 characters, 30,000 words.
MAX_TEXT = 4 * 1024 * 1024
# A tree takes 330 bytes a word at most.
MAX_WORDS = 400_000
# Letters for what is part of a word, blanks for what stands between words.
STARTS = bytes(32 if code in b' \t\r\n{}[];"' else 97 for code in range(256))


def marked(text: str, special: bytes) -> bytes:
    """Return text with a byte per character, NUL for the special ones: a search in it costs next to nothing.

    Characters that Latin-1 lacks become `?`.
    """
    return text.encode("latin-1", "replace").translate(bytes.maketrans(special, bytes(len(special))))


def long_number(text: str) -> int:
    """Return where a number of more than MAX_DIGITS digits starts, -1 without one."""
    digits = b"0123456789"
    # Of so many digits in a row, at least eight are among the characters that are looked at first.
    if bytes(8) not in marked(text[:: MAX_DIGITS // 8], digits):
        return -1
    return marked(text, digits).find(bytes(MAX_DIGITS + 1))


def oversize(text: str) -> str | None:
    """Return why a text is more than the configuration of a device, before a tree of it takes memory; None if not."""
    if len(text) > MAX_TEXT:
        return f"{len(text):,} characters, more than {MAX_TEXT:,}: no device's configuration is that long"
    # Short texts have few words; only long ones are looked through.
    if len(text) <= MAX_WORDS:
        return None
    words = f" {text}".encode("latin-1", "replace").translate(STARTS).count(b" a")
    if words > MAX_WORDS:
        return f"{words:,} words, more than {MAX_WORDS:,}: no device's configuration has that many"
    return None


def place(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of an offset; both count from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def wrong(file: str, text: str, offset: int, reason: str) -> JunosSyntaxError:
    """Make the error for an offset of a text."""
    return JunosSyntaxError(file, *place(text, offset), reason)


def bad(file: str, text: str, offset: int) -> JunosSyntaxError:
    """Make the error for a character that starts no token."""
    sort = {'"': "a quoted string", "/": "a comment"}
    return wrong(file, text, offset, f"{sort[text[offset]]} is not closed")


def check_characters(file: str, text: str, start: int) -> None:
    """Refuse characters outside of quotes and comments that are no ASCII and look like a blank, nothing, or syntax."""
    if text.isascii():
        return
    plains = ((one, '"' if one in QUOTES else normalize("NFKC", one)) for one in set(text) if not one.isascii())
    syntax = {one: plain for one, plain in plains if plain in SYNTAX}
    odd = odd_characters(text) | syntax.keys()
    for found in TOKEN.finditer(text, start) if odd else ():
        if found.lastgroup == "word" and not odd.isdisjoint(found[0]):
            at = min(found[0].index(one) for one in odd.intersection(found[0]))
            one = found[0][at]
            write = f"`{syntax[one]}`" if one in syntax else "a blank"
            reason = f"{character_name(one)} is part of a word on a device; write {write}, delete it, or write quotes"
            raise wrong(file, text, found.start() + at, f"{reason} around the text")


def check_string(file: str, text: str, start: int, end: int) -> None:
    """Refuse text right behind a quoted string: most often a quote is missing somewhere."""
    if end < len(text) and text[end] not in BEHIND_STRING:
        lost = "a quoted string is not closed" if "\n" in text[start:end] else "text right behind a quoted string"
        raise wrong(file, text, start, lost)


def joined(words: Words) -> Words:
    """Join what stands in round brackets, a policy expression such as `( A && B )`, into one word."""
    done: Words = []
    depth, group = 0, []
    for word in words:
        if not isinstance(word, str):
            done.append(word)
            continue
        if word[0] != '"' and (depth or word[0] == "("):
            depth += word.count("(") - word.count(")")
            group.append(word)
        elif depth:
            group.append(word)
        else:
            done.append(word)
        if group and depth <= 0:
            if any(isinstance(part, Tagged) for part in group):
                raise ValueError("a tag inside an expression")
            done.append(" ".join(group))
            depth, group = 0, []
    return words if group else done


def note(node: Node, comments: list[str]) -> None:
    """Add comments to a node."""
    if node.comment is None:
        node.comment = []
    node.comment += comments


def walk(node: Node, words: Sequence[str | list[str]], line: int) -> Node:
    """Go down from a node along words, adding what is missing; return the last node."""
    for token in words:
        if isinstance(token, list):
            raise ValueError("a list with words behind it")
        word = unquote(token) if token[0] == '"' else token
        child = node.children.get(word)
        if child is None:
            child = node.children[word] = Node(word, line)
        if token[0] == '"':
            child.flags |= QUOTED
        node = child
    return node


def again(block: Node, words: Sequence[str | list[str]]) -> None:
    """Put a value that is written once more behind the others: the last one counts.

    Where the order of values means something, they stay where they are, as on a device.
    """
    path = [plain(word) for word in words]
    around = block.get(*path[:-1])
    if around is not None and goes_last(around, path[-1]):
        around.children[path[-1]] = around.children.pop(path[-1])


def goes_last(around: Node, word: str) -> bool:
    """Return whether a value that is written once more goes behind the others of a word."""
    child = around.children.get(word)
    if child is None or not child.flags & ENDS or child.children or len(around.children) < 2:
        return False
    return around.word not in FIRST_COUNTS and not around.flags & LIST


def put(block: Node, words: Words, line: int) -> Node:
    """Add a statement below a node; return where it ends. Raises ValueError when words stand behind a list."""
    if any(word[0] == "(" for word in words if isinstance(word, str)):
        words = joined(words)
    node = block
    for row in rows(words, block.word):
        values = row[-1]
        if isinstance(values, list):
            node = walk(block, row[:-1], line)
            node.flags |= LIST
            for value in joined(list(values)):
                walk(node, [value], line).flags |= ENDS
        else:
            node = walk(block, row, line)
            if node.flags & ENDS:
                again(block, row)
            node.flags |= ENDS
        if has_tags(row):
            _mark(block, row)
    return node


def has_tags(words: Words) -> bool:
    """Return whether a tag stands in front of one of the words."""
    return any(isinstance(word, Tagged) or (isinstance(word, list) and has_tags([*word])) for word in words)


def plain(token: str | list[str]) -> str:
    """Return a word as it is in the tree; of a list the first."""
    word = token if isinstance(token, str) else token[0]
    return unquote(word) if word[0] == '"' else word


def reach(parent: str, words: Words) -> int:
    """Return at which of its words a statement is named in full: behind its keys, in front of its values."""
    keys, form = form_of(parent, str(words[0]))
    if (words[0] == PREFIX and form == LINE) or (keys and words[keys : keys + 1] and plain(words[keys]) in WITH_VALUE):
        keys += 1
    return min(keys, len(words) - 1)


def _mark(block: Node, row: Words) -> None:
    """Give the tags of a statement to what they stand in front of."""
    values = row[-1]
    for words in [[*row[:-1], value] for value in values] if isinstance(values, list) else [row]:
        path = [plain(word) for word in words]
        for at, word in enumerate(words):
            if isinstance(word, Tagged):
                end = at + reach(path[at - 1] if at else block.word, words[at:])
                node = block.get(*path[: end + 1])
                if node is not None:
                    node.flags |= word.flags


def statement_node(block: Node, words: Words) -> Node:
    """Return the node that stands for the whole of a statement, which its comments are about: without values."""
    node = block
    for token in words[: 1 + reach(block.word, words)]:
        child = node.children.get(plain(token))
        if child is None:
            break
        node = child
    return node


def rows(words: Words, parent: str) -> list[Words]:
    """Split a statement that holds several attributes of one object into a statement for each."""
    if len(words) > 2:
        before = parent
        for at, word in enumerate(words):
            if isinstance(word, str):
                found = one_line(before, word)
                done = _split(words, at + 1 + found[0], found[1], found[2]) if found else None
                if done:
                    return done
                before = word
    return [words]


def has_lead(words: Words, parent: str) -> bool:
    """Return whether the last word is the value in front of the attributes of a one-line statement."""
    if len(words) < 2 or not isinstance(words[-2], str):
        return False
    found = one_line(plain(words[-3]) if len(words) > 2 else parent, words[-2])
    return found is not None and found[:2] == (0, True) and plain(words[-1]) not in found[2]


def _split(words: Words, size: int, lead: bool, attributes: dict[str, int]) -> list[Words] | None:
    """Split the words behind the first `size`; None if they are not what the table knows."""
    head, rest = words[:size], words[size:]
    done: list[Words] = []
    while rest:
        first = rest[0]
        count = attributes.get(first) if isinstance(first, str) else None
        if count is None:
            if not lead or done:
                return None
            count = 0
        if len(rest) <= count:
            return None
        done.append([*head, *rest[: 1 + count]])
        rest = rest[1 + count :]
    return done
