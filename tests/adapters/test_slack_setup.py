"""Starting, checking and installing: what is refused, in which words, and what the manifest asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal

import pytest
from aiohttp import web

from adapters.base import Adapter, Taken
from adapters.messages import Incoming
from adapters.payload import at, part, string, whole
from adapters.slack.adapter import SlackAdapter
from adapters.slack.manifest import EVENTS, SCOPES, manifest
from adapters.slack.moment import moment
from memory_core.errors import BadInput, RememError
from tests.adapters.slack_bench import running
from tests.peers.slack import SlackPeer

NONE_CHANGED: Mapping[str, str | None] = {}


async def _deliver(_: Incoming) -> Taken:
    return Taken(durable=True)


def adapter_for(
    peer: SlackPeer,
    mode: Literal["socket", "http"] = "socket",
    tokens: Mapping[str, str | None] = NONE_CHANGED,
    port: int = 0,
) -> SlackAdapter:
    given = {"bot": peer.bot_token, "app": peer.app_token, "secret": peer.signing_secret} | dict(tokens)
    return SlackAdapter(
        given["bot"] or "", given["app"], given["secret"], mode, port, peer.api_url, host="127.0.0.1", pace_s=0
    )


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("mode", "tokens", "setting", "step"),
    [
        ("socket", {"bot": "xoxb-wrong"}, "SLACK_BOT_TOKEN", "OAuth & Permissions"),
        ("socket", {"bot": ""}, "SLACK_BOT_TOKEN is missing", "OAuth & Permissions"),
        ("socket", {"app": None}, "SLACK_APP_TOKEN is missing", "connections:write"),
        ("socket", {"app": "xapp-wrong"}, "SLACK_APP_TOKEN", "connections:write"),
        ("http", {"secret": None}, "SLACK_SIGNING_SECRET is missing", "Signing Secret"),
    ],
)
async def test_a_token_that_is_missing_or_refused_stops_the_start(
    mode: Literal["socket", "http"], tokens: dict[str, str | None], setting: str, step: str
) -> None:
    async with SlackPeer(mode) as peer:
        with pytest.raises(RememError) as refused:
            await adapter_for(peer, mode, tokens).run(_deliver)
        assert setting in str(refused.value)
        assert step in str(refused.value)
        assert not any(token and token in str(refused.value) for token in tokens.values())


@pytest.mark.asyncio
async def test_slack_out_of_reach_stops_the_start_with_its_address() -> None:
    adapter = SlackAdapter("xoxb-right", "xapp-right", api_url="http://127.0.0.1:9/api/")
    with pytest.raises(RememError, match="REMEM_SLACK_API_URL"):
        await adapter.run(_deliver)


@pytest.mark.asyncio
async def test_the_doctor_asks_for_no_other_token_where_slack_is_out_of_reach() -> None:
    adapter = SlackAdapter("xoxb-right", "xapp-right", api_url="http://127.0.0.1:9/api/")
    (check,) = await adapter.check()
    assert "cannot be reached" in check.found
    assert "network" not in check.found
    assert "Check the network" in check.next_step
    assert "Token" not in check.next_step


@pytest.mark.asyncio
async def test_a_taken_port_is_named() -> None:
    async with SlackPeer("http") as peer:
        runner = web.AppRunner(web.Application())
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = int(runner.addresses[0][1])
        try:
            with pytest.raises(RememError, match=f"Port {port}.*REMEM_SLACK_PORT"):
                await adapter_for(peer, "http", port=port).run(_deliver)
        finally:
            await runner.cleanup()


@pytest.mark.asyncio
async def test_the_doctor_is_content_with_a_whole_set_up() -> None:
    for mode in ("socket", "http"):
        async with SlackPeer() as peer:
            found = await adapter_for(peer, "http" if mode == "http" else "socket").check()
            assert [check.ok for check in found] == [True, True, True]
            assert "Acme" in found[0].found


@pytest.mark.asyncio
async def test_the_doctor_names_what_is_missing_and_the_next_step() -> None:
    async with SlackPeer() as peer:
        peer.api.scopes -= {"users:read", "files:write"}
        _, scopes, socket = await adapter_for(peer, tokens={"app": None}).check()
        assert (scopes.ok, scopes.found) == (False, "missing: files:write, users:read")
        assert "reinstall" in scopes.next_step
        assert not socket.ok
        assert "SLACK_APP_TOKEN" in socket.next_step
        (token,) = await adapter_for(peer, tokens={"bot": "xoxb-wrong"}).check()
        assert not token.ok
        assert "xoxb-wrong" not in token.found + token.next_step
        assert not (await adapter_for(peer, "http", {"secret": None}).check())[-1].ok


@pytest.mark.asyncio
async def test_it_is_an_adapter_and_closes_twice() -> None:
    async with SlackPeer() as peer, running(peer) as (adapter, _):
        told: Adapter = adapter
        assert told.platform == "slack"
        assert told.piece_characters == 3900
        await asyncio.gather(told.close(), told.close())
        await told.close()


@pytest.mark.asyncio
async def test_closing_before_the_start_is_no_harm() -> None:
    async with SlackPeer() as peer:
        adapter = adapter_for(peer)
        await adapter.close()
        await adapter.run(_deliver)


def test_the_manifest_for_socket_mode() -> None:
    made = manifest()
    assert at(made, "settings", "socket_mode_enabled") is True
    assert at(made, "oauth_config", "scopes", "bot") == list(SCOPES)
    assert at(made, "settings", "event_subscriptions") == {"bot_events": list(EVENTS)}
    assert at(made, "settings", "interactivity") == {"is_enabled": True}
    assert at(made, "features", "app_home", "messages_tab_enabled") is True


@pytest.mark.parametrize(
    "url", ["https://bot.example.com", "https://bot.example.com/slack/events", "https://bot.example.com/"]
)
def test_the_manifest_for_http_names_one_address_everywhere(url: str) -> None:
    made = manifest("http", url)
    address = "https://bot.example.com/slack/events"
    assert string(made, "settings", "event_subscriptions", "request_url") == address
    assert string(made, "settings", "interactivity", "request_url") == address
    commands = at(made, "features", "slash_commands")
    assert isinstance(commands, list)
    assert commands[0]["url"] == address
    assert at(made, "settings", "socket_mode_enabled") is False


@pytest.mark.parametrize("url", ["", "http://bot.example.com", "bot.example.com", "https://"])
def test_http_mode_needs_a_public_address(url: str) -> None:
    with pytest.raises(BadInput, match="https"):
        manifest("http", url)


def test_the_peer_grants_what_the_manifest_asks_for() -> None:
    assert SlackPeer().api.scopes == set(SCOPES)


def test_odd_payloads_read_as_empty() -> None:
    assert (string({"a": 1}, "a"), whole({"a": "1"}, "a"), part({"a": []}, "a")) == ("", 0, {})
    assert moment("1712412120.000100").microsecond == 100
    assert moment("no time").year == 1970
