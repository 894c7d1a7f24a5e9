"""Answers that are kept for a moment."""

from __future__ import annotations

from ailb_gen.lab.polling import TIMES, VALID_S, AnswerCache


class Clock:
    """A clock that goes on only when it is told to, or when a question takes its time."""

    def __init__(self) -> None:
        self.now = 100.0
        self.asked = 0

    def __call__(self) -> float:
        return self.now

    def ask(self, seconds: float = 0.0) -> int:
        self.now += seconds
        self.asked += 1
        return self.asked


def test_an_answer_counts_for_a_moment() -> None:
    clock = Clock()
    answers = AnswerCache(clock)
    assert [answers.get("rib", clock.ask) for _ in range(3)] == [1, 1, 1]
    assert answers.get("fib", clock.ask) == 2
    clock.now += VALID_S
    assert answers.get("rib", clock.ask) == 3


def test_what_took_long_counts_longer() -> None:
    clock = Clock()
    answers = AnswerCache(clock)
    assert answers.get("rib", lambda: clock.ask(1.0)) == 1
    clock.now += TIMES - 0.1
    assert answers.get("rib", clock.ask) == 1
    clock.now += 0.1
    assert answers.get("rib", clock.ask) == 2


def test_a_commit_forgets_all() -> None:
    clock = Clock()
    answers = AnswerCache(clock)
    answers.get("rib", clock.ask)
    answers.forget()
    assert answers.get("rib", clock.ask) == 2
