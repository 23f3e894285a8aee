"""What is said, asked and commanded in the lives of canary_life.py.

`{canary}` is the word to watch, `{topic}` what it is about. Two topics share one word at most: what is decided twice
about one matter is rightly kept once.
"""

from __future__ import annotations

_FIRST = (
    "session", "billing", "login", "nightly", "image", "search", "mobile", "payment", "staging", "audit",
    "printer", "weather", "garden", "harbour", "museum", "orchestra", "bakery",
)  # fmt: skip
_SECOND = (
    "cache", "queue", "page", "backup", "pipeline", "index", "gateway", "form", "cluster", "trail",
    "driver", "station", "fence", "crane", "ticket", "rehearsal", "oven", "ledger", "catalogue",
)  # fmt: skip


def topic(number: int) -> str:
    """The topic of that number; the same one comes again after 323."""
    return f"{_FIRST[number % len(_FIRST)]} {_SECOND[number % len(_SECOND)]}"


DECISION = "We decided to use {canary} for the {topic}."
TALK = (
    DECISION,
    DECISION,
    "TODO: ben renews the {canary} certificate by Friday",
    "remember that the {canary} host of the {topic} is in Oslo",
    "blocked: waiting for the {canary} licence",
    "lesson: the {topic} failed because {canary} was missing; fixed by adding it to the image",
    "I'm responsible for {canary}",
    "we could try {canary} for the {topic}",
    "{canary} lol",
    "staging runs on {canary}.internal:8080, see /srv/{canary}/deploy.yaml",
)
LONG = "{canary}, a long story: " + "the night went on and so did the pager, " * 90
QUESTIONS = (
    "what did we decide about the session cache?",
    "what do we use for the login page?",
    "what is blocked, which licence is missing?",
    "who is responsible for the certificate?",
    "where is the host of the login page?",
    "what did you say?",
    "hello",
    "",
)
COMMANDS = (
    "",
    "",
    "",
    "status",
    "why",
    "show",
    "show experience",
    "show longterm",
    "show attention",
    "show index",
    "show ../main/longterm",
    "show journal/2026-04-06",
    "search what we decided to use for the session cache",
    "search certificate licence host",
    "note {canary} runs the {topic}",
    "note decision: {canary} for the {topic}",
    "note lesson: {canary}",
    "purpose we care for {canary}",
    "rule always greet {canary}",
    "zone Asia/Tokyo",
    "zone {canary}",
    "show {canary}",
    "{canary}",
    "help",
)
