"""PyEZ, NAPALM and nornir-napalm, unmodified, as they work against Junos; and where they leave a device locked."""

import pytest
from jnpr.junos.exception import (
    CommitError,
    ConfigLoadError,
    ConnectAuthError,
    ConnectClosedError,
    LockError,
    RpcTimeoutError,
    UnlockError,
)
from jnpr.junos.utils.config import Config
from napalm.base.exceptions import CommitConfirmException, MergeConfigException
from napalm.base.exceptions import LockError as NapalmLockError
from nornir.core import Nornir
from nornir.core.inventory import ConnectionOptions, Defaults, Groups, Host, Hosts, Inventory
from nornir.core.plugins.connections import ConnectionPluginRegister
from nornir.plugins.runners import SerialRunner
from nornir_napalm.plugins.tasks import napalm_configure, napalm_get

from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.fleet import Fleet
from tests.emulator.fleets import LEAF, PASSWORD, USER, active_text, napalm, pyez, until


def test_pyez_changes_a_configuration(fleet: Fleet) -> None:
    device = fleet.devices[LEAF]
    with pyez(fleet) as found:
        config = Config(found)
        assert config.lock()
        config.load("system { domain-name d; }", format="text", merge=True)
        config.load("set system time-zone UTC", format="set")
        assert config.diff() == "\n[edit system]\n+   domain-name d;\n+   time-zone UTC;\n"
        assert config.commit_check()
        assert config.commit(confirm=2, comment="trial")
        assert device.database.pending is not None
        assert config.commit()
        assert device.database.pending is None
        assert config.diff() is None
        config.rollback(2)
        assert config.diff() == "\n[edit system]\n-   domain-name d;\n-   time-zone UTC;\n"
        config.rollback()
        assert config.unlock()
        assert "domain-name d;" in active_text(device)
        assert [commit.log for commit in device.commits()][:2] == ["", "trial"]


def test_pyez_loads_xml_and_detail(fleet: Fleet) -> None:
    with pyez(fleet) as found, Config(found, mode="exclusive") as config:
        config.load("<configuration><system><domain-name>d</domain-name></system></configuration>", format="xml")
        results = config.commit(detail=True)
        assert results.find("routing-engine/commit-success") is not None
    assert fleet.devices[LEAF].database.holder is None


def test_pyez_is_told_why(fleet: Fleet) -> None:
    with pyez(fleet) as first, pyez(fleet) as second:
        one, other = Config(first), Config(second)
        one.lock()
        with pytest.raises(LockError, match=r"locked by:\n  admin terminal  \(pid \d+\) on since"):
            other.lock()
        with pytest.raises(ConfigLoadError, match="locked by"):
            other.load("set system domain-name d", format="set")
        with pytest.raises(UnlockError, match="not open"):
            other.unlock()
        with pytest.raises(ConfigLoadError) as syntax:
            one.load("system { host-name }", format="text")
        assert syntax.value.errs[0]["message"].startswith("syntax error: line 1, column 18: ';' is missing")
        with pytest.raises(ConfigLoadError, match="warning: statement not found"):
            one.load("delete system frobnicate", format="set")
        one.load("delete system frobnicate", format="set", ignore_warning="statement not found")
        one.load("delete system root-authentication", format="set")
        with pytest.raises(CommitError) as refused:
            one.commit_check()
        assert refused.value.errs[0]["edit_path"] is None or "system" in refused.value.errs[0]["edit_path"]
        assert "root-authentication" in str(refused.value)


def test_pyez_and_faults(fleet: Fleet) -> None:
    fleet.add_faults(LEAF, Fault("refuse-auth", "connect"))
    with pytest.raises(ConnectAuthError), pyez(fleet):
        pass
    with pyez(fleet) as device:
        config = Config(device)
        config.lock()
        config.load("set system domain-name d", format="set")
        fleet.add_faults(LEAF, Fault("slow", "commit", seconds=2), Fault("drop-after", "unlock"))
        device.timeout = 1
        with pytest.raises(RpcTimeoutError):
            config.commit()
        # A trap: the lock is still held, and the commit takes effect.
        assert fleet.devices[LEAF].database.holder is not None
        until(lambda: "domain-name d;" in active_text(fleet.devices[LEAF]))
        device.timeout = 20
        with pytest.raises(ConnectClosedError):
            config.unlock()


