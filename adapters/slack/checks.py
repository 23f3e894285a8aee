"""Questions to Slack: who we are, whether the set-up is whole, who is an admin.

Refusals at start name the setting and the next step, never a token.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import aiohttp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.base import Check
from adapters.slack.directory import Directory
from adapters.slack.facts import Me
from adapters.slack.manifest import SCOPES, Mode
from adapters.slack.refusals import error_of
from memory_core.errors import RememError
from memory_core.ids import PersonKey, RoomKey, RoomKind

_GET_BOT = "Copy the Bot User OAuth Token (xoxb-…) from your app's page, OAuth & Permissions, into SLACK_BOT_TOKEN."
_GET_APP = (
    "Make an app-level token (xapp-…) with the scope connections:write on your app's page, Basic Information, and "
    "put it into SLACK_APP_TOKEN; or set REMEM_SLACK_MODE=http."
)
_GET_SIGNING = "Copy the Signing Secret from your app's page, Basic Information, into SLACK_SIGNING_SECRET."
_REACH = "Check the network, the proxy settings and REMEM_SLACK_API_URL."
_REFUSED_TOKENS = frozenset(
    {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type"}
)


async def who_we_are(client: AsyncWebClient) -> Me:
    """auth.test of the bot token. Raises RememError when it is refused or Slack cannot be reached."""
    if not client.token:
        raise RememError(f"SLACK_BOT_TOKEN is missing. {_GET_BOT}")
    try:
        told = await client.auth_test()
    except SlackApiError as refused:
        code = error_of(refused)
        step = _GET_BOT if code in _REFUSED_TOKENS else _REACH
        raise RememError(f"Slack refused SLACK_BOT_TOKEN ({code}). {step}") from refused
    except (SlackClientError, aiohttp.ClientError, TimeoutError) as failed:
        raise RememError(
            f"Slack cannot be reached at {client.base_url}: {type(failed).__name__}. {_REACH}"
        ) from failed
    return Me(
        team=str(told.get("team_id") or ""),
        user=str(told.get("user_id") or ""),
        bot=str(told.get("bot_id") or ""),
        team_name=str(told.get("team") or ""),
    )


async def websocket_url(client: AsyncWebClient, app_token: str | None) -> str:
    """A fresh Socket Mode address. Raises RememError when the app token is missing or refused."""
    if not app_token:
        raise RememError(f"SLACK_APP_TOKEN is missing, and Socket Mode needs it. {_GET_APP}")
    try:
        told = await client.apps_connections_open(app_token=app_token)
    except SlackApiError as refused:
        raise RememError(f"Slack refused SLACK_APP_TOKEN ({error_of(refused)}). {_GET_APP}") from refused
    except (SlackClientError, aiohttp.ClientError, TimeoutError) as failed:
        raise RememError(
            f"Slack cannot be reached at {client.base_url}: {type(failed).__name__}. {_REACH}"
        ) from failed
    return str(told.get("url") or "")


def need_signing_secret(signing_secret: str | None) -> str:
    """The secret that HTTP mode checks requests by. Raises RememError when it is missing."""
    if not signing_secret:
        raise RememError(f"SLACK_SIGNING_SECRET is missing, and HTTP mode needs it. {_GET_SIGNING}")
    return signing_secret


async def doctor(
    client: AsyncWebClient, mode: Mode, app_token: str | None, signing_secret: str | None
) -> tuple[Check, ...]:
    """What `remem doctor` tells of Slack: token, scopes, and the way in."""
    try:
        me = await who_we_are(client)
    except RememError as refused:
        return (_refusal("slack token", refused),)
    found = [Check("slack token", ok=True, found=f"bot {me.user} in workspace {me.team_name or me.team}")]
    found.append(await _scopes(client))
    if mode == "http":
        told = "set" if signing_secret else "missing"
        step = "" if signing_secret else _GET_SIGNING
        found.append(Check("slack signing secret", bool(signing_secret), told, step))
        return tuple(found)
    try:
        await websocket_url(client, app_token)
    except RememError as refused:
        return (*found, _refusal("slack socket mode", refused))
    return (*found, Check("slack socket mode", ok=True, found="a connection can be opened"))


def _refusal(what: str, refused: RememError) -> Check:
    """A refusal, with the step that its sentence ends with in the step's own place: a new token mends no network."""
    told = str(refused)
    step = next((one for one in (_GET_BOT, _GET_APP, _REACH) if told.endswith(one)), "")
    return Check(what, ok=False, found=told.removesuffix(step).rstrip(), next_step=step)


async def _scopes(client: AsyncWebClient) -> Check:
    """The scopes that Slack names in every answer (x-oauth-scopes)."""
    told = await client.auth_test()
    headers = {str(name).lower(): str(value) for name, value in told.headers.items()}
    granted = {scope.strip() for scope in headers.get("x-oauth-scopes", "").split(",") if scope.strip()}
    missing = sorted(set(SCOPES) - granted)
    if not granted:
        return Check("slack scopes", ok=True, found="Slack did not say")
    if missing:
        step = "Add them on your app's page, OAuth & Permissions (or `remem slack-manifest`), and reinstall the app."
        return Check("slack scopes", ok=False, found=f"missing: {', '.join(missing)}", next_step=step)
    return Check("slack scopes", ok=True, found=f"all {len(SCOPES)} granted")


def authorizer(me: Me, token: str) -> Callable[[], Awaitable[AuthorizeResult]]:
    """bolt's question who we are, answered from what we know."""
    known = AuthorizeResult(enterprise_id=None, team_id=me.team, bot_user_id=me.user, bot_id=me.bot, bot_token=token)

    async def authorize() -> AuthorizeResult:
        return known

    return authorize


async def is_colleague(directory: Directory, me: Me, person: PersonKey) -> bool | None:
    """Is the person a full member of our workspace? None where it cannot be learnt now.

    Flags: https://docs.slack.dev/reference/objects/user-object.
    """
    told = await directory.person(person.native)
    if told is None:
        return None
    return not told.guest and me.team in (told.teams or {person.split(":")[1]})


async def is_admin(directory: Directory, me: Me, room: RoomKey, person: PersonKey) -> bool:
    """A workspace admin or owner, the channel's creator, or the person of the DM; False where it cannot be learnt."""
    facts = await directory.room(room.native)
    if facts is not None:
        if facts.kind is RoomKind.DIRECT and facts.partner:
            return facts.partner == person.native
        if facts.creator and facts.creator == person.native:
            return True
    if person.split(":")[1] != me.team:
        return False
    told = await directory.person(person.native)
    return told is not None and told.admin
