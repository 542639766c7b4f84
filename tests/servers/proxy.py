"""TCP proxy with faults, between a client and a server on this machine.

    with Proxy(server.port) as wire:
        database.url_of("owner", port=wire.port)     or redis://127.0.0.1:{wire.port}/0

        wire.latency = 0.2      add this delay in seconds to each chunk in both directions
        wire.pause()            half-open: accept connections, forward nothing
        wire.resume()           forward what was held back
        wire.reset()            end all connections with RST; new ones work
        wire.truncate(100)      forward 100 more bytes of replies, then end all connections;
                                new ones work
        wire.refuse()           reset all connections and refuse new ones
        wire.accept()           accept new connections again
        wire.connections        number of open connections; `wire.accepted` counts all of them

    Proxy(server.port, tls=context)     speak TLS with clients and plain TCP with the server

A fault takes effect immediately, on open and on new connections. The server is not involved.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from contextlib import suppress
from typing import Self

from tests.servers.process import free_port

CHUNK_BYTES = 65_536
RESET_AT_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER of zero seconds: RST instead of FIN


class Proxy:
    """Forwards connections from its port to the port of a server, with faults."""

    def __init__(self, target: int, tls: ssl.SSLContext | None = None) -> None:
        self.target = target
        self._tls = tls
        self.port = free_port()
        self.latency = 0.0
        self.accepted = 0
        self._flowing = threading.Event()
        self._flowing.set()
        self._left: int | None = None  # bytes of replies until the cut
        self._lock = threading.Lock()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._listener: socket.socket | None = None
        self.accept()

    @property
    def connections(self) -> int:
        return len(self._pairs)

    # Faults

    def pause(self) -> None:
        self._flowing.clear()

    def resume(self) -> None:
        self._flowing.set()

    def truncate(self, after: int) -> None:
        self._left = after

    def reset(self) -> None:
        self._left = None
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            self._end(pair, reset=True)

    def refuse(self) -> None:
        if self._listener:
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread in accept()
            self._listener.close()
            self._listener = None
        self.reset()

    def accept(self) -> None:
        if self._listener:
            return
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(128)
        self._listener = listener
        threading.Thread(target=self._accept_clients, args=(listener,), daemon=True).start()

    # Forwarding

    def _accept_clients(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                if self._tls:
                    client = self._tls.wrap_socket(client, server_side=True)
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                with suppress(OSError):  # the client may have closed first
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)
                client.close()
                continue
            self.accepted += 1
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pair = (client, server)
            with self._lock:
                self._pairs.add(pair)
            for ends in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._forward, args=(pair, *ends), daemon=True).start()

    def _forward(
        self,
        pair: tuple[socket.socket, socket.socket],
        source: socket.socket,
        sink: socket.socket,
        is_reply: bool,
    ) -> None:
        with suppress(OSError):
            while chunk := source.recv(CHUNK_BYTES):
                if self.latency:
                    time.sleep(self.latency)
                self._flowing.wait()
                if is_reply and self._left is not None:
                    chunk, self._left = chunk[: self._left], self._left - len(chunk)
                sink.sendall(chunk)
                if is_reply and self._left is not None and self._left <= 0:
                    self._cut()
        self._end(pair, reset=False)

    def _cut(self) -> None:
        self._left = None
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            self._end(pair, reset=False)

    def _end(self, pair: tuple[socket.socket, socket.socket], *, reset: bool) -> None:
        with self._lock:
            if pair not in self._pairs:
                return
            self._pairs.remove(pair)
        for end in pair:
            with suppress(OSError):
                if reset:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)
                # Wakes a thread in recv(). SHUT_RD sends nothing to the peer.
                end.shutdown(socket.SHUT_RD if reset else socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self.resume()
        self.refuse()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
