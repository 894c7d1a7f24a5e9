"""`ailb-gen monitoring`: what a collector, Prometheus and Grafana need to watch a fabric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import notify, warn
from ailb_gen.cli.live import working
from ailb_gen.cli.options import ARTIFACTS, FABRIC, output_option
from ailb_gen.cli.reports import check_place
from ailb_gen.errors import UsageError

COLLECTOR = Annotated[
    str,
    typer.Option(
        "--collector",
        help="What collects telemetry: gnmic or telegraf.",
        metavar="NAME",
        autocompletion=complete.collector,
    ),
]
INTERVAL = Annotated[
    int, typer.Option("--scrape-interval", min=10, max=600, help="Seconds between two scrapes.", metavar="SECONDS")
]
RUNBOOKS = Annotated[
    str, typer.Option("--runbooks", help="URL of the built documentation, for alerts to link to.", metavar="URL")
]

ALL_PATHS = Annotated[
    bool,
    typer.Option("--all-paths", help="Collect queues, prefixes, BFD, optics and FEC, too, which no rule reads."),
]


def monitoring(
    fabric: FABRIC,
    artifacts: ARTIFACTS,
    out: Annotated[Path, output_option("monitoring files", "DIR")],
    collector: COLLECTOR = "gnmic",
    scrape_interval: INTERVAL = 15,
    runbooks: RUNBOOKS = "",
    all_paths: ALL_PATHS = False,
) -> None:
    """Write rules, alerts and dashboards for a fabric.

    For gnmic or Telegraf, Prometheus and Grafana. The directory must be new, empty, or written by this command.

    Exit codes: 0 written, 2 bad input and nothing is written, 3 the files cannot be written.
    """
    from ailb_gen.api.generate import compute_design
    from ailb_gen.api.monitoring import monitoring as files_of
    from ailb_gen.exports.folder import MONITORING, write_folder
    from ailb_gen.garbage import no_garbage_collection
    from ailb_gen.monitoring.stack import MonitoringOptions
    from ailb_gen.wording import counted

    _check(collector, runbooks)
    check_place("-o", out, [fabric, artifacts])
    options = MonitoringOptions(collector, scrape_interval, runbooks, all_paths)
    with working("reading"), no_garbage_collection(last=True):
        design = compute_design(fabric, notify)
        files = files_of(design, artifacts, options, warn)
    write_folder(out, design.name, files, MONITORING)
    typer.echo(f"{out}: {counted(len(files), 'file')} for {collector}, Prometheus and Grafana")


def _check(collector: str, runbooks: str) -> None:
    """Refuse an unknown collector, and what is no URL. Raises UsageError."""
    from ailb_gen.monitoring.collector import COLLECTORS
    from ailb_gen.wording import did_you_mean

    if collector not in COLLECTORS:
        hint = did_you_mean(collector, COLLECTORS) or f"there are {', '.join(COLLECTORS)}"
        raise UsageError(f"--collector {collector!r}: unknown collector; {hint}")
    if runbooks and not _is_url(runbooks):
        raise UsageError(f"--runbooks {runbooks!r}: not a URL; write one such as https://docs.example.net/ailb-gen")


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and text.isprintable() and " " not in text
