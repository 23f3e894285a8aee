"""The bot's own account in an export of Slack's: pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from adapters.history import OWN_NAME, several
from adapters.payload import Json, flag, string
from adapters.slack.facts import Me
from memory_core.errors import BadInput
from memory_core.script import fold


def own(users: Sequence[Json], wanted: str, team: str, path: Path) -> Me:
    """The bot's own account: of the id or name `wanted`, '' for a bot called remem; of several with that name a bot.

    Raises BadInput where `wanted` is nobody, or more than one.
    """
    name = fold(wanted.removeprefix("@") or OWN_NAME)
    found = [user for user in users if wanted and string(user, "id") == wanted]
    found = found or [user for user in users if name in _called(user)]
    bots = [user for user in found if string(user, "profile", "bot_id") or flag(user, "is_bot")]
    found = bots or (found if wanted else [])  # a person of the bot's name is not the bot
    if wanted and not found:
        raise BadInput(f"Nobody is called {wanted[:80]!r} in users.json of {path}; give the bot's name or id there.")
    if wanted and len({string(user, "id") for user in found}) > 1:
        raise BadInput(several(wanted, path, (string(user, "id") for user in found)))
    return Me(team, string(found[0], "id"), string(found[0], "profile", "bot_id")) if found else Me(team, OWN_NAME)


def _called(user: Json) -> set[str]:
    names = (("name",), ("real_name",), ("profile", "display_name"), ("profile", "real_name"))
    return {fold(string(user, *where)) for where in names}
