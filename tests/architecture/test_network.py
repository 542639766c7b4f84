"""The network guard in the root conftest blocks connections to other machines."""

from __future__ import annotations

import http.client
import socket
import urllib.request

import pytest

ELSEWHERE = "192.0.2.1"  # reserved for documentation (RFC 5737), never routed


@pytest.mark.parametrize(
    "leave",
    [
        lambda: socket.create_connection((ELSEWHERE, 80), timeout=0.01),
        lambda: socket.create_connection(("example.com", 80), timeout=0.01),
        lambda: socket.socket().connect((ELSEWHERE, 80)),
        lambda: socket.socket().connect_ex((ELSEWHERE, 80)),
        lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", (ELSEWHERE, 53)),
        lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 80)),
        lambda: socket.getaddrinfo("example.com", 443),
        lambda: http.client.HTTPConnection("example.com", timeout=0.01).request("GET", "/"),
        lambda: urllib.request.urlopen("http://example.com", timeout=0.01),
    ],
    ids=[
        "connection",
        "name",
        "connect",
        "connect_ex",
        "datagram",
        "ipv6",
        "look up",
        "http",
        "url",
    ],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_outgoing_connection_is_blocked(leave) -> None:
    with pytest.raises(RuntimeError, match="must stay on this machine"):
        leave()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_local_connection_is_allowed(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection((host, port), timeout=5).close()
