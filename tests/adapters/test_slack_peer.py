"""The local Slack refuses what Slack refuses: else tests against it would prove nothing."""

from __future__ import annotations

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.peers.slack import SlackPeer
from tests.peers.slack.rules import content_refused, signature

pytestmark = pytest.mark.asyncio


def section(text: str) -> dict[str, object]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


@pytest.mark.parametrize(
    ("text", "blocks", "error"),
    [
        ("", [], "no_text"),
        ("x" * 40_001, [], "msg_too_long"),
        ("x", [section("y" * 3001)], "invalid_blocks"),
        ("x", [section("y")] * 51, "invalid_blocks"),
        ("x", [section("y" * 3000)] * 5, "msg_blocks_too_long"),
        ("x", [{"type": "actions", "elements": [{"action_id": "a"}, {"action_id": "a"}]}], "invalid_blocks"),
        ("x" * 40_000, [section("y" * 3000)] * 4, ""),
    ],
)
async def test_what_content_is_refused(text: str, blocks: list[dict[str, object]], error: str) -> None:
    assert content_refused(text, blocks) == error


@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("chat.postMessage", {"channel": "CNONE", "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": "COPEN", "text": "x"}, "not_in_channel"),
        ("chat.postMessage", {"channel": "CIN", "text": ""}, "no_text"),
        ("chat.postMessage", {"channel": "CIN", "text": "x", "thread_ts": "1.2"}, "thread_not_found"),
        ("chat.postEphemeral", {"channel": "CIN", "text": "x", "user": "UNONE"}, "user_not_in_channel"),
        ("chat.update", {"channel": "CIN", "text": "x", "ts": "1.2"}, "message_not_found"),
        ("conversations.info", {"channel": "CHIDDEN"}, "channel_not_found"),
        ("conversations.history", {"channel": "COPEN"}, "not_in_channel"),
        ("conversations.replies", {"channel": "CIN", "ts": "1.2"}, "thread_not_found"),
        ("users.info", {"user": "UNONE"}, "user_not_found"),
        ("apps.connections.open", {}, "invalid_auth"),
        ("reactions.add", {}, "unknown_method"),
    ],
)
async def test_what_calls_are_refused(method: str, arguments: dict[str, str], error: str) -> None:
    async with SlackPeer() as peer:
        peer.channel("in", id="CIN")
        peer.channel("open", bot=False, id="COPEN")
        peer.channel("hidden", bot=False, private=True, id="CHIDDEN")
        client = AsyncWebClient(token=peer.bot_token, base_url=peer.api_url)
        with pytest.raises(SlackApiError) as refused:
            await client.api_call(method, json=arguments)
        assert refused.value.response["error"] == error
        assert peer.calls(method)[0].answer == error


async def test_scopes_tokens_and_limits() -> None:
    async with SlackPeer() as peer:
        peer.channel("in", id="CIN")
        client = AsyncWebClient(token=peer.bot_token, base_url=peer.api_url)
        peer.api.scopes.discard("chat:write")
        peer.refuse("auth.test", "ratelimited", retry_after_s=7)
        with pytest.raises(SlackApiError, match="missing_scope"):
            await client.chat_postMessage(channel="CIN", text="x")
        with pytest.raises(SlackApiError) as limited:
            await client.auth_test()
        assert (limited.value.response.status_code, limited.value.response.headers["Retry-After"]) == (429, "7")
        assert "users:read" in (await client.auth_test()).headers["x-oauth-scopes"]
        with pytest.raises(SlackApiError, match="invalid_auth"):
            await AsyncWebClient(token="xoxb-wrong", base_url=peer.api_url).auth_test()


async def test_what_a_message_would_ping_is_seen() -> None:
    async with SlackPeer() as peer:
        peer.channel("in", id="CIN")
        client = AsyncWebClient(token=peer.bot_token, base_url=peer.api_url)
        await client.chat_postMessage(channel="CIN", text="<!channel> <@U1> &lt;!here&gt; " + "x" * 4000)
        (post,) = peer.posts
        assert (len(post.pings), post.cut) == (2, True)


async def test_the_history_it_keeps() -> None:
    async with SlackPeer() as peer:
        build = peer.channel("in", id="CIN")
        ana = peer.user("ana")
        client = AsyncWebClient(token=peer.bot_token, base_url=peer.api_url)
        root = (await client.chat_postMessage(channel="CIN", text="root"))["ts"]
        await client.chat_postMessage(channel="CIN", text="under", thread_ts=root)
        await client.chat_update(channel="CIN", ts=root, text="changed")
        history, replies = (
            await client.conversations_history(channel="CIN"),
            await client.conversations_replies(channel="CIN", ts=root),
        )
        assert [said["text"] for said in history["messages"]] == ["changed"]
        assert [said["text"] for said in replies["messages"]] == ["changed", "under"]
        assert (await client.conversations_open(users=ana.id))["channel"]["id"] == peer.dm(ana).id
        assert build.messages[root]["bot_id"] == peer.bot_id


async def test_its_signature_is_slacks() -> None:
    """The example of https://docs.slack.dev/authentication/verifying-requests-from-slack."""
    body = (
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar"
        "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack"
        ".com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0"
        "bc887a14d10d2c447fce8b6703c"
    )
    told = signature("8f742231b10e8888abcd99yyyzzz85a5", "1531420618", body)
    assert told == "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
