"""Services without pytest: `python -m tests.sot netbox` runs one until Ctrl-C, `--install` only installs them."""

import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path

from tests.sot.nautobot_service import NAUTOBOT
from tests.sot.netbox_service import NETBOX
from tests.sot.services import ServiceError, install, keep, service

KINDS = {kind.name: kind for kind in (NETBOX, NAUTOBOT)}


def main(words: list[str]) -> None:
    """Keep a service alive for tests, install some, or run one for a person."""
    match words:
        case ["--keep", name, folder]:
            try:
                keep(KINDS[name], Path(folder))
            except ServiceError as error:
                Path(folder, "failed").write_text(str(error))
        case ["--install", *names]:
            with ProcessPoolExecutor() as pool:
                list(pool.map(install, (KINDS[name] for name in names or KINDS)))
        case [name]:
            with service(KINDS[name]) as running, suppress(KeyboardInterrupt):
                sys.stdout.write(f"{running.url}\n{running.token}\nCtrl-C ends it\n")
                sys.stdout.flush()
                signal.pause()


if __name__ == "__main__":
    main(sys.argv[1:])
