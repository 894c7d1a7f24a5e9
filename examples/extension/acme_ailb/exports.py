"""The servers as lines for ACME's hosts file."""

from ailb_gen import Design


def hosts(design: Design) -> str:
    """Return a line for each server that has a management address."""
    return "".join(f"{server.management} {server.name}\n" for server in design.servers if server.management)
