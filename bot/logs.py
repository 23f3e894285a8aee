"""Logging, set up once: lines for people on standard error, never a secret, never what somebody said.

Log events carry keys, counts and reasons. Whatever text gets into one is masked on its way out.
"""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor

from bot.settings import Settings


def _masked(logger: object, method: str, event: EventDict) -> EventDict:
    """The last step before rendering: no secret leaves by the log."""
    from memory_core.redact.mask import mask  # a command that has nothing to log need not load all its rules

    return {key: mask(value).text if isinstance(value, str) else value for key, value in event.items()}


def set_up(settings: Settings, *, quiet: bool = False) -> None:
    """Configure structlog and the standard library's logging (adapters, platform libraries) for this process.

    `quiet`: from warnings on, whatever the settings say.
    """
    level = logging.WARNING if quiet else getattr(logging, settings.log_level.upper())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _masked,
    ]
    structlog.configure(
        processors=[*shared, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processor=structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        )
    )
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[handler], force=True)
    logging.getLogger("adapters").setLevel(level)
