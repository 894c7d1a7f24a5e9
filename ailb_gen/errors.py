"""The one tree of errors, the problems they carry, and the exit codes of the command line.

Every error says what is wrong, where, why and what to do; every problem has a stable code that is documented
in `docs/reference/errors.md`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Literal


class ExitCode(IntEnum):
    """Exit codes of the command line."""

    OK = 0
    FINDINGS = 1
    BAD_INPUT = 2
    ENVIRONMENT = 3
    ROLLED_BACK = 4
    ATTENTION = 5
    BUG = 70
    INTERRUPTED = 130


EXIT_CODES = {
    ExitCode.OK: "done, nothing to report",
    ExitCode.FINDINGS: "`generate --check` found files that differ; `validate` or `lab check` found something that "
    "fails the gate, and `simulate` and `study what-if` refuse such files; `drift`, `verify`, `accept` or "
    "`watch --rounds` found a difference",
    ExitCode.BAD_INPUT: "the fabric file, a waiver file, a template or an argument cannot be used; nothing was written",
    ExitCode.ENVIRONMENT: "the output or a report cannot be written, or belongs to something else; the old tree is "
    "unchanged, unless the message says otherwise. Also: standard output cannot be written (for verbs that push, read "
    "devices or validate, a closed pipe too); the packages of an extra are not installed; Batfish cannot be reached or "
    "fails (the other reports are written); a device cannot be reached or refuses, and nothing in the wave was changed",
    ExitCode.ROLLED_BACK: "a push failed after a commit, and the named devices were rolled back",
    ExitCode.ATTENTION: "a device could not be brought to its old or its new configuration: manual action is needed. "
    "Also: `maintain` left a device out of service, or its work is not done",
    ExitCode.BUG: "an internal error; the traceback says where",
    ExitCode.INTERRUPTED: "stopped with Ctrl-C; the old tree is unchanged. SIGTERM, SIGHUP and SIGQUIT stop the "
    "program the same way, with 143, 129 and 131. An interrupted push ends in order, with 3, 4 or 5; `watch` with 0",
}

# Every code a problem can have, and what it means.
CODES = {
    "aigp-off": "backups without AIGP: nothing prefers a prefix's own color over them",
    "backup-same-spine": "a color whose backups are on its own spine alone; a warning if it has several links",
    "bad-address": "not an address, not a network, or host bits set",
    "bad-asn": "not an AS number or range",
    "bad-junos": "Junos text whose braces, quotes or semicolons do not match",
    "bad-mac": "not the MAC address of one interface",
    "bad-pattern": "a name pattern with unknown fields, or one that repeats names",
    "bad-plan": "fields of the address plan overlap, or lie inside the pool",
    "bad-quantity": "not a size, time or rate with its unit",
    "bad-range": "not a number or range",
    "bad-speed": "not a link speed such as `400g`",
    "breakout-conflict": "one physical port would have to be split in two ways",
    "conflict": "two settings contradict each other",
    "csv-row": "a row that is not CSV or has the wrong number of cells",
    "drain-cuts": "a drain, a graceful shutdown, or disabled ports, that leave two leaves without a path",
    "duplicate-address": "a loopback or management address twice",
    "duplicate-asn": "an AS number twice; only spines may share one",
    "duplicate-color": "a color named twice",
    "duplicate-key": "a key or column written twice",
    "duplicate-mac": "a MAC address twice",
    "duplicate-name": "two devices with one name (case is ignored)",
    "duplicate-port": "a port used twice",
    "duplicate-router-id": "a router-id twice",
    "duplicate-vlan": "a VLAN id twice",
    "glb-not-graded": "warning: GLB without egress_quantization, which does not see moderately loaded links",
    "links-recolored": "warning: existing links that get another color than in the tree that is replaced",
    "missing-key": "a required key or column is missing",
    "mtu-mismatch": "an MTU that is larger than the next one allows",
    "no-socket-ifname": "warning: sockets of NCCL may use GPU NICs, which have no route to another stripe",
    "no-such-breakout": "the platform does not split a port this way",
    "no-such-port": "the platform has no such port",
    "no-such-speed": "the platform's ports do not have this speed",
    "not-modelled": "warning: a statement of `extra_config` that `validate` does not accept without a waiver",
    "out-of-range": "a number, text or list beyond its bounds",
    "overlapping-pools": "two pools share addresses",
    "oversubscribed": "warning: more bandwidth to the servers than up to the spines",
    "packets-out-of-order": "warning: DLB per packet, and NICs that may not take packets out of order",
    "plan-edited": "a plan that was edited: a part differs from its digest",
    "plan-outdated": "a plan that is out of date: files, devices or waves are not those of the plan",
    "plan-unreadable": "not a plan, or one of another version of this program",
    "plan-unsigned": "a plan without the signature of an allowed signer",
    "pool-exhausted": "a pool or range has fewer numbers than are needed",
    "ports-exhausted": "a switch has fewer ports than are needed",
    "qps-not-colors": "warning: NCCL has another number of queue pairs than there are colors",
    "release-dependent": "warning: a statement that not every Junos release has",
    "reserved-asn": "a reserved AS number",
    "reserved-name": "a name with a special meaning",
    "reserved-vlan": "a reserved VLAN id",
    "toml-syntax": "not TOML",
    "too-large": "a document that is, or expands to, more than the limit",
    "uneven-colors": "colors that do not divide the uplinks of a leaf evenly",
    "unfit-interval": "warning: an inactivity interval of DLB that does not fit the job",
    "unknown-color": "a color that is not among the fabric's",
    "unknown-device": "an override, a drain or a graceful shutdown for a device that is not in the fabric",
    "unknown-key": "a key or column that does not exist",
    "unknown-kind": "a kind of server that `server_kinds` does not describe",
    "unknown-platform": "a platform without a profile",
    "unreadable": "a file that cannot be read",
    "unsafe-name": "a name or text that could change the configuration it is written into",
    "unused-kind": "warning: a kind of server without any server",
    "unused-port": "an override, or a drain, for a port that nothing uses",
    "wrong-count": "a list with the wrong number of entries",
    "wrong-type": "text where a number belongs, and so on",
    "wrong-value": "not one of the possible values",
    "yaml-syntax": "not YAML, or YAML that this program does not support",
}


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a text file; line and column count from 1. Line 0: a word of the command line."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the input: a stable code, the place, the path in the document, the reason and what to do."""

    code: str
    place: Place
    path: str
    reason: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise KeyError(self.code)

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{self.place}: {self.severity}[{self.code}]: {where}{self.reason}{hint}"


