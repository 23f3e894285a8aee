"""How a task, a status, a blocker, a topic or a fact of the environment changes the board and pending_tasks.json.

A task is known by its title's words, so that "the release notes are done" finds "Write the release notes". What is
done stays on the board as long as its form says (memory_core.forms.board) and 7 days in pending_tasks.json; what is
overdue stands first, and of more tasks than the board has room for the least important stand in the list alone
(flush/board_budget). In a layout without a board tasks stand in pending_tasks.json alone, and a blocker is a blocked
task there. A task that is said again without news was touched: it is not overdue for want of a word. What stands
there already is news only if it was stated by the very same message: written at once, by a process that ended before
it could mark that. What was said on an earlier day than what stands there changes nothing of it: so it is with
history that is imported into a memory that lives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, tzinfo

from memory_core.clock import day_in
from memory_core.extract.numbers import other_work
from memory_core.flush.bars import Fact
from memory_core.flush.board_budget import hold_board, row_of
from memory_core.flush.fact_budget import is_older, say_again, strike_others
from memory_core.flush.sameness import Words, best, opposes, repeats, words
from memory_core.flush.target import TimedTarget
from memory_core.forms import listed, tasks
from memory_core.forms.board import Attention, Board, TaskRow, board
from memory_core.forms.facts import Stated, stated
from memory_core.forms.tasks import Task, TaskStatus
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import TASKS, Form, Kind
from memory_core.operations.attention import (
    DropBlocker,
    DropRow,
    DropTask,
    MendTasks,
    PutBlocker,
    PutFact,
    PutRow,
    PutTask,
    RaiseRows,
)
from memory_core.text import flat, one_line

DOING = frozenset({Kind.TASK, Kind.STATUS, Kind.BLOCKER})
"""The kinds that go to pending_tasks.json where a layout has no board."""

_FACT = re.compile(
    r"(?P<key>\S[^\n]{1,58}?)\s*(?:[:：=]\s|\s(?:is|are|ist|sind)(?: now| at| on)?\s|[是在])\s*(?P<value>\S.*)"
)
_DAY_SIGNED = re.compile(r", (\d{4}-\d\d-\d\d)\)\Z")
_SIGNED = re.compile(r" \(@[^()]*\)\Z")
_BLOCKER_CHARACTERS = 300


def of_message(text: str, fact: Fact, zone: tzinfo) -> Task | None:
    """The task that this very message stated, or marked as done: written at once, by a process that then ended."""
    file, at = tasks.parse(text), fact.said_at.astimezone(zone).isoformat(timespec="seconds")
    if (stated := file.find(_id(fact))) is not None or tasks.status_of(fact.status) is not TaskStatus.DONE:
        return stated
    done = (task for task in file.tasks if task.status is TaskStatus.DONE and task.completed_at == at)
    asked = words(fact.title if fact.kind is Kind.TASK else fact.text)
    return best(asked, ((task, words(task.title)) for task in done))


def _id(fact: Fact) -> str:
    """The id of the task that the fact states."""
    return tasks.task_id(fact.sources[0].keys[0], one_line(fact.title, 120))


@dataclass(frozen=True, slots=True)
class AttentionDraft:
    """Changes of one scope's board, into a draft; `page` None: the layout has none."""

    draft: TimedTarget
    page: PageId | None

    def take(self, fact: Fact) -> bool:
        """Write the fact; True if it is news."""
        match fact.kind:
            case Kind.BLOCKER if self.page:
                return self._blocker(fact, self.page)
            case Kind.BLOCKER:
                return self._task(replace(fact, title=fact.body, status=fact.status or TaskStatus.BLOCKED))
            case Kind.TASK | Kind.STATUS:
                return self._task(fact)
            case Kind.ENVIRONMENT if self.page:
                return self._environment(fact, self.page)
            case _ if self.page and self._section(fact):
                return self._topic(fact, self.page)
            case _:
                return True

    def tidy(self) -> None:
        """What every flush with content does besides: done tasks leave in time, a broken file is mended, what is
        overdue comes first."""
        today = day_in(self.draft.zone, self.draft.now)
        at = self.draft.now.astimezone(self.draft.zone)
        if TASKS in self.draft.texts:
            self.draft.do(MendTasks(TASKS, at), undone=False)
        if self.page is not None:
            self._clear_done(self.page, today)
        for task in self._file.tasks:
            if task.status is TaskStatus.DONE and not task.completed_at:
                self.draft.do(PutTask(TASKS, replace(task, completed_at=at.isoformat(timespec="seconds")), at))
            elif tasks.has_left(task, today):
                self.draft.do(DropTask(TASKS, task.id, at))
        if self.page is not None:
            hold_board(self.draft, self.page, today)
        late = [task.title for task in tasks.ordered(self._file.open, today) if tasks.overdue(task, today)]
        if self.page is not None and late and self.page in self.draft.texts:
            self.draft.do(RaiseRows(self.page, tuple(late), self._form))

    def _clear_done(self, page: PageId, today: date) -> None:
        """Take the tasks off the board that were marked as done long enough ago."""
        text = self._text
        kept = {row.key for row in self._board.parse(self._board.without_done(text, today)).tasks}
        for row in self._board.parse(text).tasks:
            if row.key not in kept:
                self.draft.do(DropRow(page, row.task, keys=self._stated_by(row.key), board=self._form))

    @property
    def _form(self) -> Form:
        return self.draft.table.rule(self.page).form if self.page else Form.ATTENTION

    @property
    def _board(self) -> Board:
        return board(self._form)

    @property
    def _text(self) -> str:
        return self.draft.texts.get(self.page, "") if self.page else ""

    @property
    def _said(self) -> Attention:
        return self._board.parse(self._text)

    @property
    def _file(self) -> tasks.TaskFile:
        return tasks.parse(self.draft.texts.get(TASKS, ""))

    def _section(self, fact: Fact) -> str:
        """The heading of a kind that is an item of its own section."""
        return "" if fact.kind in DOING else self.draft.table.section_of.get(fact.kind, "")

    def _stated_by(self, row: str) -> tuple[MessageKey, ...]:
        """The message that stated the task of that row."""
        found = [task.source.rpartition(", ")[2] for task in self._file.tasks if TaskRow(task.title).key == row]
        return tuple(MessageKey(key) for key in found if key)

    def _task(self, fact: Fact) -> bool:
        """A new task, or what changed about a known one."""
        status = tasks.status_of(fact.status)
        own = of_message(self.draft.texts.get(TASKS, ""), fact, self.draft.zone)
        if own is not None and own.status is TaskStatus.DONE:
            return self._put(own, fact, old=None if own.id == _id(fact) else own) or True
        known = self._known(fact)
        if known is not None:
            later = known.made is not None and known.made > fact.day
            return False if later else self._change(known, fact, status)
        if self.page and fact.kind is Kind.STATUS and status is TaskStatus.DONE:
            blockers = [one for one in self._said.blockers if not _is_later(one, fact)]
            gone = best(words(fact.text), ((one, words(one)) for one in blockers))
            return True if gone is None else self.draft.do(self._drop(self.page, gone)) or True
        return self._new(fact, status or TaskStatus.PENDING)

    def _known(self, fact: Fact) -> Task | None:
        """The task that the fact is about: of the open ones, also those that stand on the board only."""
        file = self._file
        known = {TaskRow(task.title).key: task for task in file.open}
        done = {TaskRow(task.title).key for task in file.tasks} - known.keys()
        for row in self._said.tasks:
            if row.key not in known and row.key not in done:
                status = tasks.status_of(row.status) or TaskStatus.PENDING
                known[row.key] = Task(tasks.task_id(fact.sources[0].keys[0], row.task), row.task, status)
        said = fact.text if fact.kind is Kind.STATUS else fact.title
        asked = words(said)
        among = [(task, words(task.title)) for task in known.values() if not other_work(said, task.title)]
        if fact.kind is Kind.TASK and tasks.status_of(fact.status) in (None, TaskStatus.PENDING):
            # "Renew the certificate of the blog" is not "… of the shop": a new task is known only if it says no more.
            among = [(task, one) for task, one in among if asked.terms <= one.terms and asked.numbers == one.numbers]
        return best(asked, among)

    def _new(self, fact: Fact, status: TaskStatus) -> bool:
        title = one_line(fact.title, 120)
        key = fact.sources[0].keys[0]
        task = Task(
            id=tasks.task_id(key, title),
            title=title,
            status=TaskStatus.PENDING,
            created_at=self._moment(fact),
            due=fact.due.isoformat() if fact.due else "",
            note=fact.body if fact.body != title else "",
            source=str(fact.sources[0]),
        )
        task = tasks.with_status(task, status, fact.said_at.astimezone(self.draft.zone))
        return self._put(task, fact)

    def _change(self, task: Task, fact: Fact, status: TaskStatus | None) -> bool:
        """The same task said again is no news but for what is new: its status, its day. It was touched anyhow."""
        due = fact.due.isoformat() if fact.due else task.due
        wanted = (
            status if status and (fact.kind is not Kind.TASK or status is not TaskStatus.PENDING) else task.status
        )
        new = replace(tasks.with_status(task, wanted, fact.said_at.astimezone(self.draft.zone)), due=due)
        if new == task:
            self._touch(task, fact)
            return self._stated(task, fact, status)
        new = replace(new, updated_at=self._moment(fact))
        if not new.source:
            new = replace(new, created_at=self._moment(fact), source=str(fact.sources[0]), updated_at="")
        return self._put(new, fact, old=task)

    def _stated(self, task: Task, fact: Fact, status: TaskStatus | None) -> bool:
        """Was the row stated by this very message, and the process ended before the task was written? Now it is."""
        return task.id == _id(fact) and (self._new(fact, status or TaskStatus.PENDING) or True)

    def _touch(self, task: Task, fact: Fact) -> None:
        """Note a later day on which a task of the file was spoken of."""
        moment = self._moment(fact)
        if self._file.find(task.id) == task and moment[:10] > str(task.touched or ""):
            at = self.draft.now.astimezone(self.draft.zone)
            self.draft.do(PutTask(TASKS, replace(task, updated_at=moment), at))

    def _put(self, task: Task, fact: Fact, old: Task | None = None) -> bool:
        first = self._put_row(self.page, task, fact, new=old is None) if self.page else False
        second = self.draft.do(PutTask(TASKS, task, self.draft.now.astimezone(self.draft.zone)))
        return first or second

    def _put_row(self, page: PageId, task: Task, fact: Fact, *, new: bool) -> bool:
        done = fact.day.isoformat() if task.status is TaskStatus.DONE else ""
        known = self._said.row(task.title)
        row = row_of(task, who=fact.who if new else "", done=done)
        if known is not None:  # what stands there of it stays
            row = row_of(replace(task, extra="{}"), who=fact.who if new else "", done=done)
        keys = (*self._stated_by(row.key), *(key for source in fact.sources for key in source.keys))
        return self.draft.do(PutRow(page, row, keys=tuple(dict.fromkeys(keys)), board=self._form))

    def _blocker(self, fact: Fact, page: PageId) -> bool:
        known = best(words(fact.text), ((one, words(one)) for one in self._said.blockers))
        if tasks.status_of(fact.status) is TaskStatus.DONE:
            return known is not None and not _is_later(known, fact) and self.draft.do(self._drop(page, known))
        keys = tuple(key for source in fact.sources for key in source.keys)
        if known is not None:
            stated = keys[0] in self._board.keys_of(self._text, blocker=known)
            self.draft.do(PutBlocker(page, known, keys, board=self._form))
            return stated
        return self.draft.do(PutBlocker(page, _signed(fact, fact.who), keys, board=self._form))

    def _drop(self, page: PageId, blocker: str, section: str = "") -> DropBlocker:
        return DropBlocker(page, blocker, section=section, board=self._form)

    def _topic(self, fact: Fact, page: PageId) -> bool:
        """An item of the kind's section: a repeat adds its message, an opposite takes the other's place."""
        section, own = self._section(fact), words(fact.text)
        known: list[tuple[str, Words]] = [
            (one, words(_SIGNED.sub("", one)))
            for one in listed.items(self._text, section, listed.item_beside_records)
        ]
        keys = tuple(key for source in fact.sources for key in source.keys)
        old = best(words(fact.corrects), known) if fact.corrects else None
        old = old or next((one for one, other in known if opposes(own, other)), None)
        repeated = next((one for one, other in known if repeats(own, other)), None)
        if old is None and repeated is not None:
            said = keys[0] in self._board.keys_of(self._text, blocker=repeated, section=section)
            self.draft.do(PutBlocker(page, repeated, keys, section, self._form))
            return said
        if old is not None and _is_later(old, fact):
            return True  # the journal of its day has it
        if old is not None:
            self.draft.do(self._drop(page, old, section))
        return self.draft.do(PutBlocker(page, _signed(fact), keys, section, self._form))

    def _environment(self, fact: Fact, page: PageId) -> bool:
        """A fact in the place of an earlier value of its key, on the board or on the page that takes its facts."""
        found = _FACT.fullmatch(" ".join(fact.body.split()))
        key, value = (found["key"], found["value"]) if found else (fact.title, fact.body)
        keys = tuple(key for source in fact.sources for key in source.keys)
        known, value = stated(self._said.fact(key)), flat(value)
        if known is not None and known.value == value:
            named = self._board.keys_of(self._text, fact=key)
            again, every = str(known.again(fact.day)), tuple(dict.fromkeys((*named, *keys)))
            return keys[0] in named or (self.draft.do(PutFact(page, key, again, every, board=self._form)) and False)
        if (known is not None and known.last > fact.day) or is_older(self.draft, fact, key, value):
            return True  # the journal of its day has it
        if not self._said.fact(key) and say_again(self.draft, fact, key, value):
            return False
        said = Stated(value, fact.sources[0].name, fact.day, fact.day)
        news = self.draft.do(PutFact(page, key, str(said), keys, board=self._form))
        strike_others(self.draft, key, value)
        return news

    def _moment(self, fact: Fact) -> str:
        return fact.said_at.astimezone(self.draft.zone).isoformat(timespec="seconds")


def _is_later(item: str, fact: Fact) -> bool:
    """Was the item stated on a later day than the fact, as its signature tells?"""
    day = _DAY_SIGNED.search(item)
    return day is not None and day[1] > fact.day.isoformat()


def _signed(fact: Fact, who: str = "") -> str:
    """What an item says of a fact: its words, who said it, on which day."""
    return f"{one_line(fact.body, _BLOCKER_CHARACTERS)} (@{who or fact.sources[0].name}, {fact.day})"
