"""The Web API of the local Slack: one function per method, refusals first, every call recorded."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from tests.peers.slack import rules
from tests.peers.slack.world import Call, Channel, Edit, Json, Post, World

URL_USES = 5


@dataclass(frozen=True, slots=True)
class Fault:
    """What a method answers instead: an error with its HTTP status and Retry-After."""

    error: str
    status: int = 200
    retry_after_s: float | None = None


class _Refuses(Exception):
    """A refusal by code."""


class WebApi:
    """Answers /api/<method>, /upload/<file> and /response/<url id>."""

    def __init__(self, world: World, bot: str, bot_id: str, bot_token: str, app_token: str) -> None:
        self.world = world
        self.bot, self.bot_id = bot, bot_id
        self.tokens = {bot_token: "bot", app_token: "app"}
        self.scopes: set[str] = set()
        self.url = ""
        self.faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self.gates: dict[str, asyncio.Event] = {}
        self.response_urls: dict[str, tuple[str, str, int]] = {}
        self.on_post: Callable[[Channel, Json], None] = lambda channel, message: None
        self.tickets: set[str] = set()
        self.on_change: Callable[[Channel, Json | None, Json], None] = lambda channel, after, before: None
        self._files: dict[str, tuple[str, str]] = {}
        self._edited: defaultdict[str, list[float]] = defaultdict(list)

    def routes(self) -> list[web.RouteDef]:
        """What the web server serves for it."""
        return [
            web.route("*", "/api/{method}", self._call),
            web.post("/upload/{file}", self._upload),
            web.post("/response/{id}", self._respond),
        ]

    # -- calls ----------------------------------------------------------------------------------------------------

    async def _call(self, request: web.Request) -> web.Response:
        method, arguments = request.match_info["method"], await _arguments(request)
        if method in self.gates:
            await self.gates[method].wait()
        token = request.headers.get("Authorization", "").removeprefix("Bearer ") or str(arguments.pop("token", ""))
        if self._too_many(method):
            self.faults[method].appendleft(Fault("ratelimited", 429, 1.0))
        if self.faults[method]:
            fault = self.faults[method].popleft()
            self._note(method, arguments, fault.error)
            headers = {} if fault.retry_after_s is None else {"Retry-After": f"{fault.retry_after_s:g}"}
            return self._answer({"ok": False, "error": fault.error}, fault.status, headers)
        try:
            answer = {"ok": True} | self._method(method, token, arguments)
        except _Refuses as refused:
            answer = {"ok": False, "error": str(refused)}
        self._note(method, arguments, "ok" if answer["ok"] else str(answer["error"]))
        return self._answer(answer)

    def _answer(self, answer: Json, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
        scopes = {"x-oauth-scopes": ",".join(sorted(self.scopes))}
        return web.json_response(answer, status=status, headers=scopes | (headers or {}))

    def _note(self, method: str, arguments: Json, answer: str) -> None:
        self.world.calls.append(Call(method, arguments, answer))
        self.world.ring()

    def _method(self, method: str, token: str, arguments: Json) -> Json:
        kind = self.tokens.get(token)
        if kind != ("app" if method == "apps.connections.open" else "bot"):
            raise _Refuses("not_authed" if not token else "invalid_auth")
        if rules.SCOPE_OF.get(method, "") not in {"", *self.scopes}:
            raise _Refuses("missing_scope")
        answers = {
            "auth.test": self._auth_test,
            "apps.connections.open": self._connections_open,
            "conversations.info": self._info,
            "conversations.history": self._history,
            "conversations.replies": self._replies,
            "conversations.open": self._open,
            "users.info": self._user,
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "chat.delete": self._delete,
            "assistant.threads.setStatus": self._status,
            "chat.postEphemeral": self._ephemeral,
            "files.getUploadURLExternal": self._upload_url,
            "files.completeUploadExternal": self._upload_done,
        }
        if method not in answers:
            raise _Refuses("unknown_method")
        return answers[method](arguments)

    # -- who and where --------------------------------------------------------------------------------------------

    def _auth_test(self, _: Json) -> Json:
        me: Json = {"user": "remem", "user_id": self.bot, "bot_id": self.bot_id}
        return me | {"url": self.url, "team": self.world.team_name, "team_id": self.world.team}

    def _connections_open(self, _: Json) -> Json:
        ticket = f"ticket{self.world.number()}"
        self.tickets.add(ticket)
        return {"url": f"{self.url.replace('http', 'ws', 1)}/link?ticket={ticket}"}

    def _channel(self, arguments: Json) -> Channel:
        channel = self.world.sees(self.bot, str(arguments.get("channel", "")))
        if channel is None:
            raise _Refuses("channel_not_found")
        return channel

    def _info(self, arguments: Json) -> Json:
        channel = self._channel(arguments)
        if rules.READ_SCOPE_OF[channel.kind] not in self.scopes:
            raise _Refuses("missing_scope")
        return {"channel": channel.shown_to(self.bot)}

    def _history(self, arguments: Json) -> Json:
        channel = self._channel(arguments)
        if self.bot not in channel.members:
            raise _Refuses("not_in_channel")
        top = [said for ts, said in channel.messages.items() if said.get("thread_ts", ts) == ts]
        return {"messages": top[::-1], "has_more": False}

    def _replies(self, arguments: Json) -> Json:
        channel, root = self._channel(arguments), str(arguments.get("ts", ""))
        if root not in channel.messages:
            raise _Refuses("thread_not_found")
        found = [said for ts, said in channel.messages.items() if root in {ts, said.get("thread_ts")}]
        return {"messages": found, "has_more": False}

    def _open(self, arguments: Json) -> Json:
        users = [user for user in str(arguments.get("users", "")).split(",") if user]
        if not users or any(user not in self.world.users for user in users):
            raise _Refuses("user_not_found")
        return {"channel": {"id": self.world.dm(self.bot, users).id}}

    def _user(self, arguments: Json) -> Json:
        user = self.world.users.get(str(arguments.get("user", "")))
        if user is None:
            raise _Refuses("user_not_found")
        profile = {"display_name": user.name, "real_name": user.name.title()}
        told = {"id": user.id, "team_id": user.team, "name": user.name, "is_admin": user.admin, "profile": profile}
        return {"user": told | {"is_restricted": user.guest}}

    # -- messages -------------------------------------------------------------------------------------------------

    def _content(self, arguments: Json) -> tuple[str, list[Json]]:
        text, blocks = str(arguments.get("text") or ""), arguments.get("blocks") or []
        blocks = json.loads(blocks) if isinstance(blocks, str) else blocks
        if not isinstance(blocks, list) or (why := rules.content_refused(text, blocks)):
            raise _Refuses(why if isinstance(blocks, list) else "invalid_blocks")
        return text, blocks

    def _place(self, arguments: Json) -> tuple[Channel, str]:
        channel = self.world.sees(self.bot, str(arguments.get("channel", "")))
        if (why := rules.place_refused(channel, self.bot)) or channel is None:
            raise _Refuses(why)
        thread = str(arguments.get("thread_ts") or "")
        if thread and (why := rules.thread_refused(channel, thread)):
            raise _Refuses(why)
        return channel, thread

    def _post(self, arguments: Json) -> Json:
        text, blocks = self._content(arguments)
        channel, thread = self._place(arguments)
        message: Json = {
            "type": "message",
            "user": self.bot,
            "bot_id": self.bot_id,
            "text": text,
            "ts": self.world.ts(),
        }
        message |= {"team": self.world.team, **({"thread_ts": thread} if thread else {})}
        channel.messages[str(message["ts"])] = message
        cut = len(text) > rules.SHOWN_CHARACTERS
        self.world.add(Post(channel.id, text, str(message["ts"]), thread, blocks=tuple(blocks), cut=cut))
        self.on_post(channel, message)
        return {"channel": channel.id, "ts": message["ts"], "message": message}

    def _own(self, arguments: Json, refusal: str) -> tuple[Channel, Json]:
        """The bot's own message that is to be changed."""
        channel, _ = self._place(arguments)
        message = channel.messages.get(str(arguments.get("ts", "")))
        if message is None:
            raise _Refuses("message_not_found")
        if message.get("bot_id") != self.bot_id:
            raise _Refuses(refusal)
        return channel, message

    def _update(self, arguments: Json) -> Json:
        text, _ = self._content(arguments)
        if len(text) > rules.EDIT_CHARACTERS:
            raise _Refuses("msg_too_long")
        channel, message = self._own(arguments, "cant_update_message")
        before = dict(message)
        message |= {"text": text, "edited": {"user": self.bot, "ts": self.world.ts()}}
        parse, links = arguments.get("parse"), bool(arguments.get("link_names"))
        at_s = time.monotonic()
        self.world.edits.append(
            Edit(channel.id, str(message["ts"]), text, at_s, str(parse) if parse else None, links)
        )
        self.on_change(channel, dict(message), before)
        return {"channel": channel.id, "ts": message["ts"], "text": text}

    def _delete(self, arguments: Json) -> Json:
        channel, message = self._own(arguments, "cant_delete_message")
        channel.messages.pop(str(message["ts"]))
        self.on_change(channel, None, dict(message))
        return {"channel": channel.id, "ts": message["ts"]}

    def _status(self, arguments: Json) -> Json:
        channel = self._channel({"channel": arguments.get("channel_id")})
        if (why := rules.thread_refused(channel, str(arguments.get("thread_ts", "")))) and "status" in arguments:
            raise _Refuses(why)
        return {}

    def _too_many(self, method: str) -> bool:
        """Are there more edits (or deletions) in a minute than Slack takes?"""
        if method not in {"chat.update", "chat.delete"}:
            return False
        now_s = time.monotonic()
        self._edited[method] = [at_s for at_s in self._edited[method] if now_s - at_s < 60.0]
        self._edited[method].append(now_s)
        return len(self._edited[method]) > rules.EDITS_A_MINUTE

    def _ephemeral(self, arguments: Json) -> Json:
        text, blocks = self._content(arguments)
        channel, thread = self._place(arguments)
        user = str(arguments.get("user", ""))
        if user not in channel.members:
            raise _Refuses("user_not_in_channel")
        self.world.add(Post(channel.id, text, "", thread, user, tuple(blocks), via="ephemeral"))
        return {"message_ts": self.world.ts()}

    # -- files and response URLs ----------------------------------------------------------------------------------

    def _upload_url(self, arguments: Json) -> Json:
        if not arguments.get("filename") or int(str(arguments.get("length") or 0)) <= 0:
            raise _Refuses("invalid_arguments")
        file = f"F{self.world.number():04}"
        self._files[file] = (str(arguments["filename"]), "")
        return {"upload_url": f"{self.url}/upload/{file}", "file_id": file}

    async def _upload(self, request: web.Request) -> web.Response:
        file = request.match_info["file"]
        name, _ = self._files[file]
        self._files[file] = (name, (await request.read()).decode())
        return web.Response(text=f"OK - {len(self._files[file][1])}", content_type="text/plain")

    def _upload_done(self, arguments: Json) -> Json:
        listed = arguments.get("files")
        files = json.loads(listed) if isinstance(listed, str) else listed
        if not isinstance(files, list):
            raise _Refuses("invalid_arguments")
        place = {"channel": arguments.get("channel_id"), "thread_ts": arguments.get("thread_ts")}
        channel, thread = self._place(place)
        for file in files:
            name, text = self._files[file["id"]]
            self.world.add(Post(channel.id, text, self.world.ts(), thread, file=name, via="file"))
        return {"files": [{"id": file["id"], "title": file.get("title")} for file in files]}

    def new_response_url(self, channel: str, user: str) -> str:
        """A response URL for a command or button."""
        number = f"R{self.world.number():04}"
        self.response_urls[number] = (channel, user, 0)
        return f"{self.url}/response/{number}"

    def expire(self) -> None:
        """30 minutes are over: no response URL answers any more."""
        self.response_urls.clear()

    async def _respond(self, request: web.Request) -> web.Response:
        number, body = request.match_info["id"], await request.json()
        channel, user, uses = self.response_urls.get(number, ("", "", URL_USES))
        self._note("response_url", body, "ok" if uses < URL_USES else "used_url")
        if uses >= URL_USES:
            return web.Response(status=404, text="used_url" if channel else "expired_url")
        text, blocks = str(body.get("text") or ""), body.get("blocks") or []
        if why := rules.content_refused(text, blocks):
            return web.Response(status=400, text=why)
        self.response_urls[number] = (channel, user, uses + 1)
        to = user if body.get("response_type", "ephemeral") == "ephemeral" else ""
        cut = len(text) > rules.SHOWN_CHARACTERS
        self.world.add(Post(channel, text, to=to, blocks=tuple(blocks), cut=cut, via="response"))
        return web.Response(text="ok")


async def _arguments(request: web.Request) -> Json:
    """The arguments of a call, as query, form or JSON."""
    given: Json = dict(request.query)
    if request.content_type == "application/json":
        given |= await request.json()
    elif request.method == "POST":
        given |= dict(await request.post())
    return given
