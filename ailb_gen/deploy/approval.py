"""Signatures of plans: a person who does not push signs the file of a plan with an SSH key, and a push verifies it.

The signature is that of OpenSSH's `ssh-keygen -Y sign` (PROTOCOL.sshsig), who may sign is a file of allowed signers
(ssh-keygen(1), ALLOWED SIGNERS). Everything is verified by ssh-keygen.
"""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ailb_gen.deploy.plan_file import ApprovedPlan, read_plan
from ailb_gen.deploy.run_history import RecordedRun, StateDirectory
from ailb_gen.errors import DeployError, PlanError, UsageError

# Signatures for other purposes, such as those of Git, do not count.
NAMESPACE = "ailb-gen-plan"
# What `ssh-keygen -Y sign` appends to the name of a file.
SUFFIX = ".sig"
MAX_BYTES = 64 << 10
TIMEOUT_S = 30.0
HOW = f"sign it: ssh-keygen -Y sign -n {NAMESPACE} -f KEY"


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature that was verified: who signed, and with which key, as ssh-keygen says it; and its bytes."""

    signer: str
    key: str
    data: bytes


def read_signature(path: Path) -> bytes:
    """Read a signature. Raises PlanError."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES)
    except FileNotFoundError as error:
        plan = path.with_suffix("") if path.suffix == SUFFIX else "PLAN"
        raise PlanError("plan-unsigned", path, f"there is no such signature; {HOW} {plan}") from error
    except OSError as error:
        raise PlanError("plan-unsigned", path, f"the signature cannot be read: {error.strerror}") from error


def verified(plan: Path, content: bytes, signature: bytes, signers: Path) -> Signature:
    """Verify that one of the allowed signers signed these very bytes of a plan.

    Raises PlanError if nobody who may did, UsageError without allowed signers, DeployError if ssh-keygen cannot be run.
    """
    try:
        signers.read_bytes()
    except OSError as error:
        raise UsageError(f"{signers}: the allowed signers cannot be read: {error.strerror}") from error
    with TemporaryDirectory(prefix="ailb-") as folder:
        # Both questions are about the same bytes, whatever becomes of the file.
        file = Path(folder) / "signature"
        file.write_bytes(signature)
        found, names, why = _keygen(["find-principals", "-s", str(file), "-f", str(signers)])
        if not found:
            reason = f"nobody in {signers} made its signature: {why}; have an approver sign it"
            raise PlanError("plan-unsigned", plan, reason)
        for name in names.splitlines():
            words = ["verify", "-f", str(signers), "-I", name, "-n", NAMESPACE, "-s", str(file)]
            good, said, why = _keygen(words, content)
            if good:
                return Signature(name, said.strip().rpartition(" with ")[2], signature)
    reason = f"its signature is not valid: {why}; it was edited since, or signed for another purpose"
    raise PlanError("plan-unsigned", plan, reason)


def _keygen(words: Sequence[str], content: bytes = b"") -> tuple[bool, str, str]:
    """Run `ssh-keygen -Y`; return whether it agrees, what it says, and why not. Raises DeployError."""
    program = shutil.which("ssh-keygen")
    if program is None:
        raise DeployError("ssh-keygen is not installed; signatures need it: install OpenSSH 8.2 or later")
    try:
        done = subprocess.run(
            [program, "-Y", *words], input=content, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DeployError(f"ssh-keygen cannot verify the signature: {error}") from error
    out, err = (text.decode(errors="backslashreplace") for text in (done.stdout, done.stderr))
    lines = [line.strip() for line in (err or out).splitlines() if line.strip()]
    return done.returncode == 0, out, "; ".join(lines) or f"exit code {done.returncode}"


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
                raise UsageError("--plan-signature and --allowed-signers need --plan")
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
        """Return the files that the record of a run keeps."""
        found = {KEPT: self.plan.content} if self.plan is not None else {}
        return found | ({f"{KEPT}{SUFFIX}": signature.data} if signature is not None else {})


def beside(plan: Path) -> Path:
    """Return where `ssh-keygen -Y sign` puts the signature of a plan."""
    return plan.with_name(f"{plan.name}{SUFFIX}")


def check_resumed(past: RecordedRun, state: StateDirectory, required: Path | None) -> None:
    """Make sure that a run that is continued has a signed plan, if the inventory requires one; not a rollback.

    Raises UsageError, DeployError.
    """
    if required is None or past.is_rollback:
        return
    file = state.log(past.run).with_name(KEPT)
    if not file.is_file():
        raise UsageError(f"{past} has no signed plan, which the inventory requires; roll it back, or push again: {WAY}")
    plan = read_plan(file)
    verified(file, plan.content, read_signature(beside(file)), required)
    if dict(plan.changes) != past.devices or plan.inputs != past.digest:
        raise UsageError(f"{past}: its record has another plan than the signed one; was it edited?")
