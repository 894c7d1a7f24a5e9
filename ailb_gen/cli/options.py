"""Arguments and options that several verbs share: each means the same wherever it stands.

Those with an environment variable `AILB_KEY` are also keys of the project file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from ailb_gen.api.connect import Driver
from ailb_gen.api.validate import FailOn
from ailb_gen.cli import complete
from ailb_gen.cli.project import PAGE
from ailb_gen.errors import UsageError

FABRIC = Annotated[Path, typer.Argument(help="The fabric file.", metavar="FABRIC", envvar="AILB_FABRIC")]
ARTIFACTS = Annotated[
    Path, typer.Argument(help="The directory of generated files.", metavar="ARTIFACTS", envvar="AILB_ARTIFACTS")
]
LIMIT = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        help="Only these devices: names, globs or roles; all but those with '!'.",
        metavar="PATTERN",
        autocompletion=complete.limit,
    ),
]
JSON = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
YES = Annotated[bool, typer.Option("-y", "--yes", help="Go ahead without asking.")]
RESUME = Annotated[bool, typer.Option("--resume", help="Continue what was interrupted.")]
DRY_RUN = Annotated[bool, typer.Option("--dry-run", help="Check and show everything, but change nothing.")]
OLDER_THAN = typer.Option("--older-than", help="Delete only what is older: 90m, 12h, 30d, 12w, 1y.", metavar="AGE")
LIST = Annotated[bool, typer.Option("--list", help="List the names.")]
OUTPUT_HELP = "Where to write the {}."


def output_option(result: str, metavar: str = "FILE", *others: str, envvar: str | None = None) -> Any:  # noqa: ANN401 - as in Typer
    """Return the option that says where a verb writes its result; `others` are older spellings."""
    return typer.Option("-o", "--output", *others, help=OUTPUT_HELP.format(result), metavar=metavar, envvar=envvar)


# Seconds of the units of an age.
AGES = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0, "y": 365 * 86400.0}
AGE = re.compile(r"([0-9]{1,7})([mhdwy]?)")


def age_s(text: str, unit: str = "") -> float:
    """Return the seconds of an age; `unit` is that of a number without one. Raises UsageError."""
    found = AGE.fullmatch(text.strip())
    if found is None or not (found[2] or unit):
        raise UsageError(f"--older-than {text!r}: write a number and its unit: m, h, d, w or y, such as 90d")
    return int(found[1]) * AGES[found[2] or unit]


# Of verbs that connect to devices.
INVENTORY = Annotated[
    Path | None,
    typer.Option(
        "-i",
        "--inventory",
        help="Directory of the inventory files.",
        metavar="DIR",
        envvar="AILB_INVENTORY",
        show_default="beside the fabric file",
    ),
]
WRITE_INVENTORY = Annotated[
    Path | None,
    typer.Option(
        "--write-inventory",
        "-i",
        "--inventory",
        help="Write the inventory of the emulated devices to this directory.",
        metavar="DIR",
    ),
]
JOBS_HELP = "Devices, or processes, at once."
JOBS = Annotated[int, typer.Option("-j", "--jobs", min=1, max=512, help=JOBS_HELP)]
DRIVER = Annotated[Driver, typer.Option("--driver", help="NETCONF driver for the switches.", envvar="AILB_DRIVER")]
ROUNDS_HELP = "How many rounds."
STATE_HELP = "Directory that keeps state between runs."
STATE = Annotated[
    Path | None,
    typer.Option(
        "--state",
        help=STATE_HELP,
        metavar="DIR",
        envvar="AILB_STATE",
        show_default=".ailb/runs beside the fabric file",
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
REPORT_HELP = "Write a report in this format; repeatable."
REPORTS = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        help=REPORT_HELP,
        metavar="table|json|junit|sarif|md|html[=FILE]",
        autocompletion=complete.report_format,
        envvar="AILB_REPORTS",
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
FAIL_ON = Annotated[FailOn, typer.Option("--fail-on", help="Lowest severity that exits with 1.", envvar="AILB_FAIL_ON")]
WAIVERS = Annotated[
    Path | None,
    typer.Option("--waivers", help="File of accepted findings.", metavar="FILE", envvar="AILB_WAIVERS"),
]
ALL = Annotated[bool, typer.Option("--all", help="Show all findings in the table, with their consequences.")]
SEED = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that is sampled.")]
NO_CACHE = Annotated[
    bool, typer.Option("--no-cache", help="Prove everything again, and keep nothing.", envvar="AILB_NO_CACHE")
]
YANG_HELP = "Directory of Juniper's YANG models."
YANG = Annotated[Path | None, typer.Option("--yang", help=YANG_HELP, metavar="DIR", envvar="AILB_YANG")]
BATFISH_S = Annotated[
    int, typer.Option("--batfish-timeout", min=1, max=86400, help="Seconds for each request to Batfish.")
]

# Of verbs with a text of their own.
PAGES = Annotated[
    list[str] | None,
    typer.Option(
        "--report", help=REPORT_HELP, metavar=PAGE, autocompletion=complete.page_format, envvar="AILB_REPORTS"
    ),
]

FORCE = Annotated[
    bool, typer.Option("--force", help="Overwrite a file, or simulate files in which validation finds errors.")
]
# Of verbs that compute in processes.
EXECUTOR = Annotated[
    str,
    typer.Option(
        "--executor",
        help="processes, serial or dask:ADDRESS.",
        metavar="HOW",
        autocompletion=complete.executor,
        envvar="AILB_EXECUTOR",
    ),
]
PROCESSES = Annotated[
    int | None,
    typer.Option(
        "-j", "--jobs", min=1, max=512, help=JOBS_HELP, envvar="AILB_WORKERS", show_default="one process per core"
    ),
]
CORES = Annotated[
    int,
    typer.Option("--cores", min=1, max=64, help="Cores for each point; the results are the same with any number."),
]
SEEDS = Annotated[int | None, typer.Option("--seeds", min=1, max=10_000, help="Simulate seeds 1 to this number.")]

# Of verbs with jobs of nccl-tests.
SIZES = Annotated[str, typer.Option("--sizes", help="Sizes of the job as nccl-tests reads them.", metavar="FROM-TO")]
REPEATS = Annotated[int, typer.Option("--repeats", min=1, max=100, help="Run each job this many times.")]

# Of verbs that follow routes.
TREE = Annotated[
    Path,
    typer.Option("-C", "--artifacts", help="The directory of generated files.", metavar="DIR", envvar="AILB_ARTIFACTS"),
]
HERE = Path()
FAIL_HELP = "Assume this failure: DEVICE:PORT, DEVICE:DEVICE or a switch; repeatable."
FAILED = Annotated[
    list[str] | None,
    typer.Option("--fail", help=FAIL_HELP, metavar="LINK", autocompletion=complete.device),
]

# Of emulated devices and labs.
LAB_HELP = "Name of the lab."
LAB = Annotated[
    str | None,
    typer.Option("--lab", help=LAB_HELP, metavar="NAME", autocompletion=complete.lab, show_default="the only one"),
]
LAB_DEVICE = Annotated[
    str, typer.Argument(help="A switch or a server.", metavar="DEVICE", autocompletion=complete.lab_device)
]
MINUTE_HELP = "Seconds of a minute of commit confirmed, for emulated devices."
MINUTE = Annotated[float, typer.Option("--minute", min=0.01, max=3600, help=MINUTE_HELP)]
HIDDEN_MINUTE = Annotated[float, typer.Option("--minute", min=0.01, max=3600, help=MINUTE_HELP, hidden=True)]
USER = Annotated[str, typer.Option("--user", help="Login name on the switches.")]
PORT_HELP = "Port of the first switch; the others follow. 0: free ports."
BASE_PORT = Annotated[int, typer.Option("--base-port", min=0, max=65535, help=PORT_HELP)]
GNMI_PORT = Annotated[
    int | None,
    typer.Option(
        "--gnmi-port",
        min=0,
        max=65535,
        help="Answer gNMI, too, from this port on. 0: free ports.",
        show_default="no gNMI",
    ),
]
GNMI_PLAIN = Annotated[bool, typer.Option("--gnmi-plain", help="gNMI without TLS.")]
