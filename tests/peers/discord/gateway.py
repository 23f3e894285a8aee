"""The gateway of the local Discord: sessions, sequence numbers, replay.

    HELLO → IDENTIFY → READY → GUILD_CREATE …     a new session (4004: unknown token, 4014: intent not granted)
    HELLO → RESUME → the missed events → RESUMED  a known session whose buffer still holds them
    HELLO → RESUME → op 9 (false)                 an unknown or invalidated session: the client identifies anew

A session outlives its socket: events that happen while it is gone are numbered, buffered and replayed. What a
session is shown depends on its intents (`content`) and on what the bot may see (the peer decides that first).
"""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web

from tests.peers.discord.world import Json

if TYPE_CHECKING:
    from tests.peers.discord.local import LocalDiscord

MESSAGE_CONTENT, MEMBERS, PRESENCES = 1 << 15, 1 << 1, 1 << 8
PRIVILEGED = MESSAGE_CONTENT | MEMBERS | PRESENCES
HEARTBEAT_MS = 41_250


@dataclass(eq=False)
class Session:
    """A client's session: its intents, everything it was sent, and its socket while there is one."""

    intents: int
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    events: list[str] = field(default_factory=list)
    socket: web.WebSocketResponse | None = None
    ready: bool = False

    @property
    def content(self) -> bool:
        """Does it see what people write in servers?"""
        return bool(self.intents & MESSAGE_CONTENT)

    async def emit(self, name: str, data: Json) -> None:
        """Number, keep and, if there is a socket, send one event."""
        frame = json.dumps({"op": 0, "s": len(self.events) + 1, "t": name, "d": data})
        self.events.append(frame)
        if self.socket is not None and not self.socket.closed:
            await self.socket.send_str(frame)


class Gateway:
    """All sessions, and the handler of their sockets."""

    def __init__(self, peer: LocalDiscord) -> None:
        self._peer = peer
        self._open = asyncio.Event()
        self._open.set()
        self._sockets: dict[web.WebSocketResponse, asyncio.BaseTransport | None] = {}
        self.sessions: dict[str, Session] = {}
        self.identified = 0
        self.resumed = 0

    async def emit(self, name: str, data: Json) -> None:
        """Send one event to every session."""
        for session in tuple(self.sessions.values()):
            if session.ready:
                await session.emit(name, data)

    def hold(self) -> None:
        """Cut every socket without a close frame, and keep new ones waiting until `release`."""
        self._open.clear()
        for session in self.sessions.values():
            session.socket = None
        for transport in tuple(self._sockets.values()):
            if isinstance(transport, asyncio.Transport):
                transport.abort()

    def release(self) -> None:
        """Let waiting sockets in."""
        self._open.set()

    async def ask_to_reconnect(self) -> None:
        """Op 7: Discord asks its clients to come back, as it does several times a day."""
        for socket in tuple(self._sockets):
            await socket.send_json({"op": 7, "d": None})

    def forget_sessions(self) -> None:
        """No session can be resumed from now on: the next RESUME is answered with op 9."""
        self.sessions.clear()

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """One socket, from HELLO to its end."""
        socket = web.WebSocketResponse(heartbeat=None, compress=False)
        await socket.prepare(request)
        self._sockets[socket] = request.transport
        session: Session | None = None
        try:
            await self._open.wait()
            await socket.send_json({"op": 10, "d": {"heartbeat_interval": HEARTBEAT_MS}})
            async for frame in socket:
                if frame.type is aiohttp.WSMsgType.TEXT:
                    session = await self._take(socket, session, json.loads(frame.data))
        except ConnectionError:
            pass
        finally:
            self._sockets.pop(socket, None)
            if session is not None and session.socket is socket:
                session.socket = None
        return socket

    async def _take(self, socket: web.WebSocketResponse, session: Session | None, frame: Json) -> Session | None:
        data: Json = frame["d"] if isinstance(frame.get("d"), dict) else {}
        match frame["op"]:
            case 1:
                await socket.send_json({"op": 11, "d": None})
            case 2:
                return await self._identify(socket, data)
            case 6:
                return await self._resume(socket, data)
            case 8 if session is not None:
                chunk = {"guild_id": str(data["guild_id"]), "members": [], "chunk_index": 0, "chunk_count": 1}
                await session.emit("GUILD_MEMBERS_CHUNK", chunk | {"nonce": data.get("nonce")})
            case 3 | 4:
                pass
            case _:
                await socket.close(code=4001, message=b"Unknown opcode.")
        return session

    async def _identify(self, socket: web.WebSocketResponse, data: Json) -> Session | None:
        if data["token"] != self._peer.token:
            await socket.close(code=4004, message=b"Authentication failed.")
            return None
        if data["intents"] & PRIVILEGED & ~self._peer.privileged_intents:
            await socket.close(code=4014, message=b"Disallowed intent(s).")
            return None
        self.identified += 1
        session = Session(data["intents"], socket=socket)
        self.sessions[session.id] = session
        await session.emit("READY", self._peer.ready_payload(session.id))
        session.ready = True
        for guild in tuple(self._peer.guilds):
            await session.emit("GUILD_CREATE", guild.payload(self._peer.bot) | {"unavailable": False})
        await self._peer.changed()
        return session

    async def _resume(self, socket: web.WebSocketResponse, data: Json) -> Session | None:
        session = self.sessions.get(data["session_id"] or "")
        if session is None or data["token"] != self._peer.token:
            await socket.send_json({"op": 9, "d": False})
            return None
        seen = data["seq"]
        while seen < len(session.events):  # events may be added while we send
            await socket.send_str(session.events[seen])
            seen += 1
        session.socket = socket
        self.resumed += 1
        await session.emit("RESUMED", {"_trace": []})
        await self._peer.changed()
        return session

    @property
    def connected(self) -> bool:
        """Is there a session that is ready and has its socket?"""
        return any(session.ready and session.socket is not None for session in self.sessions.values())
