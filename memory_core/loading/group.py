"""How a group's memory is disclosed: five steps. Pure.

    0 name         the room's name was resolved before; the disclosure carries it
    1 index        once a session; what a hand changed in it since, counted
    2 intent       the message against the routing table (memory_core.routing)
    3 page         the best match; an empty one falls to the next match, then to P0. No match: P0. A greeting: nothing
    4 convention   at most one that this page names
    5 budget       everything counts, the index included; what did not fit is named

Index and page share one budget: the catalogue, which can be rebuilt, gets what half of it holds; rules and routes get
all that they need. SOUL.md is a part of the agent's prompt here (gate.persona) and no disclosure.
"""

from __future__ import annotations

from memory_core.disclosure import Step
from memory_core.layouts import INDEX
from memory_core.loading.budget import Tally
from memory_core.loading.intent import Mode, by_intent, described
from memory_core.loading.later import changed
from memory_core.loading.plan import Plan, View
from memory_core.loading.steps import show_index


def group_plan(view: View, tally: Tally, mode: Mode) -> Plan[None]:
    """Complete the tally for a message in a group."""
    tally.took(Step.NAME, f"{tally.title}: {tally.scope.key}")
    if INDEX in tally.session.loaded:
        tally.took(Step.INDEX, "in the conversation already")
        yield from changed(view, tally)
    else:
        show_index(view, tally, Step.INDEX, catalogue_tokens=tally.budget_tokens // 2)
    tally.took(Step.INTENT, described(view))
    if not view.pleasantry:
        yield from by_intent(view, tally, mode, Step.PAGE)
