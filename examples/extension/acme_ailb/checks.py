"""ACME's policies as checks of `ailb-gen validate`."""

from ailb_gen import Check, Findings
from ailb_gen.extend import FabricFiles


def _spare_ports(files: FabricFiles, findings: Findings) -> None:
    """Report every switch that has fewer than two ports left."""
    for switch in files.network.switches.values():
        findings.look(SPARE_PORTS)
        left = MOST_PORTS - len(switch.ports)
        if left < SPARE:
            findings.at(SPARE_PORTS, switch, f"{left} ports are left", expected=f"at least {SPARE}", found=left)


MOST_PORTS, SPARE = 64, 2
SPARE_PORTS = Check(
    "ACME001",
    "every switch has two spare ports",
    "a switch has fewer than two spare ports",
    "A broken optic could not be moved to another port.",
    "Use a larger platform, or fewer servers per stripe.",
    _spare_ports,
)
CHECKS = [SPARE_PORTS]
