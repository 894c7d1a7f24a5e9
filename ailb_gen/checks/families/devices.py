"""The checks of devices, which `drift` and `verify` make: rows of the catalogue, so that every report takes them."""

from __future__ import annotations

from functools import partial

from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Severity

_of_device = partial(Check, layer=Layer.REPETITIONS)
REACHED = _of_device(
    "AILBD01",
    "every managed device can be reached and read",
    "a device cannot be reached or read",
    "Nothing is known about a device that cannot be read.",
    "Correct what the message names: the management network, the login, the host key, or the device's configuration.",
)
DRIFT = _of_device(
    "AILBD02",
    "the configuration of every switch matches its file, and owned hierarchies have nothing else",
    "the configuration of a switch differs from its file",
    "The switch was changed by hand, or a push did not finish: the files no longer describe it.",
    "Put the change into the fabric file, or run 'ailb-gen deploy' to undo it.",
)
STATE = _of_device(
    "AILBD03",
    "sessions, advertised prefixes, MTUs, next hops and the network settings of servers are as expected from the files",
    "a session, prefix, MTU, next hop, address, rule, route or gateway is missing or wrong",
    "Traffic of a color without its session moves to the backups, or is lost; packets over the MTU of a link are lost, "
    "and a next hop that is missing leaves its load to the others.",
    "Check the link, neighbor and group, or the NIC and table, that the message names; `drift` shows the statements.",
)
FILES = _of_device(
    "AILBD04",
    "every server has the files that were generated for it, unedited",
    "a server's files are not those that were generated for it",
    "The server's kernel may route packets differently than the fabric expects.",
    "Run 'ailb-gen deploy', or put the change into the fabric file.",
)
BESIDES = _of_device(
    "AILBD05",
    "no unmanaged statement affects the fabric: groups, interface ranges, other hierarchies",
    "an unmanaged statement of a switch affects the fabric",
    "A push does not change it, and validation does not cover it: the files match, but the switch behaves differently.",
    "Delete it on the switch, or name it in the inventory: under 'own' to let a push remove it, or under 'keep'.",
)
NEXT_PUSH = _of_device(
    "AILBD06",
    "nothing on a switch blocks the next push: login filters, another port, ephemeral instances",
    "a statement on a switch may block the next push",
    "The switch may be unreachable after the next change; the effect of an ephemeral instance is not visible.",
    "Accept SSH and NETCONF in the filter, give the inventory the port, or remove what the message names.",
    severity=Severity.WARNING,
)
