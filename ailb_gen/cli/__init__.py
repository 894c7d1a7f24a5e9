"""The command line: one module per verb, imported when its verb runs."""

import gc
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer

from ailb_gen.cli.console import report, say, silence
from ailb_gen.cli.verb import COLOR, QUIET, VERBOSE, Commands, Verbs
from ailb_gen.cli.visible import plain_streams
from ailb_gen.errors import AilbError, ExitCode

# The sections of `--help`, with their commands and where these are; how a few are parsed.
DESCRIBE, VERIFY, PUSH, TEST, PREDICT = "Describe", "Verify files", "Push", "Test without devices", "Predict"
SECTIONS: dict[str, dict[str, str]] = {
    DESCRIBE: {
        "init": "init.init",
        "generate": "generate.generate",
        "explain": "explain.explain",
        "drain": "drain.drain",
        "undrain": "drain.undrain",
        "grow": "grow.app",
        "replace": "replace.app",
        "draw": "draw.draw",
        "export": "export.export",
        "monitoring": "monitoring.monitoring",
        "schema": "init.schema",
        "config": "config.config",
    },
    VERIFY: {
        "validate": "validate.validate",
        "review": "review.review",
        "checks": "checks.checks",
        "cache": "cache.cache",
        "rib": "routes.rib",
        "fib": "routes.fib",
        "path": "path.path",
        "junos": "junos.app",
        "batfish": "batfish.app",
    },
    PUSH: {
        "plan": "plan.plan",
        "deploy": "deploy.deploy",
        "confirm": "deploy.confirm",
        "rollback": "deploy.rollback",
        "maintain": "maintain.maintain",
        "runs": "runs.app",
        "drift": "observe.drift",
        "verify": "observe.verify",
        "watch": "watch.watch",
        "accept": "accept.accept",
        "collect": "observe.collect",
        "inventory": "inventory.app",
    },
    TEST: {"emulate": "emulate.emulate", "lab": "lab.app"},
    PREDICT: {"simulate": "simulate.simulate", "study": "study.study"},
}
PARSED = {"maintain": "maintain.WithCommand", "plan": "plan.Detailed", "draw": "draw.Views"}


class Root(Verbs):
    """The program without a verb."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - as in Typer
        super().__init__(**given)
        # Typer declares a mapping that can be written to, and writes to none.
        commands: Any = Commands(SECTIONS, PARSED)
        self.commands = commands


app = typer.Typer(
    name="ailb-gen",
    cls=Root,
    epilog="A project file (ailb.toml) gives arguments that are omitted: ailb-gen config",
    help="Intent in, a working RDMA-load-balanced GPU fabric out.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


# The message when a signal ends the program, by exit code: 128 and its number.
STOPPED: dict[object, str] = {
    ExitCode.INTERRUPTED: "interrupted",
    128 + signal.SIGTERM: "stopped by SIGTERM",
    128 + signal.SIGQUIT: "stopped by SIGQUIT",
    128 + signal.SIGHUP: "stopped by SIGHUP, as when a terminal is closed",
}


def _version(given: bool) -> None:
    if given:
        from ailb_gen.version import __version__

        typer.echo(f"ailb-gen {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    quiet: QUIET = False,
    verbose: VERBOSE = False,
    color: COLOR = "auto",
) -> None:
    """Intent in, a working RDMA-load-balanced GPU fabric out."""


# What a shell sets when it asks for completions.
COMPLETING = "_AILB_GEN_COMPLETE"
# Exit codes above this name the signal that ended a run.
SIGNALLED = 128
# The names of threads that work on devices begin so (`deploy/device_pool.py`, which is not imported for every verb).
DEVICES = "device_"


def main() -> None:
    """Run the command line and leave with the documented exit code."""
    if COMPLETING in os.environ:
        # Typer imports it to render the help of what it offers, which has no markup: a third of the time.
        sys.modules["rich"] = None  # type: ignore[assignment]
    # Plugins of pydantic, of which there are none for this program: looking for them reads all distributions.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    with plain_streams():
        code = _run()
    by_signal = isinstance(code, int) and code > SIGNALLED
    left = [one for one in threading.enumerate() if one is not threading.main_thread() and not one.daemon]
    if left and (by_signal or any(one.name.startswith(DEVICES) for one in left)):
        # What a signal has left to compute is not waited for, also where the run ended in order; `sys.exit` would.
        _leave(code)
    # What a large fabric has left ends with the process: the collector would only walk over it.
    gc.freeze()
    sys.exit(code)


def _leave(code: int | str | None) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _run() -> int | str | None:
    """Run a verb; return the exit code."""
    code: int | str | None = ExitCode.OK
    out = sys.stdout
    try:
        # However it was started: usage lines and completion name the program.
        app(prog_name="ailb-gen")
    except AilbError as error:
        report(error)
        code = error.exit_code
    except SystemExit as error:
        # Typer replaces standard output when the reader of a pipe has gone (`| head`): nothing is wrong, and nobody
        # reads any more.
        code = error.code if sys.stdout is out else ExitCode.OK
        if code in STOPPED:
            say(f"ailb-gen: {STOPPED[code]}")
    except OSError as error:
        code = _unwritable(error)
    except Exception:  # noqa: BLE001 - the last resort: a gate must be able to tell a crash from a finding
        traceback.print_exc()
        say("ailb-gen: this is a bug; please report the lines above")
        code = ExitCode.BUG
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _unwritable(error)
    return code


def _unwritable(error: OSError) -> ExitCode:
    """Report a full disk or a closed terminal; return the exit code."""
    say(f"ailb-gen: {error.filename or 'standard output'}: {error.strerror}")
    silence(1)
    return ExitCode.ENVIRONMENT
