"""`ailb-host` on servers, over the connection that a push has: its answers in JSON, read as those of a stranger."""

from __future__ import annotations

import json
import shlex
from typing import Any

from ailb_gen.deploy.servers.script import END
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.switch_driver import DeviceError, Phase, RequestRefusedError
from ailb_gen.layout import HOST_PROGRAM

# Bytes of the longest answer: a ping of all pairs of a large fabric.
MOST_BYTES = 8 << 20
ANSWER_S = 60.0
# Nothing differs from the plan, and something does.
ANSWERED = (0, 1)
PUSH = "push the server's files again: ailb-gen deploy"


def ask_host(
    server: ServerConnection, *words: str, data: str = "", timeout_s: float = ANSWER_S, phase: Phase = Phase.READ
) -> dict[str, Any]:
    """Run a verb of `ailb-host` with a standard input, and return the object that it prints.

    Raises DeviceError where it gives no answer, or one that is no object.
    """
    output = run_on_host(server, f"/{HOST_PROGRAM}", *words, data=data, timeout_s=timeout_s, phase=phase)
    if not output.strip():
        return {}
    try:
        found = json.loads(output)
        if not isinstance(found, dict):
            raise TypeError(type(found).__name__)
    except (ValueError, TypeError, RecursionError) as error:
        reason = f"ailb-host {words[0]} prints no object of JSON: {output[:200]!a}"
        raise RequestRefusedError(server.name, phase, reason, PUSH) from error
    return found


def run_on_host(
    server: ServerConnection,
    *words: str,
    data: str = "",
    timeout_s: float,
    phase: Phase = Phase.READ,
    codes: tuple[int, ...] = ANSWERED,
) -> str:
    """Run a program on a server with a standard input, and return its output. Raises DeviceError for other codes."""
    script = f"{{\n{shlex.join(words)} <<'{END}'\n{data}\n{END}\nexit\n}}\n"
    answer = server.run(script, phase, timeout_s, MOST_BYTES)
    if answer.code not in codes:
        lines = [line for line in answer.err.splitlines() if line.strip()]
        reason = lines[-1].removeprefix("ailb-host: ") if lines else f"'{words[0]}' ended with {answer.code}"
        raise RequestRefusedError(server.name, phase, reason, PUSH if answer.code in (2, 126, 127) else "")
    return answer.out.decode("utf-8", "replace")


def wrong_answer(name: str, verb: str, error: Exception) -> DeviceError:
    """Return the error for an answer that lacks something or has it in another form."""
    reason = f"the answer of ailb-host {verb} cannot be read: {str(error)[:200]!a} ({type(error).__name__})"
    return RequestRefusedError(name, Phase.READ, reason, PUSH)
