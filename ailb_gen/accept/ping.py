"""`ailb-host ping` of every server to its peers: a sample in which each NIC and color has its turn, or all pairs."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.accept.flows import Addresses, FabricNic, peers, with_addresses
from ailb_gen.accept.hosts import ANSWER_S, ask_host, wrong_answer
from ailb_gen.deploy.servers.files import whole
from ailb_gen.deploy.servers.ssh import ServerConnection

# A server sends 5,000 probes per second, four to a pair: half of that is patience enough.
PAIRS_PER_S = 600


@dataclass(frozen=True, slots=True)
class Lost:
    """Probes that a NIC of a server got no answer to, and why as far as it is known."""

    nic: str
    color: str
    source: str
    target: str
    probes: int
    lost: int
    reason: str

    def __str__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        probes = f"{self.lost} of {self.probes} probes of color {self.color}"
        return f"{self.nic}: {probes} from {self.source} to {self.target} are lost{why}"


@dataclass(frozen=True, slots=True)
class PingAnswer:
    """The answer of a server: how many pairs it probed, those with loss, and the slowest answer."""

    pairs: int
    lost: tuple[Lost, ...]
    slowest_us: float


# By server, the addresses of others that it probes, as `ailb-host ping` reads them.
Targets = Mapping[str, Sequence[Mapping[str, object]]]


def targets_of(nics: Sequence[FabricNic], addresses: Addresses, everything: bool) -> Targets:
    """Return whom every server probes: the peer of each of its NICs, or all NICs of its rails on other servers."""
    usable = with_addresses(nics, addresses)
    pairs = (
        (
            (one, other)
            for one in usable
            for other in usable
            if one.rail == other.rail and one.end.device != other.end.device
        )
        if everything
        else peers(usable)
    )
    found: dict[str, dict[str, dict[FabricNic, None]]] = defaultdict(lambda: defaultdict(dict))
    for one, other in pairs:
        found[one.end.device][other.end.device][other] = None
    return {
        server: [{"server": name, "addresses": list(_rows(row, addresses))} for name, row in targets.items()]
        for server, targets in found.items()
    }


def _rows(nics: Mapping[FabricNic, None], addresses: Addresses) -> Iterator[dict[str, object]]:
    for nic in nics:
        for color, _ in nic.prefixes:
            address = addresses.get((nic.end.device, nic.end.port, color))
            if address is not None:
                yield {"nic": nic.end.port, "rail": nic.server_rail, "color": color, "address": address}


def ping_server(targets: Targets, name: str, server: ServerConnection) -> PingAnswer:
    """Let a server probe its targets. Raises DeviceError."""
    data = "\n".join(json.dumps(row) for row in targets[name])
    most_s = ANSWER_S + data.count('"address":') / PAIRS_PER_S
    answer = ask_host(server, "ping", "--peers", "-", "--json", data=data, timeout_s=most_s)
    try:
        rows = [
            Lost(
                str(row["nic"]),
                str(row["color"]),
                str(row["source"]),
                f"{row['server']}:{row['target_nic']}",
                whole(row["probes"]),
                whole(row["lost"]),
                "; ".join(filter(None, (str(row.get("error") or ""), str(row.get("check") or "")))),
            )
            for row in answer["pairs"]
        ]
        times = [float(time) for row in answer["pairs"] for time in row["times_us"]]
    except (KeyError, TypeError, ValueError) as error:
        raise wrong_answer(name, "ping", error) from error
    usable = (time for time in times if math.isfinite(time))
    return PingAnswer(len(rows), tuple(row for row in rows if row.lost > 0), max(usable, default=0.0))
