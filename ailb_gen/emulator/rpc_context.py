"""What an operational command may know of the emulated device that it runs on, and how it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lxml import etree

if TYPE_CHECKING:
    from ailb_gen.emulator.fabric_state import FabricState
    from ailb_gen.junos.tree import Node


@dataclass(frozen=True, slots=True)
class Commit:
    """One entry of the commit history.

    `sequence` is 0 for the newest; `client` is `netconf`, `cli` or `other`; `when` is in seconds since 1970; `comment`
    is what Junos says itself (`commit confirmed, rollback in 2mins`, or nothing), `log` what the user said;
    `revision` is `re0-<seconds>-<number>`.
    """

    sequence: int
    user: str
    client: str
    when: float
    comment: str
    log: str
    revision: str


class RpcContext(Protocol):
    """The device that an operational command runs on."""

    @property
    def name(self) -> str:
        """The name under which `fabric` knows the device."""

    @property
    def fabric(self) -> FabricState:
        """All devices and the cables between them."""

    @property
    def started(self) -> float:
        """When the device booted, in seconds since 1970."""

    @property
    def model(self) -> str:
        """The product model, such as `QFX5240-64OD`."""

    @property
    def version(self) -> str:
        """The Junos release, such as `25.4R1.12-EVO`."""

    @property
    def serial(self) -> str:
        """The serial number of the chassis."""

    def now(self) -> float:
        """Return the time of the device, in seconds since 1970."""

    def commits(self) -> tuple[Commit, ...]:
        """Return the commit history, newest first."""

    def committed(self) -> Node:
        """Return the active configuration, as written: groups are not applied."""

    def logins(self) -> tuple[tuple[str, str, float], ...]:
        """Return the open sessions: user, client (`cli`, `netconf`), and since when in seconds since 1970."""

    def alarms(self) -> tuple[str, ...]:
        """Return the descriptions of the active chassis alarms, such as `FPC 0 Hard errors`."""


# The <rpc> element's one child, without namespaces, to the one child of <rpc-reply>; raises RefusedError.
Operation = Callable[[RpcContext, etree._Element], etree._Element]
