"""Arguments and options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ailb_gen.api.connect import Driver
from ailb_gen.api.validate import FailOn
from ailb_gen.cli import complete

FABRIC = Annotated[Path, typer.Argument(help="The fabric file.", metavar="FABRIC")]
ARTIFACTS = Annotated[Path, typer.Argument(help="The directory of generated files.", metavar="ARTIFACTS")]
LIMIT = Annotated[
    list[str] | None,
    typer.Option(
        "--limit", help="Only these devices: names, globs or roles.", metavar="PATTERN", autocompletion=complete.limit
    ),
]
JSON = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

# Of verbs that connect to devices.
INVENTORY = Annotated[
    Path | None,
    typer.Option(
        "-i", "--inventory", help="Directory of the inventory files; default: beside the fabric file.", metavar="DIR"
    ),
]
JOBS = Annotated[int, typer.Option("-j", "--jobs", min=1, max=512, help="Devices in parallel.")]
DRIVER = Annotated[Driver, typer.Option("--driver", help="NETCONF driver for the switches.")]
STATE = Annotated[
    Path | None,
    typer.Option(
        "--state", help="Directory of run records; default: .ailb/runs beside the fabric file.", metavar="DIR"
    ),
]
ACCEPT = Annotated[bool, typer.Option("--accept-new-hostkeys", help="Trust and save the host keys of new devices.")]
UNVERIFIED = Annotated[
    bool, typer.Option("--allow-unverified", help="Accept files without a manifest.json, which cannot be verified.")
]
MIN_PATHS = Annotated[
    int, typer.Option("--min-paths", min=0, help="Keep this many paths between any two leaves while spines change.")
]

# Of verbs that check.
REPORTS = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        help="table, json, junit, sarif, md or html; repeatable.",
        metavar="FORMAT[=FILE]",
        autocompletion=complete.report_format,
    ),
]
CHECKS = Annotated[
    list[str] | None,
    typer.Option(
        "--checks",
        help="Only these checks: IDs, globs or families; ! excludes.",
        metavar="PATTERN",
        autocompletion=complete.check,
    ),
]
ABOUT = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        help="Only findings about these devices: names, globs or roles.",
        metavar="PATTERN",
        autocompletion=complete.limit,
    ),
]
FAIL_ON = Annotated[FailOn, typer.Option("--fail-on", help="Lowest severity that exits with 1.")]
WAIVERS = Annotated[Path | None, typer.Option("--waivers", help="File of accepted findings.", metavar="FILE")]
ALL = Annotated[bool, typer.Option("--all", help="Show all findings in the table, with their consequences.")]
SEED = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that is sampled.")]
BATFISH_S = Annotated[
    int, typer.Option("--batfish-timeout", min=1, max=86400, help="Seconds for each request to Batfish.")
]

# Of verbs with a text of their own.
PAGES = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        help="Write an HTML report: html=FILE.",
        metavar="FORMAT=FILE",
        autocompletion=complete.page_format,
    ),
]

# Of verbs that compute in processes.
EXECUTOR = Annotated[str, typer.Option("--executor", help="processes, serial or dask:ADDRESS.", metavar="HOW")]
PROCESSES = Annotated[int | None, typer.Option("-j", "--jobs", min=1, max=256, help="Processes; default: all cores.")]
SEEDS = Annotated[int | None, typer.Option("--seeds", min=1, max=10_000, help="Simulate seeds 1 to this number.")]

# Of verbs that follow routes.
TREE = Annotated[
    Path,
    typer.Option("-C", "--artifacts", help="The directory of generated files.", metavar="DIR", envvar="AILB_ARTIFACTS"),
]
HERE = Path()
FAILED = Annotated[
    list[str] | None,
    typer.Option(
        "--fail",
        help="Assume this failure: DEVICE:PORT, DEVICE:DEVICE or a switch; repeatable.",
        metavar="LINK",
        autocompletion=complete.device,
    ),
]

# Of emulated devices and labs.
LAB = Annotated[
    str | None,
    typer.Option("--lab", help="Name of the lab; default: the only one.", metavar="NAME", autocompletion=complete.lab),
]
LAB_DEVICE = Annotated[
    str, typer.Argument(help="A switch or a server.", metavar="DEVICE", autocompletion=complete.lab_device)
]
MINUTE = Annotated[
    float, typer.Option("--minute", min=0.01, max=3600, help="Length of a minute of commit confirmed, in seconds.")
]
