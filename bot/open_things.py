"""What is open, as the offline agent tells it (bot/offline.py): the tasks and blockers of a memory, never the done.

They stand on the layout's board (memory_core.forms.board), and where it has none, or the session may not open it, in
the list of tasks. Which words ask for them, and whether a question asks for nothing else, is told here too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.agent import Doors
from bot.quotable import Quotable, in_disclosure
from memory_core.asking import particular
from memory_core.errors import Denied
from memory_core.forms.board import BOARDS, board
from memory_core.forms.tasks import TaskStatus, status_of
from memory_core.forms.units import render
from memory_core.ids import PageId
from memory_core.layouts import LAYOUTS, TASKS

_OPEN = re.compile(
    r"\b(?:(?:still|currently) )?(?:open|to-?dos?(?: lists?)?|tasks?|pending|unfinished|outstanding|in progress)\b"
    r"(?: items| points)?|"
    r"\b(?:ha(?:s|ve)|needs?|got|is|are|remains?|left) to (?:do|be done|finish)\b|"
    r"\b(?:must|should) \w+ (?:still )?do\b|"
    r"\bon (?:the|my|our) (?:to-?do |task )?(?:list|plate)\b|\b(?:work|wait)ing (?:on|for)\b|"
    r"\b(?:is|are|anything) left\b|\bbeing done\b|\b(?:not|n['’]t) (?:yet )?(?:done|finished)(?: yet)?\b|"
    r"\bblock(?:ed|ers?|ing)\b|\bwhat['’]?s next\b|"
    r"\b(?:noch )?(?:offene?[nrs]?(?: punkte)?|aufgaben?|unerledigt\w*|ausstehend\w*|blockiert)\b|"
    r"\b(?:zu|noch) (?:tun|machen|erledigen)\b|"
    r"\b(?:muss|müssen) (?:ich|man|wir)(?: noch)? (?:tun|machen|erledigen)\b|"
    r"\bsteht(?: noch| heute)? an\b|\bauf (?:der|meiner|unserer) (?:to-?do-?)?liste\b|"
    r"(?:还|還)?(?:有|剩)?(?:什么|什麼|哪些|啥)?(?:待办|待辦|任务|任務|未完成|[没沒](?:做完|完成|办完)|要做的?|"
    r"[还還]剩|阻塞|卡住|[进進]行中)(?:事项|事項|事情|什么|什麼|有哪些|哪些|的|事|了)*",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\b(?:today|now|next|this week|currently|at the moment|all|still|here|heute|jetzt|gerade|alles|noch|hier)\b|"
    r"今天|现在|現在|目前|当前|这周|這週|我们|我們",
    re.IGNORECASE,
)
"""What may stand beside it in a question that asks for all that is open."""
_BLOCKED = re.compile(r"\bblock(?:ed|ers?|ing|iert)\b|阻塞|卡住", re.IGNORECASE)
_PAGES = tuple(
    dict.fromkeys(
        rule.page
        for layout in LAYOUTS.values()
        for table in (layout.group, layout.direct)
        for rule in table.rules
        if rule.form in BOARDS
    )
)
"""The boards of all layouts; a memory has at most one of them."""


def names_open(question: str) -> bool:
    """Does it ask for what is open or being done, maybe of one matter?"""
    return _OPEN.search(question) is not None


def asks_open(question: str) -> bool:
    """Does it ask for what is open, and for nothing else?"""
    left, found = _OPEN.subn(" ", question)
    return found > 0 and not particular(_MORE.sub(" ", left))


def asks_blocked(question: str) -> bool:
    """Does it ask for what is blocked alone?"""
    return _BLOCKED.search(question) is not None


def is_done(one: Quotable) -> bool:
    """Is it a task of a board that is done?"""
    return TaskStatus.DONE in _read(one)[0]


async def open_things(standing: Sequence[Quotable], doors: Doors, question: str) -> list[Quotable]:
    """The open tasks and blockers: of the board, as it was disclosed and stands and as the door gives the rest of it,
    else of the list of tasks. A question for what is blocked gets that alone."""
    known = [one for one in standing if one.form in BOARDS]
    for page in _PAGES:
        known += await _opened(doors, page)
    found = [one for one in known if _is_open(one, blocked=asks_blocked(question))]
    if found or known:
        return found
    tasks = [one for one in standing if one.placed.page == TASKS]
    return [one for one in (*tasks, *await _opened(doors, TASKS)) if _lists(one, question)]


def _lists(one: Quotable, question: str) -> bool:
    return not asks_blocked(question) or "(blocked" in one.placed.unit.body


async def _opened(doors: Doors, page: PageId) -> list[Quotable]:
    """What of a page the conversation does not hold yet; nothing where it may not be opened."""
    try:
        return list(in_disclosure(await (doors.tasks() if page == TASKS else doors.open(page))))
    except Denied:
        return []


def _is_open(one: Quotable, *, blocked: bool) -> bool:
    statuses, blocks = _read(one)
    wanted = (status is TaskStatus.BLOCKED if blocked else status is not TaskStatus.DONE for status in statuses)
    return blocks or any(wanted)


def _read(one: Quotable) -> tuple[list[TaskStatus | None], bool]:
    """A part of a board: the status of the task that it is, if it is one, and whether it is a blocker."""
    if one.form not in BOARDS:
        return [], False
    read = board(one.form).parse(render([one.placed.unit]))
    return [status_of(row.status) for row in read.tasks], bool(read.blockers)
