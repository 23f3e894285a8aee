"""Settings: all faults at once, no secret in sight."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings import load
from memory_core.errors import BadInput


@pytest.fixture(autouse=True)
def _no_dotenv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_any_setting_everything_has_a_default() -> None:
    settings = load()
    assert settings.layout == "apm"
    assert settings.idle_s == 1800
    assert settings.workspace == Path.home() / "remem"
    assert settings.discord_token is None


def test_all_faults_are_reported_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEM_OWNER", "somebody")
    monkeypatch.setenv("REMEM_LAYOUT", "pyramid")
    monkeypatch.setenv("REMEM_IDLE_S", "soon")
    monkeypatch.setenv("REMEM_SLACK_API_URL", "slack.com")
    with pytest.raises(BadInput) as refused:
        load()
    said = str(refused.value)
    assert "(4)" in said
    for name in ("REMEM_OWNER", "REMEM_LAYOUT", "REMEM_IDLE_S", "REMEM_SLACK_API_URL"):
        assert name in said


def test_a_secret_shows_in_no_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "discord-canary")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "slack-canary")
    settings = load()
    assert settings.discord_token is not None
    assert settings.discord_token.get_secret_value() == "discord-canary"
    assert "canary" not in repr(settings) + str(settings) + repr(settings.model_dump())


def test_an_empty_variable_is_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "")
    assert load().slack_bot_token is None


def test_a_dotenv_is_read_and_the_environment_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("REMEM_IDLE_S=60\nREMEM_RAW_DAYS=never\nDISCORD_TOKEN=from-file\n", "utf-8")
    monkeypatch.setenv("REMEM_IDLE_S", "90")
    settings = load()
    assert settings.idle_s == 90
    assert settings.raw_days == "never"
    assert settings.discord_token is not None


def test_several_keys_of_one_owner() -> None:
    assert load(owner="discord:1, slack:T1:U2").owner == ("discord:1", "slack:T1:U2")
