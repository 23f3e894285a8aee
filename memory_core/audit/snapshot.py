"""What an audit looks at: all that stands in one scope at one moment, as a value. The checks are pure over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from enum import StrEnum

from memory_core.audit.findings import Finding, Severity
from memory_core.clock import day_in
from memory_core.errors import UnknownPage
from memory_core.ids import PageId, Scope
from memory_core.index import Index, parse
from memory_core.layouts import INDEX, Form, Kind, Layout, PageRule, Table
from memory_core.store.base import PageText


class Catalogue(StrEnum):
    """How the index's catalogue compares with the pages."""

    FRESH = "fresh"
    STALE = "stale"
    AWAITED = "awaited"
    """It differs, but a page was written after it, less than a day ago: the flush that comes brings it up to date."""
    UNKNOWN = "unknown"
    """There is no index, or it could not be compared."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One scope: its pages as read, what could not be read (why, by page), the moment and the host's zone."""

    layout: Layout
    scope: Scope
    now: datetime
    host_zone: tzinfo
    pages: Mapping[PageId, PageText] = field(default_factory=dict)
    unread: Mapping[PageId, str] = field(default_factory=dict)
    catalogue: Catalogue = Catalogue.UNKNOWN

    @property
    def table(self) -> Table:
        """The layout's table for this kind of scope."""
        return self.layout.table(self.scope)

    @property
    def index(self) -> Index | None:
        """What the index says; None where there is none."""
        standing = self.pages.get(INDEX)
        return parse(standing.text, self.table) if standing else None

    @property
    def zone(self) -> tzinfo:
        """The scope's zone: its index's, else the host's."""
        index = self.index
        return (index.zone if index else None) or self.host_zone

    @property
    def today(self) -> date:
        """The day in the scope's zone."""
        return day_in(self.zone, self.now)

    def of_form(self, *forms: Form) -> Iterator[tuple[PageRule, PageText]]:
        """The pages of those forms with their rules, by page id."""
        for page, text in sorted(self.pages.items()):
            rule = self.table.rule(page)
            if rule.form in forms:
                yield rule, text

    def file(self, page: PageId) -> str:
        """The page's file relative to the workspace; the page id where it has none."""
        try:
            return str(self.layout.file(self.scope, page))
        except UnknownPage:
            return page

    def pattern(self, page: PageId) -> str:
        """Where pages of a starred rule stand, for people: `memory/main/projects/{name}.md`."""
        rule = next((rule for rule in self.table.rules if rule.page == page), None)
        if rule is None:
            return self.file(page)
        return str(self.layout.place(self.scope, rule, "{name}"))

    def home(self, kind: Kind, otherwise: str) -> str:
        """The file where a kind stands at last; `otherwise` where the table has none."""
        page = self.table.home_of(kind)
        return self.pattern(page) if page else otherwise

    def finding(
        self,
        code: str,
        message: str,
        page: PageId | None = None,
        lines: tuple[int, int] = (0, 0),
        severity: Severity = Severity.WARNING,
        *,
        fixable: bool = False,
    ) -> Finding:
        """A finding on one of the pages."""
        file = self.file(page) if page else ""
        return Finding(code, message, page or "", file, lines[0], lines[1], severity, fixable)
