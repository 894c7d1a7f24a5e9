"""Private copies, the rescue configuration, kill-session, get: with ncclient, PyEZ and NAPALM."""

from pathlib import Path

import pytest
from jnpr.junos.exception import CommitError, LockError, RpcError
from jnpr.junos.utils.config import Config
from ncclient.operations.rpc import RPCError

from ailb_gen.emulator.fleet import Fleet
from tests.emulator.fleets import LEAF, USER, active_text, napalm, netconf, pyez, ssh, two_devices, until

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_private_copies_are_merged(fleet: Fleet) -> None:
    device = fleet.devices[LEAF]
    with pyez(fleet) as first, pyez(fleet) as second:
        with Config(first, mode="private") as one, Config(second, mode="private") as two:
            one.load("set system domain-name d", format="set")
            two.load("set system time-zone UTC", format="set")
            assert "time-zone" not in one.diff()
            assert not device.database.modified
            one.commit()
            two.commit()
            assert two.diff() is None
        text = active_text(device)
        assert ("domain-name d;" in text, "time-zone UTC;" in text) == (True, True)
    assert device.database.editors() == ()


def test_private_copies_in_conflict(fleet: Fleet) -> None:
    with (
        pyez(fleet) as first,
        pyez(fleet) as second,
        Config(first, mode="private") as one,
        Config(second, mode="private") as two,
    ):
        one.load("set system host-name one", format="set")
        two.load("set system host-name two", format="set")
        one.commit()
        with pytest.raises(CommitError, match=r"merge conflict.*host-name"):
            two.commit()
        two.rollback()
        assert two.diff() is None
        two.load("set system host-name two", format="set")
        two.commit()
    assert "host-name two;" in active_text(fleet.devices[LEAF])


def test_private_copies_and_the_lock(fleet: Fleet) -> None:
    with pyez(fleet) as first, pyez(fleet) as second:
        exclusive = Config(first)
        exclusive.lock()
        with pytest.raises((LockError, RpcError), match="locked by"), Config(second, mode="private"):
            pass
        exclusive.unlock()
        with Config(second, mode="private") as private:
            private.load("set system domain-name d", format="set")
            # Somebody may take the lock meanwhile, but then the private copy cannot be committed.
            exclusive.lock()
            with pytest.raises(CommitError, match="locked by"):
                private.commit()
            exclusive.unlock()
            with pytest.raises(CommitError, match="not allowed in configure private"):
                private.commit(confirm=2)
            exclusive.load("set system time-zone UTC", format="set")
            with pytest.raises(CommitError, match="shared configuration database modified"):
                private.commit()
            exclusive.rollback()
            private.commit()
        exclusive.load("set system time-zone UTC", format="set")
        with pytest.raises(RpcError, match="shared configuration database modified"), Config(second, mode="private"):
            pass
    assert "domain-name d;" in active_text(fleet.devices[LEAF])


def test_a_private_copy_ends_with_its_session(fleet: Fleet) -> None:
    with pyez(fleet) as first:
        first.rpc.open_configuration(private=True, ignore_warning=True)
        first.rpc.load_config("set system domain-name d", format="set", action="set")
    until(lambda: fleet.devices[LEAF].database.editors() == ())
    assert not fleet.devices[LEAF].database.modified


def test_private_napalm(fleet: Fleet) -> None:
    with napalm(fleet, config_private=True, ignore_warning=True) as driver:
        driver.load_merge_candidate(config="set system domain-name d")
        assert driver.compare_config() == "[edit system]\n+   domain-name d;"
        driver.commit_config()
    assert "domain-name d;" in active_text(fleet.devices[LEAF])


def test_rescue(tmp_path: Path) -> None:
    with two_devices(tmp_path) as fleet, pyez(fleet) as device, Config(device) as config:
        assert config.rescue("get") is None
        assert config.rescue("reload") is False
        assert config.rescue("save") is True
        config.load("set system host-name other", format="set")
        config.commit()
    # It outlives the device.
    with two_devices(tmp_path) as fleet, pyez(fleet) as device:
        config = Config(device)
        assert f"host-name {LEAF};" in config.rescue("get", format="text")
        assert config.rescue("get", format="xml").findtext(".//host-name") == LEAF
        config.rescue("reload")
        assert config.diff() == f"\n[edit system]\n-  host-name other;\n+  host-name {LEAF};\n"
        config.commit()
        assert config.rescue("delete") is True
        assert config.rescue("get") is None


def test_kill_session_frees_the_lock(fleet: Fleet) -> None:
    database = fleet.devices[LEAF].database
    with netconf(fleet) as holder, netconf(fleet) as other:
        holder.lock()
        holder.load_configuration(action="set", config=["set system domain-name d"])
        with pytest.raises(RPCError, match="locked by") as refused:
            other.lock()
        (number,) = refused.value._raw.xpath("//*[local-name()='session-id']/text()")
        assert (number, refused.value.tag) == (holder.session_id, "lock-denied")
        other.kill_session(number)
        # At once, and what was edited under the lock is gone.
        other.lock()
        assert (database.modified, database.holder is not None) == (False, True)
        until(lambda: not holder.connected)
        for number in (other.session_id, "1", "x"):
            with pytest.raises(RPCError) as refused:
                other.kill_session(number)
            assert refused.value.tag == "invalid-value"


