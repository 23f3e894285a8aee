"""What the bot says around its answers: short, friendly, true. Commands' texts stand in memory_core.answers."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.messages import Attachment, Button, Room
from adapters.text import closed
from bot.models.failures import ModelFailed
from memory_core.answers import flush_time, noun
from memory_core.candidates import Candidate
from memory_core.disclosure import Disclosure
from memory_core.errors import RememError
from memory_core.flush.engine import read_state
from memory_core.forms.records import Record
from memory_core.forms.tasks import TaskStatus, status_of
from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.layouts import Kind
from memory_core.text import counted, one_line
from memory_core.zone import zone_of

TOPIC_BUTTON = "purpose-topic"
"""The id of the button that takes the room's topic as its purpose."""

SHORT_HELP = (
    "I'm here. Ask what was decided, planned or learned here; `/remem` flushes (it saves what matters), "
    "`/remem help` shows all I can do."
)


FLUSHING_NOW = "A flush of this memory is running; try again in a moment."

NOT_A_MEMBER = (
    "I cannot read this channel, so I keep no memory of it. Let me in first: on Slack `/invite @remem`, on Discord "
    "give me the permission to view it."
)

UNFORESEEN = "Something went wrong on my side, and whoever runs me can see it in the log. Please try again."

INTERRUPTED = "(I was interrupted here. Please ask again.)"
"""The last line of an answer that was left half."""

RECORDED = (
    "Hello, I'm remem. From now on I record what is said here and keep what matters: decisions, tasks, "
    "lessons, who does what. It stays in this room's own memory; `/remem show` and `/remem search` let you see "
    "it, and the files can be edited or deleted by whoever runs me."
)
"""What a room must hear before anything in it is recorded."""


DM_NOT_SHARED = (
    "Hello! In DMs I only talk with people of the servers and workspaces that I am in, so I keep nothing of this. "
    "Whoever runs me can let you in."
)
DM_NOT_NAMED = (
    "Hello! In DMs I only talk with people whom whoever runs me has named, so I keep nothing of this. "
    "In a channel where I am a member, mention me."
)
CANNOT_TELL = (
    "I cannot find out just now whether we share a server, so I kept nothing of this. Please try again in a minute."
)
SERVER_NOT_NAMED = "Whoever runs me has not chosen this server, so I do nothing here and keep nothing. Goodbye!"


def too_much_of_you(*, recorded: bool) -> str:
    """That a person asks more than is answered; `recorded`: what they say is kept all the same."""
    return f"That is more than I can answer at once; give me a minute. {_kept(recorded)}"


def too_much_here(*, recorded: bool) -> str:
    """That a room asks more than is answered."""
    return f"So much is asked here that I need a minute before I answer again. {_kept(recorded)}"


def _kept(recorded: bool) -> str:
    return "What you say is still kept." if recorded else "Nothing was done: please send it again then."


def greeting(room: Room) -> str:
    """The first words in a room: that it is recorded, what is kept, how to see it, and what is it for?"""
    topic = one_line(room.topic, 200)
    suggestion = f" The topic says: “{topic}”." if topic else ""
    return f"{RECORDED}\nWhat is this group for?{suggestion} Reply to this message, or say `/remem purpose …`."


def topic_button(room: Room) -> tuple[Button, ...]:
    """A button that takes the topic as the purpose, where there is a topic."""
    return (Button(TOPIC_BUTTON, "Use the topic"),) if one_line(room.topic) else ()


def server_greeting(server: str) -> str:
    """The one greeting of a server."""
    where = f" on {one_line(server, 80)}" if server else ""
    return (
        f"Hello, I'm remem{where}. I record nothing until somebody mentions me in a channel; then I remember what "
        "matters there, for that channel only. `/remem help` shows what I can do."
    )


HELLO_AGAIN = "I am back, and I still have this room's memory."


