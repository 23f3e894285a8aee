"""How a group's memory is disclosed: five steps. Pure.

    0 name         the room's name was resolved before; the disclosure carries it
    1 index        once a session; what a hand changed in it since, counted
    2 intent       the message against the routing table (memory_core.routing)
    3 page         the best match (dreaming: the two best); an empty one falls to the next match, then to P0. No
                   match: P0. A greeting: nothing. A page that the layout always loads (adaptive: channel_context)
                   comes before it
    4 convention   at most one that this page names
    5 budget       everything counts, the index included; what did not fit is named

In adaptive and dreaming the list of open tasks follows. Index and page share one budget: the catalogue, which can be
rebuilt, gets what half of it holds; rules and routes get all that they need. SOUL.md is a part of the agent's prompt
here (gate.persona) and no disclosure.
"""

from __future__ import annotations

from memory_core.disclosure import Step
from memory_core.layouts import INDEX
from memory_core.loading.budget import Tally
from memory_core.loading.intent import Mode
from memory_core.loading.later import changed
from memory_core.loading.plan import Plan, View
from memory_core.loading.start import Steps, ask, begin

_STEPS = Steps(index=Step.INDEX, page=Step.PAGE, ranked=Step.PAGE)


def group_plan(view: View, tally: Tally, mode: Mode) -> Plan[None]:
    """Complete the tally for a message in a group."""
    tally.took(Step.NAME, f"{tally.title}: {tally.scope.key}")
    if INDEX in tally.session.loaded:
        tally.took(Step.INDEX, "in the conversation already")
        yield from changed(view, tally)
        yield from ask(view, tally, mode, _STEPS)
    else:
        yield from begin(view, tally, mode, _STEPS)
