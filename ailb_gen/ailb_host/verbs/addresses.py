"""The verb `addresses`: the addresses that a server can send from, as others need them for ping."""

from __future__ import annotations

import argparse
import json

from ..addresses import as_json, this_server
from ..console import OK, table
from ..files import load_host


def add_addresses(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser("addresses", help="addresses of this server by color, as others need them for ping")
    verb.add_argument("--json", action="store_true", help="print JSON, for --peers of ping")
    verb.set_defaults(run=addresses)


def addresses(arguments: argparse.Namespace) -> int:
    """Print the addresses that this server can send from now."""
    server = as_json(this_server(load_host(arguments.root), arguments.root))
    if arguments.json:
        print(json.dumps(server))
    else:
        columns = ("nic", "rail", "color", "address")
        rows = [[str(row[key]) if row[key] is not None else "-" for key in columns] for row in server["addresses"]]
        print("\n".join(table(columns, rows)))
    return OK
