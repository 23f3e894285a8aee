"""What becomes of one request from Slack before it is acknowledged.

    message, join, rename …  look up what is missing (bounded) → deliver → durable? 200, else 503: it comes again
    command, button          deliver, but acknowledge after ACKNOWLEDGE_S at the latest; if it was not durable then,
                             the asker is told so; a failure that comes later is told through the response URL

Socket Mode hands each envelope to a task of its own, so the order in a channel is kept here, by one lock a channel.
An app_mention does not tell what kind of room it comes from: if that cannot be learnt now, it is not taken, because
its sibling, the message event, tells it and has the same key. Slack's last delivery is taken as it is.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeAlias
from weakref import WeakValueDictionary

from slack_bolt.response import BoltResponse

from adapters.base import ACKNOWLEDGE_S, Deliver
from adapters.messages import Happening, Incoming
from adapters.payload import Json, part, string
from adapters.slack import interactions, normalise
from adapters.slack.directory import Directory
from adapters.slack.facts import Known, Me, kind_of_type
from adapters.slack.posting import Posting
from memory_core.errors import RememError
from memory_core.ids import Conversation, RoomKey, RoomKind

WasCalled: TypeAlias = Callable[[Conversation], Awaitable[bool]]
"""Was the bot called into this thread before it started? (The bot's ledger knows.)"""

LAST_RETRY = 3
"""Slack delivers an event at once and three times more (https://docs.slack.dev/apis/events-api#retries)."""

NOT_YET = (
    "Your request arrived, but it is not stored yet. If no answer follows within a minute, please send it again."
)
NOT_KEPT = "Your request could not be stored, and nothing was done. Please send it again."

_COMMAND_LOOK_UP_S = 5.0
_THREADS = 5000
_log = logging.getLogger(__name__)


class Inbox:
    """Takes requests in, for one workspace."""

    def __init__(
        self, me: Me, directory: Directory, posting: Posting, deliver: Deliver, was_called: WasCalled | None = None
    ) -> None:
        self._me = me
        self._directory = directory
        self._posting = posting
        self._deliver = deliver
        self._was_called = was_called
        self._order: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._threads: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._late: set[asyncio.Task[bool]] = set()

    async def take(self, body: Json, retry: int = 0) -> BoltResponse:
        """Answer one request: 200 once it is durable or nothing to us, 503 to have it again."""
        if string(body, "type") == "event_callback":
            return BoltResponse(status=200 if await self._event(body, retry) else 503, body="")
        if interactions.is_interaction(body) and interactions.channel_of(body):
            return await self._interaction(body)
        return BoltResponse(status=200, body="")

    def called_into(self, conversation: Conversation) -> None:
        """Remember a thread that we were called into or answered in: what is said there is said to us."""
        if conversation.thread:
            self._threads[conversation.room.native, conversation.thread] = None
            while len(self._threads) > _THREADS:
                self._threads.popitem(last=False)

    async def close(self) -> None:
        """Let late interactions end."""
        await asyncio.gather(*self._late, return_exceptions=True)

    # -- events ---------------------------------------------------------------------------------------------------

    async def _event(self, body: Json, retry: int) -> bool:
        """Deliver one event in its channel's order; False: not kept, Slack shall send it again."""
        needs = normalise.needs(body)
        if needs is None:
            return True
        async with self._order.setdefault(needs.channel, asyncio.Lock()):
            said = string(body, "event", "type") in {"message", "app_mention"}
            if not said:
                self._directory.forget(needs.channel)
            known = await self._known(needs, body)
            if said and _is_unplaced(needs, known) and retry < LAST_RETRY:
                return False
            try:
                incoming = normalise.normalise(body, known)
                if incoming is None:
                    return True
                self._remember(incoming)
                return (await self._deliver(incoming)).durable
            except RememError as refused:
                _log.warning("An event was not kept: %s", refused)
                return False

    async def _known(self, needs: normalise.Needs, body: Json) -> Known:
        """What the event does not tell, as far as it can be learnt in time."""
        self._directory.learn(needs.channel, needs.channel_type)
        room, names = await asyncio.gather(
            self._directory.room(needs.channel), self._directory.names([*needs.people, self._me.user])
        )
        event = part(body, "event")
        root = string(event, "thread_ts") or string(event, "message", "thread_ts")
        threads = {root} if root and await self._is_ours(needs.channel, root) else frozenset[str]()
        return Known(self._me, room, names, threads)

    async def _is_ours(self, channel: str, root: str) -> bool:
        thread = Conversation(RoomKey(f"slack:{self._me.team}:{channel}"), root)
        if (channel, root) in self._threads:
            self._threads.move_to_end((channel, root))
            return True
        if self._was_called is not None and await self._was_called(thread):
            self.called_into(thread)
            return True
        return False

    def _remember(self, incoming: Incoming) -> None:
        """A mention opens the thread under it, or the one it stands in, for us."""
        if incoming.addressed and incoming.room.kind is not RoomKind.DIRECT and incoming.message is not None:
            root = incoming.conversation.thread or incoming.message.rsplit(":", 1)[1]
            self.called_into(Conversation(incoming.room.key, root))
        if incoming.happening in {Happening.LEFT, Happening.RENAMED}:
            self._directory.forget(incoming.room.key.native)

    # -- commands and buttons -------------------------------------------------------------------------------------

    async def _interaction(self, body: Json) -> BoltResponse:
        """Acknowledge in time, whatever the look-ups and the ledger do meanwhile."""
        task = asyncio.create_task(self._deliver_interaction(body))
        self._late.add(task)
        task.add_done_callback(self._late.discard)
        done, _ = await asyncio.wait({task}, timeout=ACKNOWLEDGE_S)
        if done:
            return _acknowledgement(body, "" if task.result() else NOT_KEPT)
        task.add_done_callback(lambda ended: None if ended.result() else self._tell(body, NOT_KEPT))
        if not string(body, "command"):
            self._tell(body, NOT_YET)
        return _acknowledgement(body, NOT_YET)

    async def _deliver_interaction(self, body: Json) -> bool:
        try:
            room = await self._directory.room(interactions.channel_of(body), within_s=_COMMAND_LOOK_UP_S)
            known = Known(self._me, room, interactions.names_in(body))
            incoming = interactions.interaction(body, known, datetime.now(UTC))
            return incoming is None or (await self._deliver(incoming)).durable
        except RememError as refused:
            _log.warning("A command was not kept: %s", refused)
            return False
        except Exception:  # noqa: BLE001 - the task ends here; who asked is told
            _log.exception("an interaction could not be taken")
            return False

    def _tell(self, body: Json, text: str) -> None:
        """A line through the response URL: what an acknowledgement cannot carry, or what is learnt after it."""
        task = asyncio.create_task(self._posting.tell(interactions.answer_handle(body), text))
        self._late.add(task)
        task.add_done_callback(self._late.discard)


def _is_unplaced(needs: normalise.Needs, known: Known) -> bool:
    """Does neither the event nor a look-up tell what kind of room this is?"""
    kind = kind_of_type(needs.channel_type)
    return kind is RoomKind.UNKNOWN and (known.room is None or known.room.kind is RoomKind.UNKNOWN)


def _acknowledgement(body: Json, text: str) -> BoltResponse:
    """A command's acknowledgement may carry a line for the asker alone; a button's may not."""
    if not text or not string(body, "command"):
        return BoltResponse(status=200, body="")
    return BoltResponse(status=200, body={"response_type": "ephemeral", "text": text})
