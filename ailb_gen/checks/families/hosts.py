"""Helpers of the checks of servers (AILB6xx): run one function for every group, and add its findings."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_hosts import HostGroup
from ailb_gen.checks.model import Check, Findings
from ailb_gen.checks.subjects import Subject
from ailb_gen.errors import Place
from ailb_gen.hosts.model import NetplanNic

REGENERATE = "Generate the files again, or correct the line by hand on every server that has it."


class HostFindings:
    """Adds findings about a group of servers, or some servers of it, at lines of its files."""

    __slots__ = ("findings", "group", "servers", "subjects")

    def __init__(
        self,
        group: HostGroup,
        findings: Findings,
        servers: tuple[str, ...] = (),
        subjects: tuple[Subject, ...] = (),
    ) -> None:
        self.group, self.findings, self.servers = group, findings, servers or group.servers
        self.subjects = subjects

    def about(self, *subjects: Subject) -> HostFindings:
        """Return these findings with further subjects, such as a table."""
        return HostFindings(self.group, self.findings, self.servers, (*self.subjects, *subjects))

    @property
    def scope(self) -> str:
        """The group, or the first of the servers when they are not the whole group."""
        return self.group.scope if len(self.servers) == len(self.group.servers) else self.servers[0]

    def look(self, check: Check, count: int = 1) -> None:
        """Count things that a check examines."""
        self.findings.look(check, count)

    def place(self, file: str, line: int = 1) -> Place:
        """Return a place in one of the files of the group."""
        return Place(f"{self.group.profile.folder}/{file}", line or 1)

    def add(
        self,
        check: Check,
        message: str,
        file: str | Place,
        line: int = 1,
        expected: object = "",
        found: object = "",
        nic: str = "",
        same_cause: str = "",
    ) -> None:
        """Add a finding about the group, or about a NIC of it; the message says how many servers it concerns."""
        place = file if isinstance(file, Place) else self.place(file, line)
        message += f" ({len(self.servers)} servers)" if len(self.servers) > 1 else ""
        subjects = (*self.subjects, *([about.nic(self.scope, nic)] if nic else ())) or (about.device(self.scope),)
        self.findings.add(
            check, self.scope, message, place, expected, found, same_cause=same_cause, part=nic, subjects=subjects
        )

    def at(
        self,
        check: Check,
        nic: NetplanNic,
        message: str,
        line: int,
        expected: object = "",
        found: object = "",
        same_cause: str = "",
    ) -> None:
        """Add a finding about a NIC at a line of its netplan file."""
        self.add(check, message, nic.file, line, expected, found, nic.name, same_cause)


def per_group(function: Callable[[HostGroup, HostFindings], None]) -> Callable[[Context, Findings], None]:
    """Return the check function that runs `function` for every group of servers."""

    @wraps(function)
    def run(context: Context, findings: Findings) -> None:
        for group in context.host_groups:
            function(group, HostFindings(group, findings))

    return run
