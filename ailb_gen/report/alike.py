"""Headlines that say the same of many devices, so that a reader sees it once and how often it is so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ailb_gen.report.verdict import Headline

# What differs between the same mistake on two devices: names of both, ports, addresses, numbers.
NAME = re.compile(r"(?<![\w:./-])[\w:./-]*[0-9][\w:./-]*")
# Fewer are as short one by one.
FEWEST = 3


def alike(headlines: Sequence[Headline]) -> list[tuple[Headline, ...]]:
    """Return headlines in groups that differ in names and numbers alone, in the order of the first of each.

    Fewer than FEWEST of a kind stay apart.
    """
    kinds = [_kind(headline) for headline in headlines]
    groups: dict[object, list[Headline]] = defaultdict(list)
    for kind, headline in zip(kinds, headlines, strict=True):
        groups[kind].append(headline)
    rows: list[tuple[Headline, ...]] = []
    for kind, headline in zip(kinds, headlines, strict=True):
        group = groups[kind]
        if len(group) < FEWEST:
            rows.append((headline,))
        elif group[0] is headline:
            rows.append(tuple(group))
    return rows


def _kind(headline: Headline) -> tuple[object, ...]:
    """Return what two headlines have in common that are alike."""
    finding = headline.finding
    texts = (finding.part, finding.message, finding.expected, finding.found)
    # The device becomes a number: what has a digit in it is a name.
    shapes = (NAME.sub("#", text.replace(finding.device, "0")) for text in texts)
    return (finding.check, headline.waived is not None, *sorted(headline.by_check()), *shapes)
