"""What is on disk when a process is killed: the old state or the new one, never half of one."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from ailb_gen.emulator.config_database import ConfigDatabase
from ailb_gen.emulator.disk import Disk
from ailb_gen.junos.reader import read_curly
from ailb_gen.junos.tree import Node

# Commits one configuration after another, says so before and after, until it is killed.
CHILD = """\
import sys
from pathlib import Path
from ailb_gen.emulator.disk import Disk
from ailb_gen.emulator.load_config import load_set
from ailb_gen.emulator.config_database import ConfigDatabase, UserSession
from ailb_gen.junos.tree import Node

database = ConfigDatabase(Node(""), Disk(Path(sys.argv[1])))
session = UserSession(1, "ann", 0.0)
number = int(database.active.value("system", "host-name") or 0)
while True:
    number += 1
    database.edit(session, load_set(database.candidate, f"set system host-name {number}")[0])
    print(number, flush=True)
    database.commit(session, confirm_s=600 * (number % 3 == 0), minutes=10)
"""


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 8))])
def test_killed_at_any_moment(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    last = 0
    for _ in range(3):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        said = [int(child.stdout.readline()) for _ in range(chance.randint(1, 12))]
        child.kill()
        said += [int(line) for line in child.stdout.read().split("\n") if line]
        child.wait()
        child.stdout.close()
        database = ConfigDatabase(Node(""), Disk(tmp_path))
        names = [
            database.rollback_tree(number).value("system", "host-name") for number in range(len(database.commits()))
        ]
        # What the child began last is there or not; what it had committed before is.
        newest = max(int(name or 0) for name in names)
        assert newest in (said[-1] - 1, said[-1])
        assert newest >= last
        last = newest
        assert database.pending is None
        # The texts and the index agree.
        assert {file.name for file in tmp_path.iterdir()} >= {"index.json"}
        assert read_curly(database.active_text).value("system", "host-name") == names[0]
