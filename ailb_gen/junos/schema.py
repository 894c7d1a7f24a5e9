"""The schema of Junos statements, from Juniper's YANG models or from the cache, opened as far as it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from ailb_gen.atomic import replace_file
from ailb_gen.junos import cache
from ailb_gen.junos.statements import (
    CHOICE,
    CONTAINER,
    LEAF,
    LEAF_LIST,
    LIST,
    NOKEYWORD,
    PLAIN,
    PRESENCE,
    USES,
    Json,
)
from ailb_gen.junos.values import Wrong, compile_type, is_address, takes_empty
from ailb_gen.junos.yang_files import model_directory, model_files
from ailb_gen.user_directories import cache_home

# The branch of each choice around a statement: the choice, its name, the number of the case.
Case = tuple[int, str, int]

# Keys that Juniper's models make of "one of several": the word that chose, and its value if it has one.
CHOICE_IDENT, CHOICE_VALUE = "choice-ident", "choice-value"

# Names of XML that are other words in the CLI: `ether-options 802.3ad ae0`, `member-range et-0/0/0 to et-0/0/5`.
_ALIASES = {"ieee-802.3ad": "802.3ad", "end-range": "to"}

# In a module without `cli-feature`, statements whose names are not written, by the one around them; `*` is any
# (Juniper's CLI reference, the `system` hierarchy).
_PLAIN_BARE = {
    "*": frozenset({"contents", "filename"}),
    "backup-router": frozenset({"address"}),
    "inet6-backup-router": frozenset({"address"}),
    "client": frozenset({"servers"}),
    "interfaces": frozenset({"arp-interface"}),
}
# Leaves that are called like the statement around them are its value: `dynamic-profile` of `dynamic-profile`.
_PLAIN_VALUES = ("", "-name", "-value", "-choice", "-path")


_READABLE: dict[str, str] = {}

# So many words with their verdicts are kept for each type: those that most switches of a fabric have.
WORDS = 4096


class Definition:
    """A statement of the schema. What is below it is made when it is first asked for.

    `value` says whether a leaf takes one: "one", "none", "maybe", or "words" for an expression. `check` is None where
    every word is a value. `words` are the statements below by name, `bare` those whose name is not written, `keys`
    those of a list. `unreadable` are patterns of its type that cannot be compiled, each with the reason. `fine` are
    words that were found to be values, where nothing but the word itself counts for that; else it is None.
    """

    __slots__ = (
        "_opened",
        "_raw",
        "_schema",
        "cases",
        "check",
        "enum_musts",
        "fine",
        "flags",
        "is_address",
        "kind",
        "most",
        "musts",
        "name",
        "unreadable",
        "value",
    )

    def __init__(self, schema: Schema, raw: Json, cases: tuple[Case, ...]) -> None:
        self.kind: int = raw[0]
        self.name: str = _ALIASES.get(raw[1], raw[1])
        self.flags: int = raw[2]
        self.musts: list[list[str]] = raw[3]
        self.cases = cases
        self.most = 0
        self.check: Callable[[str], Wrong | None] | None = None
        self.unreadable: dict[str, str] = _READABLE
        self.value = "one"
        self.fine: set[str] | None = None
        self.is_address = False
        self.enum_musts: dict[str, list[list[str]]] = {}
        self._schema = schema
        self._raw = raw
        self._opened: Opened | None = None
        if self.kind in {LEAF, LEAF_LIST}:
            self._read_type(raw[4])
        if self.kind in {LIST, LEAF_LIST}:
            self.most = raw[5 + (self.kind == LIST)]

    def _read_type(self, made: Json) -> None:
        if takes_empty(made):
            self.value = "none" if made[0] == "empty" else "maybe"
        self.check, self.unreadable = self._schema.type_check(made)
        self.is_address = is_address(made)
        for member in made[1] if made[0] == "union" else [made]:
            if member[0] == "enumeration":
                self.enum_musts.update(member[2])
        if made[0] == "junos" and made[1] == "policy-algebra":
            self.value = "words"
        asked = self.enum_musts or self.unreadable or self.cases or (self.is_address and self.check is None)
        if self.value == "one" and not asked:
            self.fine = set()

    @property
    def schema(self) -> Schema:
        """The schema that it is part of."""
        return self._schema

    @property
    def words(self) -> dict[str, Definition]:
        """The statements below, by the word that is written."""
        return (self._opened or self._expand())[0]

    @property
    def bare(self) -> tuple[Definition, ...]:
        """The statements below whose name is not written."""
        return (self._opened or self._expand())[1]

    @property
    def keys(self) -> tuple[Definition, ...]:
        """The keys of a list, in their order."""
        return (self._opened or self._expand())[2]

    @property
    def written_keys(self) -> tuple[Definition, ...]:
        """The keys as text has them: the key that chooses is followed by its value, or by further keys."""
        return (self._opened or self._expand())[3]

    @property
    def plain_key(self) -> bool:
        """Whether the entries of a list have one key, which is written without its name and may be any word."""
        return (self._opened or self._expand())[4]

    def _expand(self) -> Opened:
        if self.kind not in {CONTAINER, LIST}:
            self._opened = {}, (), (), (), False
            return self._opened
        below = [Definition(self._schema, raw, cases) for raw, cases in self._schema.spread(self._raw[4], ())]
        names = self._raw[5] if self.kind == LIST else []
        by_name = {one.name: one for one in below}
        keys = tuple(by_name[name] for name in names if name in by_name)
        rest = [one for one in below if one.name not in names]
        words = {one.name: one for one in rest if not one.flags & NOKEYWORD}
        bare = [one for one in rest if one.flags & NOKEYWORD or (one.flags & PLAIN and self._is_silent(one))]
        # Those that take any word come last.
        written = (keys[0], *keys[2:]) if len(keys) > 2 and keys[1].name == CHOICE_VALUE else keys
        plain = len(written) == 1 and written[0].is_plain_key
        self._opened = words, tuple(sorted(bare, key=lambda one: one.takes_any)), keys, written, plain
        return self._opened

    def _is_silent(self, below: Definition) -> bool:
        """Return whether the name of a statement below is not written, as far as its name says it."""
        if below.name in _PLAIN_BARE["*"] or below.name in _PLAIN_BARE.get(self.name, ()):
            return True
        return below.kind == LEAF and any(below.name == self.name + end for end in _PLAIN_VALUES)

    @property
    def is_plain_key(self) -> bool:
        """Return whether a key is written without its name and may be any word."""
        named = not self.flags & (NOKEYWORD | PLAIN) and self.name not in {CHOICE_IDENT, CHOICE_VALUE}
        return not named and self.check is None and not self.unreadable

    @property
    def takes_any(self) -> bool:
        """Return whether the first word of a bare statement may be anything."""
        first = self.keys[0] if self.kind == LIST and self.keys else self
        return first.check is None


# What is below a statement: by the word that is written, without a name, and the keys of a list, all and as written;
# and whether they are one that may be any word.
Opened = tuple[dict[str, Definition], tuple[Definition, ...], tuple[Definition, ...], tuple[Definition, ...], bool]


class Schema:
    """All statements of a set of models."""

    def __init__(self, blocks: cache.Blocks | Sequence[Json], source: str) -> None:
        self.source = source
        self._blocks = blocks
        self._checks: dict[str, tuple[Callable[[str], Wrong | None] | None, dict[str, str]]] = {}
        self._groupings: dict[int, Json] = {}
        self.root = Definition(self, [CONTAINER, "configuration", PRESENCE, [], blocks[0]], ())

    @property
    def blocks(self) -> int:
        """Number of blocks of the schema: the top and every grouping."""
        return len(self._blocks)

    def has(self, *words: str) -> bool:
        """Return whether the models have a statement; of lists, give the word without keys."""
        found: Definition | None = self.root
        for word in words:
            found = found.words.get(word) if found is not None else None
        return found is not None

    def block(self, number: int) -> Json:
        """Return a block as it is stored; 0 is the top."""
        return self._blocks[number]

    def spread(self, children: Json, cases: tuple[Case, ...]) -> Iterator[tuple[Json, tuple[Case, ...]]]:
        """Iterate over statements with groupings and choices opened; each with the cases that it stands in."""
        for raw in children:
            if raw[0] == USES:
                yield from self.spread(self._grouping(raw[1]), cases)
            elif raw[0] == CHOICE:
                for number, case in enumerate(raw[2]):
                    yield from self.spread(case, (*cases, (id(raw), raw[1], number)))
            else:
                yield raw, cases

    def _grouping(self, number: int) -> Json:
        found = self._groupings.get(number)
        if found is None:
            # Block 0 is the root.
            found = self._groupings[number] = self._blocks[number + 1]
        return found

    def type_check(self, made: Json) -> tuple[Callable[[str], Wrong | None] | None, dict[str, str]]:
        """Return the function of a type, and its patterns that cannot be compiled; equal types share both."""
        key = repr(made)
        if key not in self._checks:
            unreadable: dict[str, str] = {}
            check = compile_type(made, unreadable.setdefault)
            self._checks[key] = (lru_cache(WORDS)(check) if check is not None else None, unreadable or _READABLE)
        return self._checks[key]


Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


def load_schema(directory: Path, progress: Progress = lambda what, total: nullcontext(lambda count: None)) -> Schema:
    """Return the schema of a folder of YANG models, from the user's cache or built and put there.

    `progress(what, total)` is a context manager whose value is called with how many characters are parsed. Raises
    UsageError for a folder without models, OutputError when the cache cannot be written.
    """
    directory = model_directory(directory)
    models = model_files(directory)
    path = cache_home() / f"junos-{cache.digest((file.name, content) for file, content in models)}.json"
    blocks = cache.read(path)
    if blocks is None:
        with cache.alone(path):
            # Somebody else may have built it while we waited.
            blocks = cache.read(path) or _build(path, models, progress)
    return Schema(blocks, str(directory))


def _build(path: Path, models: list[tuple[Path, bytes]], progress: Progress) -> cache.Blocks:
    # pyang takes longer to import than the cache to read.
    yang = import_module("ailb_gen.junos.yang")
    texts = [(file, content.decode("utf-8", "replace")) for file, content in models]
    with progress("Reading the YANG models, once", sum(len(text) for _, text in texts)) as advance:
        content = cache.encode(yang.build(texts, advance))
    replace_file(path, content)
    blocks = cache.decode(content)
    assert blocks is not None  # noqa: S101 - what encode has just made
    return blocks
