"""`--limit`: which devices a command is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ailb_gen.design.model import Design


def device_roles(design: Design) -> dict[str, str]:
    """Return every device's role by name."""
    rows = {switch.name: str(switch.role) for switch in design.switches}
    return rows | {server.name: "server" for server in design.servers}
