import pytest

from ailb_gen.checks.catalogue import BY_ID, checks_of
from ailb_gen.checks.families.junos import findings_of, message_of
from ailb_gen.checks.model import Finding, Severity
from ailb_gen.errors import Place
from ailb_gen.junos import check_result as kinds
from ailb_gen.junos.check_result import CheckResult, Unevaluated, Violation

ALL_KINDS = sorted(
    {value for name, value in vars(kinds).items() if name.isupper() and isinstance(value, str)} | kinds.VALUE_KINDS
)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_kind_has_a_check(kind: str) -> None:
    outcome = CheckResult((Violation(kind, ("a", "b"), 7, "why"),), 1, ())
    [found] = findings_of(outcome, "leaf1", "switches/leaf1.conf")
    assert found.check in {one.id for one in checks_of("AILB9")}
    assert found.place == Place("switches/leaf1.conf", 7)
    assert (found.scope, found.message) == ("leaf1", "a b: why")


def test_a_value_that_a_command_deletes_is_missing_and_not_written_wrongly() -> None:
    outcome = CheckResult(
        (Violation(kinds.MISSING, ("a", "b"), 7, "why"), Violation(kinds.UNKNOWN, ("c",), 8, "x")), 1, ()
    )
    assert [found.instead for found in findings_of(outcome, "leaf1", "f")] == [False, True]


def test_what_a_finding_says() -> None:
    violation = Violation("must", ("vlans", "v2"), 3, "a constraint does not hold", "Juniper's words", "do this")
    assert message_of(violation) == "vlans v2: a constraint does not hold (Juniper's words); do this"
    long = Violation("unknown", ("x" * 5000,), 1, "there is no such statement")
    assert len(message_of(long)) < 120


@pytest.mark.parametrize(
    ("statement", "is_own"),
    [
        ("protocols bgp group fabric-green multipath multiple-as", True),
        ("protocols bgp global-load-balancing", True),
        ("forwarding-options enhanced-hash-key ecmp-dlb", True),
        ("protocols bgp group fabric-green multipaht", False),
        ("protocols bgp group multipath multiple-as x", False),
        ("interfaces et-0/0/0 mtu2", False),
        ("system ntp server", False),
    ],
)
def test_a_statement_of_generated_files_that_the_models_lack_names_their_release(statement: str, is_own: bool) -> None:
    message = message_of(Violation("unknown", tuple(statement.split()), 3, "there is no such statement"))
    assert ("25.4R1" in message) == is_own


def test_what_was_not_checked_is_a_note() -> None:
    outcome = CheckResult(
        (), 5, (Unevaluated('("$$")', ("vlans", "v2"), 4, "no value"),), {"routing-instances": 58, "access": 1}
    )
    notes = list(findings_of(outcome, "leaf1", "f"))
    assert notes == [
        Finding("AILB907", "leaf1", "no model for access: 1 statement not checked", Place("f")),
        Finding("AILB907", "leaf1", "no model for routing-instances: 58 statements not checked", Place("f")),
        Finding("AILB907", "leaf1", 'vlans v2: ("$$") could not be evaluated: no value', Place("f", 4)),
    ]
    assert BY_ID["AILB907"].severity is Severity.NOTE
