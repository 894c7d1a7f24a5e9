"""The command line of `ailb-host`.

Exit codes: 0 as planned; 1 something differs from the plan; 2 wrong arguments; 3 no answer is possible.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from .console import INCOMPLETE, note
from .files import HostError

VERBS = ("gids", "counters", "addresses", "ping", "setup", "traffic")


def parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a command line, with the verbs among its words, else with all."""
    result = argparse.ArgumentParser(prog="ailb-host", description="What a GPU server sees of its fabric.")
    result.add_argument("--root", default="/", metavar="DIR", help="read /sys, /proc and /etc below DIR instead")
    verbs = result.add_subparsers(dest="verb", metavar="VERB")
    # Modules of a zip archive are compiled every time: half of the time of `gids`.
    for verb in [verb for verb in VERBS if verb in words] or VERBS:
        getattr(import_module(f".verbs.{verb}", __package__), f"add_{verb}")(verbs)
    return result


def main(words: Sequence[str] | None = None) -> int:
    """Run a verb, and return the exit code."""
    words = sys.argv[1:] if words is None else words
    try:
        command = parser(words)
        arguments = command.parse_args(words)
        if arguments.verb is None:
            command.print_usage(sys.stderr)
            return 2
        code: int = arguments.run(arguments)
        print(end="", flush=True)
        return code
    except HostError as error:
        note(str(error))
        return INCOMPLETE
    except OSError as error:
        # Python flushes once more at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):
            return 141
        note(": ".join(str(text) for text in (error.filename, error.strerror or error) if text))
        return INCOMPLETE
