"""The checks of `inventory pull`, which compares the intent with a source of truth: rows of the catalogue."""

from __future__ import annotations

from functools import partial

from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Severity

_of_source = partial(Check, layer=Layer.REPETITIONS)
MISSING = _of_source(
    "AILBS01",
    "every device of the fabric is in the source of truth once, at its site",
    "a device of the fabric is missing there, or its name is there twice",
    "Nothing is known there about its ports, cables and addresses; of two devices with one name, one is mistaken for "
    "the other.",
    "Create or rename the device there, or take it out of the fabric file.",
)
FOREIGN = _of_source(
    "AILBS02",
    "no device there belongs to the fabric and is missing in the intent",
    "a device there has the fabric's tag, or a cable to its switches, and is not in the intent",
    "A server that the intent lacks gets no addresses and no tables; a switch carries no traffic.",
    "Add it to the fabric file, or to its CSV file by 'inventory pull'; or remove tag and cable there.",
    severity=Severity.WARNING,
)
ROLE = _of_source(
    "AILBS03",
    "every device has its role, device type and platform there",
    "a device has another role, device type or platform there",
    "Ports and software of another device type differ: the generated files do not fit the device.",
    "Correct the device there, or 'platform' in the fabric file.",
)
STATUS = _of_source(
    "AILBS04",
    "devices are active there, and cables connected",
    "a device or cable is planned, offline or in another state there",
    "What is not in service carries nothing: colors over it have fewer paths.",
    "Correct the status there, or take the device or cable out of service: 'drain' in the fabric file.",
    severity=Severity.WARNING,
)
INTERFACE = _of_source(
    "AILBS05",
    "every cabled port and NIC is there and enabled",
    "an interface is missing or disabled there",
    "A cable cannot end at an interface that is missing; a disabled one carries nothing.",
    "Create or enable the interface there, or correct its name.",
)
CABLE = _of_source(
    "AILBS06",
    "cables connect the same ports there as in the intent",
    "a cable is missing there, or connects other ports",
    "With cables that were moved, descriptions and the ports of servers are wrong, and links get another color.",
    "Correct the cable there, or take it over: 'cabling: {csv: cabling.csv}' in the fabric file.",
)
MAC = _of_source(
    "AILBS07",
    "every NIC has one MAC address there, that of the intent, and no other NIC has it",
    "a MAC address differs, is missing, or is on two NICs",
    "netplan finds NICs by their MAC addresses: a wrong one leaves a NIC without configuration, or swaps rails.",
    "Read the address on the server ('ip link'), and correct it there or in the intent.",
)
MANAGEMENT = _of_source(
    "AILBS08",
    "every device has the management address of the intent, and no two share one",
    "a management address differs, or two devices have it",
    "A push would reach another device, or none.",
    "Correct the primary address there, or take it over: 'management: {csv: switches.csv}' or 'servers: {csv: "
    "servers.csv}'.",
)
PLACE = _of_source(
    "AILBS09",
    "the NICs of a server are cabled to the leaves of one stripe, each to that of its rail",
    "a NIC is cabled to a leaf of another stripe or rail",
    "The NIC gets the prefixes of a leaf that it is not connected to: its addresses are unreachable.",
    "Move the cable, or correct it there.",
)
