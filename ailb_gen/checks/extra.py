"""What `extra_config` asks for and nothing here reads: it stands in the file as the intent has it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ailb_gen.checks.model import Check, Severity
from ailb_gen.errors import Place, UsageError
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.reader import read
from ailb_gen.network.supported_statements import judged

if TYPE_CHECKING:
    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.checks.findings import Findings
    from ailb_gen.network.fabric import Network

EXTRA = Check(
    "AILB010",
    Severity.ERROR,
    "every harmless statement that the intent's extra_config asks for stands in the file as it is asked for",
    "a statement of extra_config is missing in the file, or has another value there",
    "An NTP server, a login or a collector that the intent asks for is another one on the switch, or not there.",
    "Generate the fabric again, or change extra_config when the file is right.",
)


def check_extra(intended: ExpectedFabric, network: Network, collected: Findings) -> None:
    """Compare the harmless statements of every switch with those asked for; the others have checks of their own."""
    for name, speaker in intended.speakers.items():
        switch = network.switches.get(name)
        if switch is None or not speaker.extra:
            continue
        for text in _asked(speaker.extra):
            collected.look(EXTRA)
            if text not in switch.harmless:
                message = f"extra_config asks for `{text}`, and the file has it not"
                collected.add(EXTRA, f"{name} {text}", message, Place(switch.file), text)


@lru_cache(maxsize=64)
def _asked(text: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(judged(effective(read(text, "extra_config.conf"))).harmless))
    except UsageError:
        # Groups in a circle: the file has them, too, and cannot be read.
        return ()
