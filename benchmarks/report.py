"""Measure HTML reports: what they add to `validate`, how large they are, and how soon Chromium has opened them.

The floor is `validate` without a report, and a page of the same size that holds nothing but text.
Run: python -m benchmarks.report
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.measure import ROOT, cost

# The example, and the MB and the seconds to open that its report may take, on a quiet machine.
LIMITS = (("jvd", 3, 3.0), ("frontier", 25, 3.0))
RUNS = 3


def opening_s(browser: Browser, page: Path) -> float:
    """Return the seconds until a page is loaded and a first answer comes from it: the least of some runs."""
    spent = []
    for _ in range(RUNS):
        tab = browser.new_page()
        started = time.monotonic()
        tab.goto(page.as_uri())
        tab.evaluate("document.getElementById('verdict')?.textContent")
        spent.append(time.monotonic() - started)
        tab.close()
    return min(spent)


def main() -> None:
    """Print the table."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is not installed")
    print(f"{'fabric':10} {'CPU s':>6} {'without':>8} {'MB':>6} {'open s':>7} {'floor s':>8}  limits")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for example, most_mb, most_s in LIMITS:
            fabric, tree = ROOT / "examples" / example / "fabric.yaml", Path(name, example)
            page, plain = Path(name, f"{example}.html"), Path(name, "plain.html")
            cost("generate", str(fabric), "-o", str(tree))
            without = cost("validate", str(fabric), str(tree))
            spent = cost("validate", str(fabric), str(tree), "--report", f"html={page}")
            size = page.stat().st_size
            plain.write_text(f"<!doctype html><script type='text/plain'>{'x' * size}</script>")
            opened, floor = opening_s(browser, page), opening_s(browser, plain)
            kept = "kept" if size <= most_mb * 1e6 and opened <= most_s else "NOT KEPT"
            print(
                f"{example:10} {spent.cpu_s:6.1f} {without.cpu_s:8.1f} {size / 1e6:6.2f} {opened:7.2f} {floor:8.2f}"
                f"  <= {most_mb} MB, {most_s} s: {kept}",
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main()
