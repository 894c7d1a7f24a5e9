"""Kubernetes: labels of nodes, and objects of NVIDIA's Network Operator for RDMA from the host's network.

Objects are those of Kubernetes v1, of the Network Operator 25.10 (`mellanox.com/v1alpha1`; its Helm chart has the
images of `IMAGES`), and of the two that come with it: the NIC Configuration Operator
(`configuration.net.nvidia.com/v1alpha1`) and Node Feature Discovery (`nfd.k8s-sigs.io/v1alpha1`).
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from ailb_gen.design.model import DesignServer, HostConfig
from ailb_gen.errors import UsageError
from ailb_gen.exports.kind import ExportInput
from ailb_gen.jobs.command import job_servers
from ailb_gen.jobs.kubernetes import dns_label, node_name, same_config

LABELS = "fabric.ailb-gen"
# Labels of NVIDIA's Topograph, which Kueue and others read: the switches nearest to a node, and those above.
TOPOLOGY = "network.topology.nvidia.com"
NAMESPACE = "nvidia-network-operator"
IMAGES = {"repository": "nvcr.io/nvidia/mellanox", "version": "network-operator-v25.10.0"}
NIC_TYPE = re.compile(r"[0-9a-f]{4}")
# Pods that may use an RDMA device at the same time.
SHARED = 63


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent)


def node_labels(given: ExportInput) -> str:
    """Return a List of nodes with labels, for `kubectl apply --server-side`: fabric, stripe, rails, and topology.

    Raises UsageError for a server whose name no node can have.
    """
    fabric = dns_label(given.design.name)
    items = [_node(fabric, one) for one in job_servers(given.design, given.job.patterns)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2) + "\n"


def _node(fabric: str, server: DesignServer) -> dict[str, Any]:
    labels = {
        f"{LABELS}/fabric": fabric,
        f"{LABELS}/stripe": str(server.stripe),
        f"{LABELS}/rails": str(len({nic.rail for nic in server.config.nics})),
        f"{TOPOLOGY}/leaf": f"stripe{server.stripe}",
        f"{TOPOLOGY}/spine": fabric,
    }
    name = node_name(server.name, "there is a server ", "leave it out by --limit")
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def network_operator(given: ExportInput) -> str:
    """Return a NicClusterPolicy, a NodeFeatureRule, and a NicConfigurationTemplate if the type of the NICs is given.

    Pods use the host's network: only there are the tables and rules that keep a color on its path. So devices are
    shared (`rdma/rail0` and so on), and no network of Multus is needed: a MacvlanNetwork would have other addresses, an
    IPoIBNetwork is for InfiniBand. Raises UsageError for servers that differ in NICs, and for a type that is no PCI
    device.
    """
    config = same_config(job_servers(given.design, given.job.patterns))
    rows = [
        {"resourceName": f"rail{nic.rail}", "rdmaHcaMax": SHARED, "selectors": {"ifNames": [nic.name]}}
        for nic in config.nics
    ]
    plugin = {"image": "k8s-rdma-shared-dev-plugin", **IMAGES, "config": json.dumps({"configList": rows}, indent=2)}
    policy: dict[str, Any] = {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        # The operator takes no other name.
        "metadata": {"name": "nic-cluster-policy"},
        "spec": {"rdmaSharedDevicePlugin": plugin},
    }
    objects = [policy, _nics_up(dns_label(given.design.name), config)]
    nic_type = given.boot.nic_type
    if nic_type:
        if NIC_TYPE.fullmatch(nic_type) is None:
            raise UsageError(f"--nic-type {nic_type[:80]!r}: write a PCI device of NVIDIA, such as 1021 (ConnectX-7)")
        policy["spec"]["nicConfigurationOperator"] = {
            "operator": {"image": "nic-configuration-operator", **IMAGES},
            "configurationDaemon": {"image": "nic-configuration-operator-daemon", **IMAGES},
        }
        qos = config.qos and {"trust": "dscp", "pfc": config.qos.pfc_mask}
        roce = {"enabled": True} | ({"qos": qos} if qos else {})
        template = {"numVfs": 0, "linkType": "Ethernet", "roceOptimized": roce}
        objects.append(
            {
                "apiVersion": "configuration.net.nvidia.com/v1alpha1",
                "kind": "NicConfigurationTemplate",
                "metadata": {"name": dns_label(given.design.name), "namespace": NAMESPACE},
                "spec": {
                    "nodeSelector": {f"{LABELS}/fabric": dns_label(given.design.name)},
                    "nicSelector": {"nicType": nic_type},
                    "template": template,
                },
            }
        )
    return "---\n".join(yaml.dump(one, Dumper=_Dumper, sort_keys=False) for one in objects)


def _nics_up(fabric: str, config: HostConfig) -> dict[str, Any]:
    """Return a rule of Node Feature Discovery: nodes on which all NICs have a link get a label, others lose it."""
    up = {"op": "In", "value": ["up"]}
    terms = [
        {"feature": "network.device", "matchExpressions": {"name": {"op": "In", "value": [nic.name]}, "operstate": up}}
        for nic in config.nics
    ]
    rule = {"name": "nics-up", "labels": {f"{LABELS}/nics-up": "true"}, "matchFeatures": terms}
    return {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeatureRule",
        "metadata": {"name": fabric},
        "spec": {"rules": [rule]},
    }
