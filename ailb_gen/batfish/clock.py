"""How long to wait between two looks at a piece of work that the service does."""

from __future__ import annotations

# Seconds between two looks at a piece of work, while it is young.
POLL_S = 0.01
# Later it is looked at after this part of the work's age.
SHARE = 20
LONGEST_S = 1.0


def nap_s(age_s: float) -> float:
    """Return for how many seconds to sleep before looking at work of this age (seconds) again: most takes little."""
    return min(LONGEST_S, max(POLL_S, age_s / SHARE))
