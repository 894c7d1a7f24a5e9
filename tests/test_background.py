"""The process that emulates from a directory: whoever stopped it finds it gone."""

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ailb_gen.background import EMULATOR, locked, stop
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.layout import MANIFEST

# Ends a while after it has closed everything, as a process with a coverage report or much memory does.
SLOW = """
import atexit, signal, sys, time
from pathlib import Path
from ailb_gen.background import locked
atexit.register(time.sleep, 0.5)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with locked(Path(sys.argv[1])):
    print("ready", flush=True)
    signal.pause()
"""


def test_the_process_has_ended_when_stop_returns(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SLOW, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert stop(tmp_path) is True
        assert Path(f"/proc/{process.pid}/cmdline").read_bytes() == b"", "neither running nor about to end"
        assert stop(tmp_path) is False


# The child says that it was interrupted, as the command line does, or ends in silence, as the emulator does.
STARTING = """
import os, signal, sys, time
from pathlib import Path
from ailb_gen.background import to_background
first, code = os.getpid(), int(sys.argv[2])
try:
    to_background(Path(sys.argv[1]))
    print("starting", flush=True)
    time.sleep(30)
except KeyboardInterrupt:
    parent = os.getpid() == first
    if parent or code:
        print("parent" if parent else "child", flush=True)
    # Tidying up takes a while: the prompt comes after it.
    time.sleep(0.1)
    os._exit(130 if parent else code)
"""


@pytest.mark.parametrize("code", [130, 0])
def test_an_interrupt_while_it_starts_is_told_once(code: int, tmp_path: Path) -> None:
    words = [sys.executable, "-c", STARTING, str(tmp_path), str(code)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "starting\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == ("child\n" if code else "parent\n")
        assert process.wait(30) == 130


def test_no_process_runs_from_generated_files(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{}")
    with (
        pytest.raises(UsageError, match=r"generated files are here \(manifest\.json\), which people commit; name"),
        locked(tmp_path),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]


def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / EMULATOR.file
    with pytest.raises(OutputError) as raised, locked(tmp_path):
        small = resource.getrlimit(resource.RLIMIT_FSIZE)
        # A write beyond the limit fails like one to a full disk.
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, small[1]))
        try:
            with locked(tmp_path / "other"):
                pass
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, small)
            signal.signal(signal.SIGXFSZ, before)
    assert str(raised.value) == f"{tmp_path / 'other' / EMULATOR.file}: cannot be written: File too large"
    assert file.exists()