class AilbError(Exception):
    """Root of everything this program raises on purpose."""

    exit_code: ClassVar[ExitCode] = ExitCode.BAD_INPUT


class IntentError(AilbError):
    """The intent cannot be used; `problems` holds every reason found, in document order.

    `later` says which checks need input without these problems, as the beginning of a sentence; empty if none do.
    """

    def __init__(self, problems: Iterable[Problem], later: str = "") -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.place, p.path, p.code, p.reason)))
        note = [f"note: {later} checked once these errors are fixed"] if later else []
        super().__init__("\n".join([*map(str, self.problems), *note]))


class UsageError(AilbError):
    """An argument of the command cannot be used as given."""


class MissingExtraError(UsageError):
    """The packages of an extra are not installed; the message has the command that installs them."""

    exit_code = ExitCode.ENVIRONMENT


class BrokenFabricError(UsageError):
    """Validation finds errors in a fabric's files that decide how packets fare; the message has the causes."""

    exit_code = ExitCode.FINDINGS


class NoPathError(UsageError):
    """Flows of a simulation have no path through the fabric; the message names some."""


class ExpansionError(UsageError):
    """Groups or interface ranges that end nowhere, or take too much; `line` is where they stand, from 1."""

    def __init__(self, what: str, line: int, reason: str) -> None:
        self.what, self.line, self.reason = what, line, reason
        super().__init__(f"{what} (line {line}): {reason}")

    def __reduce__(self) -> tuple[type["ExpansionError"], tuple[str, int, str]]:
        return type(self), (self.what, self.line, self.reason)


class PlanError(UsageError):
    """A plan, or its signature, cannot be used: a stable code, the file, the reason and what to do."""

    def __init__(self, code: str, file: object, reason: str) -> None:
        self.problem = Problem(code, Place(str(file), 0, 0), "", reason)
        super().__init__(str(self.problem))


class JunosSyntaxError(AilbError):
    """Junos text that cannot be read: file, line and column (from 1) and the reason."""

    def __init__(self, file: str, line: int, column: int, reason: str) -> None:
        self.file, self.line, self.column, self.reason = file, line, column, reason
        where = f"{file}:{line}:{column}" if file else f"line {line}, column {column}"
        super().__init__(f"{where}: {reason}")

    def __reduce__(self) -> tuple[type["JunosSyntaxError"], tuple[str, int, int, str]]:
        # Errors cross process borders; the default would call __init__ with the message alone.
        return type(self), (self.file, self.line, self.column, self.reason)


class TemplateError(AilbError):
    """A template cannot be found, parsed or filled."""


class OutputError(AilbError):
    """The output tree cannot be read or written as asked; unless the message says so, nothing in it was changed."""

    exit_code = ExitCode.ENVIRONMENT


class WorkerError(AilbError):
    """A worker process died."""

    exit_code = ExitCode.ENVIRONMENT


class BatfishError(AilbError):
    """The Batfish service cannot be reached or fails; the message names the request and the address."""

    exit_code = ExitCode.ENVIRONMENT


class ExtensionError(AilbError):
    """An extension cannot be imported, is not of the documented form, or fails; the message names its distribution."""

    exit_code = ExitCode.ENVIRONMENT


class LabError(AilbError):
    """The machine, its kernel or a daemon fails, or lacks something that a lab needs; the message says where."""

    exit_code = ExitCode.ENVIRONMENT


class DeployError(AilbError):
    """A push failed; nothing that it began is left behind, unless the message says so."""

    exit_code = ExitCode.ENVIRONMENT


class RolledBackError(DeployError):
    """Something failed after configurations had been changed; what the message names was rolled back."""

    exit_code = ExitCode.ROLLED_BACK


class AttentionError(DeployError):
    """A device needs a person to act; the message names it and says what to do."""

    exit_code = ExitCode.ATTENTION
