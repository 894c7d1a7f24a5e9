"""How tests judge a page: accessibility, and what it looks like."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import Literal

import axe_playwright_python
from PIL import Image, ImageChops
from playwright.sync_api import Locator, Page, ViewportSize

GOLDEN = Path(__file__).parent / "golden"
# A pixel differs when any channel does by more than this; fonts are smoothed a little differently by every release.
CHANNEL = 48
# So many of the pixels may differ.
SHARE = 0.01
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# axe-core's answer: rule, and the elements that break it. Contrast takes it four fifths of the time, and depends on
# computed styles of an element and of what is around it alone: of elements that are alike in them it is asked for one.
JUDGE = """async (whole) => {
  const styles = new Map();
  const style = (element) => {
    if (!element) return "";
    if (!styles.has(element)) {
      const { color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight } = getComputedStyle(element);
      const own = [color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight].join(" ");
      styles.set(element, `${style(element.parentElement)} > ${own}`);
    }
    return styles.get(element);
  };
  const unlike = new Map();
  for (const element of document.body.querySelectorAll("*")) {
    const text = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (text && element.checkVisibility()) unlike.set(style(element), element);
  }
  const options = { resultTypes: ["violations"], preload: false };
  const contrast = { ...options, runOnly: ["color-contrast"] };
  const rest = { ...options, rules: { "color-contrast": { enabled: false } } };
  const found = [await axe.run({ include: [...unlike.values()] }, contrast)];
  if (whole) found.push(await axe.run(document, rest));
  return found.flatMap((one) => one.violations).filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 5).map((node) => node.target).join("; ")}`);
}"""

# A4 without margins, at 96 points to the inch.
PAPER: ViewportSize = {"width": 718, "height": 1000}
# Short words in cells of tables that go on in the next line, such as a number or a color.
BROKEN = """() => {
  const found = [], range = document.createRange();
  for (const cell of document.querySelectorAll("main :is(th, td)")) {
    if (!cell.checkVisibility()) continue;
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      for (const word of text.data.matchAll(/(?<!\\S)[\\w.]{2,12}(?!\\S)/g)) {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((one) => Math.round(one.top))).size > 1) found.push(word[0]);
      }
    }
  }
  return found.slice(0, 5).map((word) => `broken: ${word}`);
}"""
CUT = """() => [document.documentElement, ...document.querySelectorAll("main *")]
  .filter((one) => one.checkVisibility() && !one.closest("svg") && one.clientWidth > 1
    && (one.localName === "html" || getComputedStyle(one).overflow !== "visible")
    && (one.scrollWidth > one.clientWidth + 1 || (one.localName !== "html" && one.scrollHeight > one.clientHeight + 1)))
  .map((one) => `${one.localName}.${one.className}: ${one.textContent.trim().slice(0, 40)}`)"""


def violations(page: Page) -> list[str]:
    """Return what axe-core calls serious or critical, in light and in dark: rule, and the elements that break it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = []
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {one}" for one in page.evaluate(JUDGE, scheme == "light")]
    page.emulate_media(color_scheme="light")
    return found


# Widths of a window, and the smallest text in pixels, also inside of drawings that are scaled.
WIDTHS = (1400, 500)
UNREADABLE = """(least) => {
  const own = (one) => [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  // A drawing is scaled as a whole; inside of it text is only moved.
  const size = (one) => {
    const matrix = one.ownerSVGElement?.getScreenCTM();
    return parseFloat(getComputedStyle(one).fontSize) * (matrix ? Math.hypot(matrix.a, matrix.b) : 1);
  };
  const visible = (one) => one.checkVisibility({ visibilityProperty: true });
  const shown = [...document.querySelectorAll("body *")].filter(visible);
  const small = shown.filter((one) => own(one) && !one.matches("title, desc, option") && size(one) < least - 0.05);
  const cut = shown.filter((one) => one.localName === "input" && one.value && one.scrollWidth > one.clientWidth + 1);
  const wide = document.documentElement.scrollWidth > innerWidth ? [document.documentElement] : [];
  // Texts and badges of a drawing, each with those that come later in it.
  const among = (svg) => {
    const parts = [...svg.querySelectorAll("text, .badge")].filter((one) => visible(one) && !one.matches(".badge *"));
    const areas = parts.map((one) => one.getBoundingClientRect()).map(({ left, right, top, bottom }) =>
      // Lines of text have room above and below.
      ({ left: left + 2, right: right - 2, top: top + 3, bottom: bottom - 3 }));
    const meet = (one, other) => one.left < other.right && other.left < one.right
      && one.top < other.bottom && other.top < one.bottom;
    return parts.filter((_, at) => areas.some((area, other) => other > at && meet(areas[at], area)));
  };
  const covered = [...document.querySelectorAll("svg")].filter(visible).flatMap(among);
  const words = (one) => (one.value ?? one.textContent).trim().slice(0, 40);
  const told = (one) => `${one.localName}.${one.getAttribute("class")} ${words(one)}`;
  return Object.entries({ small, cut, wide, covered })
    .flatMap(([what, all]) => all.slice(0, 5).map((one) => `${what}: ${told(one)}`));
}"""
LEAST_PX = 9


def flaws(page: Page) -> list[str]:
    """Return what not everybody can read at any of WIDTHS: violations, small or covered text, cut fields, width."""
    before, found = page.viewport_size, []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found += [
            f"{width}: {one}"
            for one in (*violations(page), *page.evaluate(UNREADABLE, LEAST_PX), *page.evaluate(BROKEN))
        ]
    if before is not None:
        page.set_viewport_size(before)
    return found


def cut_on_paper(page: Page) -> list[str]:
    """Return what would be cut or broken on A4: wider or higher than its box. The page stays so."""
    page.set_viewport_size(PAPER)
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    # Parts of the page are drawn when it is about to be printed.
    drawn = "() => [...document.querySelectorAll('#loads-map, #paths-result')].every((one) => one.children.length)"
    page.wait_for_function(drawn)
    return [*page.evaluate(CUT), *page.evaluate(BROKEN)]


def looks_like(what: Page | Locator, name: str) -> None:
    """Compare a screenshot with the golden one: at most SHARE of the pixels differ; AILB_UPDATE_GOLDEN renews it."""
    path = GOLDEN / f"{name}.png"
    seen = Image.open(BytesIO(what.screenshot(animations="disabled"))).convert("RGB")
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        seen.save(path, optimize=True)
    golden = Image.open(path).convert("RGB")
    assert seen.size == golden.size, f"{name}: {seen.size}, golden {golden.size}"
    worst = ImageChops.difference(seen, golden).split()
    over = [channel.point(lambda value: 255 if value > CHANNEL else 0) for channel in worst]
    either = ImageChops.lighter(ImageChops.lighter(over[0], over[1]), over[2])
    share = either.histogram()[255] / (seen.size[0] * seen.size[1])
    if share > SHARE:
        seen.save(path.with_suffix(".seen.png"))
    assert share <= SHARE, f"{name}: {share:.2%} of the pixels differ, {SHARE:.0%} may"
