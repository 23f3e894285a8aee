"""The way in for a client that is pointed at `HTTPS_PROXY`-like settings: a CONNECT proxy that knows one server.

A real client resolves discord.com itself or lets its proxy do so. This proxy takes `CONNECT <any Discord host>:443`
and leads all of them to the peer's own TLS port on loopback; every other host is refused with 403 and recorded, so
that a test can prove that nothing else was called.
"""

from __future__ import annotations

import asyncio
import contextlib

HOSTS = ("discord.com", "gateway.discord.gg", "gateway-resume.discord.gg", "cdn.discordapp.com")


class ConnectProxy:
    """Listens on loopback; `port` is known after `start`."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._server: asyncio.Server | None = None
        self._tunnels: set[asyncio.StreamWriter] = set()
        self.refused: list[str] = []
        self.port = 0

    async def start(self) -> None:
        """Begin to listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Cut every tunnel and stop listening."""
        if self._server is None:
            return
        self._server.close()
        self.cut()
        await self._server.wait_closed()

    def cut(self) -> None:
        """Cut every tunnel at once, without a word, as a lost network does."""
        for writer in tuple(self._tunnels):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tunnels.add(writer)
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError):
                head = await reader.readuntil(b"\r\n\r\n")
                await self._open(head.split(b"\r\n", 1)[0].decode("latin-1"), reader, writer)
        finally:
            self._tunnels.discard(writer)
            writer.transport.abort()

    async def _open(self, line: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, _, rest = line.partition(" ")
        host = rest.partition(":")[0]
        if method != "CONNECT" or host not in HOSTS:
            self.refused.append(line)
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        self._tunnels.add(far_writer)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            await _both_ways((reader, writer), (far_reader, far_writer))
        finally:
            self._tunnels.discard(far_writer)
            far_writer.transport.abort()


_End = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _both_ways(near: _End, far: _End) -> None:
    """Copy both directions until either side ends; the rest is cut by the caller."""
    copies = [
        asyncio.create_task(_copy(near[0], far[1])),
        asyncio.create_task(_copy(far[0], near[1])),
    ]
    try:
        await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for copy in copies:
            copy.cancel()
        await asyncio.gather(*copies, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
