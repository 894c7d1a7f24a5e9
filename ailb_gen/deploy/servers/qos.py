"""The RoCE settings that a server's NICs hold, as `ailb-qos verify` on the server compares them."""

import re
from collections.abc import Iterable, Iterator

from ailb_gen.checks import subjects as about
from ailb_gen.checks.model import Finding
from ailb_gen.deploy.switch_state import deviation

# Of a long line, or one with other letters, the beginning.
DIFFERENCE = re.compile(r"ailb-qos: ((?:([\w.-]{1,15})(?: \([\w.-]+\))?: )?[ -~]{1,300})", re.ASCII)
EXIT = re.compile(r"exit (\d{1,3})")
# All is right, there are differences, a program is missing; and the code with which `timeout` ends a program.
CODES, ENDED = (0, 1, 3), 124


def read_qos(lines: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Read what `ailb-qos verify` said, then `exit CODE`: NICs, empty for all, and differences. Raises ValueError.

    What it said is not all when it was ended, or failed in another way: this is told, too.
    """
    *said, last = lines or [""]
    exited = EXIT.fullmatch(last)
    if exited is None:
        raise ValueError("not the exit code of ailb-qos")
    code = int(exited[1])
    found = tuple((one[2] or "", one[1]) for one in map(DIFFERENCE.match, said) if one is not None)
    if code not in CODES or (code and not found):
        reason = "does not end" if code == ENDED else f"fails with exit code {code}"
        found += (("", f"ailb-qos verify {reason}; run it on the server"),)
    return found


def qos(name: str, differences: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    """Yield what a NIC holds otherwise than `ailb-qos` sets it."""
    for nic, difference in differences:
        yield deviation(name, "QoS", difference, *([about.nic(name, nic)] if nic else []))
