"""Configuration mode as it is typed: commands for many statements, loading at a level, questions, help, paging."""

import pytest

from ailb_gen.emulator.fleet import Fleet
from tests.emulator.fleets import LEAF, USER, netmiko, ssh

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def typed(fleet: Fleet, *lines: str) -> str:
    """Type lines at a terminal of 80 columns and 24 rows; return what it shows."""
    return ssh(fleet, typed="".join(f"{line}\r" for line in lines), pty=True)[0].replace("\r\n", "\n")


def changed(fleet: Fleet, *lines: str) -> list[str]:
    """Type lines in configuration mode; return what the candidate then has more or less, without its levels."""
    said, _, _ = ssh(fleet, typed="".join(f"{line}\n" for line in ("configure", *lines, "top show | compare")))
    return [line.replace(" ", "") for line in said.splitlines() if line[:1] in ("+", "-")]


def test_levels(fleet: Fleet) -> None:
    text = typed(
        fleet,
        *("configure", "edit interfaces et-0/0/0 unit 0", "set family inet6", "up", "set mtu 9000", "up 5"),
        *("edit system", "top edit interfaces", "exit", "show host-name", "top", "show interfaces | display set"),
        *("exit", "yes", "exit"),
    )
    for part in (
        f"[edit interfaces et-0/0/0]\n{USER}@{LEAF}# set mtu 9000\n",
        f"[edit]\n{USER}@{LEAF}# edit system\n",
        f"[edit interfaces]\n{USER}@{LEAF}# exit\n",
        f"[edit system]\n{USER}@{LEAF}# show host-name\nhost-name {LEAF};\n",
        "set interfaces et-0/0/0 unit 0 family inet6\nset interfaces et-0/0/0 mtu 9000\n",
    ):
        assert part in text


def test_one_command_for_many(fleet: Fleet) -> None:
    made = changed(fleet, "wildcard range set interfaces et-0/0/[0-2,7,!1] mtu 9000")
    assert [line for line in made if "et-" in line] == ["+et-0/0/0{", "+et-0/0/2{", "+et-0/0/7{"]
    said = typed(fleet, "configure", "wildcard delete interfaces et-0/0/[02]", "no", "show interfaces | count")
    assert "  matched: et-0/0/0\n  matched: et-0/0/2\n  Delete 2 objects? [yes,no] (no) no\n" in said
    assert "Count: 9 lines" in said
    assert changed(fleet, "edit interfaces", "wildcard delete et-*", "yes") == []
    assert "warning: statement not found" in typed(fleet, "configure", "wildcard delete interfaces et.*")


def test_a_deleted_level_is_asked_for(fleet: Fleet) -> None:
    assert changed(fleet, "edit system services", "delete", "") == []
    assert changed(fleet, "edit system services netconf", "delete", "yes") == ["-netconf{", "-ssh;", "-}"]
    # At the level that was asked about, not where the user is.
    made = changed(fleet, "rollback 0", "edit system services netconf", "up delete", "yes")
    assert (made[0], made[-1]) == ("-services{", "-}")
    assert not fleet.devices[LEAF].database.candidate.has("system", "services")
    assert fleet.devices[LEAF].database.candidate.has("system", "login")


def test_a_command_elsewhere_keeps_its_quotes_and_pipes(fleet: Fleet) -> None:
    said = typed(
        fleet,
        *("configure", "edit interfaces et-0/0/0 unit 0", 'up set description "a b"', 'top set snmp location "c d"'),
        *("top show snmp | display set", "up show | display set"),
    )
    assert 'set snmp location "c d"\n' in said
    assert 'set interfaces et-0/0/0 description "a b"\n' in said


def test_loading_at_a_level(fleet: Fleet) -> None:
    said = typed(
        fleet,
        *("configure", "edit interfaces et-0/0/0 unit 0", "load merge terminal relative", "description foo;\r\x04"),
        *("load set terminal relative", "set family inet6\r\x04", "top show interfaces | display set"),
    )
    for line in ("description foo", "family inet6"):
        assert f"set interfaces et-0/0/0 unit 0 {line}\n" in said


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("load merge /var/tmp/x", "could not open /var/tmp/x: this emulator has no files, only 'terminal'"),
        ("load merge", "syntax error, expecting (merge|override|replace|set|update) terminal"),
        ("load override terminal relative", "syntax error"),
        ("save /var/tmp/x", "this emulator has no files to save to"),
        ("show | save x", "this emulator has no files: 'save' is not possible"),
        ("exit foo", "syntax error, expecting one of configuration-mode"),
        ("rollback 0 x", "syntax error"),
        ("rename system login user x to user y", "error: statement not found"),
        ("copy system services netconf to ssh", "syntax error, 'netconf' is not an identifier"),
        ("wildcard delete", "syntax error, expecting delete PATH PATTERN"),
        ("wildcard range set interfaces et-0/0/[x]", "syntax error, not a range: [x]"),
        ("wildcard range set interfaces et-[1-999]/[1-999]/1", "more than 10,000 statements"),
        ("replace pattern ( with x", "syntax error, not a regular expression"),
    ],
)
def test_what_is_refused(fleet: Fleet, line: str, reason: str) -> None:
    _, errors, code = ssh(fleet, f"configure; {line}")
    assert (reason in errors, code) == (True, 1), errors
    assert not fleet.devices[LEAF].database.modified


