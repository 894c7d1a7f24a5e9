"""The devices of a fabric, connected: plan, deploy, verify, find drift, roll back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ailb_gen.api.inputs import fabric_file
from ailb_gen.errors import DeployError, UsageError
from ailb_gen.progress import Advance, Progress, Warn, quiet, unheeded
from ailb_gen.signals import NO_SIGNALS

if TYPE_CHECKING:
    from ailb_gen.checks.model import Result
    from ailb_gen.deploy.approval import Approval
    from ailb_gen.deploy.artifacts import Trust, Written
    from ailb_gen.deploy.deployment import Deployment
    from ailb_gen.deploy.impact import PushImpact
    from ailb_gen.deploy.planning import Plan
    from ailb_gen.deploy.push import PushOptions
    from ailb_gen.deploy.run_history import StateDirectory
    from ailb_gen.deploy.run_hooks import EventHooks
    from ailb_gen.deploy.session import Access, DeploySession
    from ailb_gen.deploy.switch_driver import DeviceError
    from ailb_gen.deploy.wave import RunReport
    from ailb_gen.intent.load import Intent
    from ailb_gen.report.check_report import CheckReport

# What speaks NETCONF to the switches.
Driver = Literal["napalm", "pyez"]
# More statements of others, which a push would delete, are counted.
LISTED = 40


@dataclass(frozen=True, slots=True)
class Connection:
    """The devices that a fabric's inventory manages; each is connected to when a method first needs it.

    `context` has the intent, the inventory, the files and the names of the picked devices; runs are recorded in
    `records`, with the options `recorded`. `_access` is how devices are reached; `_warn` prints a note.
    """

    context: DeploySession
    records: StateDirectory
    recorded: Mapping[str, object]
    _access: Access
    _warn: Warn = unheeded

    @property
    def devices(self) -> dict[str, str]:
        """The role of every picked device by its name."""
        return {name: role for name, role in self.context.roles.items() if name in self.context.picked}

    def plan(self, *, min_paths: int = 1, side_by_side: bool = False, progress: Progress = quiet) -> Plan:
        """Compare all devices with their files and plan the push; nothing is changed.

        While spines change, `min_paths` paths stay between any two leaves. `side_by_side`: the plan can show both
        configurations beside each other. Devices that cannot be read are in the plan's `errors`.
        """
        from ailb_gen.deploy.planning import plan_of

        on = self.context
        with progress("reading devices", len(on.roles)) as advance:
            return plan_of(on, on.file_source, min_paths, advance, compare=side_by_side)

    def impact(self, plan: Plan) -> PushImpact:
        """Compute the sessions, colors and servers that a plan touches, and what traffic sees meanwhile."""
        return impact_of_plan(plan)

    def write_plan(
        self,
        plan: Plan,
        path: str | Path,
        *,
        limit: Sequence[str] = (),
        min_paths: int = 1,
        impact: PushImpact | None = None,
    ) -> None:
        """Write a plan for approval, with the `limit` and `min_paths` it was made with. Raises OutputError."""
        from ailb_gen.deploy.plan_file import plan_text, write_plan

        text = plan_text(self.context.inputs, plan, limit, min_paths, impact or impact_of_plan(plan))
        write_plan(Path(path), text)

    def drift(self, *, limit: Sequence[str] = (), html: bool = True, progress: Progress = quiet) -> CheckReport:
        """Compare the configurations of all switches and the files of the picked servers with the generated files.

        Without `html`, the HTML report has no picture of the fabric.
        """
        from ailb_gen.deploy.verification import drift

        return self._report("drift", drift, limit, html, (), progress)

    def verify(self, *, limit: Sequence[str] = (), html: bool = True, progress: Progress = quiet) -> CheckReport:
        """Compare the state of the devices with what the generated files must bring about."""
        from ailb_gen.deploy.verification import NOT_READ, verify

        return self._report("verify", verify, limit, html, (NOT_READ,), progress)

    def _report(
        self,
        command: str,
        observe: Callable[[DeploySession, Advance], list[Result]],
        limit: Sequence[str],
        html: bool,
        notes: tuple[str, ...],
        progress: Progress,
    ) -> CheckReport:
        on = self.context
        with progress("reading devices", len(on.roles)) as advance:
            results = observe(on, advance)
        return report_of(on, command, results, limit, html, notes)

    def collect(self, out: str | Path, *, progress: Progress = quiet) -> tuple[Written, Mapping[str, DeviceError]]:
        """Write what the devices have into files for `validate`, without secrets; return the errors of devices.

        Raises DeployError if no device can be read, OutputError.
        """
        from ailb_gen.deploy.artifacts import check_target, collect_host, collect_switch, write
        from ailb_gen.deploy.switch_driver import Phase, once
        from ailb_gen.design.build import build

        on = self.context
        design, _ = build(on.intent)
        check_target(Path(out), design.name)
        unmanaged = [target.name for target in on.inventory.targets.values() if not target.managed]
        with progress("collecting", len(on.picked)) as advance:
            read = on.ask(collect_switch, collect_host, Phase.READ, advance)
        if not read.good:
            raise DeployError("\n".join([*once(read.bad.values()), "nothing was collected"]))
        written = write(Path(out), design, read.good, [name for name in unmanaged if name not in on.switches])
        return written, read.bad

    def deploy(
        self,
        options: PushOptions | None = None,
        *,
        approval: Approval | None = None,
        allow_foreign_deletes: bool = False,
    ) -> RunReport:
        """Push the files in waves; each device is verified, then confirmed, or rolled back.

        With an approved plan, exactly that is pushed, or nothing. Raises UsageError before anything is changed; what
        became of each device is in the report.
        """
        from ailb_gen.deploy.approval import Approval
        from ailb_gen.deploy.plan_file import check_plan
        from ailb_gen.deploy.push import PushOptions

        approval, options = approval or Approval(), options or PushOptions()
        by = approval.verify(self.context.inventory.allowed_signers, options.dry_run)
        plan = approval.plan
        noted = {"file": str(approval.file), "digest": plan.digest} if plan is not None else {}
        noted |= {"signer": by.signer, "key": by.key} if by is not None else {}
        options = replace(options, plan=noted, kept=approval.kept(by))

        def check(found: Plan) -> None:
            if plan is not None:
                check_plan(plan, self.context.inputs, found, lambda: impact_of_plan(found))
            if not allow_foreign_deletes and not options.dry_run:
                refuse_foreign_deletes(found)

        with self._runs("deploy", options) as runs:
            return runs.deploy(check)

    def resume(self, run: str = "", options: PushOptions | None = None) -> RunReport:
        """Settle an interrupted run, by default the last one, and continue it. Raises UsageError."""
        from ailb_gen.deploy.approval import check_resumed

        required = self.context.inventory.allowed_signers
        with self._runs("resume", options) as runs:
            return runs.resume(run, lambda past: check_resumed(past, runs.state, required))

    def confirm(self, run: str = "", options: PushOptions | None = None) -> RunReport:
        """Confirm what an interrupted run left pending on devices. Raises UsageError."""
        with self._runs("confirm", options) as runs:
            return runs.confirm(run)

    def rollback(self, run: str = "", options: PushOptions | None = None) -> RunReport:
        """Bring back what the devices had before a run, by default the last one. Raises UsageError."""
        with self._runs("rollback", options) as runs:
            return runs.rollback(run)

    @contextmanager
    def _runs(self, verb: str, options: PushOptions | None) -> Iterator[Deployment]:
        """Give the runs of this fabric while no other process has any, and tell its hooks.

        Raises UsageError, OutputError.
        """
        from ailb_gen.deploy.deployment import Deployment
        from ailb_gen.deploy.push import PushOptions
        from ailb_gen.deploy.run_hooks import RunHooks

        options = options or PushOptions()
        limits = options.limits
        recorded = {
            "min_paths": options.min_paths,
            "max_failures": limits.failures,
            "confirm_minutes": limits.minutes,
            "verify_timeout": int(limits.verify_s),
            **self.recorded,
            **options.recorded,
        }
        told = options.begun
        hooks = RunHooks(hooks_of(self, verb, "run"))

        def begun(run: str) -> None:
            told(run)
            hooks.begun(run)

        try:
            with self.records.alone():
                yield Deployment(self.context, self.records, replace(options, recorded=recorded, begun=begun))
        finally:
            hooks.ended(self.records)


@contextmanager
def connect(
    fabric: Intent | str | Path,
    artifacts: str | Path | None = None,
    *,
    inventory: Path | None = None,
    limit: Sequence[str] = (),
    driver: Driver = "napalm",
    jobs: int = 32,
    accept_new_hostkeys: bool = False,
    trust: Trust = "manifest",
    state: Path | None = None,
    signals: Callable[[], int] = NO_SIGNALS,
    limited_by: str = "--limit",
    warn: Warn = unheeded,
) -> Iterator[Connection]:
    """Read a fabric file, its inventory and its generated files, and give a connection to its devices.

    The inventory is by default beside the fabric file; `limit` names the devices to work on, `limited_by` where that
    was said. `jobs` devices are asked at once. `trust` says how far the files must agree with their manifest: entirely
    ("manifest"), or as far as there is one ("files"). Runs are recorded in `state`, by default `.ailb/runs` beside the
    fabric file. `signals` counts the requests to stop that came. Raises IntentError, UsageError, OutputError.
    """
    from ailb_gen.deploy.host_keys import HostKeys
    from ailb_gen.deploy.session import Access, open_session

    path = fabric_file(Path(fabric if isinstance(fabric, str | Path) else fabric.source.file))
    access = Access(driver, jobs, HostKeys(accept_new_hostkeys, warn), signals=signals)
    files = Path(artifacts) if artifacts is not None else None
    with open_session(path, files, inventory, limit, access, trust, limited_by) as context:
        yield Connection(context, records_of(path, state), {"driver": driver, "jobs": jobs}, access, warn)


def hooks_of(on: Connection, verb: str, what: str) -> EventHooks:
    """Return the hooks of the inventory for a run or a maintenance."""
    from ailb_gen.deploy.run_hooks import EventHooks

    about = {"fabric": on.context.intent.fabric.name, "verb": verb, "user": on.context.user}
    return EventHooks(on.context.inventory.hooks, on._access.secrets, about, what, on._warn)


def report_of(
    session: DeploySession,
    command: str,
    results: Sequence[Result],
    limit: Sequence[str],
    html: bool,
    notes: tuple[str, ...] = (),
) -> CheckReport:
    """Return the report of checks of devices; without `html` it has no picture of the fabric."""
    from ailb_gen.checks.catalogue import OF_DEVICES, checks_of
    from ailb_gen.checks.model import Run
    from ailb_gen.report.check_report import CheckReport
    from ailb_gen.report.verdict import judge

    names = (session.intent.fabric.name, session.intent.source.file, str(session.inputs.artifacts))
    run = Run(*names, tuple(sorted(session.roles.items())), tuple(results), notes=notes)
    verdict = judge(run, (), {check.id for check in checks_of(OF_DEVICES)}, limit, "error")
    if not html:
        return CheckReport(verdict, command)
    from ailb_gen.checks.context import Context
    from ailb_gen.network.read import network_of

    # The fabric of the files, on which the HTML report shows what was observed on the devices.
    files = session.inputs.artifacts
    return CheckReport(verdict, command, Context(session.intent.fabric, network_of(files), root=files))


def records_of(fabric: Path, state: Path | None = None) -> StateDirectory:
    """Return where the runs of a fabric are recorded."""
    from ailb_gen.deploy.run_history import StateDirectory

    return StateDirectory(state or fabric_file(fabric).parent / ".ailb" / "runs")


def impact_of_plan(plan: Plan) -> PushImpact:
    """Return what a plan touches; it brings everything that computes traffic."""
    from ailb_gen.deploy.impact import impact_of

    return impact_of(plan)


def refuse_foreign_deletes(plan: Plan) -> None:
    """Refuse to delete what was never this program's. Raises UsageError."""
    wrong = [f"  {name}: {edit.statement}" for name, look in plan.changed_switches.items() for edit in look.foreign]
    if wrong:
        more = [f"  and {len(wrong) - LISTED} more"] if len(wrong) > LISTED else []
        raise UsageError(
            "\n".join(
                [
                    "nothing was changed: a first push would delete what others configured:",
                    *wrong[:LISTED],
                    *more,
                    "name it under 'keep' in the inventory to leave it, or give --allow-foreign-deletes",
                ]
            )
        )
