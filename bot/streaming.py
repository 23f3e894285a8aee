"""One answer while it is being written: shown as far as it goes, and in the end whole, or with a word why it is not.

    show    keeps the newest text and returns at once; a task beside it lets the room see it, at the pace that the
            platform allows: what was overtaken meanwhile is never shown
    finish  the whole answer: what stands is revised to it; if nothing stands yet, it is sent as one
    fail    what stands gets a last line
    close   however the turn ended: a last line under what is left half

Before the first word the answer is claimed, durably: it is answered once. What stands is kept durably, too, so that
a start finds it (bot/unfinished.py). While it grows it ends with a whole word. A question that is deleted meanwhile
gets no answer: what stands of it is taken back. Short answers, and those that come at once, are sent as one.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import structlog

from adapters.messages import Delivery, Incoming, Outgoing, Sent
from bot.conversations import SAYING_S
from bot.own_words import record_own
from bot.parts import Parts
from bot.unfinished import Half, Unfinished
from bot.wording import INTERRUPTED, under
from memory_core.errors import LedgerFailed
from memory_core.ids import Scope

TYPING_AGAIN_S = 8.0
"""Discord shows for ten seconds that somebody types."""

KEEP_S = 1.0
"""How much of what was shown may be missing from what a start finds."""

_NO_BLANKS = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3000, 0x30FF), (0x3400, 0x9FFF)),
    *((0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x20000, 0x3FFFF)),
)
"""Scripts in which words stand side by side: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""

_T = TypeVar("_T")

_log = structlog.get_logger()


def grown(text: str) -> str:
    """A text that is being written, up to the end of its last whole word."""
    for at in range(len(text), 0, -1):
        before = text[at - 1]
        if before.isspace():
            return text[:at].rstrip()
        if any(first <= ord(before) <= last for first, last in _NO_BLANKS) and not _goes_on(text[at : at + 1]):
            return text[:at]
    return ""


def _goes_on(after: str) -> bool:
    return bool(after) and (after in "\u200d\ufe0e\ufe0f" or unicodedata.category(after).startswith("M"))


