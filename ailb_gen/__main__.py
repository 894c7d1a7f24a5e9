"""The program: `ailb-gen`, or `python -m ailb_gen`."""

import os
import signal
import sys


def _terminate(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command line; Ctrl-C and SIGTERM end it in order from the first moment on."""
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:
            setattr(sys, stream, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - kept open to the end
    try:
        signal.signal(signal.SIGTERM, _terminate)
        from ailb_gen.cli import main as run  # noqa: PLC0415 - importing takes time in which Ctrl-C may come

        run()
    except KeyboardInterrupt:
        os._exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
