"""The verb `setup`: tables, rules and routes on the interfaces that are really there."""

from __future__ import annotations

import argparse
from itertools import chain

from ..console import report
from ..files import load_host
from ..interfaces import choose, obstacle, read_interfaces
from ..iproute import command_text
from ..setup import addressless, read_kernel, removal, run, steps


def add_setup(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser("setup", help="set tables, rules and routes on the interfaces that are really there")
    what = verb.add_mutually_exclusive_group()
    what.add_argument("--dry-run", action="store_true", help="print the commands, and change nothing")
    verify = "compare with the kernel, a line per difference; for addresses too many see gids"
    what.add_argument("--verify", action="store_true", help=verify)
    what.add_argument("--remove", action="store_true", help="delete the tables and rules of all NICs")
    verb.set_defaults(run=setup)


def setup(arguments: argparse.Namespace) -> int:
    """Set tables, rules and routes, print how, compare, or remove them."""
    host, kernel = load_host(arguments.root), read_kernel()
    if arguments.remove:
        return report(run(removal(host, kernel)))
    choices, problems = choose(host.nics, read_interfaces(), arguments.root)
    for choice in choices:
        if choice.note:
            print(f"# {choice.note}" if arguments.dry_run else choice.note)
    obstacles = {one.interface.name: (one.nic.name, obstacle(one.interface, arguments.root)) for one in choices}
    problems += [f"{nic}: {reason}" for nic, reason in obstacles.values() if reason]
    able = {name for name, (_, reason) in obstacles.items() if not reason}
    found = list(steps(choices, able, kernel))
    if arguments.dry_run:
        print("".join(f"{command_text(words)}\n" for step in found for words in step.commands), end="")
    elif arguments.verify:
        problems += [f"{step.nic}: {step.reason}; run: ailb-host setup" for step in found]
        problems += addressless(choices, able, arguments.root)
    else:
        return report(chain(problems, run(found)))
    return report(problems)
