"""What the fake service keeps: networks, snapshots, questions and work; its answers as Batfish's REST API has them."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.batfish.fake.answers import COLUMNS, QUESTIONS, answer
from tests.batfish.fake.snapshot import Flow, Snapshot, from_texts
from tests.batfish.fake.text import PlainError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tests.batfish.fake.answers import Row

DIFFERENTIAL = "differentialReachability"
# Questions that Batfish computes the routes of a snapshot for.
WITH_ROUTES = ("bgpRib", "bgpSessionStatus", "detectLoops", DIFFERENTIAL, "multipathConsistency", "routes")
NORMALLY, ABNORMALLY = "TERMINATEDNORMALLY", "TERMINATEDABNORMALLY"
# The types of parameters in pybatfish's words.
TYPES = {
    "nodes": "nodeSpec",
    "status": "bgpRouteStatusSpec",
    "properties": "interfacePropertySpec",
    "duplicatesOnly": "boolean",
    "protocols": "routingProtocolSpec",
    "headers": "headerConstraint",
    "pathConstraints": "pathConstraint",
}
# The schemas of columns, for some of one question only; those of all others are texts.
SCHEMAS = {
    "Interfaces": "Set<Interface>",
    "Node": "Node",
    "Nodes": "Set<Node>",
    "Remote_Node": "Node",
    "Remote_IP": "SelfDescribing",
    "Next_Hop": "NextHop",
    "Flow": "Flow",
    "Line": "Integer",
    "MTU": "Integer",
    "VLAN_ID": "Integer",
    "Active": "Boolean",
    "Network": "Prefix",
    "interfaceProperties Interface": "Interface",
    "unusedStructures Source_Lines": "FileLines",
    "initIssues Source_Lines": "List<FileLines>",
    "undefinedReferences Lines": "FileLines",
    "bgpRib Status": "Set<String>",
}


def template(name: str, *parameters: str) -> str:
    """Return a question as the service hands it out; all parameters are optional."""
    variables = {
        one: {"description": f"What {one}", "optional": True, "type": TYPES.get(one, "string")} for one in parameters
    }
    instance = {"instanceName": name, "description": "A question.", "tags": ["fake"], "variables": variables}
    return json.dumps(
        {"class": f"org.batfish.question.{name}", "differential": name == DIFFERENTIAL, "instance": instance}
    )


def templates() -> dict[str, str]:
    """Return the questions as the service hands them out: JSON text by name."""
    return {name.lower(): template(name, *parameters) for name, (_, parameters) in QUESTIONS.items()}


def read_question(body: str) -> tuple[str, dict[str, Any]]:
    """Read a question that was uploaded: its name, and the parameters that are set."""
    question = json.loads(body)
    variables = question["instance"].get("variables", {})
    values = {name: one["value"] for name, one in variables.items() if one.get("value") is not None}
    return question["class"].rpartition(".")[2], values


def table(schemas: Mapping[str, str], rows: Iterable[Row]) -> dict[str, Any]:
    """Return an answer as the service sends it: columns with their schemas, and rows."""
    metadata = {"columnMetadata": [{"name": name, "schema": schema} for name, schema in schemas.items()]}
    element = {"class": "org.batfish.datamodel.table.TableAnswerElement", "metadata": metadata, "rows": list(rows)}
    return {"status": "SUCCESS", "answerElements": [element]}


def encoded(question: str, rows: Iterable[Row]) -> dict[str, Any]:
    """Return the fake's own answer to a question as the service sends it."""
    schemas = {name: SCHEMAS.get(f"{question} {name}") or SCHEMAS.get(name, "String") for name in COLUMNS[question]}
    return table(schemas, ({name: _encode(schemas[name], row[name]) for name in schemas} for row in rows))


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
        **dict.fromkeys(("dscp", "ecn", "fragmentOffset"), 0),
        "dstIp": str(flow.address),
        "dstPort": 33434,
        "ingressInterface": flow.interface,
        "ingressNode": flow.node,
        "ingressVrf": None if flow.interface else "default",
        "ipProtocol": "UDP",
        "packetLength": 512,
        "srcIp": "0.0.0.0",
        "srcPort": 49152,
    }


