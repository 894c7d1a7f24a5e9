"""What the reader and the writer know of the statements of Junos.

Most of Junos text explains itself; these tables hold what does not. Source: `junos:cli-feature` and `key` of
Juniper's YANG models, and what devices print.
"""

from __future__ import annotations

# Words that start an entry of a list, and how many keys follow them.
KEYS: dict[str, int] = {"unit": 1}

# One-line statements that hold several attributes of an object: (word before, word) to the number of keys and the
# attributes with the number of values each takes (YANG: junos:cli-feature "oneliner").
ONELINERS: dict[tuple[str, str], tuple[int, dict[str, int]]] = {
    ("forwarding-classes", "class"): (1, {"queue-num": 1, "no-loss": 0, "pfc-priority": 1}),
}
ONELINER_WORDS = frozenset(word for _, word in ONELINERS)
