"""The checks of files, topology and cabling as entries of the catalogue."""

from __future__ import annotations

from ailb_gen.checks.extra import EXTRA
from ailb_gen.checks.model import Check, Severity

AGAIN = "Generate the fabric again, and look at the difference before you commit it."

PRESENT = Check(
    "AILB001",
    Severity.ERROR,
    "every switch of the intent has a file",
    "a switch of the intent has no file",
    "A switch without a file keeps its old configuration, or none.",
    AGAIN,
)
READABLE = Check(
    "AILB002",
    Severity.ERROR,
    "every file can be read and is what its name says",
    "a file cannot be read, or is not what its name says",
    "What cannot be read cannot be pushed, and nothing about it was checked.",
    "Correct the syntax at the place given, or generate the file again.",
)
STRAY = Check(
    "AILB003",
    Severity.ERROR,
    "every switch file belongs to one switch of the intent",
    "a switch file belongs to no switch of the intent",
    "A stale file of a switch that was renamed or removed may be pushed to another one later.",
    "Delete the file, or add the switch to the intent.",
)
HOST_NAME = Check(
    "AILB004",
    Severity.ERROR,
    "host-name is the name of the file",
    "a host-name is not the name of the file",
    "The file would be pushed to one switch and make it call itself another; LLDP shows wrong neighbors.",
    "Correct system host-name.",
)
UNCHANGED = Check(
    "AILB005",
    Severity.WARNING,
    "every file is as it was generated, by the sha256 in manifest.json, and generated from this intent",
    "a file is not as it was generated, or was generated from another intent",
    "What was edited by hand is lost with the next generate, and was not reviewed in the intent.",
    "Put the change into the intent, extra_config or a template, and generate again.",
)
CABLES = Check(
    "AILB006",
    Severity.ERROR,
    "cabling.csv and topology.json have the same cables, and no port has two",
    "cabling.csv and topology.json differ, or a port has two cables",
    "Cables are pulled by one file and judged by the other.",
    AGAIN,
)
DESCRIPTIONS = Check(
    "AILB007",
    Severity.ERROR,
    "descriptions of cabled ports name the other end, or are the intent's; those of VLANs name their leaf",
    "a description is missing, or names something else than what is cabled",
    "A wrong description, a missing one, or a cable in the wrong port sends the next engineer to the wrong link.",
    "Move the cable in the files, or correct the description.",
)
TOPOLOGY_AGREES = Check(
    "AILB008",
    Severity.ERROR,
    "topology.json says of the fabric and of every device, color and link what the intent asks, and nothing else",
    "topology.json says something else than the intent",
    "Other tools read the topology; what it says wrongly they do wrongly.",
    AGAIN,
)
CABLING_AS_ASKED = Check(
    "AILB009",
    Severity.ERROR,
    "every leaf is cabled to every spine, and every NIC to the leaf of its rail, at the ports and speeds asked for",
    "a cable is missing, surplus, or at another port or speed than the intent asks for",
    "A missing or moved cable leaves a color without a path, or puts a GPU on another rail.",
    "Generate the fabric again; when the cables stay as they are, name their ports in the intent.",
)
CHECKS = (
    PRESENT, READABLE, STRAY, HOST_NAME, UNCHANGED, CABLES, DESCRIPTIONS, TOPOLOGY_AGREES, CABLING_AS_ASKED,
    EXTRA,
)  # fmt: skip
KINDS = {
    "unreadable": READABLE,
    "host-folder": READABLE,
    "stray-file": STRAY,
    "cabling": CABLES,
}
