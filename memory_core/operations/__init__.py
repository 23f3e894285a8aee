"""What a flush does, as values: each operation changes one page, knows its inverse, and can be written down as JSON.

An operation is applied to the text that stands on disk at that moment, never to an older picture of it. Two rules
make a plan safe to repeat after a crash, and to check after it was written:

* what is done already is not done again: `op.apply(op.apply(text)) == op.apply(text)`;
* what a person changed meanwhile stays: an operation that no longer fits the text does nothing.

Each has `page`, the one page that it changes; `apply(text, form)`, that page's text after it (`form` is the page's);
and `undo(before)`, the inverse for the text that the operation was planned on.

    records     records of a page                 journal     a day's notes, daily lines
    attention   tasks, blockers, snapshot         routes      what makes a new page reachable
    pages       undo, byte for byte               messages    what leaves when its message does
    sleep       merging, archive, absorbed lines, heartbeat
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from memory_core.operations.attention import (
    DropBlocker,
    DropRow,
    DropTask,
    MendTasks,
    PutBlocker,
    PutFact,
    PutMore,
    PutRow,
    PutTask,
    RaiseRows,
)
from memory_core.operations.journal import AddNotes, AddPoints, DropNotes, DropPoints
from memory_core.operations.messages import DropRaw, Withdraw
from memory_core.operations.pages import Patch, Unmake
from memory_core.operations.records import (
    AddRecord,
    DropRecord,
    LowerRecord,
    ReviseRecord,
    StrikeRecord,
    TouchRecord,
    UnstrikeRecord,
)
from memory_core.operations.routes import AddLine, AddRoute, DeprecateRoute, DropLine
from memory_core.operations.sleep import (
    AbsorbLines,
    AddBlocks,
    DropBlocks,
    EditRecords,
    PutHeartbeat,
    ReleaseLines,
    Restore,
    TakeHeartbeat,
)

__all__ = ["Operation"]

Operation: TypeAlias = Annotated[
    AddRecord
    | DropRecord
    | LowerRecord
    | StrikeRecord
    | TouchRecord
    | UnstrikeRecord
    | ReviseRecord
    | PutRow
    | DropRow
    | RaiseRows
    | PutBlocker
    | DropBlocker
    | PutFact
    | PutMore
    | PutTask
    | DropTask
    | MendTasks
    | AddNotes
    | DropNotes
    | AddPoints
    | DropPoints
    | AddLine
    | DropLine
    | AddRoute
    | DeprecateRoute
    | Patch
    | Unmake
    | Withdraw
    | DropRaw
    | EditRecords
    | AddBlocks
    | DropBlocks
    | AbsorbLines
    | ReleaseLines
    | Restore
    | PutHeartbeat
    | TakeHeartbeat,
    Field(discriminator="op"),
]
"""Any operation; `op` tells which in JSON."""
