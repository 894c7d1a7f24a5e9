"""Pushes into the real NetBox through gateways that spoil requests, and with tokens that may do less."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.sot.dialect import SourceError
from ailb_gen.sot.netbox import NetBox
from ailb_gen.sot.push import SourceOfTruth, push
from tests.sot.gateway import Spoiled, gateway
from tests.sot.services import Running
from tests.sot.test_credentials import certificate
from tests.sot.test_netbox import TINY, Rest, source, written

__all__ = ("certificate",)
pytestmark = pytest.mark.long
# By the number of the request that creates: the service has carried some out all the same.
SPOILED_CREATES = {
    2: Spoiled(429, "slow down", {"Retry-After": "1"}),
    4: Spoiled(502, "<html>Bad Gateway</html>", done=True),
    7: Spoiled(502, "<html>Bad Gateway</html>"),
    10: Spoiled(0, done=True),
}
KINDS_OF_OTHERS = ("dcim", "extras", "ipam", "tenancy", "virtualization", "netbox_bgp")


@pytest.fixture
def empty(netbox: Running) -> Iterator[Running]:
    """NetBox as after installation."""
    netbox.reset()
    yield netbox


def through(url: str, token: str) -> SourceOfTruth:
    """Return a push of the small fabric by another way."""
    one = source(Running(url, token, {}, Path(), 0, "netbox"), TINY)
    assert isinstance(one.dialect, NetBox)
    return one


def assert_whole(running: Running) -> None:
    """Check that nothing is left to write, and that nothing is there twice."""
    one = source(running, TINY)
    assert not written(one)
    refs = [stored.record.ref for stored in one.stored]
    assert len(refs) == len(set(refs))


def test_what_a_gateway_spoils_is_written_once(empty: Running) -> None:
    def rule(method: str, number: int) -> Spoiled | None:
        return SPOILED_CREATES.get(number) if method == "POST" else None

    with gateway(empty.url, rule) as url:
        one = through(url, empty.token)
        push(one, one.plan())
    assert not one.refused
    assert_whole(empty)


@pytest.mark.parametrize(
    ("spoiled", "says"),
    [
        (
            Spoiled(301, "", {"Location": "https://netbox.example.net/api/status/"}),
            r"give https://netbox\.example\.net/ as",
        ),
        (Spoiled(502, "<html>Bad Gateway</html>"), "502 Bad Gateway"),
        (Spoiled(200, "<html>log in</html>"), "the answer is not NetBox's JSON: is a NetBox there"),
    ],
)
def test_a_gateway_that_always_answers_itself_is_told(
    empty: Running, monkeypatch: pytest.MonkeyPatch, spoiled: Spoiled, says: str
) -> None:
    monkeypatch.setattr("ailb_gen.sot.http.FIRST_WAIT_S", 0.01)
    with gateway(empty.url, lambda method, number: spoiled) as url, pytest.raises(SourceError, match=says):
        through(url, empty.token).plan()


def test_a_certificate_that_nobody_signed_is_refused_until_it_is_named(
    empty: Running, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gateway(empty.url, lambda method, number: None, certificate) as url:
        with pytest.raises(SourceError, match="name its file in REQUESTS_CA_BUNDLE"):
            through(url, empty.token).plan()
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate.with_suffix(".crt")))
        assert through(url, empty.token).plan().writes > 50


class Person:
    """A user of NetBox without any permission at first."""

    def __init__(self, rest: Rest) -> None:
        self.rest = rest
        self.id = rest.post("users/users", username="half", password="Half-12345-tests")

    def token(self, **fields: str) -> str:
        """Return a new token."""
        body: dict[str, Any] = {"user": self.id, "version": 2, **fields}
        made = self.rest.session.post(f"{self.rest.url}users/tokens/", json=body, timeout=60).json()
        return f"nbt_{made['key']}.{made['token']}"

    def allow(self, types: list[str], constraints: object = None) -> None:
        """Allow everything with objects of some types."""
        self.rest.post(
            "users/permissions", name=f"{len(types)}", enabled=True, object_types=types, users=[self.id],
            actions=["view", "add", "change", "delete"], constraints=constraints,
        )  # fmt: skip


def test_tokens_that_expired_or_may_not_write(empty: Running) -> None:
    token = Person(Rest(empty)).token(expires=(datetime.now(UTC) + timedelta(seconds=2)).isoformat())
    time.sleep(3)
    with pytest.raises(SourceError, match="403 Forbidden: the token is not accepted"):
        through(empty.url, token).plan()
    reading = through(empty.url, empty.tokens["read-only"])
    plan = reading.plan()
    with pytest.raises(SourceError, match="lacks the permission"):
        push(reading, plan)
    assert source(empty, TINY).plan().writes == plan.writes


def test_a_token_that_sees_half_of_the_objects_writes_nothing_twice(empty: Running) -> None:
    """Devices that it does not see seem missing; NetBox takes none of them twice."""
    written(source(empty, TINY))
    rest = Rest(empty)
    person = Person(rest)
    types = [f"{row['app_label']}.{row['model']}" for row in rest.get("core/object-types")]
    person.allow([one for one in types if one.split(".")[0] in KINDS_OF_OTHERS and one != "dcim.device"])
    person.allow(["dcim.device"], {"name__startswith": "stripe1"})
    half = through(empty.url, person.token())
    plan = half.plan()
    assert {record.kind for record in plan.creates} == {"device"}
    push(half, plan)
    assert set(half.refused) == {record.ref for record in plan.creates}
    assert "let the token see it" in str(half.compare().conflicts[0])
    assert_whole(empty)
