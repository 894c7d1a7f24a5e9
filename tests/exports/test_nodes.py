"""Kubernetes: labels of nodes by the schema of Kubernetes, objects of the operators by their definitions."""

import io
import json
import os
import urllib.request
import zipfile
from hashlib import sha256
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from ailb_gen.design.model import Design
from ailb_gen.errors import UsageError
from ailb_gen.exports.kind import ExportInput
from ailb_gen.exports.nodes import network_operator, node_labels
from tests.conftest import SMALL, design_of, example
from tests.exports.inputs import boot_input

# The fields that are written, as the definitions have them: Mellanox/network-operator at b090a0520d0f
# (config/crd/bases/mellanox.com_nicclusterpolicies.yaml), Mellanox/nic-configuration-operator at 10a2715e0e39
# (config/crd/bases/configuration.net.nvidia.com_nicconfigurationtemplates.yaml). No registry has these files; that of
# NodeFeatureRule is in a Go module, see below.
IMAGE = {
    "type": "object",
    "properties": {
        "image": {"type": "string", "pattern": "[a-zA-Z0-9\\-]+"},
        "repository": {"type": "string", "pattern": "[a-zA-Z0-9\\.\\-\\/]+"},
        "version": {"type": "string", "pattern": "[a-zA-Z0-9\\.-]+"},
        "config": {"type": "string"},
    },
    "required": ["image", "repository", "version"],
    "additionalProperties": False,
}
CONFIGURATION = {
    "type": "object",
    "properties": {"operator": IMAGE, "configurationDaemon": IMAGE},
    "required": ["operator", "configurationDaemon"],
    "additionalProperties": False,
}
POLICY = {
    "type": "object",
    "properties": {"rdmaSharedDevicePlugin": IMAGE, "nicConfigurationOperator": CONFIGURATION},
    "additionalProperties": False,
}
QOS = {
    "type": "object",
    "properties": {"trust": {"type": "string"}, "pfc": {"type": "string", "pattern": "^([01],){7}[01]$"}},
    "required": ["trust", "pfc"],
    "additionalProperties": False,
}
TEMPLATE = {
    "type": "object",
    "properties": {
        "nodeSelector": {"type": "object", "additionalProperties": {"type": "string"}},
        "nicSelector": {
            "type": "object",
            "properties": {"nicType": {"type": "string"}},
            "required": ["nicType"],
            "additionalProperties": False,
        },
        "template": {
            "type": "object",
            "properties": {
                "numVfs": {"type": "integer"},
                "linkType": {"enum": ["Ethernet", "Infiniband"]},
                "roceOptimized": {
                    "type": "object",
                    "properties": {"enabled": {"type": "boolean"}, "qos": QOS},
                    "required": ["enabled"],
                    "additionalProperties": False,
                },
            },
            "required": ["numVfs", "linkType"],
            "additionalProperties": False,
        },
    },
    "required": ["nicSelector", "template"],
    "additionalProperties": False,
}
MATCH = {
    "type": "object",
    "properties": {"op": {"enum": ["In"]}, "value": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
    "required": ["op"],
    "additionalProperties": False,
}
TERM = {
    "type": "object",
    "properties": {"feature": {"type": "string"}, "matchExpressions": {"additionalProperties": MATCH}},
    "required": ["feature"],
    "additionalProperties": False,
}
RULE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "labels": {"additionalProperties": {"type": "string"}},
        "matchFeatures": {"type": "array", "items": TERM},
    },
    "required": ["name"],
    "additionalProperties": False,
}
RULES = {
    "properties": {"rules": {"type": "array", "items": RULE}},
    "required": ["rules"],
    "additionalProperties": False,
}
SPECS = {
    ("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule"): RULES,
    ("mellanox.com/v1alpha1", "NicClusterPolicy"): POLICY,
    ("configuration.net.nvidia.com/v1alpha1", "NicConfigurationTemplate"): TEMPLATE,
}
# A node with the oldest fields; the newest release that the library knows is read beside it.
RELEASE = kubernetes_validate.latest_version()


def objects(given: ExportInput) -> list[Any]:
    """Return the objects of the Network Operator, each as its definition has it."""
    found = list(yaml.safe_load_all(network_operator(given)))
    for one in found:
        jsonschema.validate(one["spec"], SPECS[one["apiVersion"], one["kind"]])
    return found


@pytest.mark.parametrize("name", ["lab", "jvd", "mixed"])
def test_kubernetes_takes_the_nodes(name: str) -> None:
    whole = json.loads(node_labels(ExportInput(example(name))))
    assert (whole["apiVersion"], whole["kind"]) == ("v1", "List")
    for one in whole["items"]:
        kubernetes_validate.validate(one, RELEASE, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**whole["items"][0], "metadata": {"labels": {"a": 1}}}, RELEASE, strict=True)