ENCODERS: Mapping[str, Callable[[Any], object]] = {
    "Node": lambda name: {"id": f"node-{name}", "name": name},
    "Interface": _interface,
    "FileLines": _lines,
    "SelfDescribing": lambda address: {"schema": "Ip", "value": address},
    "NextHop": _next_hop,
    "Flow": _flow,
}


class RefusedError(Exception):
    """A request that the service refuses: its HTTP status and text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked, of which snapshot, against which other one."""

    question: str
    snapshot: str
    reference: str | None
    parameters: Mapping[str, Any]


@dataclass(slots=True)
class Kept:
    """A snapshot: its files, the nodes and interfaces that a fork goes without, and its meaning once it is parsed."""

    texts: dict[str, str]
    nodes: tuple[str, ...] = ()
    interfaces: tuple[tuple[str, str], ...] = ()
    parsed: Snapshot | None = None
    has_routes: bool = False
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat().replace("+00:00", "Z"))

    def parse(self) -> None:
        """Read the files. Raises PlainError."""
        self.parsed = from_texts(self.texts).without(self.nodes, self.interfaces)


@dataclass(slots=True)
class Network:
    """A network: its snapshots, the questions that were uploaded, their answers, and the logs of work by id.

    A log is empty where the work went well. `queued` is work that is not done, in the order in which it is handed out.
    """

    snapshots: dict[str, Kept] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)
    answers: dict[tuple[str, str, str | None], dict[str, Any]] = field(default_factory=dict)
    work: dict[str, str] = field(default_factory=dict)
    queued: list[Mapping[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Store:
    """All networks; `created` and `deleted` name them as `NETWORK`, and snapshots as `NETWORK/SNAPSHOT`, in order."""

    networks: dict[str, Network] = field(default_factory=dict)
    created: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    ticks: int = 0
    running: tuple[str, str, str] | None = None

    def network(self, name: str) -> Network:
        """Return a network. Raises RefusedError."""
        if name not in self.networks:
            raise RefusedError(404, f"Network '{name}' not found")
        return self.networks[name]

    def kept(self, network: str, snapshot: str) -> Kept:
        """Return a snapshot. Raises RefusedError."""
        found = self.network(network).snapshots
        if snapshot not in found:
            raise RefusedError(404, f"Snapshot '{snapshot}' in network '{network}' not found")
        return found[snapshot]

    def make(self, network: str) -> None:
        """Make a network. Raises RefusedError for one that is there."""
        if network in self.networks:
            raise RefusedError(400, f"Network '{network}' already exists!")
        self.networks[network] = Network()
        self.created.append(network)

    def remove(self, network: str, snapshot: str | None = None) -> None:
        """Delete a snapshot, or a network with all of them. Raises RefusedError."""
        if snapshot is None:
            self.network(network)
            del self.networks[network]
            self.deleted.append(network)
        else:
            self.kept(network, snapshot)
            del self.networks[network].snapshots[snapshot]
            self.deleted.append(f"{network}/{snapshot}")

    def upload(self, network: str, snapshot: str, zipped: bytes) -> None:
        """Take a snapshot: a zipped folder with `configs/` inside. Raises RefusedError."""
        self._keep(network, snapshot, Kept(_texts(zipped)))

    def fork(self, network: str, order: Mapping[str, Any]) -> None:
        """Copy a snapshot without some nodes and interfaces. Raises RefusedError."""
        if any(order.get(key) for key in ("restoreInterfaces", "restoreNodes", "zipFile")):
            raise RefusedError(501, "the fake restores nothing and adds no files")
        base = self.kept(network, order["snapshotBase"])
        nodes = order.get("deactivateNodes") or ()
        interfaces = ((one["hostname"], one["interface"]) for one in order.get("deactivateInterfaces") or ())
        fork = Kept(base.texts, (*base.nodes, *nodes), (*base.interfaces, *interfaces))
        self._keep(network, order["snapshotNew"], fork)

    def work(self, network: str, item: Mapping[str, Any]) -> None:
        """Queue a piece of work: to parse a snapshot, or to answer a question. Raises RefusedError."""
        self.kept(network, item["requestParams"]["testrig"])
        self.network(network).queued.append(item)

    def incomplete(self, network: str) -> list[dict[str, object]]:
        """Return the work that is queued. Raises RefusedError."""
        return [{"workItem": dict(item), "status": "UNASSIGNED"} for item in self.network(network).queued]

    def tick(self) -> None:
        """Note what the worker has done, and give it the next piece of work, of the first network that has any."""
        self.ticks += 1
        if self.running is not None:
            name, done, log = self.running
            if name in self.networks:
                self.networks[name].work[done] = log
            self.running = None
        for name, network in self.networks.items():
            if network.queued:
                self._run(name, network.queued.pop(0))
                return

    def _run(self, network: str, item: Mapping[str, Any]) -> None:
        """Do a piece of work, or compute the routes that it needs first: then it is queued again, behind all others."""
        kept = self.networks[network].snapshots.get(item["requestParams"]["testrig"])
        body = self.networks[network].questions.get(item["requestParams"].get("questionname", ""))
        if body is not None and read_question(body)[0] in WITH_ROUTES and kept is not None and not kept.has_routes:
            kept.has_routes = True
            self.networks[network].queued.append(item)
        else:
            self.running = (network, item["id"], self._done(network, item["requestParams"]))

    def _done(self, network: str, parameters: Mapping[str, Any]) -> str:
        """Do a piece of work; return its log, which is empty if it went well."""
        snapshot = parameters["testrig"]
        try:
            if "answer" in parameters:
                key = (parameters["questionname"], snapshot, parameters.get("deltatestrig"))
                self.network(network).answers[key] = self._answer(network, *key)
            else:
                self.kept(network, snapshot).parse()
        except (PlainError, RefusedError) as error:
            return f"Loading snapshot {snapshot} of network {network}\norg.batfish.common.BatfishException: {error}\n"
        return ""

    def status(self, network: str, work: str) -> dict[str, object]:
        """Return how a piece of work goes; the coordinator ticks when it is not done. Raises RefusedError."""
        if work not in self.network(network).work:
            self.tick()
        if work not in self.networks[network].work:
            return {"task": {"status": "Unscheduled"}, "workstatuscode": "UNASSIGNED"}
        code = ABNORMALLY if self.log(network, work) else NORMALLY
        return {"task": {"status": code, "terminated": 0}, "workstatuscode": code}

    def log(self, network: str, work: str) -> str:
        """Return the log of a piece of work. Raises RefusedError."""
        found = self.network(network).work
        if work not in found:
            raise RefusedError(404, f"Work '{work}' in network '{network}' not found")
        return found[work]

    def answer(self, network: str, question: str, snapshot: str, reference: str | None) -> dict[str, Any]:
        """Return the answer that some work has found. Raises RefusedError."""
        found = self.network(network).answers
        if (question, snapshot, reference) not in found:
            raise RefusedError(404, f"Answer for question '{question}' on snapshot '{snapshot}' not found")
        return found[question, snapshot, reference]

    def _answer(self, network: str, name: str, snapshot: str, reference: str | None) -> dict[str, Any]:
        questions = self.network(network).questions
        if name not in questions:
            raise RefusedError(404, f"Question '{name}' in network '{network}' not found")
        question, parameters = read_question(questions[name])
        self.asked.append(Asked(question, snapshot, reference, parameters))
        against = None if reference is None else self._parsed(network, reference)
        return encoded(question, answer(self._parsed(network, snapshot), question, against, **parameters))

    def _parsed(self, network: str, snapshot: str) -> Snapshot:
        found = self.kept(network, snapshot).parsed
        if found is None:
            raise PlainError(f"snapshot {snapshot} was not parsed")
        return found

    def _keep(self, network: str, snapshot: str, kept: Kept) -> None:
        if snapshot in self.network(network).snapshots:
            raise RefusedError(400, f"Snapshot '{snapshot}' in network '{network}' already exists")
        self.networks[network].snapshots[snapshot] = kept
        self.created.append(f"{network}/{snapshot}")


def _texts(zipped: bytes) -> dict[str, str]:
    """Read the files of a snapshot that is zipped as one folder. Raises RefusedError."""
    try:
        with zipfile.ZipFile(io.BytesIO(zipped)) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            files = {name.partition("/")[2]: archive.read(name) for name in names}
    except zipfile.BadZipFile as error:
        raise RefusedError(400, f"not a zip file: {error}") from error
    found = {name: _decoded(name, content) for name, content in files.items() if name.startswith("configs/")}
    if not found:
        raise RefusedError(400, "Invalid snapshot: no configs folder in the one folder of the zip file")
    return found


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError(400, f"{name}: {error}") from error
