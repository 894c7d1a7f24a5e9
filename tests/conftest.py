"""What all tests share: where things are, and how to skip: with the reason, and never where a thing is required."""

import gc
import math
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from time import process_time
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from ailb_gen.design.build import build
from ailb_gen.design.model import Design
from ailb_gen.intent.load import Intent, load, parse
from ailb_gen.programs import program
from tests.forkserver import ForkServer, started
from tests.golden_trees import complete

# The machine may be slow and shared: no test fails for taking long.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# `make test-exhaustive` draws as many random examples as the tests say, `make test-long` a quarter, `make test` a
# fifth; AILB_EXAMPLES=10 draws ten times as many.
SCALE = float(os.environ.get("AILB_EXAMPLES", "1"))

# A proof is kept and taken over where a test asks for that.
os.environ["AILB_NO_CACHE"] = "1"

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
SHARED = Path(os.environ.get("AILB_SHARED", ROOT.parent / "shared"))
# Not part of the project: only who says where it is means that it must be there.
SHARED_REQUIRED = "AILB_SHARED" in os.environ
IN_CI = os.environ.get("CI", "").lower() == "true"

# As in sys.settrace.
TraceFunction = Callable[..., Any]
# Runs the command line in a process; returns exit code, standard output and standard error.
Cli = Callable[..., tuple[int, str, str]]

SMALL = """\
name: small
platform: generic
stripes: 2
rails: 2
spines: 2
servers: 2
"""


# The modules that take longest, longest first. Workers begin with them: otherwise one of them would be the last, and
# only one processor busy. The others come in the order of their names. Those that wait for a report that another module
# makes, as browser/test_report.py, come when it is made.
LONGEST = (
    "browser/test_paths.py",
    "docs/test_newcomer.py",
    "sot/test_netbox.py",
    "deploy/test_resource_limits_cost.py",
    "mutations/test_score.py",
    "test_docs.py",
    "mutations/test_causes.py",
    "deploy/servers/test_script_crashes.py",
    "sot/test_nautobot.py",
    "deploy/test_deployment_kill.py",
    "mutations/test_alone.py",
    "lab/check/test_live.py",
    "sim/engine/test_run_published.py",
    "browser/test_report.py",
    "browser/test_push.py",
    "deploy/test_deployment_faults.py",
    "cli/test_demo.py",
    "cli/test_terminal.py",
    "deploy/servers/test_script_trees.py",
    "lab/test_deploy.py",
    "batfish/test_run.py",
    "lab/bird/test_random_fabrics.py",
    "docs/test_walkthroughs.py",
    "browser/test_verbs.py",
    "routing/test_solve.py",
    "sim/fluid/test_run_packets.py",
    "study/data/test_scale_unit.py",
    "test_pipelines.py",
    "ailb_host/test_ping.py",
    "test_optional.py",
    "cli/test_batfish.py",
    "cli/test_verb.py",
    "checks/test_run.py",
    "cli/test_deploy.py",
    "cli/test_complete.py",
    "render/test_writer.py",
)

# Modules that use a real service alone, by the service.
SERVICES = {
    f"tests/sot/test_{module}.py": service
    for service, modules in {
        "netbox": ("gateway", "netbox", "nornir", "pull_netbox", "services"),
        "nautobot": ("nautobot", "pull_nautobot"),
    }.items()
    for module in modules
}

# Folders of tests that run unmeasured: what they test coverage leaves out (`omit` in pyproject.toml).
UNMEASURED = ("ailb_host/",)

# Modules whose tests share no set-up that takes long, and which one worker would have for minutes.
APART = tuple(
    f"tests/{name}.py"
    for name in (
        *("browser/test_paths", "deploy/servers/test_script_crashes", "deploy/test_deployment_faults"),
        *("deploy/test_resource_limits_cost", "docs/test_walkthroughs", "kept/test_proof", "lab/check/test_live"),
        *("mutations/test_edits", "mutations/test_first_cause", "sim/engine/test_run_published", "test_docs"),
    )
)

# Modules whose long tests are exhaustive: each takes half a minute or more, and others test next to it.
EXHAUSTIVE = tuple(
    f"tests/{name}.py"
    for name in (
        *(
            "accept/test_steps",
            "browser/test_report",
            "checks/test_failure_outcomes",
            "deploy/servers/test_script_crashes",
        ),
        *("deploy/servers/test_ways", "deploy/test_deployment_kill", "deploy/test_resource_limits_cost"),
        *("docs/test_newcomer", "mutations/test_alone", "mutations/test_causes", "sim/engine/test_run_published"),
        *("sot/test_nautobot", "sot/test_pull_nautobot", "lab/check/test_live", "checks/test_hosts"),
        *("deploy/test_deployment_output", "junos/test_kept", "network/test_read_alike"),
    )
)

# Coverage measures this many seconds of processor time of the first case of a test, and of all its cases together; as
# many of what sets them up. What follows reaches few lines that were not reached before, and takes five times as long
# while it is measured.
FIRST_CASE_S = 8.0
MEASURED_S = float(os.environ.get("AILB_MEASURED_S", "0.3"))
measured_s: dict[str, float] = defaultdict(float)


class ByService(LoadScopeScheduling):
    """One worker runs all modules that use a service: of several all but one would wait, and have nothing to do.

    Others run by module or class, those of APART by test.
    """

    def _split_scope(self, nodeid: str) -> str:
        scope = super()._split_scope(nodeid)
        return nodeid if nodeid.startswith(APART) else SERVICES.get(scope, scope)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByService | None:
    """Distribute modules."""
    return ByService(config, log) if config.getoption("dist") == "loadscope" else None


