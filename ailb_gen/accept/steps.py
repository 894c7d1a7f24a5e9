"""The steps of an acceptance in order: verify, GIDs, ping, traffic, jobs; each gives the results of its checks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv6Address
from typing import Literal

from ailb_gen.accept.counters import read_counters
from ailb_gen.accept.flows import Addresses, FabricNic, fabric_nics, flows_of, missing
from ailb_gen.accept.hosts import ANSWER_S, ask_host, run_on_host, wrong_answer
from ailb_gen.accept.job import run_here, run_on_server
from ailb_gen.accept.nccl_tests import NcclRun
from ailb_gen.accept.ping import ping_server, targets_of
from ailb_gen.accept.results import job_results, marks, port_results, share_results
from ailb_gen.accept.traffic import AcceptLoad, run_traffic
from ailb_gen.addresses import Prefix
from ailb_gen.checks.catalogue import OF_ACCEPTANCE, checks_of
from ailb_gen.checks.families.acceptance import ARRIVALS, GIDS, JOB, MARKS, PING, PORTS, SHARES
from ailb_gen.checks.families.devices import REACHED
from ailb_gen.checks.model import Check, Findings, Result
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.deploy.verification import verify
from ailb_gen.design.build import build
from ailb_gen.errors import DeployError, UsageError
from ailb_gen.jobs.command import PROGRAMS, Benchmark, Launcher, job_command, sizes_of
from ailb_gen.network.fabric import Network
from ailb_gen.network.rails import without_gpus
from ailb_gen.network.read import network_of
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import did_you_mean, some

PingScope = Literal["sample", "all", "none"]
# Packets per second of a flow; octets of headers of a packet, without Ethernet.
RATE, HEADERS = 200, 48
LARGEST = 8900
NO_JOB = "no job was asked for"
HEXADECIMAL = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class AcceptOptions:
    """What is sent through the cluster.

    `ping` says which pairs of NICs are probed, `jobs` are collectives. A job runs `repeats` times with `sizes` as
    nccl-tests reads them, started by `launcher` on the first server, or by `command` here. With `traffic`, servers send
    `packets` numbered packets from every NIC in every color. Raises UsageError.
    """

    ping: PingScope = "sample"
    jobs: tuple[str, ...] = ("all-reduce",)
    sizes: str = "8M-8G"
    repeats: int = 3
    launcher: Launcher = "mpirun"
    command: str = ""
    traffic: bool = False
    packets: int = 200

    def __post_init__(self) -> None:
        sizes_of(self.sizes)
        for job in self.jobs:
            if job not in PROGRAMS:
                hint = did_you_mean(job, PROGRAMS) or f"jobs: {', '.join(PROGRAMS)}"
                raise UsageError(f"there is no job {job!r}; {hint}")
        if self.command and len(self.jobs) != 1:
            raise UsageError("--command is one job: name its collective with --job")

    @property
    def steps(self) -> int:
        """The number of steps."""
        return 3 + self.traffic + (self.ping != "none") + self.repeats * len(self.jobs)


# The bus bandwidth in GB/s that is predicted for a collective of a size in bytes, or why there is no prediction.
Predict = Callable[[str, int], "float | str"]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An acceptance that runs: the cluster, what its files say, and the findings so far."""

    session: DeploySession
    options: AcceptOptions
    network: Network
    routing: Routing
    nics: tuple[FabricNic, ...]
    findings: Findings

    @property
    def servers(self) -> list[str]:
        """The servers that take part."""
        return [name for name in self.session.servers if name in self.session.picked]

    def errors(self, check: Check, errors: Mapping[str, DeviceError]) -> None:
        """Report the devices that have not done what was asked of them; after a signal, none is to blame."""
        if self.session.pool.signals():
            return
        for name, error in sorted(errors.items()):
            self.findings.add(check, name, str(error).removeprefix(f"{name}: "))