def attached(text: str, attachments: Sequence[Attachment]) -> str:
    """A message with what was attached to it told in words: name, type, size, and a text file's text."""
    return "\n".join([*([text] if text else []), *map(_attachment, attachments)])


def _attachment(one: Attachment) -> str:
    facts = ", ".join(
        fact for fact in (one.media_type, counted(one.size_bytes, "byte") if one.size_bytes else "") if fact
    )
    head = f"[attached: {one_line(one.name, 100)}" + (f" ({facts})" if facts else "") + "]"
    if not one.text:
        return head
    return f"{head}\n{one.text}" + ("\n[the file goes on; only its beginning was read]" if one.cut else "")


def noted(candidate: Candidate, page: PageId, record: Record) -> str:
    """That something stands in its page now; said only after it was read back."""
    done = candidate.kind is Kind.TASK and status_of(candidate.status) is TaskStatus.DONE
    what = "done" if done else noun_with_article(candidate.kind)
    return f"Noted as {what} in {page}: {record.title}"


def noun_with_article(kind: Kind) -> str:
    """`a decision`, `an agreement`."""
    word = noun(kind)
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def secret_seen(kinds: Sequence[str]) -> list[str]:
    """That a secret was seen and not kept; never its value."""
    if not kinds:
        return []
    what = ", ".join(dict.fromkeys(kinds))
    return [
        f"I saw a secret in your message ({what}) and masked it: I keep no secrets. Better delete the message too."
    ]


def at_breaker(disclosure: Disclosure) -> list[str]:
    """The short note of an answer for which the budget ended the loading."""
    if not disclosure.breaker:
        return []
    left = ", ".join(dict.fromkeys(part.page for part in disclosure.left_out)) or "more"
    return [
        f"(My memory budget for this conversation is used up; not looked at: {left}. "
        "`/remem` flushes it and starts anew.)"
    ]


def unread(disclosure: Disclosure) -> list[str]:
    """Pages that the answer needed and that could not be read, with the reason."""
    broken = [part for part in disclosure.left_out if f"{part.page}: {part.why}" in disclosure.notes]
    return [f"(I could not look into {part.page}: {part.why})" for part in broken]


def write_failed(refused: RememError) -> str:
    """That something could not be written at once; it is in the ledger and the next flush takes it."""
    return f"I could not write that down yet: {refused} It is kept, and written by the next flush."


def command_failed(refused: RememError) -> str:
    """That a command was refused, why, and that it is to be repeated: its words are kept nowhere."""
    return f"That did not work: {refused} What I kept before is untouched; then say it again."


def answer_failed(refused: RememError) -> str:
    """That memory could not be read for an answer; the message itself is in the ledger."""
    return f"I cannot look into my memory now: {refused} What you said is kept."


def not_answered(refused: RememError) -> str:
    """That no answer could be made (the model, the ledger); the message itself is kept."""
    if isinstance(refused, ModelFailed):  # it says what to do next itself
        return f"{refused} What you said is kept."
    return f"I cannot answer now: {refused} What you said is kept; please ask again in a while."


def under(*parts: str) -> str:
    """Parts of an answer, one under the other; what one leaves open does not reach into the next."""
    return "\n\n".join(closed(part) for part in parts if part)


def interrupted(text: str) -> str:
    """An answer that was left half, with its last line."""
    return under(text, INTERRUPTED)


def interrupted_unseen() -> str:
    """That an answer was being given of which it is not known how far it came."""
    return "(I was interrupted while I answered this. Please ask again.)"


_NO_FLUSH = "none yet; I save this conversation by myself after a pause, or at once with `/remem`"


async def last_flush(handle: Handle) -> str:
    """The line that ends the first reply of a DM session: `last flush: YYYY-MM-DD HH:mm`.

    Before the first flush somebody new reads what a flush is and that it comes by itself.
    """
    moment = (await read_state(handle)).last_flush_time
    return f"last flush: {flush_time(moment, await zone_of(handle)) or _NO_FLUSH}"
