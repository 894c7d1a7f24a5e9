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
    "every switch has what its file says, and below the owned hierarchies nothing else",
    "a switch has something else than its file says",
    "The switch was changed by hand, or a push was not finished: the files no longer describe it.",
    "Put the change into the fabric file, or run 'ailb-gen deploy' to undo it.",
)
STATE = _of_device(
    "AILBD03",
    "sessions, advertised prefixes, MTUs, next hops and the network of servers are what the files bring about",
    "a session, prefix, MTU, next hop, address, rule, route or gateway is missing or wrong",
    "Traffic of a color without its session moves to the backups, or is lost; packets over the MTU of a link are lost, "
    "and a next hop that is missing leaves its load to the others.",
    "Check the link, neighbor and group, or the NIC and table, that the message names; `drift` shows the statements.",
)
FILES = _of_device(
    "AILBD04",
    "every server has the files that were generated for it, unedited",
    "a server's files are not those that were generated for it",
    "The server's kernel may send packets another way than the fabric expects.",
    "Run 'ailb-gen deploy', or put the change into the fabric file.",
)
BESIDES = _of_device(
    "AILBD05",
    "nothing besides its file changes what a switch does for the fabric: groups, interface ranges, other hierarchies",
    "something besides its file changes what a switch does for the fabric",
    "A push leaves it alone, and the proof does not cover it: the files match, but the switch behaves differently.",
    "Delete it on the switch, or name it in the inventory: under 'own' to let a push remove it, or under 'keep'.",
)
NEXT_PUSH = _of_device(
    "AILBD06",
    "nothing on a switch keeps the next push from it: filters of logins, another port, ephemeral instances",
    "something on a switch may keep the next push from it",
    "The switch can be reached now, and perhaps not after the next change; an ephemeral instance acts unseen.",
    "Accept SSH and NETCONF in the filter, give the inventory the port, or remove what the message names.",
    severity=Severity.WARNING,
)
