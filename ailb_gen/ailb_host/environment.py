"""The variables of NCCL and UCX with the GID index that the NICs have now."""

from __future__ import annotations

from .files import INDEX, HostError, PlannedServer
from .gids import RdmaPort, own_addresses, v2_index


def first_color_index(host: PlannedServer, ports: list[RdmaPort], root: str) -> int:
    """Return the index of the first color's RoCE v2 GID, which must be the same on all NICs. Raises HostError."""
    first = {port.device: port for port in reversed(ports)}
    found: dict[int, list[str]] = {}
    for nic in host.nics:
        addresses, port = own_addresses(nic, root), first.get(nic.rdma)
        index = v2_index(port, addresses[0]) if port is not None and addresses else None
        if index is None:
            raise HostError(f"{nic.name}: no RoCE v2 GID of color {nic.colors[0].name}; run: ailb-host gids")
        found.setdefault(index, []).append(nic.name)
    if len(found) > 1:
        where = "; ".join(f"{index} on {', '.join(nics)}" for index, nics in sorted(found.items()))
        raise HostError(f"the index must be the same on all NICs, and is {where}; run: ailb-host gids")
    return next(iter(found))


def with_index(environment: dict[str, str], index: int) -> list[str]:
    """Return the environment of a job as lines for a shell."""
    return [f"export {name}={value}" for name, value in {**environment, INDEX: str(index)}.items()]
