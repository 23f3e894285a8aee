"""The platforms that have tokens, and what each asks of the program. Adapters without a token are not imported."""

from __future__ import annotations

from functools import partial

from adapters.base import Adapter, nothing_behind
from bot.app import App
from bot.behind import rooms_behind
from bot.limits import Welcome
from bot.settings import Mode as SlackMode
from bot.settings import Settings
from bot.welcoming import welcome
from bot.wording import SERVER_NOT_NAMED
from memory_core.errors import BadInput
from memory_core.ids import Conversation
from memory_core.messages import Voice


def _refused_server(welcome: Welcome, server: str) -> str:
    """What a Discord server hears before it is left; empty: it may have us."""
    return "" if welcome.serves("discord", server) else SERVER_NOT_NAMED


async def was_called(app: App, conversation: Conversation) -> bool:
    """Was the bot called into this thread, or did it speak there? Answered from what is recorded."""
    scope = await app.parts.rooms.known(conversation.room)
    if scope is None:
        return False
    context = await app.parts.handles.open(scope).ledger.context(conversation)
    entries = (*context.tail, *context.fresh)
    return any(entry.message.addressed or entry.message.voice is Voice.SELF for entry in entries)


def half_of_slack(settings: Settings) -> str:
    """What is missing where only a part of Slack's tokens is set, as a sentence; empty where all or none is there."""
    needs_app = settings.slack_mode is SlackMode.SOCKET
    other, given = (
        ("SLACK_APP_TOKEN (xapp-…, made under Basic Information, App-Level Tokens)", settings.slack_app_token)
        if needs_app
        else ("SLACK_SIGNING_SECRET (Basic Information)", settings.slack_signing_secret)
    )
    if settings.slack_bot_token is None:
        alone = settings.slack_app_token or settings.slack_signing_secret
        return (
            "Slack needs SLACK_BOT_TOKEN (xoxb-…, OAuth & Permissions) too; set it, or unset the rest."
            if alone
            else ""
        )
    if given is None:
        return f"REMEM_SLACK_MODE is {settings.slack_mode.value}: with SLACK_BOT_TOKEN it needs {other}; set it too."
    return ""


def platforms(settings: Settings, app: App | None = None) -> list[Adapter]:
    """The adapters of all platforms that have tokens. Raises BadInput where there is none, or half of one.

    `app`: whose ledger remembers into which threads the bot was called; without it none is remembered.
    """
    if half := half_of_slack(settings):
        raise BadInput(half)
    found: list[Adapter] = []
    if settings.discord_token is not None:
        from adapters.discord.adapter import DiscordAdapter

        token, proxy = settings.discord_token.get_secret_value(), settings.discord_proxy or None
        refused = partial(_refused_server, welcome(settings))
        behind = partial(rooms_behind, app.parts.intake, "discord") if app is not None else nothing_behind
        found.append(DiscordAdapter(token, proxy, refused_server=refused, behind=behind))
    if settings.slack_bot_token is not None:
        from adapters.slack.adapter import SlackAdapter

        app_token, secret = settings.slack_app_token, settings.slack_signing_secret
        found.append(
            SlackAdapter(
                settings.slack_bot_token.get_secret_value(),
                app_token=app_token.get_secret_value() if app_token else None,
                signing_secret=secret.get_secret_value() if secret else None,
                mode="http" if settings.slack_mode is SlackMode.HTTP else "socket",
                port=settings.slack_port,
                api_url=settings.slack_api_url,
                was_called=partial(was_called, app) if app is not None else None,
            )
        )
    if not found:
        raise BadInput(
            "No platform has a token: set DISCORD_TOKEN, or SLACK_BOT_TOKEN with SLACK_APP_TOKEN, in the environment "
            "or in .env. `remem chat` needs none."
        )
    return found
