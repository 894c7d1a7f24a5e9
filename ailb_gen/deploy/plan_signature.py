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
    reason = f"its signature does not hold: {why}; it was edited since, or signed for something else"
    raise PlanError("plan-unsigned", plan, reason)


def _keygen(words: Sequence[str], content: bytes = b"") -> tuple[bool, str, str]:
    """Run `ssh-keygen -Y`; return whether it agrees, what it says, and why not. Raises DeployError."""
    program = shutil.which("ssh-keygen")
    if program is None:
        raise DeployError("ssh-keygen is not installed; it verifies signatures: install OpenSSH 8.2 or later")
    try:
        done = subprocess.run(
            [program, "-Y", *words], input=content, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DeployError(f"ssh-keygen cannot verify the signature: {error}") from error
    out, err = (text.decode(errors="backslashreplace") for text in (done.stdout, done.stderr))
    lines = [line.strip() for line in (err or out).splitlines() if line.strip()]
    return done.returncode == 0, out, "; ".join(lines) or f"exit code {done.returncode}"
