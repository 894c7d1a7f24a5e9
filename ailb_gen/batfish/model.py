"""Protocol and data types of a Batfish service, without importing pybatfish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

# One row of an answer, by column: str, int, bool, None, or a list of these.
Row = dict[str, object]
# Waits for the rows of an answer, and for all that was asked of the service before. Raises BatfishError.
Answer = Callable[[], list[Row]]


class Batfish(Protocol):
    """A Batfish service with a network of its own.

    Everything that it is asked for it does in the background, in that order. What fails is raised as BatfishError by
    the first answer that is waited for, in the order of asking.

    `version` is the service's. `left_behind` is empty, or says, once everything is done, what could not be deleted.
    """

    version: str
    left_behind: str

    def upload(self, snapshot: str, folder: Path) -> None:
        """Upload a snapshot to the service for parsing; `folder` holds `configs/`."""

    def fork(
        self, base: str, snapshot: str, nodes: Sequence[str] = (), interfaces: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Copy a snapshot without some nodes and interfaces (node, name), which Batfish takes on trust."""

    def ask(self, question: str, snapshot: str, reference: str | None = None, **parameters: object) -> Answer:
        """Ask; return what waits for the answer. `dst_ips` and `start` constrain the header and the start of flows."""
