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


def test_an_answer_counts_for_a_moment_and_one_that_took_long_for_longer() -> None:
    clock = Clock()
    answers = AnswerCache(clock)
    assert [answers.get("rib", clock.ask) for _ in range(3)] == [1, 1, 1]
    assert answers.get("fib", clock.ask) == 2
    clock.now += VALID_S
    assert answers.get("rib", lambda: clock.ask(1.0)) == 3
    clock.now += TIMES - 0.1
    assert answers.get("rib", clock.ask) == 3
    clock.now += 0.1
    assert answers.get("rib", clock.ask) == 4
    answers.forget()
    assert answers.get("rib", clock.ask) == 5, "a commit forgets all"
