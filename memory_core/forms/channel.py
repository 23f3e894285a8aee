"""channel_context/{group}.md (adaptive): what a group talks about, what it decided, what is open.

    # build

    ## Current Topics
    - The database moves to Postgres 17 (@ana, 2026-04-06) <!-- slack:T1:C9:1712412120.000100 -->

    ## Recent Decisions

    ### [2026-04-06] Redis for the session cache
    - Fitness: …

    ## Unresolved
    - **Prepare the release**: @ana, due 2026-04-12 <!-- … -->
    - The staging certificate has expired (@bo, 2026-04-06) <!-- … -->

Topics and open points are bullets; decisions are records, a level below their section (memory_core.forms.records).
What is done is not unresolved: it leaves, and stands in the journal. The page is kept short by sleep, which takes
what is old to the archive; a flush drops nothing that is open.
"""

from __future__ import annotations

from memory_core.forms.bulleted import Bulleted
from memory_core.forms.tasks import TaskStatus

TOPICS = "Current Topics"
DECISIONS = "Recent Decisions"
UNRESOLVED = "Unresolved"

CHANNEL = Bulleted(
    implied={UNRESOLVED: "pending"},
    home={
        TaskStatus.PENDING: UNRESOLVED,
        TaskStatus.IN_PROGRESS: UNRESOLVED,
        TaskStatus.BLOCKED: UNRESOLVED,
    },
    plain=(),
    items=(UNRESOLVED, TOPICS),
    keeps_days=0,
)
