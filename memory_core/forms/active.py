"""active_context.md (adaptive, DM): what is in progress, what waits, what was done lately. Merged a line at a time.

    # Active Context

    ## In Progress
    - **Prepare the release**: @ana, due 2026-04-12 <!-- slack:T1:D9:1712412120.000100 -->

    ## Blocked / Waiting
    - **Renew the certificate**: @bo
    - Waiting for the provider's DNS team (@ana, 2026-04-06) <!-- … -->

    ## Recently Completed
    - **Fix the time zone**: @ana, done 2026-04-01

A task moves with its status. In Blocked / Waiting a bullet without a bold title is a blocker, elsewhere a task. What
the bot marked as done leaves after 7 days; what a person wrote there, when the person takes it out. Facts of the
environment, where a layout sends them here, stand under `## Environment`.
"""

from __future__ import annotations

from memory_core.forms.bulleted import Bulleted
from memory_core.forms.tasks import KEEPS_DAYS, TaskStatus

IN_PROGRESS = "In Progress"
WAITING = "Blocked / Waiting"
COMPLETED = "Recently Completed"

ACTIVE = Bulleted(
    implied={IN_PROGRESS: "in_progress", WAITING: "blocked", COMPLETED: "done"},
    home={
        TaskStatus.PENDING: IN_PROGRESS,
        TaskStatus.IN_PROGRESS: IN_PROGRESS,
        TaskStatus.BLOCKED: WAITING,
        TaskStatus.DONE: COMPLETED,
    },
    plain=(IN_PROGRESS, COMPLETED),
    items=(WAITING,),
    keeps_days=KEEPS_DAYS,
)
