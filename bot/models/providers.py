"""From settings to models: which library class, which address, which key, which fallbacks, how long, how large.

A model is named `provider:name` as pydantic-ai names it. REMEM_MODEL_BASE_URL and REMEM_MODEL_KEY belong to the
provider of the first model (REMEM_MODEL, else REMEM_MEMORY_MODEL): every model of that provider is asked there, with
that key; every other provider has its own address and its own variable. So `ollama:qwen3` with a base URL can have
`anthropic:…` as its fallback.

`openai:` with a base URL means "whatever speaks OpenAI's chat completions" (Ollama, llama.cpp, vLLM, a gateway): not
the Responses API, which few of them have, and never with OPENAI_API_KEY, which is OpenAI's alone.

A name that no provider has, a key that is not there, a package that is not installed are said at the start, in one
sentence with the setting and the next step. That a provider has no such *model* only the provider knows: a name that
comes close to a known one is a doubt, told and not refused.

The library's clients try again by themselves; ours do not (bot.models.failures counts the tries).
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import cast, get_args

import structlog
from pydantic_ai.exceptions import (
    ModelAPIError,
    UnexpectedModelBehavior,
    UsageLimitUnavailableWarning,
    UserError,
)
from pydantic_ai.models import Model, OpenAIChatCompatibleProvider, infer_model, known_model_names
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class
from pydantic_ai.settings import ModelSettings

from bot.models.failures import Failure, translated
from bot.settings import Settings, foreign_variables, variable
from memory_core.errors import BadInput

ASSUMED_WINDOW_TOKENS = 32_000
"""What fits into a request of a model of which nobody knows it."""

WHOLE = {"openai_chat_streaming_requires_finish_reason": True}
"""A stream of chat completions that ends without saying why was cut: half an answer is not taken for a whole one."""

_VARIABLE = re.compile(r"`([A-Z][A-Z0-9_]{2,})`")
"""A variable of the environment, as the library's messages name it."""
_PACKAGE = re.compile(r"pydantic-ai-slim\[[a-z0-9,-]+\]")
_ADDRESS = ("_URL", "_ENDPOINT", "_HOST")

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Chosen:
    """The models of the settings. `reply` None: only REMEM_MEMORY_MODEL is set, so rules answer.

    `window_tokens`: what fits into a request of every one of them. `doubts`: sentences for whoever runs remem.
    """

    reply: Model | None
    memory: Model
    window_tokens: int
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Named:
    """A model by its name, and the setting that names it."""

    name: str
    setting: str

    @property
    def provider(self) -> str:
        return self.name.partition(":")[0]

    def __str__(self) -> str:
        return f"{self.setting} names {self.name[:80]!r}"


def chosen(settings: Settings) -> Chosen:
    """The models that the settings name. Blocking: loads libraries, reads `.env`. Raises BadInput."""
    reply = [_Named(settings.model, variable("model"))] if settings.model else []
    memory = [_Named(settings.memory_model, variable("memory_model"))] if settings.memory_model else reply
    if not memory:
        raise BadInput("No model is set; set REMEM_MODEL, as provider:name.")
    fallbacks = [_Named(name, variable("model_fallbacks")) for name in settings.model_fallbacks]
    first = (reply or memory)[0].provider
    built: dict[str, Model] = {}
    # llama.cpp's server says nothing of usage while it streams; the warning would stand in the middle of a chat.
    warnings.filterwarnings("ignore", category=UsageLimitUnavailableWarning)
    with foreign_variables():
        for named in (*reply, *memory, *fallbacks):
            if named.name not in built:
                built[named.name] = _built(named, settings, first)
    doubts = [_doubt(one, built[one.name], settings) for one in (*reply, *memory, *fallbacks)]
    return Chosen(
        reply=_in_order(built, [*reply, *fallbacks]) if reply else None,
        memory=_in_order(built, [*memory, *fallbacks]),
        window_tokens=settings.model_window or min(map(window_of, built.values())),
        doubts=tuple(dict.fromkeys(filter(None, doubts))),
    )


