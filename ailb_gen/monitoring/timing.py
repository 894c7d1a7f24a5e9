"""How often switches are sampled and rules evaluated, so that an alert fires within two scrape intervals of its cause.

Prometheus has one sample of a counter per scrape, and its age is up to the time between two samples of the switch. The
first rate after a fault mixes the time before and after it, the second one holds nothing of the time before. A fault
that comes late between two samples leaves two scrapes in time for the second rate. After one that comes in the first
fifth, the second rate is too late: the first one, of which at least four fifths are after the fault, must do. Hence a
sample and an evaluation together may take a fifth of a scrape interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ailb_gen.exports.sensors import STEP_S

# The part of a rate that may be of the time before a fault and still tells it.
MIXED = 0.2
# Links whose rules Prometheus evaluates in half a second of a processor: with more, evaluations come less often.
LINKS_PER_S = 1000
# Scrapes whose samples rates use: two, also when two in a row have failed.
SAMPLES = 4


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds of everything that repeats, by those between two scrapes.

    MIXED holds from 15 s on, in fabrics of up to LINKS_PER_S `links` for each fifteenth of it.
    """

    scrape_s: int
    links: int = 0

    @property
    def counters_s(self) -> int:
        """Between two samples of counters and states of ports."""
        return STEP_S * max(1, self.scrape_s // 15)

    @property
    def sessions_s(self) -> int:
        """Between two samples of sessions, which no load is compared with."""
        return STEP_S * max(1, self.scrape_s // 7)

    @property
    def evaluation_s(self) -> int:
        """Between two evaluations of the rules: they come soon after a scrape, whose moment Prometheus chooses."""
        return min(self.scrape_s, max(1, self.scrape_s // 15, math.ceil(self.links / LINKS_PER_S)))

    @property
    def window_s(self) -> int:
        """Of which rates and states of ports use the last samples."""
        return SAMPLES * self.scrape_s

    @property
    def sessions_window_s(self) -> int:
        """For which a session counts after its last sample: a neighbor that was discovered vanishes with it."""
        return 2 * self.scrape_s + self.sessions_s

    @property
    def recent_s(self) -> int:
        """For which rates may hold traffic of before a port or a session came back."""
        return 2 * self.scrape_s
