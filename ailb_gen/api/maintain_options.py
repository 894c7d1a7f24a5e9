"""Options of a maintenance, with what tells of it and connects to its devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.generate import Format
from ailb_gen.deploy.push import Limits, Watch, unwatched
from ailb_gen.progress import Progress, Warn, quiet, unheeded
from ailb_gen.signals import NO_SIGNALS

if TYPE_CHECKING:
    from ailb_gen.api.connect import Connection

# Control traffic stays below this on every port, in bit/s: BFD sends some 100 packets of 100 octets a second at its
# shortest usual interval (0.1 Mb/s), BGP, neighbor discovery and LLDP far less. It is a millionth of a port of 800G.
QUIET_BPS = 1e6


@dataclass(frozen=True, slots=True)
class MaintainOptions:
    """Options of a maintenance; times are in seconds.

    `at_once` devices are worked on together; `floor` is the share of capacity in percent that every pair of leaves
    keeps; `max_failures` devices may fail before no other is begun. A port is quiet below `quiet_bps`, for which
    `wait_s` is waited; after the work a device and its peers have `back_s` to be as designed again; `pause_s` are
    between two looks. `templates` and `form` are those that the files were generated with. `approve` asks a question
    and returns how it was approved, empty for no. `tell` prints a line, `write` what a command prints.
    """

    at_once: int = 1
    floor: float = 50.0
    max_failures: int = 0
    quiet_bps: float = QUIET_BPS
    wait_s: float = 600.0
    back_s: float = 900.0
    pause_s: float = 5.0
    templates: Path | None = None
    form: Format = "curly"
    limits: Limits = field(default_factory=Limits)
    min_paths: int = 1
    approve: Callable[[str], str] = lambda question: "not asked"
    tell: Callable[[str], None] = lambda text: None
    write: Callable[[str], None] = lambda text: None
    warn: Warn = unheeded
    progress: Progress = quiet
    watch: Callable[[str], AbstractContextManager[Watch]] = unwatched
    signals: Callable[[], int] = NO_SIGNALS
    command: tuple[str, ...] = ()


# Gives a connection to devices by name, to all for none.
Connecting = Callable[[Sequence[str]], AbstractContextManager["Connection"]]