def accept(
    session: DeploySession, options: AcceptOptions, predict: Predict, step: Callable[[str], None]
) -> list[Result]:
    """Take all steps, and return the results of `verify` and of the checks of acceptance.

    Devices that cannot be reached take no part in what follows. A signal ends the steps; the checks that are left are
    skipped. Raises UsageError where a job cannot be started.
    """
    step("verify")
    results = verify(session)
    lost = {finding.device for result in results if result.check == REACHED for finding in result.findings}
    reached = replace(session, picked=session.picked - lost)
    network = network_of(session.inputs.artifacts)
    with_gpus = [name for name in reached.servers if name in reached.picked and name not in without_gpus(network)]
    nics = fabric_nics(network, with_gpus)
    run = Acceptance(reached, options, network, Routing(network), nics, Findings())
    for _ in _steps(run, predict, step):
        if session.pool.signals():
            break
    done = run.findings
    skipped = "interrupted" if session.pool.signals() else "not reached"
    for check in checks_of(OF_ACCEPTANCE):
        if not done.counts[check.id] and not done.found[check.id] and check.id not in done.skipped:
            done.skip(check, skipped)
    return [*results, *done.results(checks_of(OF_ACCEPTANCE))]


def _steps(run: Acceptance, predict: Predict, step: Callable[[str], None]) -> Iterator[None]:
    """Take the steps after `verify`; between two of them is where they may end."""
    step("addresses and GIDs")
    addresses = _addresses(run)
    _gids(run)
    yield
    if run.options.ping == "none":
        run.findings.skip(PING, "left out by --ping none")
    else:
        step("ping")
        _ping(run, addresses)
    yield
    if run.options.traffic:
        step("traffic")
        _traffic(run, addresses)
    else:
        run.findings.skip(ARRIVALS, "no traffic of servers was asked for (--traffic)")
        run.findings.skip(PORTS, "no traffic of servers was asked for (--traffic)")
    for job in run.options.jobs:
        yield from _job(run, job, predict, step)
    if not run.options.jobs:
        run.findings.skip(JOB, NO_JOB)
        run.findings.skip(SHARES, NO_JOB)
        if not run.findings.counts[MARKS.id]:
            run.findings.skip(MARKS, "nothing was sent, or no counters of NICs were read")


def _addresses(run: Acceptance) -> Addresses:
    """Read the addresses of all servers; those that are missing are findings."""

    def read(name: str, server: ServerConnection) -> dict[tuple[str, str, str], str]:
        answer = ask_host(server, "addresses", "--json")
        try:
            rows = [(str(row["nic"]), str(row["color"]), row["address"]) for row in answer["addresses"]]
            # A color without an address has None.
            return {(name, nic, color): str(IPv6Address(text)) for nic, color, text in rows if text is not None}
        except (KeyError, TypeError, ValueError) as error:
            raise wrong_answer(name, "addresses", error) from error

    found = run.session.pool.run(run.servers, read, Phase.READ)
    run.errors(PING, found.bad)
    addresses = {key: address for row in found.good.values() for key, address in row.items()}
    nics = [nic for nic in run.nics if nic.end.device in found.good]
    lacking = list(missing(nics, addresses))
    leaves = {prefix: nic.leaf.device for nic in run.nics for _, prefix in nic.prefixes}
    others = _leaves_heard(run, sorted({nic.end.device for nic, _, _ in lacking}), leaves)
    for nic, color, prefix in lacking:
        reason = f"{nic.end.port}: no address in {prefix} (color {color}), which {nic.leaf} should advertise"
        if other := others.get((nic.end.device, nic.end.port), set()) - {nic.leaf.device}:
            reason += f"; it has one of {some(sorted(other))}: its cable goes there, by the files to {nic.leaf.device}"
        run.findings.add(PING, nic.end.device, reason, part=nic.end.port)
        # An address of another prefix is none of this color.
        addresses.pop((nic.end.device, nic.end.port, color), None)
    return addresses


def _leaves_heard(
    run: Acceptance, servers: list[str], leaves: Mapping[Prefix, str]
) -> Mapping[tuple[str, str], set[str]]:
    """Return the leaves in whose prefixes NICs of some servers have addresses, by server and NIC."""

    def read(_: str, server: ServerConnection) -> list[list[str]]:
        # See proc(5), /proc/net/if_inet6: address, index, length, scope, flags, name.
        text = run_on_host(server, "cat", "/proc/net/if_inet6", timeout_s=ANSWER_S)
        return [row for row in map(str.split, text.splitlines()) if len(row) == 6 and HEXADECIMAL.fullmatch(row[0])]

    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, rows in run.session.pool.run(servers, read, Phase.READ).good.items():
        for row in rows:
            found[name, row[5]] |= {leaf for prefix, leaf in leaves.items() if prefix.holds(int(row[0], 16))}
    return found


