"""How tests judge a page: accessibility, and what it looks like."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from PIL import Image, ImageChops
from playwright.sync_api import Locator, Page

GOLDEN = Path(__file__).parent / "golden"
# A pixel differs when any channel does by more than this; fonts are smoothed a little differently by every release.
CHANNEL = 48
# So many of the pixels may differ.
SHARE = 0.01
SERIOUS = {"serious", "critical"}


def violations(page: Page) -> list[str]:
    """Return what axe-core calls serious or critical: rule, and the elements that break it."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {'; '.join(str(node['target']) for node in one['nodes'][:5])}"
        for one in found
        if one["impact"] in SERIOUS
    ]


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
