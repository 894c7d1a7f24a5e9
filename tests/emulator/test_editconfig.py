"""RFC 6241's edit-config with ncclient: operations, their errors, and the options beside them."""

import pytest
from ncclient.operations.rpc import RPCError

from ailb_gen.emulator.fleet import Fleet
from tests.emulator.fleets import LEAF, netconf

NC = "urn:ietf:params:xml:ns:netconf:base:1.0"


def config(inner: str) -> str:
    return f'<config xmlns:nc="{NC}"><configuration>{inner}</configuration></config>'


def system(inner: str) -> str:
    return config(f"<system>{inner}</system>")


def edit(fleet: Fleet, text: str, **options: object) -> list[str]:
    """Edit the candidate; return what it then says more or less than the active configuration."""
    with netconf(fleet) as session:
        session.edit_config(target="candidate", config=text, **options)
        shown = session.compare_configuration(rollback=0)
        return changes("".join(shown.xpath("//configuration-output/text()")))


def changes(text: str) -> list[str]:
    return [line for line in text.splitlines() if line[:1] in ("+", "-")]


def refused(fleet: Fleet, text: str, **options: object) -> RPCError:
    with pytest.raises(RPCError) as caught:
        edit(fleet, text, **options)
    return caught.value


DOMAIN = "<domain-name>d</domain-name>"


def test_merge(fleet: Fleet) -> None:
    assert edit(fleet, system(DOMAIN)) == ["+   domain-name d;"]


@pytest.mark.parametrize(
    "inner", ['<domain-name nc:operation="delete"/>', '<domain-name nc:operation="delete">d</domain-name>']
)
def test_delete(fleet: Fleet, inner: str) -> None:
    error = refused(fleet, system(inner))
    assert (error.tag, error.type, error.severity) == ("data-missing", "application", "error")
    assert error.path == "/configuration/system/domain-name"
    assert "<bad-element>domain-name</bad-element>" in error.info
    assert edit(fleet, system(DOMAIN)) == ["+   domain-name d;"]
    assert edit(fleet, system(inner)) == []


def test_delete_of_an_entry(fleet: Fleet) -> None:
    entry = '<interface nc:operation="delete"><name>et-0/0/0</name></interface>'
    error = refused(fleet, config(f"<interfaces>{entry}</interfaces>"))
    assert (error.tag, error.path) == ("data-missing", "/configuration/interfaces/interface[name='et-0/0/0']")
    two = "".join(f"<interface><name>et-0/0/{port}</name><mtu>9000</mtu></interface>" for port in (0, 1))
    assert sum("mtu 9000" in line for line in edit(fleet, config(f"<interfaces>{two}</interfaces>"))) == 2
    left = edit(fleet, config(f"<interfaces>{entry}</interfaces>"))
    assert [line.split()[1] for line in left if "et-0" in line] == ["et-0/0/1"]
    assert edit(fleet, config('<interfaces nc:operation="delete"/>')) == []


def test_remove_asks_for_nothing(fleet: Fleet) -> None:
    assert edit(fleet, system('<domain-name nc:operation="remove"/>')) == []
    assert edit(fleet, system('<services nc:operation="remove"/>'))[0] == "-   services {"


def test_create(fleet: Fleet) -> None:
    created = '<domain-name nc:operation="create">d</domain-name>'
    assert edit(fleet, system(created)) == ["+   domain-name d;"]
    error = refused(fleet, system(created))
    assert (error.tag, error.path) == ("data-exists", "/configuration/system/domain-name")
    assert (
        refused(fleet, config('<system nc:operation="create"><host-name>x</host-name></system>')).tag == "data-exists"
    )


def test_replace(fleet: Fleet) -> None:
    text = system('<services nc:operation="replace"><netconf><ssh/></netconf></services>')
    assert edit(fleet, text) == ["-   ssh;"]


def test_default_operations(fleet: Fleet) -> None:
    assert edit(fleet, system('<domain-name nc:operation="merge">d</domain-name>'), default_operation="none") == [
        "+   domain-name d;"
    ]
    # With `none` what names no operation is only walked through, and must be there.
    assert edit(fleet, system("<host-name>other</host-name>"), default_operation="none") == ["+   domain-name d;"]
    error = refused(fleet, system("<time-zone>UTC</time-zone>"), default_operation="none")
    assert error.tag == "data-missing"
    whole = system(
        f"<host-name>{LEAF}</host-name><root-authentication><encrypted-password>x</encrypted-password></root-authentication>"
    )
    assert "-   services {" in edit(fleet, whole, default_operation="replace")


