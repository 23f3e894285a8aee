"""One scope on its way to another layout: every page of the old one in, every page of the new one out. Pure.

    same page, same manner of writing      stays as it is, byte for byte
    records                                each to the page of its kind (homes); without one to the archive
    a board                                to the new board, or to pending_tasks.json (boards)
    daily lines                            to the archive of their month; the journals tell the same
    MEMORY.md                              a person's text stays; what sleep put under its sections are records
    what is none of these                  verbatim onto the page that takes its page's place, or to the archive

A page that stands at every start (MEMORY.md of sleep, a channel's context) takes no more records than its budget of
lines has room for, the liveliest first; the others wait in the archive and come back when they are used. What stood
in a new page's place before is kept, and added to. A record that is there twice in different words is kept twice,
the second time in the archive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from memory_core.forms import daily, flush_state, tasks
from memory_core.forms.archive import archived
from memory_core.forms.blocks import lines_of
from memory_core.forms.board import BOARDS, board
from memory_core.forms.records import parse
from memory_core.forms.sections import WITH_RECORDS
from memory_core.ids import GroupScope, PageId, Scope
from memory_core.layouts import FLUSH_STATE, INDEX, LAYOUTS, TASKS, Form, Kind, Layout, PageRule, Table, backup_page
from memory_core.migration.boards import Boards, rows_of
from memory_core.migration.homes import destination, home_of, kinds_on, rule_of
from memory_core.migration.indexes import Heirs, Tables, moved_index
from memory_core.migration.making import LISTED, Making
from memory_core.migration.pieces import Piece, sound, take_apart, tidied
from memory_core.operations.pages import text_hash
from memory_core.templates import new_page
from memory_core.text import counted


@dataclass(frozen=True, slots=True)
class Before:
    """A scope as it stands: its pages (shared ones apart), and what stands in the place of pages of the new layout
    without being a page of the old one. `now` is aware, in the scope's zone; `title` is the index's name word."""

    scope: Scope
    old: Layout
    new: Layout
    pages: Mapping[PageId, str]
    standing: Mapping[PageId, str]
    now: datetime
    title: str = "main"

    @property
    def today(self) -> date:
        """The day in the scope's zone."""
        return self.now.date()


@dataclass(frozen=True, slots=True)
class After:
    """A scope as it will stand. `where` tells per record (its identity) its page; `told` per file what becomes of it;
    `counts` what moved, by a word for it."""

    pages: Mapping[PageId, str]
    where: Mapping[str, PageId]
    told: tuple[tuple[PageId, str], ...]
    counts: Mapping[str, int]


def migrated(before: Before) -> After:
    """The scope in the other layout. Never raises for what stands in a page."""
    name = before.scope.name if isinstance(before.scope, GroupScope) else ""
    old, new = (layout.table(before.scope) for layout in (before.old, before.new))
    return _Mover(before, old, new, name, Making(new, before.today, name, dict(before.standing))).moved()