def test_get(fleet: Fleet) -> None:
    with netconf(fleet) as session:
        whole = session.get()
        assert whole.xpath("//data")[0].findtext("configuration/system/host-name") == LEAF
        assert len(whole.xpath("//data")[0].find("database-status-information")) == 0
        wanted = "<configuration><system><services/></system></configuration>"
        found = session.get(filter=("subtree", wanted)).xpath("//data")[0]
        assert [child.tag for child in found.find("configuration/system")] == ["services"]
        session.lock()
        status = (
            session.get(filter=("subtree", wanted))
            .xpath("//data")[0]
            .find("database-status-information/database-status")
        )
        assert (status.findtext("user"), status.findtext("pid")) == (USER, session.session_id)
        # What the device does not know is not there.
        unknown = "<configuration><protocols><ospf/></protocols></configuration>"
        assert session.get(filter=("subtree", unknown)).xpath("//data")[0].find("configuration/protocols") is None
        with pytest.raises(RPCError, match="only subtree filters"):
            session.rpc('<get><filter type="xpath" select="/configuration"/></get>')
        assert "set system host-name" in str(session.rpc('<get format="set"/>'))


def test_monitoring(fleet: Fleet) -> None:
    with netconf(fleet) as session, netconf(fleet) as other:
        other.lock()
        namespace = "urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring"
        found = session.get(filter=("subtree", f'<netconf-state xmlns="{namespace}"/>')).xpath("//data")[0]
        assert found.findtext(".//locked-by-session") == other.session_id
        assert [one.text for one in found.iterfind(".//session/session-id")] == [session.session_id, other.session_id]
        assert "urn:ietf:params:netconf:base:1.1" in [one.text for one in found.iterfind(".//capability")]
        part = f'<netconf-state xmlns="{namespace}"><schemas/></netconf-state>'
        assert [one.tag for one in session.get(filter=("subtree", part)).xpath("//data/netconf-state/*")] == ["schemas"]
        with pytest.raises(RPCError, match="no schema 'x'"):
            session.get_schema("x")


def test_inherited_groups(fleet: Fleet) -> None:
    with pyez(fleet) as device, Config(device) as config:
        config.load("set groups g system domain-name d\nset apply-groups g", format="set")
        config.commit()
        for options, name in (({}, None), ({"inherit": "inherit"}, "d"), ({"inherit": "defaults"}, "d")):
            found = device.rpc.get_config(options={"database": "committed", **options})
            assert found.findtext("system/domain-name") == name


@pytest.mark.parametrize(
    ("wanted", "selected"),
    [
        ("<login><user><uid>2000</uid></user></login>", ["name", "uid", "class", "authentication"]),
        ("<login><user><uid>2000</uid><class/></user></login>", ["name", "uid", "class"]),
        ("<login><user><name>admin</name><class/></user></login>", ["name", "class"]),
        ("<login><user><uid>2001</uid></user></login>", []),
        ("<host-name>nobody</host-name><login/>", []),
    ],
)
def test_filters_select_by_value(fleet: Fleet, wanted: str, selected: list[str]) -> None:
    """RFC 6241 section 6.2.5."""
    with netconf(fleet) as session:
        config = f"<configuration><system>{wanted}</system></configuration>"
        for found in (session.get_config("running", ("subtree", config)), session.get(("subtree", config))):
            users = found.xpath("//data/configuration/system/login/user")
            assert [child.tag for user in users for child in user] == selected


def test_what_has_changed(fleet: Fleet) -> None:
    with pyez(fleet) as device, Config(device) as config:
        config.load("set system domain-name d\ndelete system services netconf", format="set")
        found = device.rpc.get_config(options={"changed": "changed"})
        assert [one.tag for one in found.iter() if "changed" in one.attrib.values()] == [
            "system",
            "services",
            "domain-name",
        ]
        wanted = "<configuration><system><login/></system></configuration>"
        part = device.rpc.get_config(filter_xml=wanted, options={"changed": "changed"})
        assert [one.tag for one in part.iter() if "changed" in one.attrib.values()] == []
        config.commit()
        assert "junos:changed=" not in str(device.rpc.get_config(options={"changed": "changed"}))