def test_the_whole_configuration(fleet: Fleet) -> None:
    secret = "<root-authentication><encrypted-password>x</encrypted-password></root-authentication>"
    whole = f"<system><host-name>{LEAF}</host-name>{secret}</system>"
    text = f'<config xmlns:nc="{NC}"><configuration nc:operation="replace">{whole}</configuration></config>'
    assert "-   services {" in edit(fleet, text)
    with netconf(fleet) as session:
        session.copy_config(source="running", target="candidate")
    assert not fleet.devices[LEAF].database.modified


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("<default-operation>frob</default-operation>", "default-operation is merge, replace, none"),
        ("<error-option>frob</error-option>", "error-option is stop-on-error"),
        ("<test-option>frob</test-option>", "test-option is set"),
    ],
)
def test_unknown_options(fleet: Fleet, options: str, reason: str) -> None:
    with netconf(fleet) as session, pytest.raises(RPCError, match=reason) as caught:
        session.rpc(f"<edit-config><target><candidate/></target>{options}{system(DOMAIN)}</edit-config>")
    assert caught.value.tag == "invalid-value"


def test_unknown_operation(fleet: Fleet) -> None:
    assert refused(fleet, system('<domain-name nc:operation="frob">d</domain-name>')).tag == "bad-attribute"


def test_an_error_changes_nothing_unless_asked(fleet: Fleet) -> None:
    there = '<services><netconf nc:operation="create"/></services>'
    both = system(f'<time-zone>UTC</time-zone><domain-name nc:operation="delete"/>{there}')
    assert refused(fleet, both).path == "/configuration/system/domain-name"
    assert not fleet.devices[LEAF].database.modified
    error = refused(fleet, both, error_option="continue-on-error")
    assert len(error.errlist or [error]) == 2
    assert fleet.devices[LEAF].database.candidate.has("system", "time-zone", "UTC")


def test_testing(fleet: Fleet) -> None:
    bad = system('<root-authentication nc:operation="delete"/>')
    error = refused(fleet, bad, test_option="test-then-set")
    assert "root-authentication" in str(error)
    assert not fleet.devices[LEAF].database.modified
    with netconf(fleet) as session:
        session.rpc(
            "<edit-config><target><candidate/></target><test-option>test-only</test-option>"
            f"{system(DOMAIN)}</edit-config>"
        )
    assert not fleet.devices[LEAF].database.modified
    assert edit(fleet, system(DOMAIN), test_option="test-then-set") == ["+   domain-name d;"]


def test_one_of_several_values(fleet: Fleet) -> None:
    with netconf(fleet) as session:
        session.load_configuration(
            action="set",
            config=["set apply-groups [ a b ]", "set groups a system location", "set groups b system location"],
        )
    edit(fleet, config('<apply-groups nc:operation="delete">a</apply-groups>'))
    assert fleet.devices[LEAF].database.candidate.values("apply-groups") == ("b",)
    assert refused(fleet, config('<apply-groups nc:operation="delete">a</apply-groups>')).tag == "data-missing"


def test_the_last_of_two_values_counts(fleet: Fleet) -> None:
    assert edit(fleet, system(f"{DOMAIN}<domain-name>e</domain-name>")) == ["+   domain-name e;"]


def test_text_names_no_operations(fleet: Fleet) -> None:
    text = "<config-text><configuration-text>system { domain-name d; }</configuration-text></config-text>"
    none = "<default-operation>none</default-operation>"
    with netconf(fleet) as session, pytest.raises(RPCError, match="needs XML") as caught:
        session.rpc(f"<edit-config><target><candidate/></target>{none}{text}</edit-config>")
    assert caught.value.tag == "operation-not-supported"
    assert not fleet.devices[LEAF].database.modified


def test_delete_config(fleet: Fleet) -> None:
    with netconf(fleet) as session:
        session.delete_config(target="candidate")
        assert not fleet.devices[LEAF].database.candidate.children
        session.discard_changes()
        with pytest.raises(RPCError, match="only the candidate"):
            session.delete_config(target="running")
    assert not fleet.devices[LEAF].database.modified
