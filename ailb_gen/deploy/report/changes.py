"""What a plan changes as a section: side by side, once for all devices that change alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from ailb_gen.deploy.planning import HostLook, Look, Plan
from ailb_gen.deploy.sides import CHANGES, HIDDEN, REPLACED, Row, changes_of, unpacked
from ailb_gen.report.html.page import Numbered, Section
from ailb_gen.wording import clean, plural, some

# So many rows are in the page's text; the script draws the others from the data.
SHOWN = 6_000
# So many bytes of rows are in the data, compressed as the plan has them.
MOST = 12_000_000
# A group with no more rows than this is open from the start.
OPEN = 60
INDENT = "    "
CLASSES = {" ": "same", "+": "added", "-": "removed", "~": "replaced", "<": "away", ">": "here", "…": "hidden"}
SIGNS = {" ": "", "+": "+", "-": "\N{MINUS SIGN}", "~": "~", "<": "↕", ">": "↕", "…": "⋯"}
# A side of a row: what it has in common with the other side, what differs, what is in common again.
Parts = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Line:
    """A row as it is drawn."""

    style: str
    sign: str
    left: Parts
    right: Parts
    note: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Devices that change alike; `lines` are None where the script draws them, or nobody (`left_out`)."""

    number: int
    devices: tuple[str, ...]
    title: str
    added: int
    removed: int
    count: int
    lines: tuple[Line, ...] | None
    left_out: bool
    server: bool

    @property
    def open(self) -> bool:
        """Whether it is open from the start."""
        return self.lines is not None and self.count <= OPEN


def changes_section(plan: Plan, mask: Callable[[str], str]) -> Section:
    """Return the section of all changes; `mask` replaces the secrets that the run knows."""
    alike = _alike(plan)
    kept = _kept([look for _, look in alike])
    texts, groups, data = Numbered([""]), [], []
    left = SHOWN
    for number, (names, look) in enumerate(alike):
        rows = tuple(_masked(unpacked(look.sides), mask)) if number in kept else ()
        shown = bool(rows) and len(rows) <= left
        left -= len(rows) if shown else 0
        added, removed = _counts(look, rows)
        lines = tuple(map(line_of, rows)) if shown else None
        out, server = number not in kept, isinstance(look, HostLook)
        groups.append(Group(number, names, some(names), added, removed, len(rows), lines, out, server))
        data.append([_flat(rows, texts), list(names)])
    values = {"groups": groups, "devices": len(plan.changed)}
    return Section("changes", "Changes", values, {"texts": list(texts.values), "groups": data}, ("push",))


def _alike(plan: Plan) -> list[tuple[tuple[str, ...], Look | HostLook]]:
    """Return the devices that change alike, with one of them, in the order of the waves."""
    looks, found = plan.changed, dict[bytes, list[str]]()
    for name, look in looks.items():
        changed = sha256(repr((type(look), list(changes_of(unpacked(look.sides))))).encode("utf-8", "backslashreplace"))
        found.setdefault(changed.digest(), []).append(name)
    return [(tuple(names), looks[names[0]]) for names in found.values()]


def _kept(looks: Sequence[Look | HostLook]) -> frozenset[int]:
    """Return the groups whose rows are in the page: the small ones first, as many as fit."""
    left, found = MOST, set()
    for number in sorted(range(len(looks)), key=lambda number: len(looks[number].sides)):
        left -= len(looks[number].sides)
        if left < 0:
            break
        found.add(number)
    return frozenset(found)


def _counts(look: Look | HostLook, rows: Iterable[Row]) -> tuple[int, int]:
    """Return how many statements of a switch, or lines of a server's files, come and go."""
    if isinstance(look, Look):
        return look.counts
    kinds = [row.kind for row in rows]
    replaced = kinds.count(REPLACED)
    return kinds.count("+") + replaced, kinds.count("-") + replaced


def _masked(rows: Sequence[Row], mask: Callable[[str], str]) -> Iterator[Row]:
    """Give the rows with known secrets replaced, and every character visible."""
    for row in rows:
        yield Row(row.kind, row.depth, clean(mask(row.left)), clean(mask(row.right)))


def line_of(row: Row) -> Line:
    """Return a row as it is drawn."""
    if row.kind == HIDDEN:
        more = f"{row.left} {plural('statement', int(row.left))} without a change"
        return Line(CLASSES[HIDDEN], SIGNS[HIDDEN], ("", "", ""), ("", "", ""), more)
    indent = INDENT * row.depth
    left, right = (indent + text if text else "" for text in (row.left, row.right))
    if row.kind == REPLACED:
        return Line(CLASSES[row.kind], SIGNS[row.kind], *_marked(left, right))
    whole = row.kind in CHANGES
    ours, theirs = (("", text, "") if whole and text else (text, "", "") for text in (left, right))
    return Line(CLASSES[row.kind], SIGNS[row.kind], ours, theirs)


def _marked(left: str, right: str) -> tuple[Parts, Parts]:
    """Return both sides of a replaced statement in parts: the words in the middle differ, unless they are secrets."""
    if left == right:
        return (left, "", ""), (right, "", "")
    ours, theirs = left.split(" "), right.split(" ")
    front = _common(ours, theirs)
    back = _common(ours[front:][::-1], theirs[front:][::-1])
    return _cut(ours, front, back), _cut(theirs, front, back)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    same = (here == there for here, there in zip(one, other, strict=False))
    return next((at for at, alike in enumerate(same) if not alike), min(len(one), len(other)))


def _cut(words: Sequence[str], front: int, back: int) -> Parts:
    end = len(words) - back
    before, middle, after = " ".join(words[:front]), " ".join(words[front:end]), " ".join(words[end:])
    return f"{before} " if front else "", middle, f" {after}" if back else after


def _flat(rows: Iterable[Row], texts: Numbered[str]) -> list[int | str]:
    """Return rows as a flat list: kind, depth, and the numbers of left and right of each."""
    return [value for row in rows for value in (row.kind, row.depth, texts(row.left), texts(row.right))]


def foreign_of(plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """Return, by switch, what was never this program's and would go."""
    return {name: tuple(edit.statement for edit in look.foreign) for name, look in plan.changes.items() if look.foreign}
