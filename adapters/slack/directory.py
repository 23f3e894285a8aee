"""Rooms and people of a workspace, looked up once and kept for a while.

Every look-up is bounded in time; one that takes longer goes on and fills the cache for the next. The same look-up is
never under way twice. When Slack says to wait (429), that method is not called again before the time is over: whoever
asks meanwhile hears "not now" and goes on without (None).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.payload import Json, flag, part, string, strings
from adapters.slack.facts import NOT_THERE, RoomFacts, kind_of_type
from adapters.slack.refusals import error_of, wait_of
from memory_core.ids import RoomKind
from memory_core.text import one_line

LOOK_UP_S = 1.0
"""So long an event waits for a look-up: two of them leave time to acknowledge within Slack's 3 s."""

_ROOM_KEPT_S = 600.0
_PERSON_KEPT_S = 3600.0
_KEPT = 5000

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Person:
    """A person as users.info describes them. `admin`: of the workspace. `guest`: no full member of their own one.

    `teams`: the workspaces that they are in (an Enterprise organisation has several); empty where Slack does not say.
    """

    name: str
    admin: bool = False
    guest: bool = False
    teams: frozenset[str] = frozenset()


class _Cache(Generic[_Value]):
    """Look-ups of one method: bounded in number, age, time and repetition."""

    def __init__(self, ask: Callable[[str], Awaitable[_Value]], kept_s: float) -> None:
        self._ask = ask
        self._kept_s = kept_s
        self._values: OrderedDict[str, tuple[float, _Value]] = OrderedDict()
        self._running: dict[str, tuple[asyncio.Task[_Value | None], float]] = {}
        self._quiet_until = 0.0

    async def get(self, key: str, within_s: float) -> _Value | None:
        """The value for `key`; None if it cannot be learnt now."""
        now = asyncio.get_running_loop().time()
        if key in self._values and self._values[key][0] > now:
            return self._values[key][1]
        if now < self._quiet_until:
            return None
        if key not in self._running:
            begun = asyncio.create_task(self._look_up(key))
            begun.add_done_callback(lambda _: self._running.pop(key, None))
            self._running[key] = (begun, now)
        task, since = self._running[key]
        # Whoever asks while a look-up is slow waits what is left of its time: a queue is held up once, not each time.
        done, _ = await asyncio.wait({task}, timeout=max(0.0, since + within_s - now))
        return task.result() if done and not task.cancelled() else None

    async def _look_up(self, key: str) -> _Value | None:
        try:
            value = await self._ask(key)
        except SlackApiError as refused:
            wait_s = wait_of(refused)
            if wait_s is not None:
                self._quiet_until = asyncio.get_running_loop().time() + wait_s
            return None
        except (SlackClientError, aiohttp.ClientError, TimeoutError):
            return None
        self.put(key, value)
        return value

    def put(self, key: str, value: _Value) -> None:
        self._values[key] = (asyncio.get_running_loop().time() + self._kept_s, value)
        self._values.move_to_end(key)
        while len(self._values) > _KEPT:
            self._values.popitem(last=False)

    def forget(self, key: str) -> None:
        self._values.pop(key, None)

    def running(self) -> Iterable[asyncio.Task[_Value | None]]:
        return tuple(task for task, _ in self._running.values())


class Directory:
    """conversations.info and users.info of one workspace, through their caches."""

    def __init__(self, client: AsyncWebClient, look_up_s: float = LOOK_UP_S) -> None:
        self._client = client
        self._look_up_s = look_up_s
        self._rooms = _Cache(self._ask_room, _ROOM_KEPT_S)
        self._people = _Cache(self._ask_person, _PERSON_KEPT_S)
        self._kinds: OrderedDict[str, RoomKind] = OrderedDict()

    async def room(self, channel: str, within_s: float | None = None) -> RoomFacts | None:
        """The conversation; NOT_THERE if Slack does not show it to us; None if it cannot be learnt now."""
        return await self._rooms.get(channel, self._look_up_s if within_s is None else within_s)

    async def person(self, user: str) -> Person | None:
        """The person, or None if they cannot be learnt now."""
        return await self._people.get(user, self._look_up_s)

    async def names(self, users: Iterable[str]) -> Mapping[str, str]:
        """The display names of `users`, as far as they can be learnt now; all of them are asked at once."""
        wanted = tuple(dict.fromkeys(user for user in users if user))
        found = await asyncio.gather(*(self.person(user) for user in wanted))
        return {user: person.name for user, person in zip(wanted, found, strict=True) if person is not None}

    def learn(self, channel: str, channel_type: str) -> None:
        """Keep the kind that an event told, for the way out."""
        kind = kind_of_type(channel_type)
        if kind is not RoomKind.UNKNOWN:
            self._kinds[channel] = kind
            self._kinds.move_to_end(channel)
            if len(self._kinds) > _KEPT:
                self._kinds.popitem(last=False)

    async def kind(self, channel: str) -> RoomKind:
        """The kind of a conversation, from what events told or a look-up."""
        if channel not in self._kinds:
            facts = await self.room(channel)
            return facts.kind if facts is not None else RoomKind.UNKNOWN
        return self._kinds[channel]

    def forget(self, channel: str) -> None:
        """Something about the conversation changed: look it up anew."""
        self._rooms.forget(channel)

    async def close(self) -> None:
        """End look-ups that are under way."""
        tasks = (*self._rooms.running(), *self._people.running())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask_room(self, channel: str) -> RoomFacts:
        try:
            answer = await self._client.conversations_info(channel=channel)
        except SlackApiError as refused:
            if error_of(refused) in {"channel_not_found", "not_in_channel", "missing_scope"}:
                return NOT_THERE
            raise
        return RoomFacts.of(part(_json(answer.data), "channel"))

    async def _ask_person(self, user: str) -> Person:
        try:
            answer = await self._client.users_info(user=user)
        except SlackApiError as refused:
            if error_of(refused) in {"user_not_found", "user_not_visible"}:
                return Person(user)
            raise
        told = part(_json(answer.data), "user")
        name = string(told, "profile", "display_name") or string(told, "profile", "real_name") or string(told, "name")
        admin = any(flag(told, name) for name in ("is_admin", "is_owner", "is_primary_owner"))
        guest = any(flag(told, name) for name in ("is_restricted", "is_ultra_restricted", "is_stranger", "deleted"))
        teams = {*strings(told, "enterprise_user", "teams"), string(told, "team_id")} - {""}
        return Person(one_line(name, 80) or user, admin, guest, frozenset(teams))


def _json(data: object) -> Json:
    return data if isinstance(data, Mapping) else {}
