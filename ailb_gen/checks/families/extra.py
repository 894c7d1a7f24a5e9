"""Check that the harmless statements of `extra_config` are in the file as the intent has them (AILB010)."""

from __future__ import annotations

from functools import lru_cache

from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import UsageError
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.reader import read
from ailb_gen.network.supported_statements import judged


def _check_extra(context: Context, findings: Findings) -> None:
    """Compare the harmless statements of every switch with those asked for; the others have checks of their own."""
    for switch, expected in context.switches:
        for text in _asked(expected.extra) if expected.extra else ():
            findings.look(EXTRA)
            if text not in switch.harmless:
                message = f"extra_config asks for `{text}`, and the file lacks it"
                findings.at(EXTRA, switch, message, expected=text, part=text, statement=text)


@lru_cache(maxsize=64)
def _asked(text: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(judged(effective(read(text, "extra_config.conf"))).harmless))
    except UsageError:
        # Groups in a circle: the file has them, too, and cannot be read.
        return ()


EXTRA = Check(
    "AILB010",
    "every harmless statement that the intent's extra_config asks for is in the file as it is asked for",
    "a statement of extra_config is missing in the file, or has another value there",
    "The switch lacks an NTP server, a login or a collector that the intent asks for, or has another one.",
    "Generate the fabric again, or change extra_config when the file is right.",
    _check_extra,
)
