"""Zero-touch provisioning: a day-0 configuration per switch, with which `ailb-gen deploy` can log in.

Nothing of the data plane is in it, and nothing secret: users log in by SSH keys, of which it has the public halves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ailb_gen.design.model import Design, DesignManagement, DesignSwitch
from ailb_gen.errors import UsageError
from ailb_gen.exports.kind import ExportInput, Files
from ailb_gen.render.environment import Templates
from ailb_gen.textio import read_text

USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", re.ASCII)
# The statement of Junos for each algorithm of OpenSSH.
KINDS = {
    "ssh-ed25519": "ssh-ed25519",
    "ssh-rsa": "ssh-rsa",
    "ecdsa-sha2-nistp256": "ssh-ecdsa",
    "ecdsa-sha2-nistp384": "ssh-ecdsa",
    "ecdsa-sha2-nistp521": "ssh-ecdsa",
}


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key of SSH: the statement of Junos, and the line of OpenSSH without its comment."""

    kind: str
    line: str


def managed(design: Design) -> list[tuple[DesignSwitch, DesignManagement]]:
    """Return all switches with their management ports. Raises UsageError where one has no address."""
    rows = [(switch, switch.management) for switch in design.switches if switch.management is not None]
    if len(rows) < len(design.switches):
        lacking = next(switch.name for switch in design.switches if switch.management is None)
        reason = f"{lacking} has no management address"
        raise UsageError(f"{reason}; add management: {{leaves: ADDRESS/LENGTH, spines: ADDRESS/LENGTH}} to the fabric")
    return rows


def day0(given: ExportInput) -> Files:
    """Return `NAME.conf` for every switch.

    Raises UsageError without a key, for a file that has none, for an unusable user, and without management addresses.
    """
    options = given.boot
    if USER.fullmatch(options.user) is None:
        raise UsageError(f"--ztp-user {options.user[:80]!r} is no name of a user; write one such as automation")
    if not options.ssh_keys:
        raise UsageError("name the public key of those who may log in: --ssh-key FILE, such as ~/.ssh/id_ed25519.pub")
    keys = tuple(dict.fromkeys(key for file in options.ssh_keys for key in read_keys(file)))
    templates, files = Templates(), dict[str, bytes]()
    for switch, _ in managed(given.design):
        values = {"device": switch, "design": given.design, "keys": keys, "user": options.user}
        files[f"{switch.name}.conf"] = templates.render("ztp/day0.conf.j2", switch.name, values).encode()
    return files


def read_keys(file: Path) -> list[PublicKey]:
    """Read the public keys of a file, one per line as OpenSSH writes them. Raises UsageError; shows none of a line."""
    import asyncssh  # noqa: PLC0415 - it takes long to load, and other exports use none of it

    found = []
    for number, line in enumerate(read_text(file, str(file)).splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place = f"--ssh-key {file}: line {number}"
        if "PRIVATE KEY" in line:
            raise UsageError(f"{place}: this is a private key; name the file of its public half, which ends in .pub")
        try:
            key = asyncssh.import_public_key(line)
        except asyncssh.KeyImportError:
            reason = "not a public key as OpenSSH writes it, such as ssh-ed25519 AAAA..."
            raise UsageError(f"{place}: {reason}") from None
        words = key.export_public_key("openssh").decode().split()
        if words[0] not in KINDS:
            raise UsageError(f"{place}: Junos takes no {words[0]} key; use one of {', '.join(KINDS)}")
        # A comment is free text, which a configuration does not need.
        found.append(PublicKey(KINDS[words[0]], " ".join(words[:2])))
    if not found:
        raise UsageError(f"--ssh-key {file}: the file has no public key")
    return found