def window_of(model: Model) -> int:
    """How many tokens fit into one request of a model, as far as it is known."""
    return model.context_window or ASSUMED_WINDOW_TOKENS


def patience_s(model: Model, timeout_s: float) -> float:
    """How long a caller waits for a request: as long as all the models take that may be asked one after the other."""
    return timeout_s * len(parts_of(model)) + 1.0


def parts_of(model: Model) -> Sequence[Model]:
    """A model, or the models that stand behind it in order."""
    return model.models if isinstance(model, FallbackModel) else [model]


def _in_order(built: dict[str, Model], names: Sequence[_Named]) -> Model:
    """One model, or the models to ask one after the other."""
    models = [built[name] for name in dict.fromkeys(one.name for one in names)]
    return models[0] if len(models) == 1 else FallbackModel(models[0], *models[1:], fallback_on=_falls_back)


def _falls_back(error: Exception) -> bool:
    """Every failure of a request goes to the next model, but for refused content: that is an answer, too."""
    if not isinstance(error, ModelAPIError | UnexpectedModelBehavior):
        return False
    failed = translated(error)
    if failed.failure is Failure.REFUSED:
        return False
    _log.warning("the next model is asked", why=failed.why)
    return True


# -- one model ----------------------------------------------------------------------------------------------------


def _built(named: _Named, settings: Settings, first: str) -> Model:
    """One model, with its limits. Raises BadInput that names the setting and the next step."""
    provider, colon, name = named.name.partition(":")
    if not (provider and colon and _exists(named)):
        raise BadInput(f"{named}, which is no provider:name that is known; {_suggestion(named.name)}.")
    if not name.strip():
        raise BadInput(f"{named}, which says no model; write the provider's name of it behind the colon.")
    own = provider == first
    try:
        model = infer_model(_wire(named.name, settings, own=own), lambda asked: _provider(asked, settings, own=own))
    except ImportError as missing:
        raise _missing(named, missing) from None
    except BadInput:
        raise
    except (UserError, ValueError) as refused:
        raise _refused(named, str(refused), settings, own=own) from None
    return _bounded(model, settings.model_timeout_s)


def _exists(named: _Named) -> bool:
    """Whether the library has such a provider; a missing package is no reason to say no."""
    try:
        infer_provider_class(named.provider)
    except ImportError:
        return True
    except (UserError, ValueError):
        return False
    return True


def _wire(name: str, settings: Settings, *, own: bool) -> str:
    """The name by which the library finds the class. Behind a base URL `openai:` is chat completions."""
    provider, _, rest = name.partition(":")
    return f"openai-chat:{rest}" if provider == "openai" and own and settings.model_base_url else name


def _provider(name: str, settings: Settings, *, own: bool) -> Provider[object]:
    """The library's client: with our address and key where they are meant for it, else as it finds its own."""
    url = settings.model_base_url if own else ""
    key = settings.model_key.get_secret_value() if own and settings.model_key is not None else ""
    if not key.isascii() or any(sign.isspace() for sign in key):
        raise BadInput("REMEM_MODEL_KEY holds a space or a sign that no key has; copy it again from the provider.")
    if url and name in ("openai-chat", "openai-responses"):
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        return cast(
            Provider[object], OpenAICompatibleProvider("openai-compatible", base_url=url, api_key=key or None)
        )
    if not url and not key:
        return infer_provider(name)
    build = cast(Callable[..., Provider[object]], infer_provider_class(name))
    given = {"base_url": url, "api_key": key}
    if name == "litellm":
        given["api_base"] = given.pop("base_url")
    for setting, parameter, value in (("REMEM_MODEL_BASE_URL", "base_url", url), ("REMEM_MODEL_KEY", "api_key", key)):
        if value and parameter in given and not _takes(name, parameter):
            raise BadInput(
                f"{setting} does not go with {name}:, which has settings of its own; take it away, or use `openai:` "
                "for a server that speaks OpenAI's API."
            )
    return build(**{parameter: value for parameter, value in given.items() if value})


