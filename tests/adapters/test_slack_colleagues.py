"""Who shares the workspace with the bot: full members do, guests and other organisations' people do not."""

from __future__ import annotations

import pytest

from adapters.slack.adapter import SlackAdapter
from memory_core.ids import PersonKey
from tests.adapters.slack_bench import person, running
from tests.peers.slack import SlackPeer

pytestmark = pytest.mark.asyncio


async def test_full_members_of_the_workspace_share_it_and_nobody_else() -> None:
    async with SlackPeer() as peer:
        ana, guest = peer.user("ana"), peer.user("gus", guest=True)
        other = peer.user("olga", team="T2")
        async with running(peer) as (adapter, _):
            assert await adapter.shares_server(person(ana)) is True
            assert await adapter.shares_server(person(guest)) is False
            assert await adapter.shares_server(person(other)) is False
            assert await adapter.shares_server(PersonKey("slack:T2:UGONE")) is False
        assert len(peer.calls("users.info")) <= 4


async def test_where_slack_does_not_say_nobody_is_called_a_stranger() -> None:
    async with SlackPeer() as peer:
        ana = peer.user("ana")
        assert await SlackAdapter(peer.bot_token).shares_server(person(ana)) is None, "not connected"
        async with running(peer) as (adapter, _):
            peer.refuse("users.info", "fatal_error")
            assert await adapter.shares_server(person(ana)) is None
            assert await adapter.shares_server(person(ana)) is True
