"""What load balancers are to flows: how they choose paths."""

from ailb_gen.errors import UsageError

# How a balancer chooses: a member by hash; the one with the fewest flows; the one behind which there are the fewest,
# too; all evenly.
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


def rule_of(balancer: str) -> int:
    """Return how a load balancer chooses paths; raises UsageError."""
    if balancer not in RULES:
        raise UsageError(
            f"{balancer}: flows have no rule for this load balancer; simulate packets, or use one of {', '.join(RULES)}"
        )
    return RULES[balancer]
