"""What can go wrong with a model, in our words: the one table from the library's errors to what a person is told.

    kind        from                                        tried again                        a person reads
    BUSY        429                                         once, after what the server asks   busy, try in a minute
    DOWN        5xx, no connection, a cut stream            once, after a moment               cannot be reached
    SLOW        no answer in time                           once                               takes too long
    TOO_LONG    the request is over the window      no (it is cut before)              too long for the model
    REFUSED     the provider's filter, a refusal            no                                 will not answer this
    UNUSABLE    empty, HTML, nothing that can be read       once                               nothing that I can use
    SETUP       key, name, quota, an unknown request        no                                 is not set up
    LIMIT       requests, tool calls, tokens, seconds       no                                 that took too much
    LOOP        the same call again and again               no                                 I was going in circles
    DAY         the day's tokens or money are used up       tomorrow                           used up for today

Fallback models are asked before any of this counts. The provider's own words are for the log (`why`), never for a
room: they may repeat what was sent. Retrying happens before the first word is shown, never after: a person would read
the answer twice. Not here: how long to wait (bot.models.speaker), who is told (bot.turn).
"""

from __future__ import annotations

from enum import StrEnum

from memory_core.errors import RememError


class Failure(StrEnum):
    """The kinds of failure, each with its own line and its own rule."""

    BUSY = "busy"
    DOWN = "down"
    SLOW = "slow"
    TOO_LONG = "too_long"
    REFUSED = "refused"
    UNUSABLE = "unusable"
    SETUP = "setup"
    LIMIT = "limit"
    LOOP = "loop"
    DAY = "day"


class ModelFailed(RememError):
    """The model gave no answer. The text is for a person, `why` for the log, `wait_s` what the server asked."""

    def __init__(self, failure: Failure, text: str, *, why: str = "", wait_s: float | None = None) -> None:
        super().__init__(text)
        self.failure = failure
        self.why = why
        self.wait_s = wait_s
