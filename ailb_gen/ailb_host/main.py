"""The command line of `ailb-host`.

Exit codes: 0 as planned; 1 something differs from the plan; 2 wrong arguments; 3 no answer is possible.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .console import INCOMPLETE, note
from .files import HostError
from .verbs.addresses import add_addresses
from .verbs.counters import add_counters
from .verbs.gids import add_gids
from .verbs.ping import add_ping
from .verbs.setup import add_setup
from .verbs.traffic import add_traffic


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="ailb-host", description="What a GPU server sees of its fabric.")
    result.add_argument("--root", default="/", metavar="DIR", help="read /sys, /proc and /etc below DIR instead")
    verbs = result.add_subparsers(dest="verb", metavar="VERB")
    for add in (add_gids, add_counters, add_addresses, add_ping, add_setup, add_traffic):
        add(verbs)
    return result


def main(words: Sequence[str] | None = None) -> int:
    """Run a verb, and return the exit code."""
    arguments = parser().parse_args(words)
    if arguments.verb is None:
        parser().print_usage(sys.stderr)
        return 2
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except HostError as error:
        note(str(error))
        return INCOMPLETE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
