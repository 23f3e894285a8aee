"""Audit: is this memory in good order? It reads, compares with the layout's table, and says what belongs where.

    snapshot.py     one scope at one moment, as a value       scope.py      reads it, and asks all checks
    lean.py         the discipline of MEMORY.md (lines.py, cues.py, weights.py; memory_page.py says it)
    curated.py      MEMORY.md where sleep writes it           pages.py      damage, secrets, budgets, records
    index_page.py   the index against the files               upkeep.py     what is stale or overdue
    strangers.py    files that are no page                    fixing.py     what `--fix` does
    findings.py     what a finding is, and every code

Which pages there are, how long they may be and where a kind belongs is the table's to say: nothing here knows a
layout. An audit takes no lock, opens no ledger and creates nothing.
"""
