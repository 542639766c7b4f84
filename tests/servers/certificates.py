"""TLS certificates for a server on 127.0.0.1, signed by a certificate authority of the test.

authority = Authority(folder)
authority.file                  CA certificate for the clients
authority.context()             TLS context of the server
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
    """A certificate authority in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "an authority")])
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.file = folder / "authority.pem"
        self.file.write_bytes(self._pem(self._name, self._key, [x509.BasicConstraints(True, None)]))

    def context(self) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a server")])
        private_key = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        file = self._folder / "server.pem"
        file.write_bytes(private_key + self._pem(name, key, [address]))
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(file)
        return context

    def _pem(
        self,
        name: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        extensions: list[x509.ExtensionType],
    ) -> bytes:
        """Return a PEM certificate that is valid for one day."""
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=True)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
