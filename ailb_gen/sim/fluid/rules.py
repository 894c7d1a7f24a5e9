"""Rules by which load balancers choose paths for flows."""

from ailb_gen.errors import UsageError
from ailb_gen.sim.settings import BalancerSettings

# How a balancer chooses: a member by hash; the one with the least load; the one by which the most loaded of two links
# has the least; all evenly.
HASHED, LEAST_LOADED, LEAST_LOADED_NEXT, SPREAD = range(4)
RULES = {
    "ecmp": HASHED,
    "spray": SPREAD,
    "adaptive": SPREAD,
    "drill": SPREAD,
    "letflow": HASHED,
    "flowlet": HASHED,
    "conga": HASHED,
    "conweave": HASHED,
    "dlb": LEAST_LOADED,
    "dlb-per-packet": SPREAD,
    "dlb-assigned-flow": LEAST_LOADED,
    "glb": LEAST_LOADED_NEXT,
    "rlb": LEAST_LOADED,
    "flowbender": HASHED,
    "hopper": HASHED,
}


def rule_of(balancer: BalancerSettings) -> int:
    """Return how a load balancer chooses paths; raises UsageError."""
    if balancer.name not in RULES:
        raise UsageError(
            f"{balancer.name}: flows have no rule for this load balancer; simulate packets, or use one of "
            f"{', '.join(RULES)}"
        )
    if not balancer.parameters.get("dynamic", 1):
        return HASHED
    return RULES[balancer.name]
