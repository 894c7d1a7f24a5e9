"""What is looked at before a maintenance: files, devices in order, whether there is work, the state of the fabric."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.drain import drain
from ailb_gen.api.generate import generate
from ailb_gen.api.maintain_checks import deviations, summary
from ailb_gen.api.maintain_options import MaintainOptions
from ailb_gen.api.maintain_steps import work_device
from ailb_gen.deploy.maintenance_record import SPINE
from ailb_gen.errors import DeployError, UsageError
from ailb_gen.selection import pick_devices
from ailb_gen.wording import counted, some

if TYPE_CHECKING:
    from ailb_gen.api.connect import Connection
    from ailb_gen.deploy.inventory import Target
    from ailb_gen.deploy.maintenance_work import MaintenanceWork
    from ailb_gen.design.model import Design

# Where the devices are named.
ELEMENT = "ELEMENT"


def check_files(connection: Connection, options: MaintainOptions) -> Design:
    """Make sure that the generated files are those of the fabric file; return its design. Raises AilbError."""
    if connection.context.inventory.allowed_signers is not None:
        raise UsageError(
            "the inventory has allowed_signers: every push needs a plan that was signed before, and those of a "
            "maintenance are made meanwhile; go step by step with drain, plan and 'deploy --plan'"
        )
    artifacts = connection.context.inputs.artifacts
    made = generate(
        connection.context.intent,
        artifacts,
        templates=options.templates,
        form=options.form,
        write=False,
        progress=options.progress,
        warn=options.warn,
    )
    changes = made.changes
    files = [*changes.new, *changes.changed, *changes.deleted]
    if files:
        raise UsageError(
            f"{artifacts}: {counted(len(files), 'file')} would be generated otherwise, such as {files[0]}; "
            f"nothing was changed; generate and deploy first, or give --format and --templates as then"
        )
    return made.design


def batches_of(
    connection: Connection, elements: Sequence[str], design: Design, options: MaintainOptions
) -> list[list[str]]:
    """Return the devices that are meant, in order, as many together as may be. Raises UsageError, IntentError."""
    targets, fabric = connection.context.inventory.targets, connection.context.intent.source.file
    picked = pick_devices(connection.context.roles, elements, ELEMENT) or set()
    out = {one.name for one in design.spines if one.graceful_shutdown or all(p.disabled for p in one.fabric_ports)}
    if taken := sorted(out & picked):
        raise UsageError(f"{some(taken)}: already out of service by {fabric}; undrain, generate and deploy first")
    order = {name: at for at, name in enumerate(targets)}
    names = sorted(picked, key=lambda name: (*_group(targets[name]), order[name]))
    batches = [
        group[at : at + options.at_once]
        for group in (list(same) for _, same in groupby(names, key=lambda name: _group(targets[name])))
        for at in range(0, len(group), options.at_once)
    ]
    for batch in batches:
        if targets[batch[0]].role == SPINE:
            drain(fabric, batch, graceful_shutdown=True, floor=options.floor, write=False)
    return batches


def needed(
    connection: Connection,
    batches: Sequence[Sequence[str]],
    work: MaintenanceWork,
    folder: Path,
    options: MaintainOptions,
) -> tuple[list[list[str]], dict[str, str]]:
    """Return the batches without devices that need no work, and those with the reason; work may look into `folder`.

    Raises WorkError.
    """
    needless: dict[str, str] = {}
    for name in (name for batch in batches for name in batch):
        why = work.check(work_device(connection.context, name, folder, options))
        if why:
            needless[name] = why
            options.tell(f"{name}: nothing to do: {why}")
    left = [[name for name in batch if name not in needless] for batch in batches]
    return [batch for batch in left if batch], needless


def check_state(connection: Connection, names: Sequence[str], options: MaintainOptions) -> None:
    """Make sure that devices and their peers are as designed. Raises DeployError."""
    with options.progress("verifying before anything is changed", 1):
        found = deviations(connection.context, names)
    # What was not read any more says nothing about the devices.
    if options.signals():
        raise DeployError("nothing was changed: a signal asked for the end")
    if found:
        raise DeployError(
            f"nothing was changed: not all is as designed around {some(names)}:\n{summary(found)}\n"
            f"mend or deploy that first"
        )


def _group(target: Target) -> tuple[int, int]:
    """Return the place of a device in the order: spines, leaves by rail, servers."""
    return ("spine", "leaf", "server").index(target.role), (target.rail or 0) if target.role == "leaf" else 0
