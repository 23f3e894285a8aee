"""Sleep: the upkeep of one scope's memory, so that it stays good for years without losing anything.

    light     the flush itself (memory_core.flush)
    deep      journal lines → records; old journals → archive                       deep.py, lines.py
    REM       duplicates, contradictions, PROVEN, archive, budgets, returns         rem.py, sheet.py, fitness.py

Both are pure plans on a draft of the pages (`deep`, `rem`); `stages` reads, persists the plan, applies it like a
flush's (idempotently, read back), writes catalogue and heartbeat, and closes it. So a run that a crash stopped is
finished at the next start, and undo takes a whole run back. `due` says when. Nothing is deleted here: what leaves a
page stands in another record, on a struck line, or in the archive.
"""