def _takes(provider: str, parameter: str) -> bool:
    """Whether a provider can be told this."""
    return parameter in inspect.signature(infer_provider_class(provider)).parameters


def _bounded(model: Model, timeout_s: float) -> Model:
    """The same model, with our limits on every request: so long, and one try."""
    ignored = model.unsupported_settings
    bounds = ModelSettings(request_timeout=timeout_s)
    if "timeout" not in ignored:
        bounds["timeout"] = timeout_s
    if "max_retries" not in ignored:
        bounds["max_retries"] = 0
    # Every class of the library takes these; the common base does not say so.
    build = cast(Callable[..., Model], type(model))
    return build(model.model_name, provider=model.provider, settings=bounds, profile=WHOLE)


# -- what is wrong, in words ----------------------------------------------------------------------------------------


def _missing(named: _Named, missing: ImportError) -> BadInput:
    """A package that is not installed."""
    extra = _PACKAGE.search(str(missing))
    package = extra[0] if extra else f"pydantic-ai-slim[{named.provider}]"
    return BadInput(
        f'{named}, whose package is not installed; install it: {sys.executable} -m pip install "{package}".'
    )


def _refused(named: _Named, why: str, settings: Settings, *, own: bool) -> BadInput:
    """A key or an address that is not there; else the library's own first sentence."""
    variables = list(dict.fromkeys(_VARIABLE.findall(why)))
    if any(one.endswith(_ADDRESS) for one in variables) and not settings.model_base_url:
        takes = own and _takes(named.provider, "base_url")
        ours = ["REMEM_MODEL_BASE_URL (such as http://localhost:11434/v1)"] if takes else []
        return BadInput(f"{named}, whose address is not set; set {' or '.join([*ours, *variables])}.")
    if variables:
        ours = ["REMEM_MODEL_KEY"] if own else []
        steps = " or ".join([*variables, *ours])
        return BadInput(f"{named}, whose key is not set; set {steps} in the environment or in .env.")
    if settings.model_key is not None and len(settings.model_key) > 4:
        why = why.replace(settings.model_key.get_secret_value(), "…")
    return BadInput(f"{named}, which cannot be used: {why.partition('. ')[0].rstrip('.')[:300]}.")


def _providers() -> set[str]:
    """The providers that are known by name."""
    compatible = get_args(OpenAIChatCompatibleProvider.__value__)
    return {*compatible, *(name.partition(":")[0] for name in known_model_names() if ":" in name)}


def _suggestion(name: str) -> str:
    """The known name that comes nearest; else how a name is written."""
    provider, colon, rest = name.partition(":")
    if colon:
        if near := get_close_matches(provider, sorted(_providers()), n=1, cutoff=0.6):
            return f"the nearest that is known is {near[0] + ':' + rest[:60]!r}"
    elif (family := re.match(r"[a-z]+", name)) and (of := _maker(family[0])):
        return f"write {of + ':' + name[:60]!r}"
    return "write it as openai:…, anthropic:…, or openai:… with REMEM_MODEL_BASE_URL for a server of your own"


def _maker(family: str) -> str:
    """Who makes the models whose names begin so (`claude` → anthropic); '' where nobody is known to."""
    for maker in ("openai", "anthropic", "google", *sorted(_providers())):
        if any(re.match(rf"{maker}:{family}\b", one) for one in known_model_names()):
            return maker
    return ""


def _doubt(named: _Named, model: Model, settings: Settings) -> str:
    """That nothing is known of a model whose name is nearly a known one; '' where there is nothing to say."""
    if settings.model_base_url or model.context_window is not None:
        return ""
    known = [one for one in known_model_names() if one.startswith(f"{named.provider}:")]
    near = get_close_matches(named.name, known, n=1, cutoff=0.8) if named.name not in known else []
    return f"{named}, of which nothing is known; {near[0]!r} is known." if near else ""
