"""Faults as text, and when they are spent."""

import pytest

from ailb_gen.emulator.faults import KINDS, PHASES, Fault, Faults, parse_fault
from ailb_gen.errors import UsageError


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("error@commit", Fault("error", "commit")),
        ("slow@verify*0=2.5", Fault("slow", "verify", 0, 2.5)),
        ("reboot@commit=1", Fault("reboot", "commit", 1, 1)),
        ("drop-after@confirm*3", Fault("drop-after", "confirm", 3)),
    ],
)
def test_the_text_form(text: str, fault: Fault) -> None:
    assert parse_fault(text) == fault


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("error", "write KIND@PHASE"),
        ("error@", "write KIND@PHASE"),
        ("error@commit*x", "write KIND@PHASE"),
        ("eror@commit", "no such kind"),
        ("error@comit", "no such phase"),
        ("disk-full@lock", "happens only at check, commit, confirm"),
        ("refuse-auth@commit", "happens only at connect"),
    ],
)
def test_what_is_no_fault(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        parse_fault(text)


def test_faults_are_spent_at_their_phase() -> None:
    faults = Faults()
    once, always, twice = Fault("error", "lock"), Fault("slow", "lock", 0), Fault("error", "load", 2)
    faults.add(once, always, twice)
    assert faults.take("commit") == ()
    assert set(faults.take("lock")) == {once, always}
    assert faults.take("lock") == (always,)
    assert [faults.take("load") for _ in range(3)] == [(twice,), (twice,), ()]
    assert faults.active() == (always,)
    faults.clear()
    assert faults.active() == ()


def test_every_kind_has_a_phase() -> None:
    for kind, (phases, seconds) in KINDS.items():
        assert phases, kind
        assert phases <= set(PHASES)
        assert seconds >= 0
