"""Measure the lines of Junos text read per second of CPU, next to the least work that any reader has to do.

The text is the switches of `examples/frontier`, curly and set, and the published configurations if the shared test
data is there (AILB_SHARED). One floor splits every line into words and does nothing with them, the other copies the
tree that was read, node by node; the peer splits the text into tokens with one regular expression, and builds nothing
either. Run: python -m benchmarks.parse

A line of set text of these switches makes 2.6 nodes, a line of curly text 1.3: on the machine where a set reader was to
make 700,000 lines a second, the copy alone makes 660,000. The limit of set text is therefore a multiple of both floors.

The second table is of all switches of `examples/frontier`, read one after another as `validate` reads them: a switch
that is alike one before it shares nodes with it.
"""

import gc
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from ailb_gen.design.build import build
from ailb_gen.garbage import no_garbage_collection
from ailb_gen.intent.load import load
from ailb_gen.junos.alike import AlikeReader
from ailb_gen.junos.reader import read
from ailb_gen.junos.tree import Node, copy
from ailb_gen.render.artifacts import RenderOptions, render

T = TypeVar("T")
ROOT = Path(__file__).parent.parent
SHARED = Path(os.environ.get("AILB_SHARED", ROOT.parent / "shared"))
# Lines a second that each text is to be read at, on a quiet machine.
LEAST = {"frontier, curly": 700_000, "published, curly": 250_000, "published, set": 250_000}
# How many times as long as both floors together the others may take.
MOST = 2.0
SWITCHES = 64
# How fast all switches are to be read, as a multiple of splitting their texts into tokens.
LEAST_ALIKE = 0.7
ROUNDS = 5
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|#[^\n]*|[{};\[\]]|[^\s{};\[\]"]+', re.DOTALL)


def split(text: str) -> None:
    """Split lines into words, the least work possible."""
    for line in text.splitlines():
        line.split()


def tokens(text: str) -> None:
    """Split the text into tokens."""
    for _ in TOKEN.finditer(text):
        pass


def again(root: Node) -> None:
    """Make the nodes of a tree once more."""
    with no_garbage_collection():
        copy(root)


def seconds(work: Callable[[T], object], things: list[T]) -> float:
    """Return the CPU seconds of the cheapest of several rounds: the machine is shared, and noise only adds."""
    spent = []
    for _ in range(ROUNDS):
        gc.collect()
        started = time.process_time()
        for thing in things:
            work(thing)
        spent.append(time.process_time() - started)
    return min(spent)


def frontier(form: str, switches: int | None = None) -> list[str]:
    """Return the texts of the switches of `examples/frontier`, or of so many, half of them leaves."""
    design, _ = build(load(ROOT / "examples" / "frontier" / "fabric.yaml"))
    half = switches // 2 if switches is not None else None
    names = {switch.name for switch in [*design.leaves[:half], *design.spines[:half]]}
    tree = render(design, RenderOptions(form), names)
    return [item.content.decode() for path, item in tree.items() if path.startswith("switches/")]


def samples() -> Iterator[tuple[str, list[str]]]:
    """Yield (name, texts)."""
    for form in ("curly", "set"):
        yield f"frontier, {form}", frontier(form, SWITCHES)
    for name, pattern in (("published, curly", "*.conf"), ("published, set", "*.set")):
        texts = [path.read_text(encoding="utf-8") for path in sorted((SHARED / "junos-corpus").rglob(pattern))]
        if texts:
            yield name, texts


def all_alike(texts: list[str]) -> None:
    """Read texts one after another, each with what it shares with those before."""
    reader = AlikeReader()
    for text in texts:
        reader.read(text, "")


def all_tokens(texts: list[str]) -> None:
    """Split texts into tokens."""
    for text in texts:
        tokens(text)


def print_alike() -> None:
    """Print the table of all switches of a fabric."""
    heads = ("lines", "lines/s", "tokens only", "ratio")
    print(f"\n{'all switches':18}", *(f"{head:>11}" for head in heads), " limit; ratio: to tokens only")
    for form in ("curly", "set"):
        texts = frontier(form)
        lines = sum(text.count("\n") for text in texts)
        spent, peer = (seconds(work, [texts]) for work in (all_alike, all_tokens))
        kept = "kept" if peer / spent >= LEAST_ALIKE else "NOT KEPT"
        figures = f"{lines:11}{lines / spent:12.0f}{lines / peer:12.0f} {peer / spent:11.2f}"
        print(f"frontier, {form:8} {figures}  >= {LEAST_ALIKE}: {kept}")


def main() -> None:
    """Print the tables."""
    heads = ("lines", "lines/s", "tokens only", "split only", "tree only", "ratio")
    print(f"{'text':18}", *(f"{head:>11}" for head in heads), " limit; ratio: to split and tree")
    for name, texts in samples():
        lines = sum(text.count("\n") for text in texts)
        spent, peer, words = (seconds(work, texts) for work in (read, tokens, split))
        tree = seconds(again, [read(text) for text in texts])
        ratio = spent / (words + tree)
        kept = lines / spent >= LEAST[name] if name in LEAST else ratio <= MOST
        limit = f">= {LEAST[name]}" if name in LEAST else f"ratio <= {MOST}"
        figures = "".join(f"{lines / one:12.0f}" for one in (spent, peer, words, tree))
        print(f"{name:18} {lines:11}{figures} {ratio:11.2f}  {limit}: {'kept' if kept else 'NOT KEPT'}")
    print_alike()


if __name__ == "__main__":
    main()
