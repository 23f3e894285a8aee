"""Deep sleep: what lasts of the journals becomes records; old journals go to the archive. Pure, on a draft.

A line that says what a record of its own messages says already is only marked. A line that says a known record again
is a hit on it, with a further source. Of the rest, lines that say the same stand together, and are promoted to one
record when any of these holds:

    recurring       two sessions or days, other messages (a session is one flush's notes)
    lasting value   decision, agreement, stack, architecture, role; or a person marked it as important
    hard-won        problem and solution in one day's journal

to the page where the layout keeps that kind at last (`Table.home_of`), with the lines' sources. The day is the
journal's. Lines of a flush that were taken up end with ` [absorbed]`; a person's own lines are never rewritten. What
contradicts a record of the page is written beside it; REM says which of the two holds (likeness.py).

A journal is archived 14 days after its date, once all that could be promoted of it was looked at; one with raw lines
waits until they were read through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from memory_core.candidates import Value
from memory_core.errors import UnknownPage
from memory_core.extract.text import title_of as short_title
from memory_core.forms import journal
from memory_core.forms.archive import journal_block
from memory_core.forms.records import Record, parse, render
from memory_core.forms.sections import WITH_RECORDS
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Form, Kind
from memory_core.operations.pages import Unmake, text_hash
from memory_core.operations.records import TouchRecord
from memory_core.operations.sleep import AbsorbLines, EditRecords, Pair
from memory_core.routing import match
from memory_core.sleep.budgets import hold_budget
from memory_core.sleep.known import Known
from memory_core.sleep.likeness import Alike, said, same
from memory_core.sleep.lines import DayRead, Line, read_day, value_of
from memory_core.sleep.merging import all_sources, merged
from memory_core.sleep.night import Night
from memory_core.sleep.topics import hold_topics
from memory_core.text import counted

JOURNAL_DAYS = 14
_LASTING = frozenset({Kind.DECISION, Kind.AGREEMENT, Kind.STACK, Kind.ARCHITECTURE, Kind.ROLE})
_ROUNDS = 4
_PRUNED = frozenset({Form.SECTIONS, Form.CHANNEL})
"""Pages that deep sleep keeps within their budget as well: it is the one that fills them."""


@dataclass(slots=True)
class Diary:
    """The journals at work: what was read of each, and which lines were taken up."""

    night: Night
    days: dict[PageId, DayRead]
    taken: dict[PageId, list[str]] = field(default_factory=dict)
    new: dict[PageId, dict[str, Pair]] = field(default_factory=dict)
    """The records that are promoted, by page and identity: block and heading. A page is written once."""
    left: set[PageId] = field(default_factory=set)
    """Journals with lines that wait: they stay where they are. `late`: for want of time."""
    late: set[PageId] = field(default_factory=set)

    def absorb(self, lines: Iterable[Line]) -> None:
        """Note that the lines were taken up; only those of ours will be marked."""
        for line in lines:
            if line.ours and line.raw not in self.taken.setdefault(line.page, []):
                self.taken[line.page].append(line.raw)


def read_journals(night: Night, place: str) -> Diary:
    """What may be promoted of all journals; `place`: where it was said, for the sources of records."""
    days = {}
    for page in sorted(night.draft.texts):
        if night.draft.table.rule(page).form is Form.JOURNAL and page not in night.damaged:
            days[page] = read_day(page, night.draft.texts[page], place)
    return Diary(night, days)


def plan_deep(night: Night, diary: Diary) -> None:
    """Fill the night's draft and tally."""
    lines = _new_lines(diary)
    lines = _said_again(diary, lines)
    lessons = _lessons(diary, lines)
    for lesson in lessons:
        _promote(diary, lesson)
    taken = {id(line) for lesson in lessons for line in lesson.lines}
    for group in _together([line for line in lines if id(line) not in taken]):
        if night.late():
            diary.late |= {line.page for line in group.lines}
            continue
        if group.reason:
            _promote(diary, group)
    diary.left |= diary.late
    if diary.late:
        night.tally.held_back.append(
            f"the time of this run was over; {counted(len(diary.late), 'journal')} left for the next one"
        )
    for page, new in diary.new.items():
        blocks = tuple(new.values())
        night.draft.do(EditRecords(page, tuple((("", block),) for block, _ in blocks), blocks))
    if not diary.late:
        _read_again(diary)
    for page, raw in diary.taken.items():
        if night.draft.do(AbsorbLines(page, tuple(raw))):
            night.tally.absorbed += len(raw)
    for page in night.record_pages():
        if night.draft.table.rule(page).form in _PRUNED:
            hold_topics(night, page)
            hold_budget(night, page)
    _archive_journals(diary)
    _report_long(night)


