"""Random damage of no particular kind, to see what no check finds.

    python -m tests.mutations.fuzz [--example lab] [--seed N] [--count M] [--files GLOB]

Lines are deleted, doubled or exchanged, words swapped or taken from elsewhere in the file, digits changed. Not all of
it is damage: a comment may be anything, and the order of statements is mostly free.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import zip_longest

from ailb_gen.errors import AilbError
from tests.mutations.score import ALL, findings, golden
from tests.mutations.spots import files
from tests.mutations.tree import MANIFEST, Changes, sealed, text_of

# Files in which the order of lines says nothing.
UNORDERED = (".csv", ".json", "99-accept-ra.conf", "nccl.env", "jnpr_nccl_net.conf")
WORD = re.compile(r"[\w.:/-]+")
Lines = list[str]


def _pick(rng: random.Random, lines: Lines) -> int:
    """Choose a line that is not a comment."""
    return rng.choice([n for n, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(("#", "/*"))])


def delete(rng: random.Random, lines: Lines) -> None:
    """Delete a line."""
    del lines[_pick(rng, lines)]


def double(rng: random.Random, lines: Lines) -> None:
    """Write a line twice."""
    place = _pick(rng, lines)
    lines.insert(place, lines[place])


def exchange(rng: random.Random, lines: Lines) -> None:
    """Exchange two lines."""
    one, other = _pick(rng, lines), _pick(rng, lines)
    lines[one], lines[other] = lines[other], lines[one]


def _words(rng: random.Random, lines: Lines) -> tuple[int, list[re.Match[str]]]:
    place = _pick(rng, lines)
    return place, list(WORD.finditer(lines[place]))


def swap_words(rng: random.Random, lines: Lines) -> None:
    """Swap two words of a line."""
    place, words = _words(rng, lines)
    if len(words) > 1:
        one, other = sorted(rng.sample(words, 2), key=re.Match.start)
        line = lines[place]
        parts = (line[: one.start()], other[0], line[one.end() : other.start()], one[0], line[other.end() :])
        lines[place] = "".join(parts)


def take_word(rng: random.Random, lines: Lines) -> None:
    """Replace the last word of a line by the last word of a line that begins alike."""
    place, words = _words(rng, lines)
    if len(words) > 1:
        head = words[0][0]
        others = [found for line in lines if (found := WORD.findall(line)) and found[0] == head and len(found) > 1]
        last = words[-1]
        lines[place] = lines[place][: last.start()] + rng.choice(others)[-1] + lines[place][last.end() :]


def change_digit(rng: random.Random, lines: Lines) -> None:
    """Change a digit."""
    place = rng.choice([n for n, line in enumerate(lines) if re.search(r"\d", line) and not line.startswith("#")])
    digit = rng.choice(list(re.finditer(r"\d", lines[place])))
    other = rng.choice([d for d in "0123456789" if d != digit[0]])
    lines[place] = lines[place][: digit.start()] + other + lines[place][digit.end() :]


def delete_word(rng: random.Random, lines: Lines) -> None:
    """Delete a word."""
    place, words = _words(rng, lines)
    if words:
        word = rng.choice(words)
        lines[place] = lines[place][: word.start()] + lines[place][word.end() :]


DAMAGES: tuple[Callable[[random.Random, Lines], None], ...] = (
    delete,
    delete,
    delete,
    double,
    exchange,
    swap_words,
    take_word,
    take_word,
    change_digit,
    change_digit,
    delete_word,
)


def _idle(path: str, before: Lines, after: Lines) -> bool:
    """Whether the lines mean what they did: in another order where there is none, or a Junos statement twice."""
    if path.endswith(UNORDERED):
        return sorted(after) == sorted(before)
    if path.startswith("switches/") and len(after) > len(before):
        return set(after) == set(before)
    return [line.strip() for line in after] == [line.strip() for line in before]


def damaged(example: str, glob: str, seed: str) -> tuple[str, Changes]:
    """Return a description and the changes of one random mutation, fixed by the seed."""
    tree = golden(example)
    rng = random.Random(seed)
    paths = [path for path in files(tree, glob) if path != MANIFEST]
    while True:
        path = rng.choice(paths)
        before = text_of(tree, path).splitlines(keepends=True)
        after = list(before)
        damage = rng.choice(DAMAGES)
        damage(rng, after)
        if not _idle(path, before, after):
            break
    rows = enumerate(zip_longest(before, after, fillvalue=""))
    first, (old, new) = next((number, lines) for number, lines in rows if lines[0] != lines[1])
    what = f"{damage.__name__} {path}:{first + 1}: {old.strip()!r} -> {new.strip()!r}"
    return what, sealed(tree, {path: "".join(after).encode()})


def tried(example: str, glob: str, seed: str) -> str:
    """Return the description of a mutation that no check finds, or that ends in a traceback; else nothing."""
    what, changes = damaged(example, glob, seed)
    try:
        return "" if findings(example, changes, ALL) else what
    except AilbError:
        return ""
    except Exception as error:  # noqa: BLE001  a traceback is one of the things that are looked for
        return f"CRASH {type(error).__name__}: {error}: {what}"


def main() -> None:
    """Print what nothing finds."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations.fuzz")
    parser.add_argument("--example", default="lab", help="lab, jvd, jvd-8-uplinks or brownfield")
    parser.add_argument("--files", default="*", help="a glob over paths")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    seeds = [f"{options.seed} {number}" for number in range(options.count)]
    silent = 0
    with ProcessPoolExecutor(options.jobs) as executor:
        for what in executor.map(partial(tried, options.example, options.files), seeds):
            if what:
                silent += 1
                sys.stdout.write(f"{what}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{silent} of {options.count} were found by no check, or crashed\n")


if __name__ == "__main__":
    main()
