from __future__ import annotations

from ailb_gen.deploy.switch_driver import DeviceError, Phase, once


def failed(name: str, reason: str = "no answer", hint: str = "is it up?") -> DeviceError:
    return DeviceError(name, Phase.CONNECT, reason, hint)


def test_errors_that_differ_in_the_device_alone_are_one_line() -> None:
    names = [f"leaf{number}" for number in range(1, 6)]
    assert once(
        [*map(failed, names), failed("spine1", "refused", ""), DeviceError("leaf6", Phase.READ, "no answer")]
    ) == [
        "5 devices, leaf1, leaf2, leaf3 and 2 more: connect: no answer; is it up?",
        "spine1: connect: refused",
        "leaf6: read: no answer",
    ]


def test_what_names_the_device_in_its_words_is_said_once_for_all() -> None:
    errors = [
        DeviceError(name, Phase.CONNECT, f"no key of {name}; run scan {name}", shared="no key; run scan -f FILE")
        for name in ("leaf1", "leaf2")
    ]
    assert once(errors) == ["2 devices, leaf1, leaf2: connect: no key; run scan -f FILE"]
    assert once(errors[:1]) == ["leaf1: connect: no key of leaf1; run scan leaf1"]


def test_one_error_is_told_as_it_is() -> None:
    assert once([failed("leaf1")]) == ["leaf1: connect: no answer; is it up?"]
    assert once([]) == []


def test_a_reason_has_an_end() -> None:
    """A device may send messages of any length."""
    error = failed("leaf1", "x" * 1_000_000)
    assert len(str(error)) < 2100
    assert "(998,000 more letters)" in str(error)