def test_napalm_changes_a_configuration(fleet: Fleet) -> None:
    device = fleet.devices[LEAF]
    with napalm(fleet) as driver:
        driver.load_merge_candidate(config="system { domain-name d; }")
        assert driver.compare_config() == "[edit system]\n+   domain-name d;"
        driver.discard_config()
        assert driver.compare_config() == ""
        whole = active_text(device).replace(f"host-name {LEAF}", "host-name other")
        driver.load_replace_candidate(config=whole)
        assert driver.compare_config() == f"[edit system]\n-  host-name {LEAF};\n+  host-name other;"
        driver.commit_config(message="renamed", revert_in=120)
        assert driver.has_pending_commit()
        (left,) = driver._get_pending_commits().values()
        assert 0 < left <= 120
        driver.confirm_commit()
        assert not driver.has_pending_commit()
        assert "host-name other;" in driver.get_config(retrieve="running")["running"]
        assert "<removed>" in driver.get_config(sanitized=True)["running"]
        driver.load_merge_candidate(config="set system domain-name e")
        driver.commit_config()
        driver.rollback()
        assert "domain-name" not in active_text(device)
    assert (device.database.holder, device.database.modified) == (None, False)


def test_napalm_traps(fleet: Fleet) -> None:
    """What a caller has to know: each leaves the lock behind, or takes a file for something else."""
    database = fleet.devices[LEAF].database
    with napalm(fleet) as driver:
        # Set commands cannot replace, and the lock stays.
        with pytest.raises(ValueError, match="conflicting args"):
            driver.load_replace_candidate(config="set system host-name x")
        assert database.holder is not None
        driver.discard_config()
        # A failed commit leaves the lock and the candidate.
        driver.load_merge_candidate(config="delete system root-authentication")
        with pytest.raises(CommitError):
            driver.commit_config()
        assert (database.holder is not None, database.modified) == (True, True)
        driver.discard_config()
        # Only whole minutes.
        driver.load_merge_candidate(config="set system domain-name d")
        with pytest.raises(CommitConfirmException, match="multiple of 60"):
            driver.commit_config(revert_in=90)
        # A comment in front makes text of set commands.
        with pytest.raises(MergeConfigException):
            driver.load_merge_candidate(config="# changes\nset system domain-name d")
        assert not database.modified
        assert fleet.devices[LEAF].database.holder is None
    with pyez(fleet) as other, napalm(fleet) as driver:
        Config(other).lock()
        with pytest.raises(NapalmLockError, match="locked by"):
            driver.load_merge_candidate(config="set system domain-name d")


def test_a_whole_session_under_one_lock(fleet: Fleet) -> None:
    with napalm(fleet, config_lock=True) as driver:
        assert fleet.devices[LEAF].database.holder is not None
        driver.load_merge_candidate(config="set system domain-name d")
        driver.commit_config()
    until(lambda: fleet.devices[LEAF].database.holder is None)
    assert "domain-name d;" in active_text(fleet.devices[LEAF])


def test_nornir_napalm(fleet: Fleet) -> None:
    ConnectionPluginRegister.auto_register()
    options = ConnectionOptions(extras={"optional_args": {"port": fleet.port(LEAF)}})
    host = Host(LEAF, fleet.address, None, USER, PASSWORD, "junos", connection_options={"napalm": options})
    inventory = Inventory(hosts=Hosts({LEAF: host}), groups=Groups(), defaults=Defaults())
    nornir = Nornir(inventory=inventory, runner=SerialRunner())
    result = nornir.run(napalm_configure, configuration="set system domain-name d", dry_run=True)
    assert (result[LEAF].failed, result[LEAF][0].diff) == (False, "[edit system]\n+   domain-name d;")
    assert "domain-name" not in active_text(fleet.devices[LEAF])
    assert nornir.run(napalm_configure, configuration="set system domain-name d", dry_run=False)[LEAF][0].changed
    assert "domain-name d;" in active_text(fleet.devices[LEAF])
    facts = nornir.run(napalm_get, getters=["facts"])[LEAF][0].result["facts"]
    assert facts["hostname"] == LEAF
    nornir.close_connections()
