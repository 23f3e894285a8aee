"""What a model may call. Every tool is one of the doors of one conversation (bot.agent.Doors), and nothing else.

    memory_open(page)         one more page that the index leads to
    memory_search(words)      pieces that the conversation does not hold yet
    tasks()                   the open tasks
    remember(kind, text)      one fact that a person said here

A tool never fails: a refusal comes back as text that says why and what to do instead, and the model acts on it. Pages
are named as in the index; a path, a file, another scope cannot be said: they are no page of this memory. Arguments
have a length, answers are data between marks (bot.models.marks), and what they show is counted by the doors.

`Calls` keeps the calls of one answer within their limits: too many, or the same again and again, get a refusal, too;
who goes on after that is stopped.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import structlog
from pydantic_ai import RunContext, Tool
from pydantic_ai.messages import ToolCallPart

from bot.agent import Doors
from bot.models.failures import Failure, failed
from bot.models.limits import Loops, TurnLimits
from bot.models.marks import data, label
from bot.models.prompt import shown
from bot.wording import noun_with_article
from memory_core.disclosure import Disclosure
from memory_core.errors import BadInput, Denied, RememError
from memory_core.gate import DENIALS
from memory_core.ids import PageId
from memory_core.text import flat, one_line

PAGE_CHARACTERS = 120
WORDS_CHARACTERS = 300
TEXT_CHARACTERS = 1000
"""How long an argument may be; a longer one is refused, not cut."""

NO_TASK = "No task is open here."

_FILE = re.compile(r"\.md$", re.IGNORECASE)
_INSTEAD = {
    "no_route": "Open a page that the index leads to, or search.",
    "deprecated": "Open another page, or search.",
    "not_in_layout": "Name a page as the index does, or search.",
    "not_named": "Open the page that names it first.",
    "search_only": "Use memory_search.",
    "program_file": "Use tasks() for what is open.",
    "already_loaded": "Read it above.",
    "over_ceiling": "Use memory_search, or answer with what you have.",
    "over_budget": "Answer with what you have, and say that more could not be looked at.",
    "missing": "Search, or say that you do not know.",
    "no_index": "Nothing is remembered here yet; say so.",
}
"""What a model may do about each denial (memory_core.gate.DENIALS)."""

_log = structlog.get_logger()


@dataclass(slots=True)
class Calls:
    """The calls of one answer, and what they brought."""

    doors: Doors
    limits: TurnLimits
    missing: set[str] = field(default_factory=set)
    """What the request said before could not be shown (bot.models.prompt): it is not said again."""
    brought: list[Disclosure] = field(default_factory=list)
    made: int = 0
    _refused: dict[str, str] = field(default_factory=dict)
    _warned: Failure | None = None
    _loops: Loops = field(default_factory=Loops)

    def come(self, calls: Sequence[ToolCallPart]) -> None:
        """A model asks for these calls: which are refused? Raises ModelFailed where it goes on after a refusal."""
        warned, again = self._warned, None
        for call in calls:
            self.made += 1
            arguments = call.args if isinstance(call.args, str) else call.args_as_json_str()
            if self._loops.again(call.tool_name, arguments):
                again = Failure.LOOP
                self._refused[call.tool_call_id] = "Refused: you made this very call before. Answer, or do otherwise."
            elif self.made > self.limits.tool_calls:
                again = again or Failure.LIMIT
                self._refused[call.tool_call_id] = (
                    "Refused: no more calls for this answer. Answer with what you have."
                )
            if again is not None and warned is not None:
                raise failed(again, f"{self.made} calls of tools, the last of them {label(call.tool_name, 40)}")
        self._warned = again or warned

    def refusal(self, call_id: str | None) -> str:
        """Why this call is refused, '' if it is not."""
        return self._refused.get(call_id or "", "")


def tools() -> list[Tool[Calls]]:
    """The four tools. They run one after the other: each sees what the one before has cost."""
    made = (memory_open, memory_search, tasks, remember)
    return [Tool(tool, takes_ctx=True, sequential=True, require_parameter_descriptions=True) for tool in made]


async def memory_open(ctx: RunContext[Calls], page: str) -> str:
    """Read one more page of this place's memory.

    Args:
        page: The page's name as in the index, such as `experience` or `conventions/api`.
    """
    name = _FILE.sub("", flat(page))
    return await _shown(ctx, lambda doors: doors.open(PageId(name)), page, PAGE_CHARACTERS)


async def memory_search(ctx: RunContext[Calls], words: str) -> str:
    """Find the pieces of this place's memory that match best and that you have not seen yet.

    Args:
        words: A few words to look for, in the language in which people here write.
    """
    return await _shown(ctx, lambda doors: doors.search(flat(words)), words, WORDS_CHARACTERS)


async def tasks(ctx: RunContext[Calls]) -> str:
    """List the open tasks of this place, overdue ones first."""
    told = await _shown(ctx, lambda doors: doors.tasks(), "", 0)
    return NO_TASK if DENIALS["missing"] in told else told


async def remember(ctx: RunContext[Calls], kind: str, text: str) -> str:
    """Keep one fact that a person said here. It is written after your answer, which then says so by itself.

    Args:
        kind: decision, lesson, task, status, blocker, agreement, stack, architecture, role, preference, contact,
            environment or tool.
        text: The fact in one or two sentences, in the words and the language of who said it.
    """
    if refused := ctx.deps.refusal(ctx.tool_call_id) or _too_long(text, TEXT_CHARACTERS) or _too_long(kind, 40):
        return refused
    try:
        candidate = await ctx.deps.doors.remember(flat(kind), flat(text))
    except RememError as error:
        return _refused(error)
    return _told(ctx, f"It will be noted as {noun_with_article(candidate.kind)}, and the answer will say so.")


async def _shown(
    ctx: RunContext[Calls], door: Callable[[Doors], Awaitable[Disclosure]], argument: str, limit: int
) -> str:
    """Go through a door; what it showed, or why it stayed shut."""
    if refused := ctx.deps.refusal(ctx.tool_call_id) or _too_long(argument, limit):
        return refused
    try:
        disclosure = await door(ctx.deps.doors)
    except RememError as error:
        return _told(ctx, _refused(error))
    ctx.deps.brought.append(disclosure)
    found = shown(disclosure, ctx.deps.missing) or shown(disclosure, set())  # an answer of its own says what it lacks
    text = "\n".join(item.text for item in found)
    return _told(ctx, text or "Nothing more matches.")


def _too_long(argument: str, limit: int) -> str:
    if len(argument) <= limit:
        return ""
    return f"Refused: the argument has {len(argument)} characters, at most {limit} are allowed. Say it shorter."


def _refused(error: RememError) -> str:
    """What a model is told of an error. Of one that it can do nothing about only that there was one."""
    _log.info("a tool refused", why=str(error))
    if isinstance(error, Denied):
        return f"Refused: {data(one_line(str(error), 300))} {_INSTEAD.get(error.reason, '')}".rstrip()
    if isinstance(error, BadInput):
        return f"Refused: {data(one_line(str(error), 300))}"
    return "Refused: this part of the memory cannot be read just now. Answer without it, and say so."


def _told(ctx: RunContext[Calls], text: str) -> str:
    """The answer of a tool; before the last request the model hears that it is the last."""
    if ctx.usage.requests + 1 < ctx.deps.limits.requests:
        return text
    return f"{text}\n(No more calls for this answer: answer now with what you have.)"