@dataclass(frozen=True, slots=True)
class Group:
    """Lines that say the same, the fullest first."""

    text: str
    lines: tuple[Line, ...]
    hard_won: bool = False

    @property
    def kind(self) -> Kind:
        """What they state; what nobody can tell is a lesson, once it recurs."""
        if self.hard_won:
            return Kind.LESSON
        return next((line.kind for line in self.lines if line.kind), Kind.LESSON)

    @property
    def sessions(self) -> int:
        """In how many sessions or days it was said, by other messages each time."""
        found: list[tuple[tuple[PageId, str], frozenset[MessageKey]]] = []
        for line in self.lines:
            session = (line.page, line.session if line.ours else "")
            if all(session != one and not (line.keys & keys) for one, keys in found):
                found.append((session, line.keys))
        return len(found)

    @property
    def reason(self) -> str:
        """Why it is promoted; '' if it is not."""
        if self.hard_won or (self.kind is Kind.LESSON and any(line.solves for line in self.lines)):
            return "hard-won lesson"
        if self.kind in _LASTING or any(line.important for line in self.lines):
            return "lasting value"
        return f"said in {self.sessions} sessions" if self.sessions > 1 else ""


def _new_lines(diary: Diary) -> list[Line]:
    """The lines whose statement is no record yet; those that are one are taken up."""
    known = Known(diary.night)
    left: list[Line] = []
    for found in diary.days.values():
        for line in found.lines:
            home = _home(diary.night, line.kind, line.text)
            if known.has(line, home):
                diary.absorb([line])
            elif line.kind not in diary.night.draft.table.not_kept and line.raw not in diary.taken.get(line.page, ()):
                left.append(line)
    return left


def _read_again(diary: Diary) -> None:
    """Lines that say what this run wrote are taken up in this run: the next one shall find nothing to do."""
    for _ in range(_ROUNDS):
        lines = _new_lines(diary)
        if len(_said_again(diary, lines)) == len(lines):
            return


def _said_again(diary: Diary, lines: Sequence[Line]) -> list[Line]:
    """The lines that no record says; each of the others is a hit on its record, once a session."""
    hits: dict[tuple[PageId, str], list[Line]] = {}
    records = _standing(diary.night)
    for page, standing in records.items():
        own = [line for line in lines if _home(diary.night, line.kind, line.text) == page]
        texts = [*(said(record) for record in standing), *(line.text for line in own)]
        for one, other in Alike(texts).pairs(len(standing)) if standing and own else ():
            if same(texts[one], texts[other]):
                hits.setdefault((page, standing[one].identity), []).append(own[other - len(standing)])
    told: set[int] = set()
    for (page, identity), again in hits.items():
        new = [line for line in again if id(line) not in told]
        record = next(one for one in records[page] if one.identity == identity)
        told |= {id(line) for line in new}
        if new:
            sources = all_sources([line.sources for line in new])
            uses = record.hit_count + Group("", tuple(new)).sessions
            last = max(line.day for line in new)
            diary.night.draft.do(TouchRecord(page, identity, uses, last, sources))
            diary.absorb(new)
    return [line for line in lines if id(line) not in told]


def _standing(night: Night) -> Mapping[PageId, list[Record]]:
    return {
        page: [placed.record for placed in parse(night.draft.texts[page]).records if placed.level]
        for page in night.record_pages()
    }


def _lessons(diary: Diary, lines: Sequence[Line]) -> list[Group]:
    """Problems and their solutions that stand in two lines of one day."""
    new = {id(line) for line in lines}
    found: list[Group] = []
    for day in diary.days.values():
        for text, borne in day.lessons:
            if any(id(line) in new for line in borne):
                found.append(Group(text, borne, hard_won=True))
    return found