def _gids(run: Acceptance) -> None:
    """Compare the GID tables of all servers with the plan, where any of them has an RDMA device."""

    def read(name: str, server: ServerConnection) -> tuple[bool, list[tuple[str, str]]]:
        answer = ask_host(server, "gids", "--json")
        try:
            rows = [(str(row["nic"]), f"{row['reason']}; {row['repair']}") for row in answer["findings"]]
            return bool(answer["gids"]), rows
        except (KeyError, TypeError) as error:
            raise wrong_answer(name, "gids", error) from error

    found = run.session.pool.run(run.servers, read, Phase.READ)
    run.errors(GIDS, found.bad)
    if not any(present for present, _ in found.good.values()):
        run.findings.skip(GIDS, "no server has an RDMA device")
        return
    for name, (_, rows) in found.good.items():
        run.findings.look(GIDS)
        for nic, text in rows:
            run.findings.add(GIDS, name, f"{nic}: {text}", part=nic)


def _ping(run: Acceptance, addresses: Addresses) -> None:
    """Probe the pairs of NICs, every server from its own addresses."""
    targets = targets_of(run.nics, addresses, everything=run.options.ping == "all")
    found = run.session.pool.run(
        [name for name in run.servers if targets.get(name)], partial(ping_server, targets), Phase.READ
    )
    run.errors(PING, found.bad)
    answers = found.good.values()
    for name, answer in found.good.items():
        for lost in answer.lost:
            run.findings.add(PING, name, str(lost), part=lost.nic)
    pairs = sum(answer.pairs for answer in answers)
    run.findings.look(PING, pairs)
    run.findings.figure(PING, "pairs probed", f"{pairs:,} ({run.options.ping})")
    slowest = max((answer.slowest_us for answer in answers), default=0.0)
    run.findings.figure(PING, "slowest answer", f"{slowest:,.0f} us")


def _traffic(run: Acceptance, addresses: Addresses) -> None:
    """Let servers send numbered packets, and compare every counter with them."""
    flows = flows_of(run.nics, addresses)
    if not flows:
        for check in (ARRIVALS, PORTS):
            run.findings.skip(check, "no flow is possible: two servers with addresses of one color are needed")
        return
    mtus = [nic.mtu for name in run.servers for nic in run.network.hosts[name].profile.host_nics]
    load = AcceptLoad(run.options.packets, RATE, min(LARGEST, *mtus) - HEADERS)
    before = read_counters(run.session)
    counts = run_traffic(run.session, flows, load)
    if run.session.pool.signals():
        return
    readings = read_counters(run.session).since(before)
    run.errors(ARRIVALS, counts.errors)
    run.errors(PORTS, readings.errors)
    port_results(run.findings, run.routing, flows, counts, readings, load.size)
    marks(run.findings, readings)


def _job(run: Acceptance, job: str, predict: Predict, step: Callable[[str], None]) -> Iterator[None]:
    """Run a job repeatedly, and report its bandwidth, the colors that it used, and the counters of NICs."""
    options, before = run.options, read_counters(run.session)
    runs: list[NcclRun] = []
    try:
        for number in range(options.repeats):
            step(f"{job}, run {number + 1}")
            runs.append(_run(run, job))
            yield
    except (DeployError, UsageError) as error:
        if run.session.pool.signals():
            return
        run.findings.add(JOB, _first(run), f"{job}: {error}")
        run.findings.skip(SHARES, "the job did not run")
        return
    readings = read_counters(run.session).since(before)
    run.errors(SHARES, readings.errors)
    predicted = predict(job, runs[0].rows[-1].size)
    job_results(run.findings, _first(run), job, runs, predicted)
    share_results(run.findings, run.network, job, readings, runs)
    marks(run.findings, readings)


def _first(run: Acceptance) -> str:
    """Return the server on which jobs start."""
    return next(iter(dict.fromkeys(nic.end.device for nic in run.nics)), "")


def _run(run: Acceptance, job: str) -> NcclRun:
    options = run.options
    if options.command:
        return run_here(options.command, run.session.pool.signals)
    servers = sorted({nic.end.device for nic in run.nics}, key=run.servers.index)
    if len(servers) < 2:
        raise UsageError(f"a job needs two servers with GPUs that can be reached; there are {len(servers)}")
    design, _ = build(run.session.intent)
    smallest, largest = sizes_of(options.sizes)
    words = job_command(design, servers, PROGRAMS[job], options.launcher, Benchmark(smallest, largest))
    return run_on_server(run.session, servers[0], words)
