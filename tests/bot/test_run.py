"""`remem run` that is refused by a platform: it ends with the reason, and lets go of its workspace."""

from __future__ import annotations

import asyncio
import re
import threading
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.app import opened
from bot.run import run_platforms
from bot.settings import Settings, load
from memory_core.errors import RememError
from memory_core.lock import hold
from tests.peers.slack import SlackPeer

pytestmark = pytest.mark.asyncio


def _settings(workspace: Path, peer: SlackPeer, *, bot: str = "", app: str = "") -> Settings:
    return load(
        _env_file=None,
        workspace=workspace,
        SLACK_BOT_TOKEN=bot or peer.bot_token,
        SLACK_APP_TOKEN=app or peer.app_token,
        slack_api_url=peer.api_url,
    )


@pytest.mark.parametrize(
    ("wrong", "setting", "step"),
    [
        ({"bot": "xoxb-canary"}, "Slack refused SLACK_BOT_TOKEN", "OAuth & Permissions"),
        ({"app": "xapp-canary"}, "SLACK_APP_TOKEN", "connections:write"),
    ],
)
async def test_a_wrong_token_ends_the_run_with_the_setting_and_the_next_step(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    wrong: dict[str, str],
    setting: str,
    step: str,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    caplog.set_level("INFO", "adapters")
    async with SlackPeer() as peer:
        with pytest.raises(RememError) as refused, capture_logs() as logs:
            await run_platforms(_settings(tmp_path / "w", peer, **wrong))
    assert [line["event"] for line in logs] == ["settings", "remem starts"]
    assert not re.search("runs|connected", f"{logs} {caplog.text}"), "what never was is not told"
    assert setting in str(refused.value)
    assert step in str(refused.value)
    assert "canary" not in str(refused.value)
    (await asyncio.to_thread(hold, tmp_path / "w")).release()


async def test_a_platform_out_of_reach_is_named_with_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    async with SlackPeer() as peer:
        settings = _settings(tmp_path / "w", peer)
    with pytest.raises(RememError) as refused:
        await run_platforms(settings)
    assert f"Slack cannot be reached at {settings.slack_api_url}" in str(refused.value)
    assert "REMEM_SLACK_API_URL" in str(refused.value)


async def test_it_closes_also_while_every_thread_of_the_loop_is_held(tmp_path: Path) -> None:
    never, held = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def hold_on() -> None:
        loop.call_soon_threadsafe(held.set)
        never.wait()

    tasks: list[asyncio.Task[None]] = []
    try:
        async with asyncio.timeout(30), opened(load(_env_file=None, workspace=tmp_path / "w")):
            tasks += [asyncio.create_task(asyncio.to_thread(hold_on)) for _ in range(64)]
            await held.wait()
    finally:
        never.set()
        await asyncio.gather(*tasks)
    assert not (tmp_path / "w/.remem/ledger.db-wal").exists()
