"""A wire with faults, between a client and a server on this machine.

    with Proxy(server.port) as wire:
        database.url_of("owner", port=wire.port)     or redis://127.0.0.1:{wire.port}/0

        wire.latency = 0.2      seconds, added to every piece in either direction
        wire.pause()            half-open: connections stay, new ones are taken, nothing arrives
        wire.resume()           what was held back arrives
        wire.reset()            every connection ends at once, with RST; new ones work
        wire.truncate(100)      100 more bytes of answers arrive, then every connection ends;
                                new ones work
        wire.refuse()           reset, and new connections are refused
        wire.accept()           new connections are taken again
        wire.connections        how many there are; `wire.accepted` counts all there ever were

    Proxy(server.port, tls=context)     clients speak TLS with it, and the server need not know how

Every fault works at once, on what is open and on what comes. Nothing needs the server's help.
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

PIECE = 65_536
RESET_AT_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER of zero seconds: RST instead of FIN


class Proxy:
    """Listens on a port of its own, and passes on what it gets, as it is told."""

    def __init__(self, target: int, tls: ssl.SSLContext | None = None) -> None:
        self.target = target
        self._tls = tls
        self.port = free_port()
        self.latency = 0.0
        self.accepted = 0
        self._flowing = threading.Event()
        self._flowing.set()
        self._left: int | None = None  # bytes of answers that may still arrive
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
                self._listener.shutdown(socket.SHUT_RDWR)  # wakes whoever waits in accept
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
        threading.Thread(target=self._take, args=(listener,), daemon=True).start()

    # Passing on

    def _take(self, listener: socket.socket) -> None:
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
                with suppress(OSError):  # it may have gone first
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
                threading.Thread(target=self._pass, args=(pair, *ends), daemon=True).start()

    def _pass(
        self,
        pair: tuple[socket.socket, socket.socket],
        source: socket.socket,
        sink: socket.socket,
        answers: bool,
    ) -> None:
        with suppress(OSError):
            while piece := source.recv(PIECE):
                if self.latency:
                    time.sleep(self.latency)
                self._flowing.wait()
                if answers and self._left is not None:
                    piece, self._left = piece[: self._left], self._left - len(piece)
                sink.sendall(piece)
                if self._left is not None and self._left <= 0:
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
                # Whoever waits for this end is woken. SHUT_RD tells the other side nothing yet.
                end.shutdown(socket.SHUT_RD if reset else socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self.resume()
        self.refuse()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
