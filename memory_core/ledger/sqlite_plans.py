"""A scope's flush plans, on SQLite: the open ones, and the last that was closed. Read and written as values.

What a plan covers (`Covered`) is forgotten when it is closed. Every statement binds its scope's key.
"""

from __future__ import annotations

from memory_core.ledger.base import Plan
from memory_core.ledger.database import Database
from memory_core.ledger.rows import plan_cursors, plan_of, plan_text
from memory_core.ledger.values import Covered, stored_plan

_READ = """SELECT p.id, p.number, t.text, p.cursors FROM plans p CROSS JOIN texts t ON t.id = p.text_id
    WHERE p.scope = ? AND p.closed = ? ORDER BY p.place"""
_PUT = """INSERT INTO plans (scope, id, number, text_id, cursors, closed, hit, mark, change)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (scope, id) DO UPDATE SET number = excluded.number,
    text_id = excluded.text_id, cursors = excluded.cursors, closed = excluded.closed,
    hit = excluded.hit, mark = excluded.mark, change = excluded.change"""


def read(database: Database, scope: str, *, closed: bool) -> tuple[Plan, ...]:
    """The plans that are open, or the one that was closed last; oldest first. Raises LedgerDamaged."""
    return tuple(map(plan_of, database.rows(_READ, (scope, closed))))


def is_closed(database: Database, scope: str, plan: Plan) -> bool:
    """Is it the one that was closed last?"""
    return database.row("SELECT 1 FROM plans WHERE scope = ? AND id = ? AND closed = 1", (scope, plan.id)) is not None


def covered_by(database: Database, scope: str, plan: Plan) -> Covered | None:
    """What a saved plan covers; None for one that was never saved."""
    row = database.row("SELECT hit, mark, change FROM plans WHERE scope = ? AND id = ?", (scope, plan.id))
    return Covered(*row) if row is not None else None


def put(database: Database, scope: str, plan: Plan, covered: Covered, *, closed: bool) -> None:
    """Write a plan; one that is there under its id is replaced in its place."""
    plan = stored_plan(plan)
    row = database.row("SELECT text_id FROM plans WHERE scope = ? AND id = ?", (scope, plan.id))
    if row is not None:
        database.empty_texts(scope, "id = ?", (row[0],))
    text, cursors = database.put_text(scope, plan_text(plan)), plan_cursors(plan)
    covers = (covered.hit, covered.mark, covered.change)
    database.run(_PUT, (scope, plan.id, plan.number, text, cursors, closed, *covers))


def drop_last(database: Database, scope: str) -> None:
    """Forget the plan that was closed last, with its text."""
    database.empty_texts(scope, "id IN (SELECT text_id FROM plans WHERE scope = ? AND closed = 1)", (scope,))
    database.run("DELETE FROM plans WHERE scope = ? AND closed = 1", (scope,))
