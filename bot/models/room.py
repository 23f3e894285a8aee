"""Does the models' window hold a turn? Said at the start and by `remem doctor`, not found out message by message.

A model that answers must have room for one turn (bot.models.request); one that only reads what is saved, for one
piece of a conversation (bot.models.extraction). Counted by our own tokens: a provider's factor is known later.
"""

from __future__ import annotations

from bot.models.extraction import least_to_read_tokens
from bot.models.prompt import Measure
from bot.models.providers import Chosen
from bot.models.request import least_to_answer_tokens
from bot.settings import Settings, variable
from memory_core.errors import BadInput
from memory_core.tokens import Counter


def require_room(models: Chosen, settings: Settings, counter: Counter) -> None:
    """Raises BadInput for a window that is too small for what the models are there for."""
    answers = models.reply is not None
    least = least_to_answer_tokens(Measure(counter)) if answers else least_to_read_tokens(counter)
    if models.window_tokens >= least:
        return
    setting = variable("model_window")
    whose = f"{setting} is" if settings.model_window else "The window of the models is"
    what = "answer one message" if answers else "read a conversation"
    raise BadInput(
        f"{whose} {models.window_tokens:,} tokens, and to {what} takes at least {least:,}; set {setting} to what the "
        "model's server really holds, or choose a model with a larger window."
    )


def reads_nothing(models: Chosen, counter: Counter) -> tuple[str, ...]:
    """That the window holds an answer but no piece of a conversation, so that rules read what is saved."""
    least = least_to_read_tokens(counter)
    if models.window_tokens >= least:
        return ()
    return (f"Rules read what is saved: a model takes a window of {least:,} tokens for it.",)
