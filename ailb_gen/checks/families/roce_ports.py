"""RocePorts of a switch with the same class of service: where a finding about them points to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

from ailb_gen.checks import subjects as about
from ailb_gen.checks.locate import ANY, OR
from ailb_gen.checks.model import Check, Details, Findings
from ailb_gen.errors import Place
from ailb_gen.intent.settings import Roce
from ailb_gen.network.cos import Scheduler
from ailb_gen.network.model import Switch
from ailb_gen.network.port_qos import PortQos

ABOVE = "class-of-service"


@dataclass(frozen=True, slots=True, eq=False)
class RocePorts:
    """Ports of a switch with the same class of service; `all_of_them` when the switch has no others that carry RDMA."""

    switch: Switch
    ports: tuple[str, ...]
    qos: PortQos
    roce: Roce
    all_of_them: bool
    findings: Findings

    def add(
        self,
        check: Check,
        message: str,
        line: int,
        expected: object = "",
        found: object = "",
        **details: Unpack[Details],
    ) -> None:
        """Add a finding about the switch, or about each of the ports; `statement` is below class-of-service."""
        choices = details.get("statement", "").split(OR)
        details["statement"] = OR.join(f"{ABOVE} {choice}" if choice else "" for choice in choices)
        named = about.of_statement(self.switch.named, details["statement"])
        details["subjects"] = tuple(dict.fromkeys((*details.get("subjects", ()), *named)))
        if self.all_of_them:
            self.findings.at(check, self.switch, message, line, expected, found, **details)
            return
        # What holds on several ports is written once.
        details["same_cause"] = f"{Place(self.switch.file, line or 1)} {message}"
        for port in self.ports:
            own: Details = {**details, "part": port}
            own["subjects"] = (*details["subjects"], about.port(self.switch.named, port))
            self.findings.at(check, self.switch, message, line, expected, found, **own)

    def scheduling(self, name: str, below: str) -> str:
        """Return the statement of a class's scheduler.

        Where the scheduler is that of another class, it is the statement that gives it to this one.
        """
        own = dict(self.qos.schedulers).get(name)
        entry = self.qos.entry
        given = f"scheduler-maps {entry.scheduler_map if entry is not None else ''} forwarding-class {name}"
        if own is None:
            return given
        others = [scheduler for other, scheduler in self.qos.schedulers if other != name]
        shared = any(other.name == own.name for other in others)
        wrong = shared or self._exchanged(name, own, others)
        return f"{given} scheduler {own.name}" if wrong else f"schedulers {own.name} {below}"

    def _exchanged(self, name: str, own: Scheduler, others: Iterable[Scheduler]) -> bool:
        """Return whether RDMA's class and that of congestion notifications have each other's scheduler."""
        rdma, notifications = (True, ""), (False, "strict-high")
        carries_rdma = any(row.forwarding_class == name and row.dscp == self.roce.dscp for row in self.qos.treatments)
        right, wrong = (rdma, notifications) if carries_rdma else (notifications, rdma)
        return (own.ecn, own.priority) == wrong and any((other.ecn, other.priority) == right for other in others)

    def drops(self, name: str, below: str, expected: Sequence[str] = (), found: Sequence[str] = ()) -> str:
        """Return the statement of the drop profile of a class; of several values the first wrong one."""
        wrong = next((f" {value}" for value in found if value not in expected), "")
        own = dict(self.qos.schedulers).get(name)
        if own is None or not any((row.loss_priority, row.protocol) == ("any", "any") for row in own.drops):
            return self.scheduling(name, "drop-profile-map")
        profile = f"drop-profiles {own.drops[0].profile} interpolate {below}{wrong}"
        given = self.scheduling(name, "drop-profile-map")
        return profile if given.startswith("schedulers") else given

    def classifier(self) -> str:
        """Return the classifier of the ports, as a statement."""
        entry = self.qos.entry
        named = [*entry.classifiers, *(row for unit in entry.units for row in unit.classifiers)] if entry else []
        kind, name = named[0] if named else ("dscp", ANY)
        return f"classifiers {kind} {name}"

    def congestion(self) -> str:
        """Return the congestion notification profile of the ports, as a statement."""
        return f"congestion-notification-profile {self.qos.entry.congestion if self.qos.entry is not None else ANY}"
