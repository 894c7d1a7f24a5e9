"""Whether the files are of another fabric than the intent: then that is the cause of all other findings."""

from __future__ import annotations

import re

from ailb_gen.checks.context import Context
from ailb_gen.errors import OutputError
from ailb_gen.layout import TOPOLOGY
from ailb_gen.manifest import read_any
from ailb_gen.validation import NAME_PATTERN


def other_fabric(context: Context) -> str:
    """Return what to say when topology and manifest, as far as they are there, both name one other fabric; else empty.

    The text has nothing of the files but names that the intent could have, too, so that it means nothing in Markdown.
    """
    own = context.fabric.name
    named = {
        str(record.fields["fabric"])
        for record in context.records.get(TOPOLOGY, ())
        if (record.kind, record.key) == ("value", "fabric")
    }
    try:
        manifest = read_any(context.root)
    except OutputError:
        # The manifest has a check of its own.
        manifest = None
    named |= {manifest.fabric} if manifest is not None else set()
    other = named.pop() if len(named) == 1 else own
    if other == own or not re.fullmatch(NAME_PATTERN, other):
        return ""
    asked = {*context.expected.switches, *context.hosts}
    there = {*context.network.switches, *context.network.hosts}
    return (
        f"these files are of the fabric {other}, not of {own}: the intent has {len(asked)} devices, the files have "
        f"{len(there)}, and {len(asked & there)} names are in both; "
        f"name the fabric file of {other}, or the directory of {own}"
    )
