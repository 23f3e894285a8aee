"""The console: several rooms, DMs and speakers in one terminal. The reference adapter, and the smallest.

Lines come from an async iterator and answers go to a function, so that a test drives it as a person does. After each
line it waits until the bot has settled, so that question and answer stand in order, also when lines are piped in.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from adapters.base import CaughtUp, Check, Deliver, nothing_owed
from adapters.console.normalise import FIRST_SPEAKER, Local, Moved, Seat, closed, joined, normalise
from adapters.console.screen import Screen
from adapters.messages import Delivery, Incoming, Outgoing, Sent
from memory_core.clock import Clock
from memory_core.errors import BadInput, LedgerFailed
from memory_core.ids import Conversation, MessageKey, PersonKey, RoomKey, message_key

HELP = """\
/join #build   go to a group room        /dm            your own DM with remem
/as ana        speak as somebody else    /thread t1     a thread of this room
/reply text    answer remem's last line  /remem …       the memory: /remem help
/rooms         where you have been       /quit          leave
In a room, address remem with @remem; in the DM everything you say is for it."""

REVISE_S = 0.05
"""Twenty times a second reads as if it were written."""


class ConsoleAdapter:
    """One terminal. `lines` yields what is typed, `write` shows a line, `stream` a part of one, `settled` waits until
    all answers are out."""

    platform = "console"
    piece_characters = 100_000

    def __init__(
        self,
        lines: AsyncIterator[str],
        write: Callable[[str], None],
        clock: Clock,
        new_id: Callable[[], str],
        settled: Callable[[], Awaitable[None]],
        *,
        owners: tuple[PersonKey, ...] = (FIRST_SPEAKER,),
        show_prompt: Callable[[str], None] = lambda prompt: None,
        stream: Callable[[str], None] | None = None,
    ) -> None:
        self._lines = lines
        self._screen = Screen(write, stream)
        self._write = self._screen.line
        self._clock = clock
        self._new_id = new_id
        self._settled = settled
        self._owners = owners
        self._show_prompt = show_prompt
        self._seat = Seat()
        self._answers: dict[Conversation, MessageKey] = {}
        self._been: list[str] = []
        self._closing = False

    async def run(self, deliver: Deliver, caught_up: CaughtUp = nothing_owed) -> None:
        """Read lines until they end, /quit, or `close`."""
        await caught_up()
        await self._settled()
        self._show_prompt(self._seat.prompt)
        async for line in self._lines:
            if not await self._take(line, deliver) or self._closing:
                return
            self._show_prompt(self._seat.prompt)

    async def _take(self, line: str, deliver: Deliver) -> bool:
        """Handle one line; False ends the console."""
        seat = self._seat
        try:
            what = normalise(
                line,
                seat,
                native=self._new_id(),
                now=self._clock.now(),
                last_answer=self._answers.get(seat.conversation),
            )
        except BadInput as refused:
            self._write(str(refused))
            return True
        match what:
            case None:
                return True
            case Moved(new_seat):
                await self._move(new_seat, deliver)
            case Local("quit"):
                return False
            case Local(word):
                self._write(HELP if word == "help" else "\n".join(self._been) or "You have been nowhere yet.")
            case incoming:
                await self._deliver(incoming, deliver)
        await self._settled()
        return True

    async def _deliver(self, incoming: Incoming, deliver: Deliver) -> None:
        """Hand a line in. One that could not be kept is not heard, and is asked for again."""
        try:
            await deliver(incoming)
        except LedgerFailed as refused:
            self._write(f"That was not kept: {refused} Say it again then.")

    async def _move(self, seat: Seat, deliver: Deliver) -> None:
        """Leave the old room first (its session ends), then be in the new one."""
        if seat.conversation != self._seat.conversation:
            await self._deliver(closed(self._seat, self._new_id(), self._clock.now()), deliver)
        self._seat = seat
        if seat.room is not None:
            if f"#{seat.room}" not in self._been:
                self._been.append(f"#{seat.room}")
            await self._deliver(joined(seat, self._clock.now()), deliver)

    async def send(self, outgoing: Outgoing) -> Sent:
        """Show the answer; one that belongs to another room than the one on screen says so."""
        key = message_key(outgoing.conversation.room, f"r{self._new_id()}")
        self._answers[outgoing.conversation] = key
        self._screen.show(key, self._told(outgoing), growing=outgoing.growing)
        return Sent(Delivery.SENT, (key,))

    @property
    def revise_s(self) -> float:
        """Often enough to be read as it comes."""
        return REVISE_S

    async def revise(self, sent: Sent, outgoing: Outgoing) -> Sent:
        """Show what is new of the answer; what is on the screen cannot be taken from it."""
        if not outgoing.text:
            self._write("(remem takes that back.)")
            return Sent(Delivery.SENT)
        self._screen.show(sent.messages[-1], self._told(outgoing), growing=outgoing.growing)
        return sent

    def _told(self, outgoing: Outgoing) -> str:
        here = outgoing.conversation == self._seat.conversation and outgoing.person in {None, self._seat.person}
        if outgoing.person is not None:
            where = f"[DM to {outgoing.person.native}] "
        else:
            where = "" if here else f"[{outgoing.conversation.room.native}] "
        options = "".join(f"\n  [{button.label}: /remem {button.id}]" for button in outgoing.buttons)
        private = "(only you see this) " if outgoing.private and self._seat.room is not None else ""
        return f"remem: {where}{private}{outgoing.text}{options}"

    async def typing(self, conversation: Conversation, message: MessageKey | None = None) -> None:
        """Nothing to show: the prompt comes back when the answer stands."""

    async def is_admin(self, room: RoomKey, person: PersonKey) -> bool:
        """The owner is the admin of every console room."""
        return person in self._owners

    async def shares_server(self, person: PersonKey) -> bool | None:
        """Everybody who speaks here sits at this terminal."""
        return True

    async def check(self) -> tuple[Check, ...]:
        """The console needs nothing."""
        return (Check("console", ok=True, found="works without any setting"),)

    async def close(self) -> None:
        """End after the line that is being handled."""
        self._closing = True