def pytest_configure(config: pytest.Config) -> None:
    """Complete the golden trees and start the fork server, once and not in every worker."""
    if not hasattr(config, "workerinput"):
        complete()
        server = ExitStack()
        server.enter_context(started())
        config.add_cleanup(server.close)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without the garbage collector, and keep it from going through ten thousand tests ever after."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the long ones, and put those first that take longest."""
    mark_left_out(items)
    ranks = {str(ROOT / "tests" / name): rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(str(item.path), len(ranks)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Measure what a test is set up with."""
    return (yield from measured(item, "setup"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Measure a test."""
    return (yield from measured(item, "call"))


def measured(item: pytest.Item, phase: str) -> Generator[None, object, object]:
    """Run what is marked `untraced`, or has been measured enough, without the trace function of coverage."""
    trace = sys.gettrace()
    if trace is None:
        return (yield)
    of_threads = threading.gettrace()
    function, begun = f"{item.nodeid.partition('[')[0]} {phase}", process_time()
    most = MEASURED_S if function in measured_s else max(FIRST_CASE_S, MEASURED_S)
    left = 0.0 if is_untraced(item) else most - measured_s[function]
    if left <= 0:
        set_trace(None, None)
    elif left < math.inf:
        signal.signal(signal.SIGVTALRM, lambda number, frame: set_trace(None, None))
        signal.setitimer(signal.ITIMER_VIRTUAL, left)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        set_trace(trace, of_threads)
        measured_s[function] += process_time() - begun


def set_trace(here: TraceFunction | None, of_threads: TraceFunction | None) -> None:
    """Set the trace function of this thread, and that of threads that start from now on."""
    sys.settrace(here)
    threading.settrace(of_threads)


def is_untraced(item: pytest.Item) -> bool:
    """Return whether a test is marked `untraced`, or its folder is in the table."""
    if item.get_closest_marker("untraced") is not None:
        return True
    return item.nodeid.startswith(tuple(f"tests/{name}" for name in UNMEASURED))


def mark_left_out(items: list[pytest.Item]) -> None:
    """Mark as long what `sampled(n, m)` leaves out: of the cases of a test, the first and one in n of the others stay.

    Of those left out all but one in m are exhaustive, too; without m none is. Which ones depends on their names alone,
    so that rows and columns of a table are left out alike. What is exhaustive is long.
    """
    seen: set[str] = set()
    for item in items:
        marker = item.get_closest_marker("sampled")
        function = item.nodeid.partition("[")[0]
        if marker is not None and function in seen:
            few, many = divmod(crc32(item.nodeid.encode()), marker.args[0])
            if many:
                item.add_marker(pytest.mark.long)
            if many and few % (*marker.args, 1)[1]:
                item.add_marker(pytest.mark.exhaustive)
        if item.get_closest_marker("long") is not None and item.nodeid.startswith(EXHAUSTIVE):
            item.add_marker(pytest.mark.exhaustive)
        if item.get_closest_marker("exhaustive") is not None:
            item.add_marker(pytest.mark.long)
        seen.add(function)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of a user, in which proofs are kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def warnings() -> list[str]:
    """What is warned of."""
    return []


def examples(usual: int) -> int:
    """Return how many random examples a test draws that usually draws so many."""
    return max(1, round(usual * SCALE))


def missing(reason: str) -> None:
    """Skip the test on a user's machine; in CI what is missing is a failure."""
    if IN_CI:
        pytest.fail(f"in CI this must be there: {reason}")
    pytest.skip(reason)


def need_tool(name: str) -> str:
    """Return the path of a program, or skip."""
    found = program(name)
    if found is None:
        missing(f"the program {name} is not installed")
    return str(found)


def need_root() -> None:
    """Skip without the right to make network namespaces."""
    if os.geteuid() != 0:
        missing("network namespaces need root")


def need_user_namespaces() -> None:
    """Skip for a user who may not make namespaces."""
    if os.geteuid() and subprocess.run(("unshare", "-Urnmp", "--fork", "true"), check=False).returncode:
        missing("this system does not allow users namespaces of their own")


def need_shared(path: str) -> Path:
    """Return a file or folder of the shared test data; without it skip, or fail if AILB_SHARED says where it is."""
    found = SHARED / path
    if not found.exists():
        if SHARED_REQUIRED:
            pytest.fail(f"AILB_SHARED names {SHARED}, and there is no {path}")
        pytest.skip(f"the shared test data {path} is not beside this checkout (AILB_SHARED)")
    return found


def intent_of(text: str) -> Intent:
    """Parse a fabric file given as text."""
    return parse(text, "fabric.yaml", ROOT)


def design_of(text: str) -> Design:
    """Compute the design of a fabric file given as text."""
    return build(intent_of(text))[0]


def example(name: str) -> Design:
    """Compute the design of a shipped example."""
    return build(load(EXAMPLES / name / "fabric.yaml"))[0]


@pytest.fixture(scope="session")
def jvd() -> Design:
    """The reference fabric."""
    return example("jvd")


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """A connection to the process that forks the program."""
    with ForkServer() as found:
        yield found


@pytest.fixture
def cli(tmp_path: Path, fork_server: ForkServer) -> Cli:
    """Run the command line in a process of its own; returns exit code, stdout, stderr."""

    def run(*words: str, cwd: Path = tmp_path, stdin: str = "") -> tuple[int, str, str]:
        return fork_server.run(list(words), cwd, stdin, os.environ | {"COLUMNS": "80"})

    return run
