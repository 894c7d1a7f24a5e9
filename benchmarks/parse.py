"""Measure the lines of Junos text read per second of CPU, next to the least work that any reader has to do.

The text is the switches of `examples/frontier`, curly and set, and the published configurations if the shared test data
is there (AILB_SHARED). The floor splits every line into words and does nothing with them; the peer splits the text into
tokens with one regular expression, and builds nothing either. Run: python -m benchmarks.parse
"""

import gc
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ailb_gen.design.build import build
from ailb_gen.intent.load import load
from ailb_gen.junos.reader import read
from ailb_gen.render.artifacts import RenderOptions, render

ROOT = Path(__file__).parent.parent
SHARED = Path(os.environ.get("AILB_SHARED", ROOT.parent / "shared"))
# Lines a second that each text is to be read at, on a quiet machine.
LEAST = {"frontier, curly": 700_000, "frontier, set": 700_000, "published, curly": 250_000, "published, set": 250_000}
SWITCHES = 64
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


def seconds(work: Callable[[str], object], texts: list[str]) -> float:
    """Return the CPU seconds of the cheapest of several rounds: the machine is shared, and noise only adds."""
    spent = []
    for _ in range(ROUNDS):
        gc.collect()
        started = time.process_time()
        for text in texts:
            work(text)
        spent.append(time.process_time() - started)
    return min(spent)


def samples() -> Iterator[tuple[str, list[str]]]:
    """Yield (name, texts)."""
    design, _ = build(load(ROOT / "examples" / "frontier" / "fabric.yaml"))
    names = {switch.name for switch in [*design.leaves[: SWITCHES // 2], *design.spines[: SWITCHES // 2]]}
    for form in ("curly", "set"):
        tree = render(design, RenderOptions(form), names)
        yield (
            f"frontier, {form}",
            [item.content.decode() for path, item in tree.items() if path.startswith("switches/")],
        )
    for name, pattern in (("published, curly", "*.conf"), ("published, set", "*.set")):
        texts = [path.read_text(encoding="utf-8") for path in sorted((SHARED / "junos-corpus").rglob(pattern))]
        if texts:
            yield name, texts


def main() -> None:
    """Print the table."""
    print(f"{'text':18} {'lines':>8} {'lines/s':>9} {'tokens only':>12} {'split only':>11}  limit")
    for name, texts in samples():
        lines = sum(text.count("\n") for text in texts)
        rate, peer, lower_bound = (lines / seconds(work, texts) for work in (read, tokens, split))
        kept = "kept" if rate >= LEAST[name] else "NOT KEPT"
        print(f"{name:18} {lines:8} {rate:9.0f} {peer:12.0f} {lower_bound:11.0f}  >= {LEAST[name]}: {kept}")


if __name__ == "__main__":
    main()