@dataclass(slots=True)
class _Mover:
    before: Before
    old: Table
    new: Table
    name: str
    to: Making
    told: list[tuple[PageId, str]] = field(default_factory=list)

    def moved(self) -> After:
        apart: list[PageId] = []
        for page, text in self.before.pages.items():
            if self._stays(page):
                as_made = text == new_page(self.old, page, self.name)
                self.to.out[page] = (new_page(self.new, page, self.name) or text) if as_made else text
            elif page != INDEX:
                apart.append(page)
        for page in apart:
            before = len(self.told)
            self._take(page, self.before.pages[page].replace("\r\n", "\n"))
            if len(self.told) == before:
                self._tell(page, "(empty)")
        self._refile()
        self._new_board()
        if INDEX in self.before.pages and INDEX in self.before.standing:
            file = str(self.before.new.file(self.before.scope, INDEX))
            where = self.to.keep(None, self.before.standing[INDEX], "", file)
            self._tell(INDEX, f"what stood in its new place stands in {where} now")
        self.to.finish()
        self._state()
        self._index()
        return After(self.to.out, self.to.where, tuple(self.told), self.to.counts)

    def _stays(self, page: PageId) -> bool:
        """Is the page one of the new layout too, and written in the same manner?"""
        old, new = rule_of(self.old, page), rule_of(self.new, page)
        if old is None or new is None or page == INDEX:
            return False
        return old.form is new.form or {old.form, new.form} <= LISTED

    def _take(self, page: PageId, text: str) -> None:
        rule = rule_of(self.old, page)
        form = rule.form if rule else Form.PROSE
        template = new_page(self.old, page, self.name) or ""
        if form in BOARDS:
            self._take_board(page, form, text, template)
        elif form is Form.DAILY_LINES:
            self._take_days(page, text, template)
        elif form in WITH_RECORDS:
            rest = self._take_records(page, form, text)
            self._keep(page, _without_sections(rest, text, template, rule), template)
        elif page in {one.page for one in self.new.rules}:
            self._person(page, text, template)
        else:
            self._keep(page, text, template)

    def _person(self, page: PageId, text: str, template: str) -> None:
        """A person's own page, which sleep writes from now on: the text stays, sections are added below it."""
        self.to.out[page] = (new_page(self.new, page) or "") if text == template else self.before.pages[page]
        self._tell(page, "what you wrote stays as it is; sleep writes below it from now on")

    def _take_records(self, page: PageId, form: Form, text: str) -> str:
        """Send the page's records and struck lines on their way; the rest of its text."""
        found = take_apart(page, form, text)
        went: dict[str, int] = {}
        for piece in found.pieces:
            home, moving = destination(piece, self.old, self.new)
            self.to.send(home, [moving])
            name = home.page if home else self.to.month
            went[name] = went.get(name, 0) + 1
        for line, section in found.struck:
            homes = (home_of(self.new, kind) for kind in _decisions_first(kinds_on(self.old, page, section)))
            self.to.strike(next((one for one in homes if one), None), line)
        self.to.count("record", len(found.pieces))
        self.to.count("struck line", len(found.struck))
        if went:
            self._tell(page, "records: " + ", ".join(f"{number} to {where}" for where, number in went.items()))
        if found.struck:
            self._tell(page, f"struck lines: {len(found.struck)}, kept")
        return found.rest

    def _refile(self) -> None:
        """Let what is archived come back to the page that takes the place of the one that it left."""
        for page, text in self.to.out.items():
            rule = rule_of(self.new, page)
            if rule is None or rule.form is not Form.ARCHIVE or "- Archived:" not in text:
                continue
            for one in reversed(parse(text).records):
                told = archived(one.record)
                if told is None or self.to.form(PageId(told.page)) in WITH_RECORDS:
                    continue
                block = text[one.start : one.end]
                left = Piece(one.record, block, PageId(told.page), told.section)
                home, _ = destination(left, self._table_with(left.page), self.new)
                if home is not None:
                    new = replace(told, page=str(home.page), section=home.section)
                    block = block.replace(f"- Archived: {told}", f"- Archived: {new}")
                    text = text[: one.start] + block + text[one.end :]
            self.to.out[page] = text

    def _table_with(self, page: PageId) -> Table:
        """The table that has the page: the old layout's, else another's from which the memory came earlier."""
        tables = (layout.table(self.before.scope) for layout in LAYOUTS.values())
        return next((one for one in (self.old, *tables) if rule_of(one, page)), self.old)

    def _take_days(self, page: PageId, text: str, template: str) -> None:
        rest: list[str] = []
        for line in lines_of(text):
            days = () if line.inert else daily.parse(line.text)
            if days:
                month = PageId(f"archive/{days[0].day[:7]}")
                fits = rule_of(self.new, month) is not None
                self.to.file(month if fits else self.to.month, line.text)
                self.to.count("daily line")
            else:
                rest.append(line.text)
        if len(rest) < len(lines_of(text)):
            self._tell(page, "its lines stand in the archive of their month; the journals tell the same")
        self._keep(page, tidied("\n".join(rest)), template)

    def _take_board(self, page: PageId, form: Form, text: str, template: str) -> None:
        standing = self.before.pages.get(TASKS, "")
        if not tasks.keeps_all(standing):
            self.to.out[backup_page(f"pending_tasks-{text_hash(standing)[:12]}")] = standing
        rest = self._take_records(page, form, text) if form in WITH_RECORDS else text
        target = self.to.board
        moving = Boards(
            page,
            form,
            rest + "\n",
            target.form if target else None,
            self.to.base(target.page) if target else "",
            self.to.out.get(TASKS, standing),
            self.before.now,
        )
        moving.move(template)
        if target is not None:
            self.to.out[target.page] = moving.new
        if moving.tasks != standing:
            self.to.out[TASKS] = moving.tasks
        self.to.send(home_of(self.new, Kind.ENVIRONMENT), moving.facts)
        self.to.send(home_of(self.new, Kind.AGREEMENT), moving.topics)
        what = moving.moved | {
            "fact among the records": len(moving.facts),
            "topic among the records": len(moving.topics),
        }
        for word, number in what.items():
            self.to.count(word, number)
        if any(what.values()):
            to = target.page if target else "pending_tasks.json"
            self._tell(
                page, f"to {to}: " + ", ".join(counted(number, word) for word, number in what.items() if number)
            )
        self._keep(page, moving.left, "")

    def _new_board(self) -> None:
        """A board where the old layout had none: what is open in pending_tasks.json."""
        target = self.to.board
        rows = rows_of(self.to.out.get(TASKS, ""))
        if target is None or not rows or any(rule.form in BOARDS for rule in self.old.rules):
            return
        text = self.to.base(target.page)
        for row in rows:
            text = board(target.form).with_task(text, row)
        self.to.out[target.page] = text
        self.to.count("task", len(rows))
        self._tell(TASKS, f"{counted(len(rows), 'open task')} on {target.page} too")

    def _index(self) -> None:
        text = self.before.pages.get(INDEX)
        if text is not None:
            tables = Tables(self.before.old, self.before.new, self.old, self.new)
            moved = moved_index(text, tables, self.before.title, Heirs(self._stays, self._heir), list(self.to.out))
            self.to.out[INDEX] = moved[0]
            was, now = (layout.file(self.before.scope, INDEX) for layout in (self.before.old, self.before.new))
            if was != now:
                self._tell(INDEX, f"its rules and rows go on in {now}")
            for line in moved[1]:
                self._tell(INDEX, line)

    def _state(self) -> None:
        """flush-state.json without what it knows of pages that are no more, or are others."""
        text = self.to.out.get(FLUSH_STATE)
        state = flush_state.parse(text)
        if text is None or state.broken or not state.pages:
            return
        same = {page for page, one in self.before.pages.items() if self.to.out.get(page) == one}
        kept = {page: stamp for page, stamp in state.pages.items() if page in same}
        self.to.out[FLUSH_STATE] = flush_state.render(replace(state, pages=kept))

    def _keep(self, page: PageId, rest: str, template: str) -> None:
        """Text of nobody but a person: onto the page that takes its page's place, else into the archive."""
        rest = sound(_without_own(rest, template))
        if page in {one.page for one in self.new.rules}:  # MEMORY.md, a person's again
            self.to.out[page] = rest + "\n" if rest.strip() else new_page(self.new, page) or ""
            self._tell(page, "what you wrote stays there" if rest.strip() else "begins anew: a person writes it")
        elif rest.strip():
            rule, heir = rule_of(self.old, page), self._heir(page)
            title = page.rpartition("/")[2] if rule is not None and rule.page.endswith("*") else ""
            where = self.to.keep(heir, rest, title, str(self.before.old.file(self.before.scope, page)))
            self._tell(page, f"what you wrote besides stands verbatim in {where}")
            self.to.count("page with text of yours")

    def _heir(self, page: PageId) -> PageId | None:
        """The page that takes another's place; None where there is none."""
        rule = rule_of(self.old, page)
        if rule is None or rule.form is Form.DAILY_LINES:
            return None
        if rule.form in BOARDS and rule.form is not Form.CHANNEL:
            target = self.to.board
            return target.page if target else None
        homes = (home_of(self.new, kind) for kind in _decisions_first(kinds_on(self.old, page)))
        return next((home.page for home in homes if home), None)

    def _tell(self, page: PageId, what: str) -> None:
        self.told.append((page, what))


def _decisions_first(kinds: Sequence[Kind]) -> Sequence[Kind]:
    return sorted(kinds, key=lambda kind: kind is not Kind.DECISION)


def _without_own(rest: str, template: str) -> str:
    """The text without the title that the page was made with."""
    title = next((line for line in template.split("\n") if line.startswith("# ")), "")
    return tidied("\n".join(line for line in rest.split("\n") if not (title and line.rstrip() == title)))


def _without_sections(rest: str, text: str, template: str, rule: PageRule | None) -> str:
    """The rest of a page without the layout's headings that have nothing left under them: of a page that the bot
    made all of them, of a person's those that records stood under."""
    made = template.split("\n")[0] in text.split("\n") if template else False
    used = {one.section for one in take_apart(PageId("memory"), Form.SECTIONS, text).pieces}
    ours = {f"## {one}" for one in (rule.sections if rule else ()) if made or one in used}
    lines = rest.split("\n")
    out: list[str] = []
    for at, line in enumerate(lines):
        below = next((one for one in lines[at + 1 :] if one.strip()), "# ")
        if line.rstrip() not in ours or not below.startswith(("# ", "## ")):
            out.append(line)
    return tidied("\n".join(out))
