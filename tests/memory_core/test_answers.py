"""What receipts say: what was kept, and what is still open, also where nothing was written."""

from __future__ import annotations

from datetime import UTC, datetime

from memory_core.answers import receipt_text
from memory_core.flush import Receipt, Trigger

NOW = datetime(2026, 4, 6, tzinfo=UTC)


def test_a_receipt_names_what_is_open_also_where_nothing_was_written() -> None:
    nothing = Receipt(3, Trigger.COMMAND, messages=0, pending=0, at=NOW)
    assert receipt_text(nothing) == "Nothing new since the last save."
    unsettled = Receipt(3, Trigger.COMMAND, messages=2, pending=1, at=NOW)
    assert receipt_text(unsettled) == (
        "Nothing new to keep (2 messages read). 1 thing still open, settled at the next save."
    )