@pytest.mark.parametrize(
    "request_",
    [
        '<get-configuration compare="frob"/>',
        '<get-configuration inherit="frob"/>',
        '<get-configuration changed="frob"/>',
        '<get-configuration more="x"/>',
        "<get-configuration><more/></get-configuration>",
        '<load-configuration more="x" action="set"><configuration-set/></load-configuration>',
        '<load-configuration format="frob"><configuration-text/></load-configuration>',
        '<load-configuration action="frob" format="text"><configuration-text/></load-configuration>',
        "<load-configuration action='set'><configuration-set/><more/></load-configuration>",
        "<request-save-rescue-configuration><more/></request-save-rescue-configuration>",
        "<edit-config><target><candidate/></target><more/><config/></edit-config>",
        "<commit><persist>x</persist></commit>",
        "<get-config><source><running/></source><with-defaults>report-all</with-defaults></get-config>",
        "<validate><source><candidate/></source><more/></validate>",
        "<discard-changes><persist-id>x</persist-id></discard-changes>",
        "<commit-configuration><frob/></commit-configuration>",
    ],
)
def test_nothing_is_left_out_silently(fleet: Fleet, request_: str) -> None:
    with netconf(fleet) as session, pytest.raises(RPCError) as caught:
        session.rpc(request_)
    assert caught.value.tag in ("bad-attribute", "unknown-element")


def load(fleet: Fleet, inner: str, attributes: str = "") -> list[str]:
    """Load XML; return the set lines of what is then edited about users and services, and discard it."""
    with netconf(fleet) as session:
        session.rpc(f"<load-configuration><configuration {attributes}>{inner}</configuration></load-configuration>")
        shown = session.rpc('<get-configuration format="set"/>')
        session.discard_changes()
        lines = "".join(shown.xpath("//configuration-set/text()")).splitlines()
        return [line for line in lines if " services " in line or "user" in line]


def test_attributes_of_a_load(fleet: Fleet) -> None:
    def services(inner: str) -> str:
        return f"<system><services>{inner}</services></system>"

    assert [line.split()[3] for line in load(fleet, services('<ssh insert="first"/>')) if "services" in line] == [
        *("ssh", "netconf")
    ]
    assert load(fleet, services('<netconf insert="after" name="ssh"/>'))[-2] == "set system services ssh"
    with netconf(fleet) as session:
        session.load_configuration(action="set", config=["deactivate system services ssh"])
        session.commit()
    assert any(line.startswith("deactivate") for line in load(fleet, services("<ssh/>")))
    assert not any(line.startswith("deactivate") for line in load(fleet, services('<ssh active="active"/>')))
    renamed = '<system><login><user rename="rename" name="bob"><name>{}</name></user></login></system>'
    assert "set system login user bob uid 2000" in load(fleet, renamed.format("admin"))
    assert "set system login user boss uid 2000" in load(fleet, "", 'replace-pattern="admin" with="boss"')
    for inner, attributes in ((renamed.format("nobody"), ""), ("", 'replace-pattern="(" with=""')):
        with pytest.raises(RPCError) as caught:
            load(fleet, inner, attributes)
        assert caught.value.tag == "bad-attribute"


def test_the_last_value_of_text_counts(fleet: Fleet) -> None:
    with pyez(fleet) as device, Config(device) as config:
        config.load("system { domain-name d; domain-name e; }", format="text")
        assert config.diff() == "\n[edit system]\n+   domain-name e;\n"


def test_commands_about_configurations(fleet: Fleet) -> None:
    with netconf(fleet) as session:
        assert session.rpc("<command>request system configuration rescue save</command>").xpath("//success")
        for command in ("show system configuration rescue", "show system rollback 0"):
            shown = session.rpc(f'<command format="text">{command}</command>')
            assert f"host-name {LEAF};" in "".join(shown.xpath("//configuration-output/text()"))
        session.rpc("<command>request system configuration rescue delete</command>")
        with pytest.raises(RPCError, match="No rescue configuration"):
            session.rpc("<command>show system configuration rescue</command>")
        with pytest.raises(RPCError, match="invalid rollback value"):
            session.rpc("<command>show system rollback x</command>")


def test_what_is_protected_stays(fleet: Fleet) -> None:
    def services(inner: str, attributes: str = "") -> str:
        return f"<configuration><system><services {attributes}>{inner}</services></system></configuration>"

    with netconf(fleet) as session:
        session.load_configuration(action="set", config=["protect system services"])
        session.commit()
        for text in (services('<ssh delete="delete"/>'), services("<telnet/>")):
            with pytest.raises(RPCError, match=r"system services\] is protected|not known"):
                session.rpc(f"<load-configuration>{text}</load-configuration>")
        deleted = services('<ssh operation="delete"/>')
        with pytest.raises(RPCError, match="is protected"):
            session.edit_config(target="candidate", config=f"<config>{deleted}</config>")
        # A statement as it is changes nothing.
        session.rpc(f"<load-configuration>{services('<ssh/>')}</load-configuration>")
        assert not fleet.devices[LEAF].database.modified
        text = services('<ssh delete="delete"/>', 'unprotect="unprotect"')
        session.rpc(f"<load-configuration>{text}</load-configuration>")
        assert not fleet.devices[LEAF].database.candidate.has("system", "services", "ssh")
    assert "[system services] is protected" in ssh(fleet, "configure; rollback 0; delete system services ssh")[0]
