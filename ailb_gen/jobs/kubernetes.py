"""Kubernetes: networks of GPU NICs, variables, and a job of nccl-tests, for NVIDIA's Network Operator and Multus."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ailb_gen.design.model import Design, DesignServer, HostConfig
from ailb_gen.errors import UsageError
from ailb_gen.intent.nccl import SOCKET_NAMES
from ailb_gen.jobs.command import (
    LIBRARIES,
    JobRequest,
    index_is_found,
    job_environment,
    job_servers,
    mpirun_words,
    wrapper,
)
from ailb_gen.render.environment import Templates

# Sockets of a job use the pods' own network, whose interface this is, and whose addresses are the cluster's.
POD_INTERFACE = "eth0"
OF_SERVERS = ("NCCL_SOCKET_FAMILY", LIBRARIES)
PREFIX = "nvidia.com"
# Names of objects are DNS labels (RFC 1123) of at most 63 characters, suffixes included; the MPI Operator adds some
# to that of a job, and names a Service after it, which begins with a letter (RFC 1035).
LABEL = 40


def dns_label(name: str) -> str:
    """Return a name as the beginning of an object's name: a lower-case letter, then letters, digits and `-`."""
    first = "" if name[:1].isalpha() else "fabric-"
    return re.sub(r"[^a-z0-9]+", "-", first + name.lower())[:LABEL].strip("-")


def kubernetes_objects(design: Design, request: JobRequest) -> str:
    """Return the objects as YAML: resources of NICs, a network per rail, variables, and an MPIJob.

    Raises UsageError for servers that differ in NICs or variables: a pod does not know on which of them it will run.
    """
    servers = job_servers(design, request.patterns)
    config = same_config(servers)
    environment = {name: value for name, value in job_environment(servers).items() if name not in OF_SERVERS}
    values: dict[str, object] = {
        "name": dns_label(design.name),
        "design": design,
        "config": config,
        "prefix": PREFIX,
        "resources": _resources(config),
        "attachments": _attachments(config),
        "networks": {nic.rail: _network(config, nic.rail) for nic in config.nics},
        "environment": environment | {SOCKET_NAMES: POD_INTERFACE},
        "libraries": dict(config.environment).get(LIBRARIES, ""),
        "found": index_is_found(servers[0]),
        "launcher": [*mpirun_words(servers), "--mca", "btl_tcp_if_include", POD_INTERFACE],
        "program": [*wrapper(servers), request.test, *request.benchmark.words()],
        "repeats": request.repeats,
        "image": request.image,
        "workers": len(servers),
        "hosts": [] if servers == job_servers(design) else [_picked_node(one.name) for one in servers],
    }
    return Templates().render("jobs/kubernetes.yaml.j2", design.name, values)


def _picked_node(server: str) -> str:
    return node_name(server, "--limit picks ", "export without --limit")


def node_name(server: str, why: str, repair: str) -> str:
    """Return the name that a server has as a node. Raises UsageError for one that no node can have (RFC 1123).

    `why` stands before the name in the error, `repair` after the reason.
    """
    name = server.lower()
    if not all(re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", part) for part in name.split(".")):
        reason = "a node of Kubernetes has letters, digits and '-', and no '-' at the end"
        raise UsageError(f"{why}{server}, and {reason}; {repair}, or rename the server")
    return name


def same_config(servers: Sequence[DesignServer]) -> HostConfig:
    """Return the configuration of servers that have the same NICs and variables. Raises UsageError."""
    first = servers[0]
    for one in servers:
        nics, expected = ([(nic.name, nic.rail) for nic in each.config.nics] for each in (one, first))
        if nics != expected or one.config.environment != first.config.environment:
            reason = f"{one.name} and {first.name} differ in names of NICs, rails or variables"
            raise UsageError(f"pods of a job run on any of its servers, and {reason}; choose servers by --limit")
    return first.config


def _resources(config: HostConfig) -> str:
    """Return the configuration of the SR-IOV network device plugin: a resource per rail, the NIC itself."""
    rows = [
        {
            "resourcePrefix": PREFIX,
            "resourceName": f"rail{nic.rail}",
            "selectors": {"pfNames": [nic.name], "isRdma": True},
        }
        for nic in config.nics
    ]
    return json.dumps({"resourceList": rows}, indent=2)


def _attachments(config: HostConfig) -> str:
    """Return the networks of a pod. As JSON: the short form, `rail0@gpu0_eth`, has no `_` in names of interfaces."""
    rows = [json.dumps({"name": f"rail{nic.rail}", "interface": nic.name}) for nic in config.nics]
    return "[\n  " + ",\n  ".join(rows) + "\n]"


def _network(config: HostConfig, rail: int) -> str:
    """Return how a NIC moves into a pod. Without IPAM: its addresses come from router advertisements, as before."""
    sysctl = {
        "accept_ra": config.accept_ra,
        "accept_ra_defrtr": 0,
        "autoconf": 1,
        "addr_gen_mode": 0,
        "use_tempaddr": 0,
    }
    if config.max_addresses:
        sysctl["max_addresses"] = config.max_addresses
    plugins = [
        {"type": "host-device"},
        {"type": "tuning", "sysctl": {f"net.ipv6.conf.IFNAME.{key}": str(value) for key, value in sysctl.items()}},
    ]
    return json.dumps({"cniVersion": "1.0.0", "name": f"rail{rail}", "plugins": plugins}, indent=2)