def _together(lines: Sequence[Line]) -> list[Group]:
    """The lines, those that say the same in one group; in the order of their first lines."""
    group = list(range(len(lines)))
    texts = [line.text for line in lines]
    for one, other in Alike(texts).pairs():
        kinds = {lines[one].kind, lines[other].kind} - {None}
        if group[other] == other and len(kinds) < 2 and same(texts[one], texts[other]):
            group[other] = group[one]
    groups: dict[int, list[Line]] = {}
    for at, line in enumerate(lines):
        groups.setdefault(group[at], []).append(line)
    found = []
    for members in groups.values():
        ordered = sorted(members, key=lambda line: -len(line.text))
        found.append(Group(ordered[0].text, tuple(sorted(members, key=lambda line: (line.day, line.raw)))))
    return found


def _promote(diary: Diary, group: Group) -> None:
    """Write the group's record, and take its lines up."""
    night, kind = diary.night, group.kind
    home = _home(night, kind, group.text)
    if home is None or kind in night.draft.table.not_kept:
        return
    if home in night.damaged:
        diary.left |= {line.page for line in group.lines}
        waits = f"{home} holds bytes that are no text; what belongs there waits in the journal"
        night.tally.held_back += [waits] if waits not in night.tally.held_back else []
        return
    record = _record(group, kind, night.today)
    new = diary.new.setdefault(home, {})
    if record.identity in new or parse(night.draft.texts.get(home, "")).find(record.identity):
        diary.absorb(group.lines)  # the same title from the same message is that record
        return
    new[record.identity] = (render(record).removesuffix("\n"), night.draft.table.section_of.get(kind, ""))
    diary.absorb(group.lines)
    night.draft.kinds[kind] += 1
    night.tally.promoted += 1
    night.tally.lines.append(f"promoted {record.label} to {home} ({group.reason})")


def _record(group: Group, kind: Kind, today: date) -> Record:
    """The group as one record; lines that are older than a journal gets were imported: they count as of `today`."""
    day, newest = min(line.day for line in group.lines), max(line.day for line in group.lines)
    full = Record(day, short_title(group.text), group.text, value=value_of(kind, group.text))
    both = merged(full, [Record(day, short_title(line.text), line.text, value=Value.LOW) for line in group.lines])
    return replace(
        both,
        last_referenced=newest if newest + timedelta(days=JOURNAL_DAYS) >= today else today,
        hit_count=group.sessions - 1,
        sources=all_sources([line.sources for line in group.lines]),
    )


def _home(night: Night, kind: Kind | None, text: str) -> PageId | None:
    """The page that keeps that kind at last, if it keeps records; of a starred one the page that routing names."""
    table = night.draft.table
    page = table.home_of(kind or Kind.LESSON)
    if page is not None and page.endswith("*"):
        prefix = page[:-1]
        routed = (found.page for found in match(text, night.draft.index, table) if found.page.startswith(prefix))
        page = next(routed, table.home_of(Kind.DECISION))
    if page is None:
        return None
    try:
        return page if table.rule(page).form in WITH_RECORDS else None
    except UnknownPage:
        return None


def _archive_journals(diary: Diary) -> None:
    """Journals 14 days after their date go to the archive of their month."""
    night = diary.night
    for page in sorted(diary.days):
        day = date.fromisoformat(page.partition("/")[2])
        if night.today < day + timedelta(days=JOURNAL_DAYS) or page in diary.left:
            continue
        text = night.draft.texts[page]
        if journal.raw_in(text):
            night.tally.held_back.append(f"{page} holds lines that nobody could read through yet; it is not archived")
            continue
        if not night.put_away(PageId(f"archive/{day:%Y-%m}"), [journal_block(day.isoformat(), text)]):
            night.tally.held_back.append(f"{page}: the archive of its month cannot be written")
            continue
        night.draft.do(Unmake(page, text_hash(text), page in night.marked))
        if page in night.marked:
            night.draft.base[page] = f"\ufeff{night.draft.base[page]}"
        night.tally.journals += 1
    if night.tally.journals:
        night.tally.lines.append(f"moved {counted(night.tally.journals, 'journal')} to the archive")


def _report_long(night: Night) -> None:
    """A journal that is longer than its budget is told, never cut."""
    for page, text in night.draft.texts.items():
        rule = night.draft.table.rule(page)
        lines = len(text.splitlines())
        if rule.form is Form.JOURNAL and rule.budget_lines and lines > rule.budget_lines:
            night.tally.over_budget.append(f"{page}: {lines} of {rule.budget_lines} lines; a journal is never cut")
