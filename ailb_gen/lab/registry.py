"""The labs of this user: a directory for each, which its processes lock as long as they live."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ailb_gen.background import Service, running
from ailb_gen.errors import UsageError
from ailb_gen.lab import run_directory
from ailb_gen.lab.namespaces import join
from ailb_gen.lab.plan import LabPlan
from ailb_gen.user_directories import state_home
from ailb_gen.wording import did_you_mean

# Below the lab's own /run: its plan, for the processes of all verbs.
PLAN = Path("lab/plan.pickle")
LAB = Service("a lab", "lab", "ailb-gen lab down {directory.name}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab that runs: `process` is its first process as the host numbers it, 0 while it starts.

    `fabric` and `artifacts` are its sources, `inventory` is how to push to it, `address` and `ports` where
    its devices listen, `gnmi` the ports of gNMI. `hosts` is how servers are configured; `fresh` labs began without
    configurations.
    """

    name: str
    process: int = 0
    fabric: str = ""
    artifacts: str = ""
    inventory: str = ""
    address: str = ""
    ports: dict[str, int] = field(default_factory=dict)
    hosts: str = ""
    fresh: bool = False
    gnmi: dict[str, int] = field(default_factory=dict)

    def line(self) -> str:
        """Return the line that the directory of the lab records."""
        return json.dumps({"lab": asdict(self)})


def home() -> Path:
    """Return the directory of all labs of this user. Raises UsageError."""
    return state_home() / "labs"


def directory(name: str) -> Path:
    """Return the directory of a lab. Raises UsageError for a name that cannot be one."""
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r}: the name of a lab has 1 to 32 letters, digits, dots, dashes and underscores")
    return home() / name


def labs() -> Iterator[Lab]:
    """Iterate over the labs that run, in the order of their names."""
    for path in sorted(home().iterdir()) if home().is_dir() else ():
        found = running(path, LAB)
        if found is not None:
            kept = found.get("lab")
            yield Lab(**kept) if isinstance(kept, dict) else Lab(path.name)


def find(name: str | None) -> Lab:
    """Return the lab of a name, or the only one. Raises UsageError if there is none, several, or it still starts."""
    known = {lab.name: lab for lab in labs()}
    if name is None and len(known) == 1:
        (lab,) = known.values()
    elif name is None:
        hint = f"name one of them with --lab: {', '.join(known)}" if known else "start one with: ailb-gen lab up"
        raise UsageError(f"{len(known) or 'no'} labs run; {hint}")
    elif name in known:
        lab = known[name]
    else:
        hint = did_you_mean(name, known) or (f"running: {', '.join(known)}" if known else "none runs")
        raise UsageError(f"no lab {name!r} runs; {hint}")
    if not lab.process:
        raise UsageError(f"the lab {lab.name} is still starting; try again")
    return lab


def keep_plan(plan: LabPlan) -> None:
    """Keep the plan of a lab for the processes that enter it."""
    file = run_directory.here(PLAN)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(pickle.dumps(plan))


def enter(name: str | None) -> tuple[Lab, LabPlan]:
    """Continue as a process of a lab; return its record and its plan. Raises UsageError, LabError.

    Must be called before there are threads.
    """
    lab = find(name)
    join(lab.process)
    data = run_directory.here(PLAN).read_bytes()
    plan: LabPlan = pickle.loads(data)  # noqa: S301 - written by the lab itself, in a directory of its own
    return lab, plan


def forget(name: str) -> None:
    """Remove the directory of a lab that has ended."""
    shutil.rmtree(directory(name), ignore_errors=True)
