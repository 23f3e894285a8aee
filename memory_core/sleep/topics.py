"""A channel's Current Topics: bullets that a flush writes, a thing said once, and no more than the page has room for.

Where the page is longer than its budget and topics take more than a third of it, the oldest leave, each as a record
of the archive with its day, source and messages; used there, it comes back as a record under its heading. A bullet
whose statement is a record of the page already (an older remem promoted topics as well) only leaves. A person's own
bullets, without who, when and a mark, stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from memory_core.extract.text import title_of
from memory_core.forms import listed
from memory_core.forms.archive import Archived
from memory_core.forms.facts import stated
from memory_core.forms.marks import unmarked
from memory_core.forms.records import Record, Source, parse, render
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Form, Kind
from memory_core.operations.attention import DropBlocker
from memory_core.sleep.fitness import score
from memory_core.sleep.likeness import said, same
from memory_core.sleep.lines import value_of
from memory_core.sleep.night import Night
from memory_core.sleep.sheet import counted_lines

_SHARE = 3
"""One part of so many of the page is the topics', as long as there are others that want the room."""
_TOPICS = (Kind.AGREEMENT, Kind.STACK, Kind.ARCHITECTURE)


@dataclass(frozen=True, slots=True)
class Topic:
    """One bullet, as it stands, and what it says."""

    item: str
    text: str
    name: str
    day: date
    last: date
    messages: tuple[MessageKey, ...]

    def record(self, place: str) -> Record:
        """What it is in the archive."""
        source = Source("", self.name, place, self.day.isoformat(), self.messages)
        value = value_of(Kind.AGREEMENT, self.text)
        return Record(self.day, title_of(self.text), self.text, (), self.last, 0, value, (source,))


def topics_of(night: Night, page: PageId) -> list[Topic]:
    """The topics of a channel's page that a flush wrote; none on a page of another form."""
    if night.draft.table.rule(page).form is not Form.CHANNEL:
        return []
    return list(_read(night.draft.texts[page], heading_of(night, page)))


def heading_of(night: Night, page: PageId) -> str:
    """The heading that topics stand under; '' where the layout has none."""
    table = night.draft.table
    return next((table.section_of.get(kind, "") for kind in _TOPICS if table.kinds.get(kind) == page), "")


def hold_topics(night: Night, page: PageId) -> None:
    """Take out the topics that the page has no room for, and those that it says twice."""
    rule, topics, heading = night.draft.table.rule(page), topics_of(night, page), heading_of(night, page)
    if not topics:
        return
    records = [placed.record for placed in parse(night.draft.texts[page]).records if placed.level]
    twice = [one for one in topics if any(_is(one, record) for record in records)]
    for one in twice:
        night.draft.do(DropBlocker(page, one.item, section=heading, board=rule.form))
    left = sorted((one for one in topics if one not in twice), key=lambda one: (one.last, one.day))
    budget = rule.budget_lines or 10**9
    over = counted_lines(night.draft.texts[page], rule.sections) - budget
    leaving = left[: max(0, min(over, len(left) - budget // _SHARE))]
    place = night.draft.name or "DM"
    blocks = [_block(night, page, heading, one.record(place)) for one in leaving]
    if not leaving or not night.put_away(night.archive, blocks):
        return
    for one in leaving:
        night.draft.do(DropBlocker(page, one.item, section=heading, board=rule.form))
    night.tally.archived += len(leaving)
    night.tally.lines += [f"archived topic [{one.day}] {one.text} from {page} (line budget)" for one in leaving]


def _block(night: Night, page: PageId, heading: str, record: Record) -> str:
    why = Archived(night.today, score(record, night.today), page, heading)
    return render(replace(record, archived=str(why))).removesuffix("\n")


def _is(topic: Topic, record: Record) -> bool:
    """Does the record bear the topic's statement?"""
    return not set(topic.messages).isdisjoint(record.messages) and same(topic.text, said(record))


def _read(text: str, heading: str) -> Iterator[Topic]:
    for line in listed.section(text, heading) if heading else ():
        item, (_, messages) = listed.item(line.text), unmarked(line.text)
        found = stated(item) if messages else None
        if found is not None:
            yield Topic(item, found.value, found.name, found.day, found.last, messages)