def test_a_node_has_its_place(jvd: Design) -> None:
    items = json.loads(node_labels(ExportInput(jvd)))["items"]
    assert [one["metadata"]["name"] for one in items] == [one.name for one in jvd.servers]
    assert items[-1]["metadata"]["labels"] == {
        "fabric.ailb-gen/fabric": "jvd",
        "fabric.ailb-gen/stripe": "2",
        "fabric.ailb-gen/rails": "8",
        "network.topology.nvidia.com/leaf": "stripe2",
        "network.topology.nvidia.com/spine": "jvd",
    }


@pytest.mark.parametrize("name", ["a_b", "gpu-", "a." * 31])
def test_a_name_that_no_node_can_have_is_refused(name: str) -> None:
    design = design_of(SMALL.replace("servers: 2", f"servers: [{{name: '{name}', stripe: 1}}]"))
    with pytest.raises(UsageError, match="a node of Kubernetes has letters, digits and '-'"):
        node_labels(ExportInput(design))


def test_a_rail_is_a_device_that_pods_share(jvd: Design) -> None:
    policy, _ = objects(ExportInput(jvd))
    plugin = policy["spec"]["rdmaSharedDevicePlugin"]
    rows = json.loads(plugin["config"])["configList"]
    assert [(row["resourceName"], row["selectors"]["ifNames"]) for row in rows] == [
        (f"rail{nic.rail}", [nic.name]) for nic in jvd.servers[0].config.nics
    ]
    assert policy["metadata"] == {"name": "nic-cluster-policy"}


def test_nics_have_the_classes_of_the_fabric() -> None:
    given = boot_input()
    policy, _, template = objects(given)
    assert "nicConfigurationOperator" in policy["spec"]
    qos = given.design.servers[0].config.qos
    assert qos is not None
    assert template["spec"]["template"]["roceOptimized"]["qos"] == {"trust": "dscp", "pfc": qos.pfc_mask}
    assert template["spec"]["nicSelector"] == {"nicType": "1021"}
    labels = json.loads(node_labels(given))["items"][0]["metadata"]["labels"]
    assert template["spec"]["nodeSelector"].items() <= labels.items()
    _, _, without = objects(boot_input(design_of(SMALL + "roce: {enabled: off}\n")))
    assert without["spec"]["template"]["roceOptimized"] == {"enabled": True}


@pytest.mark.parametrize("nic_type", ["ConnectX-7", "10211", "1021\n", "$(id)"])
def test_a_type_of_nics_is_a_pci_device(nic_type: str) -> None:
    with pytest.raises(UsageError, match="write a PCI device of NVIDIA, such as 1021"):
        network_operator(boot_input(nic_type=nic_type))


def test_servers_with_different_nics_are_refused() -> None:
    with pytest.raises(UsageError, match="differ in names of NICs, rails or variables"):
        network_operator(ExportInput(example("mixed")))


def test_a_node_whose_nics_all_have_links_is_labeled(jvd: Design) -> None:
    _, rule = objects(ExportInput(jvd))
    (one,) = rule["spec"]["rules"]
    assert one["labels"] == {"fabric.ailb-gen/nics-up": "true"}
    names = [term["matchExpressions"]["name"]["value"] for term in one["matchFeatures"]]
    assert names == [[nic.name] for nic in jvd.servers[0].config.nics]


# The Go module of Node Feature Discovery, with the definitions of its objects.
NFD = "sigs.k8s.io/node-feature-discovery/@v/v0.17.3.zip"
NFD_SHA256 = "61e5d7763f32ad5e52d70e7f17e46e33ff5137248143b8b90b5cf7ec1d6da012"
DEFINITIONS = "sigs.k8s.io/node-feature-discovery@v0.17.3/deployment/base/nfd-crds/nfd-api-crds.yaml"


@pytest.mark.long
def test_node_feature_discovery_takes_the_rule(jvd: Design) -> None:
    """The object is valid by the published definition, in which no field is unknown."""
    proxy = os.environ.get("GOPROXY", "").partition(",")[0] or "https://proxy.golang.org"
    with urllib.request.urlopen(f"{proxy}/{NFD}", timeout=120) as answer:
        data = answer.read()
    assert sha256(data).hexdigest() == NFD_SHA256
    definitions = yaml.safe_load_all(zipfile.ZipFile(io.BytesIO(data)).read(DEFINITIONS))
    (version,) = next(one for one in definitions if one["spec"]["names"]["kind"] == "NodeFeatureRule")["spec"][
        "versions"
    ]
    schema = closed(version["schema"]["openAPIV3Schema"])
    _, rule = objects(ExportInput(jvd))
    del rule["metadata"]
    jsonschema.validate(rule, schema)
    rule["spec"]["rules"][0]["label"] = {}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(rule, schema)


def closed(schema: Any) -> Any:
    """Return a schema that refuses the fields it does not name; Kubernetes would drop them."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    return found | ({"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {})
