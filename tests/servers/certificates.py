"""Certificates for a server on this machine, signed by an authority nobody else knows.

authority = Authority(folder)
authority.file                  what clients are told to trust
authority.context()             what a server on 127.0.0.1 shows them
"""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = datetime.timedelta(days=1)


class Authority:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "an authority")])
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.file = folder / "authority.pem"
        self.file.write_bytes(self._pem(self._name, self._key, [x509.BasicConstraints(True, None)]))

    def context(self) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a server")])
        secret = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        shown = self._folder / "server.pem"
        shown.write_bytes(secret + self._pem(name, key, [here]))
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(shown)
        return context

    def _pem(
        self,
        name: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        extensions: list[x509.ExtensionType],
    ) -> bytes:
        """A certificate for a day."""
        now = datetime.datetime.now(datetime.UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
        )
        for extension in extensions:
            made = made.add_extension(extension, critical=True)
        return made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
