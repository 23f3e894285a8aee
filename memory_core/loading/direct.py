"""How a DM's memory is disclosed: the layers of its layout's start order, at the first message of a session. Pure.

    layer 0   what nothing routes to, always: SOUL, USER, the index, in apm and dreaming MEMORY.md
    layer 1   what has a priority: pages that are always loaded (apm: attention; adaptive: active_context, MEMORY.md),
              and what the message routes to (apm: one page, dreaming: two)
    layer 2   today's and yesterday's journal, by the day in the scope's zone
    tasks     the list of open tasks, where no page shows them (adaptive, dreaming)

Over the budget, what is least missed goes first, as the table orders it (start.py). In apm: yesterday's journal,
today's oldest lines, the routed page's weakest records; MEMORY.md is cut last and leaves the index what its rules and
routes need: without them nothing could be opened. In adaptive the journals leave MEMORY.md up to half of the budget.
Later messages are treated as a group's (intent.py).
"""

from __future__ import annotations

from memory_core.disclosure import Step
from memory_core.layouts import INDEX
from memory_core.loading.budget import Tally
from memory_core.loading.intent import Mode
from memory_core.loading.later import changed
from memory_core.loading.plan import Plan, View
from memory_core.loading.start import Steps, ask, begin

_STEPS = Steps(index=Step.LAYER_0, page=Step.LAYER_0, ranked=Step.LAYER_1)


def direct_plan(view: View, tally: Tally, mode: Mode) -> Plan[None]:
    """Complete the tally for a message in a DM."""
    if INDEX in tally.session.loaded:
        yield from changed(view, tally)
        yield from ask(view, tally, mode, _STEPS)
        return
    tally.took(Step.NAME, f"{tally.title}: {tally.scope.key}")
    yield from begin(view, tally, mode, _STEPS)
