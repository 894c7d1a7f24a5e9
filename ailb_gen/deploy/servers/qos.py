"""The RoCE settings that a server's NICs hold, as `ailb-qos verify` on the server compares them."""

import re
from collections.abc import Iterable, Iterator

from ailb_gen.checks import subjects as about
from ailb_gen.checks.model import Finding
from ailb_gen.deploy.switch_state import deviation

DIFFERENCE = re.compile(r"ailb-qos: ((?:([\w.-]{1,15})(?: \([\w.-]+\))?: )?[ -~]{1,300})")
EXIT = re.compile(r"exit (\d{1,3})")
# `timeout` ends a program with this code.
ENDED = 124


def read_qos(lines: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Read what `ailb-qos verify` said, then `exit CODE`: NICs, empty for all, and differences. Raises ValueError.

    Nothing was said where the script is not there, or is one without the verb.
    """
    *said, last = lines or ["exit 0"]
    code = EXIT.fullmatch(last)
    if code is None:
        raise ValueError("not the exit code of ailb-qos")
    found = tuple((one[2] or "", one[1]) for one in map(DIFFERENCE.fullmatch, said) if one is not None)
    if int(code[1]) and not found:
        reason = "does not end" if int(code[1]) == ENDED else f"fails with exit code {code[1]}"
        found = (("", f"ailb-qos verify {reason}; run it on the server"),)
    return found


def qos(name: str, differences: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    """Yield what a NIC holds otherwise than `ailb-qos` sets it."""
    for nic, difference in differences:
        yield deviation(name, "QoS", difference, *([about.nic(name, nic)] if nic else []))
