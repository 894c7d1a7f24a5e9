"""Maintenance of emulated devices over real NETCONF: what is done, refused, left, told, and gone on with."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from ailb_gen.api.drain import DrainChange, undrain
from ailb_gen.api.maintain_options import MaintainOptions
from ailb_gen.api.maintain_steps import MaintenanceSteps
from ailb_gen.deploy.maintenance_work import WorkDevice, WorkError
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.load_config import load_set
from ailb_gen.emulator.traffic import LinkRate
from ailb_gen.errors import DeployError, UsageError
from ailb_gen.network.fabric import End
from tests.conftest import need_root, need_tool
from tests.deploy.fabric import hurried, run
from tests.deploy.maintenance import SENDER, TEXT, Pod, generated, pod

FAST = MaintainOptions(pause_s=0.02, back_s=5.0, wait_s=5.0)
SPINES, LEAF = ("spine1", "spine2"), "stripe1-leaf1"


@dataclass
class Noting:
    """Work that notes the devices, and what was true meanwhile; `act` may do something or raise."""

    on: Pod
    act: Callable[[WorkDevice], None] = lambda device: None
    done: list[tuple[str, str, frozenset[str]]] = field(default_factory=list)

    @property
    def recorded(self) -> Mapping[str, object]:
        return {"command": ["noting"]}

    def check(self, device: WorkDevice) -> str:
        assert device.address == "127.0.0.1"
        return ""

    def __call__(self, device: WorkDevice) -> None:
        assert self.on.states()[device.name].endswith("work begun")
        self.done.append((device.name, device.role, frozenset(self.on.in_shutdown())))
        self.act(device)


def test_spines_then_a_leaf_one_after_the_other(small_pod: Pod) -> None:
    work = Noting(small_pod)
    with hurried():
        report = small_pod.service().maintain([LEAF, "spines"], work, FAST)
    assert report.complete
    assert work.done == [
        ("spine1", "spine", frozenset({"spine1"})),
        ("spine2", "spine", frozenset({"spine2"})),
        (LEAF, "leaf", frozenset()),
    ]
    assert set(small_pod.states().values()) == {"done"}
    small_pod.assert_as_before()
    last = small_pod.last()
    assert last is not None
    assert (last.state, len(last.runs), last.files) == ("done", 4, last.first)


def test_a_command_that_fails_leaves_the_spine_in_graceful_shutdown(small_pod: Pod) -> None:
    ended = small_pod.maintain("spines", "--", "sh", "-c", "echo no space; exit 7")
    assert ended.code == 5
    assert "no space\n" in ended.out
    assert "spine1: the command failed with exit code 7" in ended.err
    assert "  spine1: in graceful shutdown, work begun" in ended.err
    assert "  spine2: not begun" in ended.err
    assert "--resume" in ended.err
    assert small_pod.in_shutdown() == {"spine1"}
    small_pod.assert_told()
    listed = run("runs", "list", str(small_pod.fabric))
    assert "maintenance 1, stopped: spine1 in graceful shutdown, work begun" in listed.out
    again = small_pod.maintain("spine2", "--", "true")
    assert again.code == 2
    assert "is not finished: spine1 (in graceful shutdown, work begun)" in again.err
    # With another command; the devices are those of the record.
    ended = small_pod.maintain("--resume", "--", "sh", "-c", "test $AILB_ROLE = spine")
    assert ended.code == 0, ended.err
    assert small_pod.states() == dict.fromkeys(SPINES, "done")
    small_pod.assert_as_before()


def test_giving_up_brings_the_device_back_without_work(small_pod: Pod) -> None:
    assert small_pod.maintain("spines", "--", "false").code == 5
    ended = small_pod.maintain("--give-up")
    assert ended.code == 0, ended.err
    assert "given up, no device is out; record:" in ended.out
    small_pod.assert_as_before()
    last = small_pod.last()
    assert last is not None
    assert last.state == "given up"
    assert small_pod.states() == {"spine1": "given up, work not done", "spine2": "not begun"}
    assert small_pod.maintain("--resume").code == 2


def test_a_command_that_hangs_is_ended(small_pod: Pod) -> None:
    ended = small_pod.maintain("spine2", "--timeout", "1", "--", "sleep", "1000")
    assert ended.code == 5
    assert "spine2: the command had not ended after 1 s of --timeout" in ended.err
    small_pod.assert_told()
    assert small_pod.in_shutdown() == {"spine2"}


def test_a_device_that_reboots_is_waited_for(small_pod: Pod) -> None:
    work = Noting(small_pod, lambda device: small_pod.fleet.reboot(device.name, 0.3))
    with hurried():
        assert small_pod.service().maintain(["spine1"], work, FAST).complete
    small_pod.assert_as_before()


@pytest.mark.long
def test_a_device_that_does_not_come_back_stays_and_is_gone_on_with(small_pod: Pod) -> None:
    work = Noting(small_pod, lambda device: small_pod.fleet.add_faults(device.name, Fault("drop-before", "connect", 0)))
    service = small_pod.service()
    with hurried():
        report = service.maintain(["spines"], work, replace(FAST, back_s=0.1))
    assert report.left == ["spine1"]
    assert "after the work not all is as designed" in report.devices["spine1"].reason
    assert small_pod.in_shutdown() == {"spine1"}
    small_pod.assert_told()
    small_pod.fleet.clear_faults("spine1")
    again = Noting(small_pod)
    with hurried():
        assert service.resume(lambda past: again, FAST).complete
    # The work of the first was done.
    assert [name for name, _, _ in again.done] == ["spine2"]
    small_pod.assert_as_before()


def test_some_devices_may_fail_while_the_floor_is_kept(small_pod: Pod) -> None:
    def fail(device: WorkDevice) -> None:
        if device.name == "spine1":
            raise WorkError("spine1: no")

    work = Noting(small_pod, fail)
    with hurried():
        report = small_pod.service().maintain(["spines", LEAF], work, replace(FAST, max_failures=1))
    # Without spine1 no other spine may go: pairs of leaves would have no path left.
    assert [name for name, _, _ in work.done] == ["spine1"]
    assert report.left == ["spine1"]
    assert "drain-cuts" in report.devices["spine2"].reason
    assert small_pod.states() == {
        "spine1": "in graceful shutdown, work begun",
        "spine2": "not begun",
        LEAF: "not begun",
    }
    small_pod.assert_told()


@pytest.mark.long
def test_work_that_is_not_needed_is_not_begun(small_pod: Pod) -> None:
    class Needless(Noting):
        def check(self, device: WorkDevice) -> str:
            return "it runs that release" if device.name == "spine1" else ""

    work = Needless(small_pod)
    with hurried():
        report = small_pod.service().maintain(["spines"], work, FAST)
    assert dict(report.needless) == {"spine1": "it runs that release"}
    assert [name for name, _, _ in work.done] == ["spine2"]
    small_pod.assert_as_before()


def _loaded(on: Pod, device: str, port: str) -> None:
    on.state.send({End(device, port): LinkRate(5e9)})


def test_a_leaf_that_still_has_traffic_is_not_touched(small_pod: Pod) -> None:
    port = "et-0/0/0"
    _loaded(small_pod, "spine1", port)
    ended = small_pod.maintain("leaves", "--quiet-timeout", "0", "--", "true")
    assert ended.code == 3
    assert f"{LEAF}: there is still traffic after 0 s of --quiet-timeout" in ended.err
    assert "Mb/s" in ended.err
    assert "no device is out of service" in ended.err
    small_pod.assert_as_before()


def test_a_spine_that_still_has_traffic_stays_in_graceful_shutdown(small_pod: Pod) -> None:
    port = "et-0/0/0"
    _loaded(small_pod, "spine1", port)
    ended = small_pod.maintain("spine1", "--quiet-timeout", "0", "--", "false")
    assert ended.code == 5
    assert f"spine1: there is still traffic after 0 s of --quiet-timeout: {port} " in ended.err
    small_pod.assert_told()
    small_pod.state.send({End("spine1", port): LinkRate()})
    assert small_pod.maintain("--resume", "--", "true").code == 0
    small_pod.assert_as_before()


@pytest.fixture(scope="module")
def untouched(generated_pod: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pod]:
    """A fabric for tests that change nothing."""
    with pod(generated_pod, tmp_path_factory.mktemp("pod")) as found:
        yield found


REFUSED: tuple[tuple[str, tuple[str, ...], int, str], ...] = (
    ("floor", ("spine1", "--floor", "60%", "--", "true"), 2, "less than the 60 % of --floor"),
    ("cut", ("spines", "--at-once", "2", "--", "true"), 2, "drain-cuts"),
    ("unknown", ("spine9", "--", "true"), 2, "ELEMENT 'spine9': no device is called that"),
    ("no element", ("--", "true"), 2, "name the devices to maintain"),
    ("no command", ("spine1",), 2, "there is no command; write it behind '--'"),
    ("no program", ("spine1", "--", "/nowhere/upgrade"), 3, "there is no such program"),
    ("nothing to resume", ("--resume",), 2, "no maintenance is unfinished here"),
    ("both", ("--resume", "--give-up"), 2, "give one of them"),
    ("floor is no share", ("spine1", "--floor", "many", "--", "true"), 2, "must be a share"),
)


def test_a_dry_run_changes_nothing_and_names_all(untouched: Pod) -> None:
    ended = untouched.maintain("spines", "--dry-run", "--", "true")
    assert (ended.code, ended.out) == (0, "would maintain spine1\nwould maintain spine2\n")
    untouched.assert_as_before()
    assert untouched.last() is None


@pytest.mark.parametrize(("words", "code", "said"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_refused_changes_nothing(untouched: Pod, words: tuple[str, ...], code: int, said: str) -> None:
    ended = untouched.maintain(*words)
    assert (ended.code, said in ended.err) == (code, True), ended.err
    untouched.assert_as_before()


def test_files_of_another_fabric_file_are_refused(small_pod: Pod) -> None:
    small_pod.fabric.write_text(small_pod.fabric.read_text() + "bfd: {interval_ms: 300, multiplier: 3}\n")
    with pytest.raises(UsageError):
        small_pod.service().maintain(["spine1"], Noting(small_pod), FAST)
    assert small_pod.in_shutdown() == set()


def test_a_fabric_that_is_not_as_designed_is_refused(small_pod: Pod) -> None:
    def edit(device: EmulatedDevice) -> None:
        somebody = device.other_operator()
        device.database.edit(somebody, load_set(device.database.candidate, "set interfaces et-0/0/0 mtu 2000\n")[0])
        device.database.commit(somebody, "by hand")

    small_pod.fleet.do("stripe1-leaf2", edit)
    with hurried(), pytest.raises(DeployError, match="nothing was changed: not all is as designed around spine1"):
        small_pod.service().maintain(["spine1"], Noting(small_pod), FAST)
    assert small_pod.files() == small_pod.before
    assert small_pod.in_shutdown() == set()


@pytest.mark.long
def test_a_spine_that_is_out_already_is_refused(small_pod: Pod) -> None:
    assert small_pod.maintain("spine1", "--", "false").code == 5
    for path in (small_pod.folder / ".ailb/runs/maintenance").glob("*/log.jsonl"):
        path.unlink()
    ended = small_pod.maintain("spines", "--", "true")
    assert ended.code == 2
    assert "spine1: already out of service by" in ended.err


@pytest.mark.long
def test_a_fabric_file_that_was_edited_meanwhile_is_not_taken(small_pod: Pod) -> None:
    assert small_pod.maintain("spine1", "--", "false").code == 5
    left = small_pod.fabric.read_text()
    small_pod.fabric.write_text(f"{left}bfd: {{interval_ms: 300, multiplier: 3}}\n")
    before = small_pod.files()
    for verb in ("--resume", "--give-up"):
        ended = small_pod.maintain(verb)
        assert ended.code == 2
        assert "it was changed since the maintenance" in ended.err
    assert small_pod.files() == before
    assert small_pod.in_shutdown() == {"spine1"}
    small_pod.fabric.write_text(left)
    assert small_pod.maintain("--resume", "--", "true").code == 0
    small_pod.assert_as_before()


@pytest.mark.long
def test_a_fabric_file_that_was_checked_out_again_is_given_up(small_pod: Pod) -> None:
    assert small_pod.maintain("spine1", "--", "false").code == 5
    small_pod.fabric.write_bytes(small_pod.before["fabric.yaml"])
    ended = small_pod.maintain("--resume", "--", "true")
    assert (ended.code, "or give --give-up" in ended.err) == (2, True), ended.err
    ended = small_pod.maintain("--give-up")
    assert ended.code == 0, ended.err
    assert small_pod.states() == {"spine1": "given up, work not done"}
    small_pod.assert_as_before()


@pytest.mark.long
def test_a_statement_of_the_spine_alone_is_pushed(small_pod: Pod) -> None:
    assert small_pod.maintain("spine1", "--", "false").code == 5
    for name, old in small_pod.old.items():
        new = set(small_pod.configuration(name)) ^ set(old)
        assert new == ({f"set {SENDER}"} if name == "spine1" else set())


@pytest.mark.long
def test_a_push_that_is_refused_is_told_and_repeated(small_pod: Pod) -> None:
    small_pod.fleet.add_faults("spine1", Fault("error", "commit"))
    ended = small_pod.maintain("spine1", "--", "true")
    assert ended.code == 5
    assert "going into graceful shutdown" in ended.err
    small_pod.assert_told()
    ended = small_pod.maintain("--resume")
    assert ended.code == 0, ended.err
    small_pod.assert_as_before()


@pytest.mark.long
def test_two_at_once_where_paths_are_left(tmp_path: Path) -> None:
    made = generated(tmp_path, TEXT.replace("spines: 2", "spines: 4"))
    with pod(made, tmp_path / "pod") as on, hurried():
        together: list[float] = []

        def wait(device: WorkDevice) -> None:
            together.append(time.monotonic())
            time.sleep(0.3)

        work = Noting(on, wait)
        assert on.service().maintain(["spines"], work, replace(FAST, at_once=2)).complete
        assert [shut for _, _, shut in work.done] == [frozenset({"spine1", "spine2"})] * 2 + [
            frozenset({"spine3", "spine4"})
        ] * 2
        on.assert_as_before()


@pytest.mark.long
def test_a_full_disk_is_told_and_gone_on_with(generated_pod: Path, tmp_path: Path) -> None:
    need_root()
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run([need_tool("mount"), "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], check=True)
    try:
        with pod(generated_pod, disk) as on:
            fill = f"cat /dev/zero > {disk}/others; true"
            ended = on.maintain("spine1", "--", "sh", "-c", fill)
            assert (ended.code, "No space left on device" in ended.err) == (5, True), ended.err
            # Room for the record was taken before; so it says what became of the spine.
            assert on.states() == {"spine1": "going back into service"}
            assert on.in_shutdown() == {"spine1"}
            (disk / "others").unlink()
            ended = on.maintain("--resume")
            assert ended.code == 0, ended.err
            on.assert_as_before()
    finally:
        subprocess.run([need_tool("umount"), "-l", str(disk)], check=True)


@pytest.mark.parametrize("damage", [b"{}\n", b'{"event": "maintenance"}\n', b"\xff\xfe\n"])
def test_a_record_that_is_damaged_is_an_error(untouched: Pod, damage: bytes) -> None:
    folder = untouched.folder / ".ailb/runs/maintenance/9-20270101T000000.000Z-abcd"
    folder.mkdir(parents=True)
    (folder / "log.jsonl").write_bytes(damage)
    try:
        for words in (["spine1", "--", "true"], ["--resume"], ["--status"]):
            ended = untouched.maintain(*words)
            assert ended.code == 3
            assert str(folder / "log.jsonl") in ended.err
    finally:
        shutil.rmtree(folder)
    untouched.assert_as_before()


class _Killed(BaseException):
    """Ends the program where a signal would; nothing more is recorded."""


def test_given_up_again_after_the_end_before_the_fabric_file_was_written(
    small_pod: Pod, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed_at_push(steps: MaintenanceSteps, names: Sequence[str]) -> None:
        raise _Killed

    def killed_at_writing(fabric: Path, entries: Sequence[str], *, graceful_shutdown: bool, write: bool) -> DrainChange:
        if write:
            raise _Killed
        return undrain(fabric, entries, graceful_shutdown=graceful_shutdown, write=False)

    service = small_pod.service()
    with monkeypatch.context() as patch, pytest.raises(_Killed):
        patch.setattr(MaintenanceSteps, "_push", killed_at_push)
        service.maintain(["spine1"], Noting(small_pod), FAST)
    with monkeypatch.context() as patch, pytest.raises(_Killed):
        patch.setattr("ailb_gen.api.maintain_steps.undrain", killed_at_writing)
        service.resume(lambda past: None, FAST)
    with hurried():
        assert service.resume(lambda past: None, FAST).complete
    small_pod.assert_as_before()
