"""Where a record of one table belongs in another.

The kind of a record is known from the page, and the section, that it stands on. Where those hold several kinds that
part in the new layout (apm's experience: decisions and lessons), what the record says decides, by the rules that
extraction has; what they do not tell goes to the page of decisions.

A page with a name of its own (projects/alpha) that the new layout does not have leaves its name behind as a tag of
its records, `projects/alpha`; where a layout has such a page, the tag leads back to it, and goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from memory_core.candidates import Request
from memory_core.errors import UnknownPage
from memory_core.extract import candidates_in
from memory_core.forms.channel import DECISIONS
from memory_core.forms.sections import WITH_RECORDS
from memory_core.ids import Conversation, MessageKey, PageId, PersonKey, RoomKey
from memory_core.layouts import Form, Kind, PageRule, Table
from memory_core.messages import Message
from memory_core.migration.pieces import Piece, with_tag, without_tag

_ROOM = RoomKey("console:migration")
_SAID = datetime(2000, 1, 1, tzinfo=UTC)
_READ_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class Home:
    """A page that takes records, and the section in which."""

    page: PageId
    section: str = ""


def rule_of(table: Table, page: PageId) -> PageRule | None:
    """The rule of that page, or of that page with its star; None for no page of the table."""
    try:
        return next((rule for rule in table.rules if rule.page == page), None) or table.rule(page)
    except UnknownPage:
        return None


def home_of(table: Table, kind: Kind) -> Home | None:
    """Where records of a kind stand; None where the layout has no page for them.

    A board holds no records but decisions, so what it has of another kind goes where tools, or decisions, stand.
    """
    page = table.home_of(kind)
    rule = rule_of(table, page) if page and kind not in table.not_kept else None
    if page is None or rule is None:
        return None
    if rule.page.endswith("*") and page == rule.page:
        return home_of(table, Kind.DECISION)
    if rule.form is Form.CHANNEL:
        return Home(page, DECISIONS)
    if rule.form not in WITH_RECORDS:
        return home_of(table, Kind.TOOL) if kind is Kind.ENVIRONMENT else None
    return Home(page, table.section_of.get(kind, "") if rule.form is Form.SECTIONS else "")


def kinds_on(table: Table, page: PageId, section: str = "") -> tuple[Kind, ...]:
    """The kinds that may stand on a page, under that heading; agreements on one that no kind goes to."""
    rule = rule_of(table, page)
    homes = {kind: table.home_of(kind) for kind in Kind}
    found = [kind for kind, home in homes.items() if home is not None and home in (page, rule.page if rule else page)]
    narrow = [kind for kind in found if table.section_of.get(kind) == section] if section else found
    return tuple(narrow or found) or (Kind.AGREEMENT,)


def destination(piece: Piece, old: Table, new: Table) -> tuple[Home | None, Piece]:
    """Where the piece goes (None: the new layout has no page for it), and the piece as it stands there."""
    for tag in piece.record.tags:
        rule = rule_of(new, PageId(tag))
        if rule is not None and rule.page.endswith("*") and rule.form in WITH_RECORDS:
            return Home(PageId(tag)), without_tag(piece, tag)
    rule = rule_of(old, piece.page)
    if rule is not None and rule.page.endswith("*") and piece.page not in old.kinds.values():
        piece = with_tag(piece, piece.page)
    homes = {kind: home_of(new, kind) for kind in kinds_on(old, piece.page, piece.section)}
    if len(set(homes.values())) == 1:
        return next(iter(homes.values())), piece
    return homes[kind_of(piece, tuple(homes))], piece


def kind_of(piece: Piece, allowed: tuple[Kind, ...]) -> Kind:
    """Which of these kinds the record is: as it is labelled, as extraction reads it, else a decision."""
    for word in (piece.label, *piece.record.tags):
        named = word.strip().lower()
        if named in allowed:
            return Kind(named)
    said = (piece.record.text or piece.record.title)[:_READ_CHARACTERS]
    message = Message(MessageKey(f"{_ROOM}:1"), Conversation(_ROOM), PersonKey("console:migration"), "", said, _SAID)
    for candidate in candidates_in(Request((message,), direct=True)):
        if candidate.kind in allowed:
            return candidate.kind
    return Kind.DECISION if Kind.DECISION in allowed else allowed[0]
