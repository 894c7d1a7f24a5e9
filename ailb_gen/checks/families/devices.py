"""The checks of devices, which `drift` and `verify` make: rows of the catalogue, so that every report takes them."""

from __future__ import annotations

from ailb_gen.checks.model import Check

REACHED = Check(
    "AILBD01",
    "every managed device can be reached and read",
    "a device cannot be reached or read",
    "Nothing is known about a device that cannot be read.",
    "Check the management network, the login and the host key that the message names.",
)
DRIFT = Check(
    "AILBD02",
    "every switch has what its file says, and below the owned hierarchies nothing else",
    "a switch has something else than its file says",
    "The switch was changed by hand, or a push was not finished: the files no longer describe it.",
    "Put the change into the fabric file, or run 'ailb-gen deploy' to undo it.",
)
STATE = Check(
    "AILBD03",
    "sessions are up, prefixes sent with color and AIGP; servers have their addresses, rules, routes and gateways",
    "a session, prefix, address, rule, route or gateway is missing or wrong",
    "Traffic of a color without its session moves to the backups, or is lost.",
    "Check the link, neighbor and group, or the NIC and table, that the message names.",
)
FILES = Check(
    "AILBD04",
    "every server has the files that were generated for it, unedited",
    "a server's files are not those that were generated for it",
    "The server's kernel may send packets another way than the fabric expects.",
    "Run 'ailb-gen deploy', or put the change into the fabric file.",
)
BESIDES = Check(
    "AILBD05",
    "nothing besides its file changes what a switch does for the fabric: groups, interface ranges, other hierarchies",
    "something besides its file changes what a switch does for the fabric",
    "A push leaves it alone, and the proof does not cover it: the files match, but the switch behaves differently.",
    "Delete it on the switch, or name it in the inventory: under 'own' to let a push remove it, or under 'keep'.",
)
