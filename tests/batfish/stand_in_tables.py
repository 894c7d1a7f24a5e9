"""Questions and answers as Batfish's REST API has them: templates that pybatfish loads, and tables that it reads."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.batfish.plain_rows import COLUMNS, QUESTIONS
from tests.batfish.plain_walk import Flow, Path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tests.batfish.plain_rows import Row

DIFFERENTIAL = "differentialReachability"
TABLES: Mapping[str, tuple[str, ...]] = {
    **COLUMNS,
    DIFFERENTIAL: ("Flow", "Snapshot_Traces", "Snapshot_TraceCount", "Reference_Traces", "Reference_TraceCount"),
}
PARAMETERS: Mapping[str, tuple[str, ...]] = {
    **{name: known for name, (_, known) in QUESTIONS.items()},
    DIFFERENTIAL: ("headers", "pathConstraints", "actions"),
}
# The types of parameters in pybatfish's words; all others are texts.
TYPES = {
    "nodes": "nodeSpec",
    "remoteNodes": "nodeSpec",
    "interfaces": "interfacesSpec",
    "properties": "interfacePropertySpec",
    "duplicatesOnly": "boolean",
    "protocols": "routingProtocolSpec",
    "network": "prefix",
    "headers": "headerConstraint",
    "pathConstraints": "pathConstraint",
    "actions": "dispositionSpec",
}
STATUSES = {
    "bgpSessionStatus": "bgpSessionStatusSpec",
    "bgpSessionCompatibility": "bgpSessionCompatStatusSpec",
    "bgpRib": "bgpRouteStatusSpec",
}
# The schemas of columns; those of all others are in PLAIN or texts.
SCHEMAS = {
    "Interfaces": "Set<Interface>",
    "Local_Interface": "Interface",
    "Remote_Interface": "Interface",
    "Node": "Node",
    "Nodes": "Set<Node>",
    "Remote_Node": "Node",
    "Remote_IP": "SelfDescribing",
    "Next_Hop": "NextHop",
    "Flow": "Flow",
}
PLAIN = {
    **dict.fromkeys(("Line", "Access_VLAN", "MTU", "VLAN_ID", "VXLAN_VNI", "Mask", "Weight"), "Integer"),
    **dict.fromkeys(("TraceCount", "Snapshot_TraceCount", "Reference_TraceCount", "Received_Path_Id"), "Integer"),
    **dict.fromkeys(("Local_AS", "Metric", "Admin_Distance", "Tag", "Local_Pref"), "Long"),
    "Active": "Boolean",
    **dict.fromkeys(("All_Prefixes", "Communities", "Status", "Address_Families"), "Set<String>"),
    "Network": "Prefix",
}
# Columns that mean something else in some questions.
OTHERWISE = {
    ("interfaceProperties", "Interface"): "Interface",
    ("unusedStructures", "Source_Lines"): "FileLines",
    ("initIssues", "Source_Lines"): "List<FileLines>",
    ("undefinedReferences", "Lines"): "FileLines",
    ("fileParseStatus", "Status"): "String",
    ("viConversionStatus", "Status"): "String",
}


def templates() -> dict[str, str]:
    """Return the questions as the service hands them out: JSON text by name."""
    return {name.lower(): json.dumps(_template(name)) for name in TABLES}


def _template(name: str) -> dict[str, Any]:
    variables = {
        one: {
            "description": f"What {one} to ask about",
            "optional": True,
            "type": STATUSES[name] if one == "status" else TYPES[one],
        }
        for one in PARAMETERS[name]
    }
    return {
        "class": f"org.batfish.question.{name}",
        "differential": name == DIFFERENTIAL,
        "instance": {
            "instanceName": name,
            "description": f"A stand-in for {name}.",
            "longDescription": "",
            "tags": ["standIn"],
            "variables": variables,
        },
    }


def asked(body: str) -> tuple[str, dict[str, Any]]:
    """Read a question that was uploaded: its name, and the parameters that are set."""
    question = json.loads(body)
    variables = question["instance"].get("variables", {})
    values = {name: one["value"] for name, one in variables.items() if one.get("value") is not None}
    return question["class"].rpartition(".")[2], values


def table(question: str, rows: Iterable[Row], columns: Iterable[str]) -> dict[str, Any]:
    """Return an answer as the service sends it."""
    schemas = {name: schema(question, name) for name in columns}
    metadata = [
        {"name": name, "schema": kind, "description": name, "isKey": True, "isValue": True}
        for name, kind in schemas.items()
    ]
    encoded = [{name: _encode(schemas[name], row[name]) for name in schemas} for row in rows]
    element = {
        "class": "org.batfish.datamodel.table.TableAnswerElement",
        "metadata": {"columnMetadata": metadata, "displayHints": {"textDesc": question}},
        "rows": encoded,
        "summary": {"numFailed": 0, "numPassed": 0, "numResults": len(encoded)},
    }
    return {"answerElements": [element], "status": "SUCCESS", "summary": element["summary"]}


def schema(question: str, column: str) -> str:
    """Return the schema of a column."""
    if column.endswith("Traces"):
        return "List<Trace>"
    return OTHERWISE.get((question, column)) or SCHEMAS.get(column) or PLAIN.get(column) or "String"


def _encode(kind: str, value: object) -> object:
    if value is None:
        return None
    found = re.fullmatch(r"(?:Set|List)<(\w+)>", kind)
    if found and isinstance(value, list):
        return [_encode(found[1], one) for one in value]
    return ENCODERS[kind](value) if kind in ENCODERS else value


def _interface(text: str) -> dict[str, str]:
    node, _, interface = text.removesuffix("]").partition("[")
    return {"hostname": node, "interface": interface}


def _lines(text: str) -> dict[str, object]:
    file, _, numbers = text.rpartition(":")
    return {"filename": file, "lines": json.loads(numbers)}


def _next_hop(text: str) -> dict[str, str]:
    kind, _, address = text.partition(" ")
    return {"type": kind, kind: address}


def _flow(flow: Flow) -> dict[str, object]:
    return {
        "dscp": 0,
        "dstIp": str(flow.address),
        "dstPort": 33434,
        "ecn": 0,
        "fragmentOffset": 0,
        "ingressInterface": flow.interface,
        "ingressNode": flow.node,
        "ingressVrf": None if flow.interface else "default",
        "ipProtocol": "UDP",
        "packetLength": 512,
        "srcIp": "0.0.0.0",
        "srcPort": 49152,
    }


def _trace(path: Path) -> dict[str, object]:
    return {"disposition": path.end, "hops": [{"node": {"name": node}, "steps": []} for node in path.nodes]}


ENCODERS: Mapping[str, Callable[[Any], object]] = {
    "Node": lambda name: {"id": f"node-{name}", "name": name},
    "Interface": _interface,
    "FileLines": _lines,
    "SelfDescribing": lambda address: {"schema": "Ip", "value": address},
    "NextHop": _next_hop,
    "Flow": _flow,
    "Trace": _trace,
}
