"""The program: `ailb-gen`, or `python -m ailb_gen`."""

import gc
import os
import signal
import sys

# New objects between two collections: importing makes many, none of which is garbage.
MANY = 50_000


def _terminate(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command line; Ctrl-C, SIGTERM, SIGQUIT and SIGHUP end it in order from the first moment on."""
    if os.name != "posix":
        sys.stderr.write("ailb-gen: it needs Linux; on Windows, run it in WSL 2 (docs/requirements.md)\n")
        raise SystemExit(3)
    # In this order, so that each gets its own descriptor, and no record or connection becomes standard output. What is
    # written to a closed standard output fails: it is opened for reading.
    for stream, mode, flags in (
        ("stdin", "r", os.O_RDONLY),
        ("stdout", "w", os.O_RDONLY),
        ("stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, stream) is None:
            setattr(sys, stream, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))
    try:
        signal.signal(signal.SIGTERM, _terminate)
        # A core dump would hold passwords.
        signal.signal(signal.SIGQUIT, _terminate)
        # Under nohup it stays ignored.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, _terminate)
        gc.set_threshold(MANY)
        from ailb_gen.cli import main as run  # noqa: PLC0415 - importing takes time in which Ctrl-C may come

        run()
    except KeyboardInterrupt:
        os._exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
