"""What the templates of a user may take: memory, processor time and text. Held in a process of their own.

The kernel holds the memory. A timer ends what Python computes, with the line where it was; what does not come back to
Python, a comparison of long lists for one, the kernel ends a moment later, and the process with it.
"""

from __future__ import annotations

import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jinja2.sandbox import MAX_RANGE

from ailb_gen.errors import TemplateError

MEMORY_BYTES = 512 << 20
CPU_S = 8
# What a timer may be late, and the time a process gets then to say so, in seconds.
GRACE_S = 2
FILE_BYTES = 16 << 20
# All files together: those of 32,768 GPUs are 62 MB, and a device takes a hundredth of a second.
TREE_BYTES = 256 << 20
DEVICE_S = 0.1
REMEDY = "reduce what the template computes and writes"
# Where Linux says how much memory a process has.
MEMORY = Path("/proc/self/statm")


class TooLongError(BaseException):
    """The processor time of a file is over; no handler of exceptions in a template's code keeps it."""


class TooMuchTextError(Exception):
    """A file is too large; the message is where it was written, file and line."""


class Total:
    """Counts what all devices take; without `templates` of a user, without a limit."""

    __slots__ = ("left_bytes", "left_s", "most_s", "templates")

    def __init__(self, templates: Path | None, devices: int) -> None:
        self.templates, self.left_bytes = templates, TREE_BYTES
        self.left_s = self.most_s = CPU_S + DEVICE_S * devices

    def add(self, size: int, seconds: float) -> None:
        """Count bytes and seconds of processor time. Raises TemplateError when it is too much."""
        self.left_bytes -= size
        self.left_s -= seconds
        if self.templates is None:
            return
        if self.left_bytes < 0:
            raise TemplateError(f"{self.templates}: all files become larger than {TREE_BYTES >> 20} MiB; {REMEDY}")
        if self.left_s < 0:
            reason = f"all devices take more than {self.most_s:.0f} s of processor time"
            raise TemplateError(f"{self.templates}: {reason}; {REMEDY}")


def reason_of(error: BaseException) -> str:
    """Return in one short line what went wrong in a template, and what to do when it took too much."""
    if isinstance(error, MemoryError):
        return f"this needs more than {MEMORY_BYTES >> 20} MiB of memory; {REMEDY}"
    if isinstance(error, TooLongError):
        return f"this needs more than {CPU_S} s of processor time; {REMEDY}"
    if isinstance(error, TooMuchTextError):
        return f"the file becomes larger than {FILE_BYTES >> 20} MiB; {REMEDY}"
    if isinstance(error, RecursionError):
        return "a macro, an include or an expression is nested too deeply (recursion); end it earlier"
    text = str(error)[:1000]
    if isinstance(error, OverflowError) and text.startswith("Range too big"):
        text = f"a range of more than {MAX_RANGE:,} numbers; {REMEDY}"
    elif isinstance(error, ValueError) and "set_int_max_str_digits" in text:
        text = f"a number of more than {sys.get_int_max_str_digits():,} digits; {REMEDY}"
    return " ".join(text.split())[:300] or type(error).__name__


def killed(templates: Path, device: str = "") -> TemplateError:
    """Make the error for a process that the kernel ended; `device` is the first one whose files did not come."""
    most = f"{CPU_S} s of processor time or {MEMORY_BYTES >> 20} MiB of memory"
    first = f" (the first device without files is {device})" if device else ""
    return TemplateError(f"{templates}: a template takes more than {most}; {REMEDY}{first}")


def hold_memory() -> None:
    """Limit the memory of this process, once, to what it has and MEMORY_BYTES."""
    pages = int(MEMORY.read_text(encoding="ascii").split()[0])
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit if most < 0 else min(limit, most), most))
    # The kernel would write a core of a process that it ends for its time.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def release() -> None:
    """Take the limits back, as far as this process may: what is left to do is to say what happened."""
    signal.setitimer(signal.ITIMER_PROF, 0)
    for limit in (resource.RLIMIT_AS, resource.RLIMIT_CPU):
        _, most = resource.getrlimit(limit)
        resource.setrlimit(limit, (most, most))


@contextmanager
def limited_time() -> Iterator[None]:
    """Give what follows CPU_S of processor time; raises TooLongError in it. For the main thread of a process."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    limit = int(time.process_time()) + CPU_S + GRACE_S
    resource.setrlimit(resource.RLIMIT_CPU, (limit if most < 0 else min(limit, most), most))
    signal.signal(signal.SIGPROF, _stop)
    # Once more a second later, if what it raised was lost.
    signal.setitimer(signal.ITIMER_PROF, CPU_S, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _stop(number: int, frame: object) -> None:
    raise TooLongError
