"""No known secret survives: not in a log, not in a traceback."""

import json
import shlex
import traceback
from urllib.parse import quote
from xml.sax.saxutils import escape

from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.redact.known import Redactor

SECRETS = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=5)


@given(SECRETS, st.text(max_size=40), st.data())
def test_no_known_secret_survives_in_text(secrets: list[str], text: str, data: st.DataObject) -> None:
    ways = (str, repr, json.dumps, escape, quote, shlex.quote, lambda value: json.dumps([value], ensure_ascii=False))
    pieces = [data.draw(st.sampled_from(ways))(secret) for secret in secrets for _ in range(2)]
    done = Redactor(*secrets)(text.join(pieces))
    assert not [secret for secret in secrets if secret in done]


@given(st.text(min_size=1, max_size=20), st.integers(0, 3))
def test_no_secret_survives_in_a_chain_of_exceptions(secret: str, depth: int) -> None:
    redactor = Redactor(secret)

    def fail(level: int) -> None:
        try:
            if level:
                fail(level - 1)
            raise ValueError(f"login with {secret!r}")
        except ValueError as error:
            raise OSError(5, secret) from error

    try:
        fail(depth)
    except OSError as error:
        error.add_note(secret)
        plain = "".join(traceback.format_exception(error))
        shown = redactor(plain)
    # What Python itself prints, words and line numbers of this file, may hold a short secret by chance.
    assert secret not in shown
    assert len(plain.splitlines()) >= 1


def test_the_mark_is_made_of_what_no_secret_holds() -> None:
    assert Redactor("hunter2")("a hunter2 b") == "a *** b"
    assert Redactor("*", "#x")("a*b#xc") == "a---b---c"
    assert Redactor()("nothing known") == "nothing known"
    assert Redactor("")("an empty value is no secret") == "an empty value is no secret"
    assert "hunter2" not in repr(Redactor("hunter2"))


def test_the_longest_of_overlapping_secrets_goes() -> None:
    redactor = Redactor("abc")
    redactor.add("abcdef")
    assert redactor("abcdefabc") == "******"


def test_errors_that_somebody_else_prints_are_cleaned_with_what_led_to_them() -> None:
    cause = KeyError("hunter2")
    error = ValueError("no hunter2", 3, ["hunter2"])
    error.__cause__, cause.__context__ = cause, error
    Redactor("hunter2").clean(error)
    assert error.args == ("no ***", 3, "['***']")
    assert cause.args == ("***",)
