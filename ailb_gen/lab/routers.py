"""BIRD in the namespaces of switches: started, reconfigured, ended."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from ailb_gen.errors import LabError
from ailb_gen.lab import run_directory
from ailb_gen.lab.bird.control import Bird
from ailb_gen.lab.namespaces import spawn

# Below the lab's /run.
FOLDER = Path("bird")
# How long a daemon may take to answer for the first time, and to end. Seconds.
START_S, END_S = 30.0, 5.0
PAUSE_S = 0.005
LAST_LINES = 5


def control_socket(name: str) -> Path:
    """Return where the daemon of a switch listens for commands."""
    return run_directory.here(FOLDER) / f"{name}.ctl"


def bird_of(name: str) -> Bird:
    """Return the daemon of a switch, which may not run."""
    return Bird(control_socket(name))


def config_file(name: str) -> Path:
    """Return the file of the configuration that the daemon of a switch runs."""
    return run_directory.here(FOLDER) / f"{name}.conf"


class Router:
    """BIRD of one switch; `text` is the configuration that it runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.control = bird_of(name)
        self.text = ""
        self._file, self._log = config_file(name), run_directory.here(FOLDER) / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """Whether the daemon has been started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def configure(self, text: str) -> bool:
        """Let the daemon run a configuration; its sessions stay up where it says the same. Raises LabError.

        Returns whether it is another one than before.
        """
        changed = text != self.text
        if not self.running:
            self.begin(text)
            self.wait()
        elif changed:
            self._file.write_text(text, encoding="utf-8")
            self.control.configure()
            self.text = text
        return changed

    def note(self, text: str) -> None:
        """Note a configuration that the daemon already runs."""
        self._file.write_text(text, encoding="utf-8")
        self.text = text

    def begin(self, text: str) -> None:
        """Start the daemon, and do not wait until it answers. Raises LabError."""
        self._file.parent.mkdir(exist_ok=True)
        self.note(text)
        words = ["bird", "-f", "-c", str(self._file), "-s", str(control_socket(self.name))]
        with self._log.open("ab") as log:
            self._process = spawn(self.name, words, stdout=log, stderr=log)

    def wait(self) -> None:
        """Wait until the daemon answers. Raises LabError."""
        latest = time.monotonic() + START_S
        while True:
            try:
                self.control.command("show status")
            except LabError as error:
                if not self.running:
                    raise LabError(f"{self.name}: BIRD does not start: {self._last_words()}") from error
                if time.monotonic() > latest:
                    raise
            else:
                return
            time.sleep(PAUSE_S)

    def switch_on(self, protocol: str, on: bool) -> None:
        """Enable or disable a protocol until the next configuration. Raises LabError."""
        self.control.command(f"{'enable' if on else 'disable'} '{protocol}'")

    def stop(self) -> None:
        """End the daemon as a switch loses its power: without a word to its neighbors."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(END_S)
            self._process = None
            control_socket(self.name).unlink(missing_ok=True)
        self.text = ""

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines() if self._log.exists() else []
        return "; ".join(lines[-LAST_LINES:]) or "no error message"
