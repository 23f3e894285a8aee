"""What leaves a page because its message did (the two rules of operations: memory_core.operations).

These operations name messages and hashes, never a text: a plan that stands in the ledger must not hold the words that
it takes out. For the same reason they have no inverse: undo must not bring deleted text back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory_core.forms.journal import without_raw
from memory_core.forms.withdrawal import without_message
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import Form


@dataclass(frozen=True, slots=True)
class Withdraw:
    """What came from the message `key` alone leaves the page, and what has other sources stays without it.

    `rows` are hashes of the titles of tasks that go (memory_core.forms.withdrawal.row_hash), `kept` the identities of
    records that stay although they came from it, since they say what it reads now; `at` is the tasks' `lastUpdated`.
    """

    page: PageId
    key: MessageKey
    at: datetime
    rows: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    op: Literal["withdraw"] = "withdraw"

    def apply(self, text: str, form: Form) -> str:
        """The page without what the message said."""
        return without_message(text, form, self.key, self.at, rows=self.rows, kept=self.kept)

    def undo(self, before: str) -> Withdraw:
        """What was withdrawn stays away."""
        return self


@dataclass(frozen=True, slots=True)
class DropRaw:
    """The raw lines of messages leave a journal: they were read through, or are too old."""

    page: PageId
    keys: tuple[MessageKey, ...]
    op: Literal["drop_raw"] = "drop_raw"

    def apply(self, text: str, form: Form) -> str:
        """The note without those lines."""
        return without_raw(text, self.keys)

    def undo(self, before: str) -> DropRaw:
        """They stay away."""
        return self