class Streaming:
    """The answer to one message. `notes` stand above it; it is recorded in the conversation of `scope`."""

    def __init__(
        self, parts: Parts, unfinished: Unfinished, incoming: Incoming, scope: Scope, notes: Sequence[str] = ()
    ) -> None:
        self._parts = parts
        self._unfinished = unfinished
        self._incoming = incoming
        self._scope = scope
        self._notes = tuple(notes)
        self._adapter = parts.adapters[incoming.room.key.platform]
        self._outgoing = Outgoing(incoming.conversation, "", reply_to=incoming.message)
        self._claimed: bool | None = None
        self._text = ""
        self._shown = ""
        self._stands = Sent(Delivery.SENT)
        self._half: Half | None = None
        self._kept_at = 0.0
        self._ready_at = 0.0
        self._stopped = self._ended = self._gone = False
        self._growing: asyncio.Task[None] | None = None
        self._typing: asyncio.Task[None] | None = None
        self._enough, self._hurry = asyncio.Event(), asyncio.Event()

    # -- while it is being written --------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Show that an answer is being made, until its first word stands."""
        await self._adapter.typing(self._incoming.conversation, self._incoming.message)
        self._typing = asyncio.create_task(self._type(), name=f"typing {self._incoming.conversation}")

    async def _type(self) -> None:
        while True:
            await asyncio.sleep(TYPING_AGAIN_S)
            if self._shown:
                return
            await self._adapter.typing(self._incoming.conversation, self._incoming.message)

    async def show(self, text: str) -> None:
        """The answer as far as it is written (bot.agent.Show)."""
        if not self._text:
            self._ready_at = asyncio.get_running_loop().time() + self._adapter.revise_s
        self._text = text
        self._grow_on()

    def question_gone(self) -> None:
        """The question was deleted: the answer is not given, and what stands of it is taken back."""
        self._gone = True
        if self._stands.messages:
            self._stopped = False
            self._grow_on()

    def _grow_on(self) -> None:
        if self._growing is None and not self._stopped and not self._ended:
            self._growing = asyncio.create_task(self._grow(), name=f"answer in {self._incoming.conversation}")

    async def _grow(self) -> None:
        """Let the room see the newest text, again and again, until there is nothing new."""
        try:
            while not self._stopped:
                await self._pause(self._enough)
                text = self._so_far()
                if self._enough.is_set() or text == self._shown:
                    return
                self._stopped = not await self._let_see(text)
        except Exception:  # noqa: BLE001  # a task's end: the answer is said when it is whole
            self._stopped = True
            _log.exception("an answer is shown when it is whole", room=self._incoming.room.key)
        finally:
            self._growing = None

    def _so_far(self) -> str:
        text = "" if self._gone else grown(self._text)
        return "\n\n".join([*self._notes, text]) if text else ""

    async def _let_see(self, text: str) -> bool:
        """Show a part of the answer; False: it is not to be shown any more while it grows."""
        if self._gone:
            await self._take_back()
            return False
        try:
            await self._keep(text)
            if not await self.claim():
                await self._forget()
                return False
            sent = await self._put(text, growing=True)
            self._shown = text
            await self._keep(text)
        except LedgerFailed as refused:
            _log.warning("an answer is shown when it is whole", room=self._incoming.room.key, why=str(refused))
            return False
        if sent.delivery is not Delivery.SENT:
            _log.warning("answer not shown", room=self._incoming.room.key, why=sent.why)
        return sent.delivery is Delivery.SENT

    async def claim(self) -> bool:
        """Mark the question as answered, durably: False if it was, or is gone. Raises LedgerFailed."""
        if self._claimed is None:
            message = self._incoming.message
            self._claimed = message is None or await self._parts.intake.answered(message)
        return self._claimed

    async def _put(self, text: str, *, growing: bool) -> Sent:
        outgoing = replace(self._outgoing, text=text, growing=growing)
        if self._stands.messages:
            self._stands = await self._adapter.revise(self._stands, outgoing)
        else:
            self._stands = await self._adapter.send(outgoing)
        self._ready_at = asyncio.get_running_loop().time() + self._adapter.revise_s
        return self._stands

    async def _pause(self, cut: asyncio.Event) -> None:
        """Until the platform may be asked again, or `cut`."""
        pause_s = self._ready_at - asyncio.get_running_loop().time()
        if pause_s > 0 and not cut.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await cut.wait()

    # -- the end --------------------------------------------------------------------------------------------------

    async def finish(self, text: str) -> bool:
        """Say the whole answer; False where the question is answered or gone. Raises LedgerFailed."""
        return await self._to_its_end(self._finish(text))

    async def _finish(self, text: str) -> bool:
        self._ended = True
        await self._quiet()
        if self._gone:
            await self._take_back()
            return False
        claimed = await self.claim()
        if claimed:
            await self._end(text)
        return claimed

    async def fail(self, line: str) -> bool:
        """End what stands with `line`. False: nothing stands, and the line may be said in the answer's place.

        The conversation keeps what stood and not the line: that something failed is no part of it.
        """
        return await self._to_its_end(self._fail(line, kept=False))

    async def _fail(self, line: str, *, kept: bool = True) -> bool:
        self._ended = True
        await self._quiet()
        if self._gone:
            await self._take_back()
        elif self._stands.messages:
            half = under(*self._notes, grown(self._text))
            await self._end(under(half, line), recorded="" if kept else half)
        return self._gone or bool(self._stands.messages)

    async def close(self) -> None:
        """Nothing goes on after this; what was left half ends with a word. Takes at most SAYING_S."""
        if self._ended:
            return
        self._hurry.set()
        ending = asyncio.ensure_future(self._fail(INTERRUPTED))
        await asyncio.wait({ending}, timeout=SAYING_S)
        if not ending.cancel() and (wrong := ending.exception()) is not None:
            _log.error("an answer stays half until the next start", room=self._incoming.room.key, why=repr(wrong))

    async def _to_its_end(self, ending: Awaitable[_T]) -> _T:
        """Await the end; a cancellation hurries it, and waits for it up to SAYING_S."""
        task = asyncio.ensure_future(ending)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._hurry.set()
            await asyncio.wait({task}, timeout=SAYING_S)
            task.cancel()
            raise

    async def _quiet(self) -> None:
        """Show no more of it while it grows; what is being shown is shown."""
        self._enough.set()
        if self._typing is not None:
            self._typing.cancel()
        if self._growing is not None:
            await self._growing

    async def _end(self, text: str, *, recorded: str = "") -> None:
        """All of it stands, is recorded (or what is `recorded` of it), and nothing more is to be done for it.

        Where the question was deleted meanwhile none of it does.
        """
        outcome = self._stands
        if outcome.messages:
            with suppress(LedgerFailed):  # then a start would find a part of it, and say so
                await self._keep(text, whole=True)
            await self._pause(self._hurry)
            outcome = await self._put(text, growing=False)
            if outcome.delivery is Delivery.FAILED:
                outcome = await self._say_anew(text)
        elif outcome.delivery in {Delivery.SENT, Delivery.FAILED}:  # else we may not speak here, and tried it
            outcome = await self._put(text, growing=False)
        if self._gone and outcome.messages:  # deleted while it was being said
            self._stands = outcome
            await self._take_back()
            return
        if outcome.delivery is Delivery.SENT:
            await record_own(self._parts, self._incoming, recorded or text, outcome, self._scope)
        else:
            _log.warning(
                "answer not delivered",
                room=self._incoming.room.key,
                delivery=outcome.delivery.value,
                why=outcome.why,
            )
        if outcome.delivery is Delivery.FAILED and outcome.messages and self._half is not None:
            self._unfinished.leave(self._half)
        else:
            await self._forget()

    async def _say_anew(self, text: str) -> Sent:
        """What stands cannot be changed: it is taken away, if that can be, and the answer is said once more."""
        stood = self._stands
        left = await self._adapter.revise(stood, self._outgoing)
        self._stands = await self._adapter.send(replace(self._outgoing, text=text))
        if self._stands.delivery is not Delivery.SENT:
            self._stands = left
        return self._stands

    async def _take_back(self) -> None:
        """The question is gone: so is what stands of the answer."""
        if self._stands.messages:
            self._stands = await self._adapter.revise(self._stands, self._outgoing)
        self._shown = ""
        if self._stands.delivery is Delivery.FAILED:
            _log.warning("an answer was not taken back", room=self._incoming.room.key, why=self._stands.why)
        await self._forget()

    # -- what a start must know -----------------------------------------------------------------------------------

    async def _keep(self, text: str, *, whole: bool = False) -> None:
        """Keep where the answer stands, and what it says or is about to say. Raises LedgerFailed."""
        if self._incoming.message is None:
            return
        now_s = asyncio.get_running_loop().time()
        begun_at = self._half.begun_at if self._half is not None else self._parts.clock.now()
        half = Half(
            self._incoming.message,
            self._scope,
            self._incoming.conversation,
            begun_at,
            text,
            self._stands.messages,
            self._stands.conversation,
            whole,
        )
        told = self._half is not None and self._half.keys == half.keys and not whole
        if told and now_s < self._kept_at + KEEP_S:
            return
        await self._unfinished.keep(half)
        self._half, self._kept_at = half, now_s

    async def _forget(self) -> None:
        if self._half is not None:
            await self._unfinished.done(self._half.question)
            self._half = None
