"""The address of a Batfish service: HOST[:PORT]."""

import pytest

from ailb_gen.batfish.address import parse_address
from ailb_gen.errors import UsageError

ADDRESSES = {
    "localhost": ("localhost", 9996),
    "10.0.0.1:65535": ("10.0.0.1", 65535),
    "batfish_1.example.:1": ("batfish_1.example.", 1),
    "[::1]": ("::1", 9996),
    "[2001:DB8::1]:9997": ("2001:db8::1", 9997),
}
NOT_ADDRESSES = {
    "": "--batfish '': the host is missing",
    ":9996": "--batfish ':9996': the host is missing",
    "host:0": "--batfish 'host:0': '0' is not a port from 1 to 65535",
    "host:70000": "--batfish 'host:70000': '70000' is not a port from 1 to 65535",
    "host:abc": "--batfish 'host:abc': 'abc' is not a port from 1 to 65535",
    "host:": "--batfish 'host:': '' is not a port from 1 to 65535",
    "h:\N{SUPERSCRIPT TWO}": "--batfish 'h:\N{SUPERSCRIPT TWO}': '\N{SUPERSCRIPT TWO}' is not a port from 1 to 65535",
    "http://x:9996": "--batfish 'http://x:9996': this is a URL; leave 'http://' away",
    " host": "--batfish ' host': ' host' is not the name or address of a host",
    "host name:1": "--batfish 'host name:1': 'host name' is not the name or address of a host",
    "host\n": "--batfish 'host\\n': 'host\\n' is not the name or address of a host",
    "a..b": "--batfish 'a..b': 'a..b' is not the name or address of a host",
    "me@host": "--batfish 'me@host': 'me@host' is not the name or address of a host",
    "host/v2": "--batfish 'host/v2': 'host/v2' is not the name or address of a host",
    "::1": "--batfish '::1': write an IPv6 address in brackets: [::1]:9996",
    "[::1": "--batfish '[::1': write an IPv6 address in brackets, followed only by a port: [::1]:9996",
    "[::1]9996": "--batfish '[::1]9996': write an IPv6 address in brackets, followed only by a port: [::1]:9996",
    "[host]": "--batfish '[host]': 'host' is not an IPv6 address without a zone",
    "[fe80::1%eth0]": "--batfish '[fe80::1%eth0]': 'fe80::1%eth0' is not an IPv6 address without a zone",
}


@pytest.mark.parametrize("text", ADDRESSES)
def test_an_address_is_a_host_and_perhaps_a_port(text: str) -> None:
    assert parse_address(text) == ADDRESSES[text]


@pytest.mark.parametrize("text", NOT_ADDRESSES)
def test_what_is_no_address_is_said_so(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_address(text)
    assert str(caught.value) == (f"{NOT_ADDRESSES[text]}; give HOST[:PORT], for example localhost or localhost:9996")
