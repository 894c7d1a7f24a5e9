"""Plain ECMP beside the colors: the leaves keep a second routing table in which AIGP does not count, by DSCP.

BIRD fills the table while the protocols are enabled; packets of one DSCP use it. All other traffic stays where it was.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from ailb_gen.errors import LabError
from ailb_gen.lab.bird.model import ECMP_KERNEL, ECMP_PIPE, ECMP_TABLE
from ailb_gen.lab.kernel import BIRD, routes, rules
from ailb_gen.lab.namespaces import batch
from ailb_gen.lab.plan import LabPlan
from ailb_gen.lab.routers import bird_of
from ailb_gen.lab.traffic.model import TrafficLoad

# A DSCP that no class of service of a fabric uses, and where the rule stands.
DSCP = 25
RULE = f"dsfield {DSCP << 2:#x} lookup {ECMP_TABLE} priority {ECMP_TABLE}"
PATIENCE_S = 30.0


def by_ecmp(load: TrafficLoad) -> TrafficLoad:
    """Return a load whose packets use the table without AIGP."""
    return replace(load, dscp=DSCP)


@contextmanager
def ecmp(plan: LabPlan) -> Iterator[None]:
    """Have the leaves keep the table, until the block ends. Raises LabError."""
    leaves = [name for name, switch in plan.switches.items() if switch.role == "leaf"]
    with ExitStack() as stack:
        for name in leaves:
            bird = bird_of(name)
            for protocol in (ECMP_PIPE, ECMP_KERNEL):
                bird.command(f"enable {protocol}")
                stack.callback(bird.command, f"disable {protocol}")
            # A run that was killed has left its rule.
            if not any(rule.table == ECMP_TABLE for rule in rules(name)):
                batch([f"rule add {RULE}"], name, "-6")
            stack.callback(batch, [f"rule del {RULE}"], name, "-6")
        until = time.monotonic() + PATIENCE_S
        for name in leaves:
            while routes(name, ECMP_TABLE, BIRD).keys() != routes(name, protocol=BIRD).keys():
                if time.monotonic() > until:
                    raise LabError(f"{name}: the routes without AIGP are missing after {PATIENCE_S:g} s")
                time.sleep(0.05)
        yield
