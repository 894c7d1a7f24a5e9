"""Signals count once each, a burst of them once, and are handled only while somebody looks for them."""

import signal
from collections.abc import Iterator
from unittest import mock

import pytest

from ailb_gen.signals import ENDING, TOGETHER_S, Signals


@pytest.fixture
def signals() -> Iterator[Signals]:
    with mock.patch("ailb_gen.signals.TOGETHER_S", 0.0), Signals().handled() as signals:
        yield signals


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_is_counted_and_ends_nothing(number: int, signals: Signals) -> None:
    signal.raise_signal(number)
    assert (signals(), signals.numbers) == (1, [number])


def test_the_handlers_are_told_how_many_there_were_and_may_end_at_once() -> None:
    counts: list[int] = []

    def second_ends(count: int) -> None:
        counts.append(count)
        if count > 1:
            raise KeyboardInterrupt

    with mock.patch("ailb_gen.signals.TOGETHER_S", 0.0), Signals(second_ends).handled():
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    assert counts == [1, 2]


def test_a_burst_is_one_signal() -> None:
    moments = iter((0.0, TOGETHER_S / 2, TOGETHER_S, 5 * TOGETHER_S))
    signals = Signals()
    with mock.patch("time.monotonic", lambda: next(moments)):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGTERM):
            signals.handle(number)
    assert signals.numbers == [signal.SIGHUP, signal.SIGTERM]


def test_what_was_ignored_stays_ignored_and_handlers_come_back() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        handlers = [signal.getsignal(number) for number in ENDING]
        with Signals().handled() as signals:
            signal.raise_signal(signal.SIGHUP)
        assert signals() == 0
        assert [signal.getsignal(number) for number in ENDING] == handlers
    finally:
        signal.signal(signal.SIGHUP, before)


def test_while_a_person_is_asked_a_signal_is_a_no(signals: Signals) -> None:
    assert signals.ask(lambda: True)

    def interrupted() -> bool:
        signal.raise_signal(signal.SIGINT)
        return True

    assert not signals.ask(interrupted)
    assert not signals.ask(lambda: True)
