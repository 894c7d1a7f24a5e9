"""`ailb-gen inventory`: the fabric in a source of truth, NetBox or Nautobot."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.api.inventory import SERVICES, checked_url, dialect_of
from ailb_gen.cli.console import echo, echo_json, echo_table, echo_wrapped, notify
from ailb_gen.cli.live import progress, working
from ailb_gen.cli.options import FABRIC, JSON, REPORTS, YES, output_option
from ailb_gen.cli.reports import finding_targets
from ailb_gen.cli.steady import ask
from ailb_gen.cli.validate import conclude
from ailb_gen.cli.verb import Verb, Verbs
from ailb_gen.errors import ExitCode, UsageError
from ailb_gen.paint import Style
from ailb_gen.wording import counted

if TYPE_CHECKING:
    from ailb_gen.sot.dialect import Dialect
    from ailb_gen.sot.plan import SourcePlan
    from ailb_gen.sot.push import SourceOfTruth

app = typer.Typer(
    cls=Verbs, name="inventory", help="Keep a fabric in NetBox or Nautobot up to date.", no_args_is_help=True
)

SERVICE = Annotated[Literal["netbox", "nautobot"], typer.Argument(help="The kind of service.", metavar="SERVICE")]
URL = Annotated[
    str | None,
    typer.Option(
        "--url",
        help="URL of the service.",
        metavar="URL",
        envvar="AILB_INVENTORY_URL",
        show_default="NETBOX_URL or NAUTOBOT_URL",
    ),
]
SITE = Annotated[
    str, typer.Option("--site", help="Site of the devices.", metavar="NAME", show_default="the fabric's name")
]
PLAN_ONLY = Annotated[bool, typer.Option("-n", "--plan-only", help="Show the plan and write nothing.")]
DELETE = Annotated[bool, typer.Option("--delete", help="Delete what is the fabric's and no longer in the design.")]
ADOPT = Annotated[bool, typer.Option("--adopt", help="Take over objects with our names that are not ours yet.")]
PULL_OUTPUT = Annotated[Path | None, output_option("files", "DIR")]
PULL_CHECK = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 and list what differs.")]
# The user name of tokens in a keyring.
KEYRING_USER = "ailb-gen"
# Kinds that only plug-ins of a service add; others that it lacks are fields of its objects, or not needed there.
PLUG_INS = ("asn", "bgp-session")
# More objects are not listed one by one.
LISTED = 40


@app.command("push", cls=Verb)
def push(
    service: SERVICE,
    fabric: FABRIC,
    site: SITE = "",
    plan_only: PLAN_ONLY = False,
    yes: YES = False,
    delete: DELETE = False,
    adopt: ADOPT = False,
    url: URL = None,
    as_json: JSON = False,
) -> None:
    """Create and update in NetBox or Nautobot what the design computes.

    Objects of others are never changed. The token is in NETBOX_TOKEN or NAUTOBOT_TOKEN, or in the keyring: service URL,
    user ailb-gen.

    Exit codes: 0 done or nothing to do, 1 objects of others are in the way of some, or the service refuses some, 2 bad
    input, 3 the service cannot be reached or refuses the request.
    """
    from ailb_gen.api.inputs import load
    from ailb_gen.api.inventory import source_of_truth
    from ailb_gen.sot.push import push as carry_out

    intent = load(fabric)
    source = source_of_truth(intent, connected(service, url), site=site, delete=delete, adopt=adopt, warn=notify)
    with working("reading"):
        plan = source.plan()
    if not as_json:
        _show(source, plan)
    written: Mapping[str, int] = {}
    if plan.writes and not plan_only and _approved(yes, as_json, plan, source):
        written = carry_out(source, plan, progress)
        if not as_json:
            _show_result(source, plan, written)
    if as_json:
        echo_json(_json(source, plan, written))
    if plan.conflicts or source.refused:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command("pull", cls=Verb)
def pull(
    service: SERVICE,
    fabric: FABRIC,
    site: SITE = "",
    output: PULL_OUTPUT = None,
    check: PULL_CHECK = False,
    reports: REPORTS = None,
    url: URL = None,
    as_json: JSON = False,
) -> None:
    """Write a site as CSV files, and list its conflicts with the fabric.

    Writes servers.csv, switches.csv and cabling.csv beside the fabric file, which reads them. Nothing is written to the
    service. The token is in NETBOX_TOKEN or NAUTOBOT_TOKEN, or in the keyring: service URL, user ailb-gen.

    Exit codes: 0 done, 1 conflicts, the files are written all the same; with --check also for a file that would change,
    2 bad input, 3 the service cannot be reached or refuses.
    """
    from ailb_gen.api.inputs import fabric_file
    from ailb_gen.api.pull import pull as read

    path, where = fabric_file(fabric), finding_targets(reports, as_json, (fabric,))
    found = read(path, connected(service, url), site=site, output=output, check=check, progress=progress, warn=notify)
    if not check:
        found.write()
    for file in found.files:
        verb = ("would change" if check else "written") if file.changed else "unchanged"
        change = f", {file.added:,} added, {file.removed:,} removed" if file.changed else ""
        notify(f"{file.path}: {verb} ({counted(file.rows, 'row')}{change})")
    conclude(found.report, where)
    if check and any(file.changed for file in found.files):
        raise typer.Exit(ExitCode.FINDINGS)


def connected(service: str, url: str | None) -> Dialect:
    """Return the dialect of a service with its token. Raises UsageError, CredentialError; nothing is sent yet."""
    from ailb_gen.deploy.credentials import CredentialError, EnvironmentReference, KeyringReference, SecretCache

    row = SERVICES[service]
    place = url or os.environ.get(row.url, "")
    if not place:
        raise UsageError(f"where is {row.name}? give its URL with --url, in the project file or in {row.url}")
    place = checked_url(place)
    if row.token in os.environ:
        token = SecretCache().get(EnvironmentReference(row.token))
    else:
        try:
            token = SecretCache().get(KeyringReference(place, KEYRING_USER))
        except CredentialError as error:
            # What follows is for inventory files, which this is none of.
            reason = str(error).rpartition("; ")[0]
            entry = f"keyring set {shlex.quote(place)} {KEYRING_USER}"
            raise CredentialError(
                f"no token for {row.name}: {reason}; set {row.token}, or unlock the keyring and call: {entry}"
            ) from error
    return dialect_of(service, place, token.reveal())


def _approved(yes: bool, as_json: bool, plan: SourcePlan, source: SourceOfTruth) -> bool:
    """Ask a person at a terminal. Raises UsageError without one."""
    if yes:
        return True
    if as_json or not sys.stdin.isatty():
        raise UsageError("cannot ask for confirmation here; review the plan with --plan-only, then use --yes")
    return ask(f"Write {counted(plan.writes, 'object')} to {source.dialect.name}?")


def _show(source: SourceOfTruth, plan: SourcePlan) -> None:
    """Print a plan: its figures by kind, and every conflict."""
    where = f"{source.dialect.name}, site {source.scope.site}"
    rows = [(kind, *(f"{count:,}" for count in row.values())) for kind, row in plan.counts().items()]
    echo_table(where, ("kind", "create", "update", "delete", "unchanged"), rows)
    for kind, count in ((kind, count) for kind, count in plan.unsupported.items() if kind in PLUG_INS):
        typer.echo(f"{source.dialect.name} has no place for {kind} without a plug-in: {count:,} left out.")
    if plan.conflicts:
        echo(("Conflicts: these objects stay as they are", Style.FAIL))
        _list([str(conflict) for conflict in plan.conflicts])
    if plan.leftovers and not source.delete:
        echo(("No longer in the design; --delete deletes them", Style.WARN))
        _list([str(stored.record) for stored in plan.leftovers])
    if not plan.writes:
        typer.echo("Nothing to do.")


def _show_result(source: SourceOfTruth, plan: SourcePlan, written: Mapping[str, int]) -> None:
    from ailb_gen.sot.plan import REFUSED_HINT

    name, count = source.dialect.name, counted(sum(written.values()), "object")
    if not source.refused:
        state = "has conflicts left" if plan.conflicts else "is up to date"
        typer.echo(f"{name} {state}: {count} written.")
        return
    echo((f"{count} written; {name} refuses these, and what refers to them waits", Style.FAIL))
    _list([f"{ref}: {refusal.reason}; {REFUSED_HINT}" for ref, refusal in source.refused.items()])


def _list(lines: Sequence[str]) -> None:
    for line in lines[:LISTED]:
        echo_wrapped((f"  {line}", None))
    if len(lines) > LISTED:
        typer.echo(f"  and {len(lines) - LISTED:,} more; --json lists all")


def _json(source: SourceOfTruth, plan: SourcePlan, written: Mapping[str, int]) -> dict[str, object]:
    return {
        "service": source.dialect.name,
        "site": source.scope.site,
        "kinds": plan.counts(),
        "unsupported": dict(plan.unsupported),
        "conflicts": [
            {
                "kind": conflict.ref.kind,
                "key": list(conflict.ref.key),
                "reason": conflict.reason,
                "hint": conflict.hint,
                "waiting": conflict.waiting,
            }
            for conflict in plan.conflicts
        ],
        "refused": [
            {"kind": ref.kind, "key": list(ref.key), "reason": one.reason} for ref, one in source.refused.items()
        ],
        "leftovers": [{"kind": one.record.kind, "key": list(one.record.key)} for one in plan.leftovers],
        "written": dict(written),
    }
