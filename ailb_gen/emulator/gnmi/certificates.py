"""Certificates of gNMI: an authority of the fleet, and a certificate of each device that it has signed.

On Junos a `local-certificate` is generated and often signed by itself; clients here verify all devices by one file.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

# An emulator does not run for as long; clocks of clients may be behind by a day.
LASTS, BEHIND = timedelta(days=365), timedelta(days=1)


class Authority:
    """An authority with a new key, which is in no file; `pem` is its certificate."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("ailb-gen emulator")
        own = _builder(self._name, self._name, self._key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        self._certificate = own.sign(self._key, hashes.SHA256())
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM)

    def certificate(self, name: str, address: str) -> tuple[bytes, bytes]:
        """Return key and certificate of a device, as PEM; it holds for its name, `localhost` and an address."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.DNSName(name), x509.DNSName("localhost"), _place(address)]
        signed = (
            _builder(_name(name), self._name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return private, signed.public_bytes(serialization.Encoding.PEM)


def _name(text: str) -> x509.Name:
    # A common name has at most 64 characters.
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _place(address: str) -> x509.GeneralName:
    """Return an address to listen on, or the name of a host."""
    try:
        return x509.IPAddress(ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BEHIND)
        .not_valid_after(now + LASTS)
    )
