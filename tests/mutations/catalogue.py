"""All kinds of damage."""

from __future__ import annotations

from tests.mutations.kind import Kind
from tests.mutations.kinds import (
    additions,
    balance,
    colors,
    cos,
    files,
    gateways,
    host_extras,
    host_scripts,
    host_settings,
    netplan,
    numbers,
    policies,
    ports,
    server_kinds,
    sessions,
    statements,
    syntax,
    topology,
)

MODULES = (
    files,
    topology,
    ports,
    gateways,
    sessions,
    numbers,
    colors,
    policies,
    balance,
    cos,
    netplan,
    host_extras,
    host_scripts,
    host_settings,
    additions,
    server_kinds,
    statements,
    syntax,
)
KINDS: tuple[Kind, ...] = tuple(row for module in MODULES for row in module.KINDS)
