"""The new scope in the making: what stands in it so far, and what is on its way into it. Pure.

Pages are made in one order, so that each is read once: what stays, then boards, text of persons, records by their
homes, struck lines, the archive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial

from memory_core.forms import archive
from memory_core.forms.blocks import lines_of, newline_of
from memory_core.forms.board import BOARDS
from memory_core.forms.records import parse as parse_records
from memory_core.ids import PageId
from memory_core.layouts import Form, PageRule, Table
from memory_core.migration.homes import Home, rule_of
from memory_core.migration.pieces import Piece, archived, deeper, sound, tidied
from memory_core.migration.placing import placed, put_in
from memory_core.sleep.fitness import score
from memory_core.templates import new_page

LISTED = frozenset({Form.NEWEST_FIRST, Form.ADDED})
"""Forms of pages that are lists of records, on which any text of a person may stand besides."""
_CROWDED = frozenset({Form.SECTIONS, Form.CHANNEL})
"""Forms of pages that stand at every start: they take no more than they have room for."""
_NO_LIMIT = 10**9


@dataclass(slots=True)
class Making:
    """`out` are the new pages so far, `standing` what stands in the place of others; `where` tells the page of each
    record that was moved, `counts` what moved by a word for it."""

    table: Table
    today: date
    name: str
    standing: dict[PageId, str]
    out: dict[PageId, str] = field(default_factory=dict)
    where: dict[str, PageId] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    _coming: dict[Home, list[Piece]] = field(default_factory=dict)
    _filed: dict[PageId, list[str]] = field(default_factory=dict)
    _struck: dict[PageId, list[str]] = field(default_factory=dict)
    _kept: dict[PageId, list[str]] = field(default_factory=dict)

    @property
    def month(self) -> PageId:
        """The archive of this month."""
        return PageId(f"archive/{self.today:%Y-%m}")

    @property
    def board(self) -> PageRule | None:
        """The rule of the board; None in a layout without one."""
        return next((rule for rule in self.table.rules if rule.form in BOARDS), None)

    def base(self, page: PageId) -> str:
        """What the page says so far: what stands in its place, else what a new one begins with."""
        if page in self.out:
            return self.out[page]
        return self.standing.get(page) or new_page(self.table, page, self.name) or ""

    def form(self, page: PageId) -> Form | None:
        """The page's form; None for no page of the layout."""
        rule = rule_of(self.table, page)
        return rule.form if rule else None

    def count(self, what: str, number: int = 1) -> None:
        """Count what moved."""
        if number:
            self.counts[what] = self.counts.get(what, 0) + number

    def send(self, home: Home | None, pieces: Sequence[Piece]) -> None:
        """Records on their way to a page; None: the layout has none, and they go to the archive."""
        if home is not None and pieces:
            self._coming.setdefault(home, []).extend(pieces)
            return
        for piece in pieces if home is None else ():
            self._put_away(piece, str(piece.page))

    def strike(self, home: Home | None, line: str) -> PageId:
        """A struck line on its way to the page of its kind, or to the archive; which."""
        page = home.page if home is not None and self.form(home.page) in LISTED else self.month
        self._struck.setdefault(page, []).append(line)
        return page

    def file(self, page: PageId, block: str) -> None:
        """A block on its way into an archive."""
        self._filed.setdefault(page, []).append(block)

    def keep(self, heir: PageId | None, rest: str, title: str, source: str) -> PageId:
        """Text of a person on its way to the heir of its page, or to the archive; which. `title`: what it stands
        under on the heir ('': under nothing); `source` is its file."""
        if heir is not None and self.form(heir) in LISTED and not (title and self._is_full(heir, rest)):
            self._kept.setdefault(heir, []).append(f"## {title}\n\n{deeper(rest, 1)}" if title else rest)
            return heir
        body = deeper(sound(tidied(rest.replace("\r\n", "\n"))), 2)
        self.file(self.month, f"## Kept from {source}, {self.today}\n\n{body}")
        return self.month

    def finish(self) -> None:
        """Put everything that is on its way into its place."""
        for page, parts in self._kept.items():
            self._edit(page, partial(_under_title, "\n\n".join(parts)))
        for home in sorted(self._coming, key=lambda one: (one.page, one.section)):
            self._place(home, self._coming[home])
        for page, lines in self._struck.items():
            if self.form(page) is Form.ARCHIVE:
                self._filed.setdefault(page, []).extend(lines)
            else:
                self._edit(page, partial(_with_lines, lines))
        for page, blocks in self._filed.items():
            title = archive.title_of(page.partition("/")[2])
            self.out[page] = archive.with_blocks(self.base(page), title, blocks)

    def _edit(self, page: PageId, change: Callable[[str], str]) -> None:
        """Change a page's text, its own line ends kept."""
        base = self.base(page)
        self.out[page] = change(base.replace("\r\n", "\n")).replace("\n", newline_of(base))

    def _place(self, home: Home, pieces: Sequence[Piece]) -> None:
        """Put the records on their page, but for those that stand there, and those for which there is no room."""
        text = self.base(home.page).replace("\r\n", "\n")
        standing = {one.record.identity: one.record for one in parse_records(text).records}
        new: list[Piece] = []
        for piece in pieces:
            there = standing.get(piece.record.identity)
            if there is None:
                standing[piece.record.identity] = piece.record
                new.append(piece)
            elif there != piece.record:
                self._put_away(piece, str(home.page), home.section)
        form = self.form(home.page)
        if form in _CROWDED:
            new = self._with_room(home, text, new)
        for piece in new:
            self.where[piece.record.identity] = home.page
        self._edit(home.page, lambda text: placed(text, new, newest=form is not Form.ADDED, section=home.section))

    def _with_room(self, home: Home, text: str, pieces: Sequence[Piece]) -> list[Piece]:
        """The pieces that the page's budget has room for, in their order; the others go to the archive.

        Undated ones too: below the heading of a section they would read as a part of it.
        """
        rule = rule_of(self.table, home.page)
        room = (rule.budget_lines or _NO_LIMIT if rule else _NO_LIMIT) - len(text.splitlines())
        lively = sorted(
            pieces,
            key=lambda one: (
                one.record.proven or bool(one.record.conflicts),
                score(one.record, self.today),
                one.record.day or date.min,
            ),
            reverse=True,
        )
        chosen: set[int] = set()
        for piece in lively:
            lines = piece.block.count("\n") + 2
            if lines <= room and piece.record.day is not None:
                room -= lines
                chosen.add(id(piece))
            else:
                self._put_away(piece, str(home.page), home.section)
                self.count("record beyond the budget, to the archive")
        return [piece for piece in pieces if id(piece) in chosen]

    def _put_away(self, piece: Piece, page: str, section: str = "") -> None:
        told = archive.Archived(self.today, score(piece.record, self.today), page, section)
        self._filed.setdefault(self.month, []).append(archived(piece, told))
        self.where.setdefault(piece.record.identity, self.month)

    def _is_full(self, heir: PageId, rest: str) -> bool:
        rule = rule_of(self.table, heir)
        there = sum(one.count("\n") + 2 for one in self._kept.get(heir, ()))
        return rule is not None and there + rest.count("\n") > (rule.budget_lines or _NO_LIMIT) // 2


def _under_title(part: str, text: str) -> str:
    """The text with a part more below its title, before its records."""
    head = next((line for line in lines_of(text) if line.text.startswith("# ") and not line.inert), None)
    return put_in(text, head.end if head else 0, part)


def _with_lines(lines: Sequence[str], text: str) -> str:
    """The text with those lines at its end that do not stand there."""
    known = {line.text for line in lines_of(text)}
    new = "\n\n".join(line for line in dict.fromkeys(lines) if line not in known)
    return put_in(text, len(text), new) if new else text
