"""The checks of waivers (AILB09x): every waiver counts, and is used."""

from __future__ import annotations

from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Severity

# `ailb_gen.checks.waivers` makes these.
EXPIRED = Check(
    "AILB090",
    "no waiver has expired",
    "a waiver has expired",
    "An expired waiver has no effect: the findings that it accepted count again, and fail the gate.",
    "Repair what the waiver was for and delete it, or agree on a new reason and date.",
    severity=Severity.WARNING,
    layer=Layer.REPETITIONS,
)
UNUSED = Check(
    "AILB091",
    "every waiver matches a finding",
    "a waiver matches no finding",
    "A waiver that matches nothing will hide the next finding that fits its scope.",
    "Delete the waiver; or correct its scope.",
    severity=Severity.NOTE,
    layer=Layer.REPETITIONS,
)
