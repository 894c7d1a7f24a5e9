"""Whether a push is approved: who may sign its plan is said by the inventory, or on the command line.

Where the inventory says it, a push needs a signed plan, and so does a run that is continued.
"""

from dataclasses import dataclass
from pathlib import Path

from ailb_gen.deploy.past import Past
from ailb_gen.deploy.plan_signature import HOW, SUFFIX, Signature, read_signature, verified
from ailb_gen.deploy.planfile import ApprovedPlan, read_plan
from ailb_gen.deploy.runlog import StateDirectory
from ailb_gen.errors import UsageError

# What is kept of a plan in the record of a run.
KEPT = "plan.json"
WAY = f"'ailb-gen plan -o PLAN', an approver's 'ssh-keygen -Y sign' ({HOW} PLAN), 'ailb-gen deploy --plan PLAN'"


@dataclass(frozen=True, slots=True)
class Approval:
    """The plan that a push was given, with its file, that of its signature, and who may sign; None: not given."""

    file: Path | None = None
    plan: ApprovedPlan | None = None
    signature: Path | None = None
    signers: Path | None = None

    def verify(self, required: Path | None, dry_run: bool) -> Signature | None:
        """Return the signature of the plan, None where none is needed; `required` are the inventory's allowed signers.

        Raises UsageError when it is missing or does not hold, DeployError when ssh-keygen cannot be run.
        """
        if required is not None and self.signers is not None:
            raise UsageError(f"--allowed-signers: the inventory says who may sign: {required}; omit it")
        signers = required or self.signers
        if self.plan is None or self.file is None:
            if self.signature is not None or self.signers is not None:
                raise UsageError("--plan-signature and --allowed-signers are about a plan: add --plan")
            if required is not None and not dry_run:
                raise UsageError(f"a push to this fabric needs a signed plan, because its inventory says so: {WAY}")
            return None
        if signers is None:
            if self.signature is not None:
                raise UsageError("--plan-signature: who may sign is not known; add --allowed-signers FILE")
            return None
        if dry_run and self.signature is None and self.signers is None:
            return None
        signature = read_signature(self.signature or beside(self.file))
        return verified(self.file, self.plan.content, signature, signers)

    def kept(self, signature: Signature | None) -> dict[str, bytes]:
        """Return what the record of a run keeps."""
        found = {KEPT: self.plan.content} if self.plan is not None else {}
        return found | ({f"{KEPT}{SUFFIX}": signature.data} if signature is not None else {})


def beside(plan: Path) -> Path:
    """Return where `ssh-keygen -Y sign` puts the signature of a plan."""
    return plan.with_name(f"{plan.name}{SUFFIX}")


def check_resumed(past: Past, state: StateDirectory, required: Path | None) -> None:
    """Make sure that a run that is continued has a signed plan, if the inventory requires one; not a rollback.

    Raises UsageError, DeployError.
    """
    if required is None or past.is_rollback:
        return
    file = state.log(past.run).with_name(KEPT)
    if not file.is_file():
        raise UsageError(f"{past} has no signed plan, which the inventory requires; take it back, or push again: {WAY}")
    plan = read_plan(file)
    verified(file, plan.content, read_signature(beside(file)), required)
    if dict(plan.changes) != past.devices or plan.inputs != past.digest:
        raise UsageError(f"{past}: its record is about another plan than the signed one; was it edited?")
