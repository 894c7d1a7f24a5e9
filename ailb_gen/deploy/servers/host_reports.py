"""What the programs of a server report about it: `ailb-qos verify` of the NICs' settings, `ailb-host gids` of GIDs."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.checks import subjects as about
from ailb_gen.checks.model import Finding
from ailb_gen.deploy.switch_state import deviation
from ailb_gen.layout import ENVIRONMENT, HOST_FILE, HOST_PROGRAM, QOS

# Of a long line, or one with other letters, the beginning.
DIFFERENCE = re.compile(r"ailb-(?:qos|host): ((?:([\w.-]{1,15})(?: \([\w.-]+\))?: )?[ -~]{1,300})", re.ASCII)
EXIT = re.compile(r"exit (\d{1,3})")
# All is right, there are differences, there is no answer; and the code with which `timeout` ends a program.
CODES, ENDED = (0, 1, 3), 124
# How `ailb-host gids` reports a NIC that has lost its RDMA device, and with it settings of QoS.
NO_DEVICE = "there is no RDMA device"
# NICs, empty for all, and how they differ.
Report = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reporter:
    """A program that reports: its command, the item of its findings, and the files that its report follows from."""

    command: str
    item: str
    files: tuple[str, ...]


# By the section of the probe.
REPORTERS = {
    "qos": Reporter("ailb-qos verify", "QoS", (QOS,)),
    "gids": Reporter("ailb-host gids", "GID", (HOST_PROGRAM, HOST_FILE, ENVIRONMENT)),
}


def read_report(lines: Iterable[str], command: str) -> Report:
    """Read a program's messages, then `exit CODE`. Raises ValueError.

    What it said is not all when it was ended, or failed in another way: this is told, too.
    """
    *said, last = lines or [""]
    exited = EXIT.fullmatch(last)
    if exited is None:
        raise ValueError(f"not the exit code of {command}")
    code = int(exited[1])
    found = tuple((one[2] or "", one[1]) for one in map(DIFFERENCE.match, said) if one is not None)
    if code not in CODES or (code and not found):
        reason = "does not end" if code == ENDED else f"fails with exit code {code}"
        found += (("", f"{command} {reason}; run it on the server"),)
    return found


def reported(
    name: str, reports: Mapping[str, Report], wrong_files: Container[str], wrong_nics: Container[str]
) -> Iterator[Finding]:
    """Yield what programs report, but nothing that follows from wrong files, or from wrong links and addresses.

    GIDs are those of a NIC's addresses, and settings of QoS those of its RDMA device: once these are right, the next
    report tells whether the others are, too.
    """
    absent = {nic for nic, difference in reports.get("gids", ()) if NO_DEVICE in difference}
    follows = {"qos": absent, "gids": wrong_nics}
    for section, report in reports.items():
        reporter = REPORTERS[section]
        if any(file in wrong_files for file in reporter.files):
            continue
        for nic, difference in report:
            if nic not in follows[section]:
                yield deviation(name, reporter.item, difference, *([about.nic(name, nic)] if nic else []))