def test_only_a_part_is_compared(fleet: Fleet) -> None:
    lines = ("configure", "set system domain-name d", "set snmp location x")
    assert "snmp" not in typed(fleet, *lines, "show system | compare").rpartition("show system | compare")[2]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("set interfaces et-0/0/0 ", ["mtu", "speed", "unit"]),
        ("set interfaces et-0/0/0 unit ", ["<name>"]),
        ("set system host-", ["host-name"]),
        ("set system host-name ", ["<host-name>", LEAF]),
        ("delete system services ", ["netconf", "ssh"]),
        ("top set protocols bgp group g ty", ["type"]),
        ("commit ", ["and-quit", "check", "confirmed"]),
        ("rollback ", ["<number>", "rescue"]),
        ("load ", ["merge", "override", "set"]),
        ("re", ["rename", "replace"]),
        ("run show system ", ["uptime", "users"]),
    ],
)
def test_help(fleet: Fleet, line: str, names: list[str]) -> None:
    said = typed(fleet, "configure", f"{line}?\x15")
    listed = said.partition("Possible completions:\n")[2].split("\n")
    assert set(names) <= {row.strip() for row in listed}


def test_no_help_behind_a_word_that_is_wrong(fleet: Fleet) -> None:
    said = typed(fleet, "frob ?\x15", "show x ?\x15", "configure", "frob ?\x15", "s\t\x15", "set frob x ?\x15", "exit")
    assert said.count("No valid completions\n") == 4
    assert "  set\n  show\n" in said
    assert "Exiting configuration mode\n" in said


def test_the_tab_key_completes(fleet: Fleet) -> None:
    assert changed(fleet) == []
    said = typed(fleet, "configure", "set system ho\tx", "set sys\u0009 domain-n\td", "show | compare")
    assert "set system host-name x\n" in said
    assert "+   domain-name d;" in said
    # Without a terminal, a tab is a blank.
    assert ssh(fleet, typed="show\tversion\n")[0].startswith("Hostname")


def test_paging(fleet: Fleet) -> None:
    said = typed(fleet, "show configuration", "\r show version", "show configuration | no-more")
    first, _, rest = said.partition("---(more)---")
    # Long lines take two of the twenty-three rows; then comes one line, and the page that ends it.
    assert first.rpartition("show configuration\n")[2].count("\n") == 21
    assert "    }\n" in rest
    assert "Junos: 25.4R1.12-EVO" in rest
    assert rest.count("---(more") == 1
    for line in ("set cli screen-length 0", "set cli screen-length 100"):
        assert "---(more" not in typed(fleet, line, "show configuration")
    assert "---(more" not in ssh(fleet, "show configuration")[0]


def test_netmiko_never_pages(fleet: Fleet) -> None:
    with netmiko(fleet) as found:
        found.send_config_set([f"set interfaces et-0/0/{port} mtu 9000" for port in range(50)], exit_config_mode=False)
        assert str(found.send_command("show interfaces | display set", expect_string=r"#\s*$")).count("mtu") == 50
        assert "rename" in found.send_config_set(
            ["rename interfaces et-0/0/0 to et-1/0/0", "rollback 0"], exit_config_mode=False
        )


def test_a_shell_pages_as_well(fleet: Fleet) -> None:
    """As PyEZ's StartShell finds out: `| no-more` is needed."""
    said = typed(fleet, "start shell", "cli -c 'show configuration'", "qcli -c 'show configuration | no-more'", "exit")
    assert said.count("---(more)---") == 1


def test_a_terminal_that_is_not_known(fleet: Fleet) -> None:
    with netmiko(fleet, "generic") as connection:
        assert "---(more" not in connection.send_command_timing("show version", last_read=0.3)


@pytest.mark.parametrize(
    "words",
    [
        ("configure", "up {}"),
        ("configure", "set class-of-service forwarding-classes class x queue-num {}"),
        ("configure", "replace pattern a with b upto {}"),
        ("configure", "rollback {}"),
        ("configure", "commit confirmed {}"),
        ("show system rollback {}",),
        ("show interfaces | trim {}",),
        ("ping 192.0.2.1 count {}",),
        ("request system logout pid {}",),
        ("set cli screen-length {}",),
    ],
)
def test_numbers_of_thousands_of_digits_are_refused(fleet: Fleet, words: tuple[str, ...]) -> None:
    said = "".join(map(str, ssh(fleet, typed="".join(f"{word.format('9' * 5000)}\n" for word in words))))
    assert "a number of more than 1,000 digits" in said
